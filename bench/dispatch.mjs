// What does emit cost over a bare loop, and over emitters that check, freeze, time and trace nothing?

import { deny, HookRegistry, proceed } from 'carabiner'
import Emittery from 'emittery'
import { createHooks as createHookable } from 'hookable'
import tapable from 'tapable'
import { race } from './measure.mjs'

/** What a guard looks up before it answers: in memory, but behind a promise, as configuration is. */
const rules = Promise.resolve({
  deleting: 'rm -rf /',
  piping: /\bcurl\b.*\|\s*sh\b/,
  longest: 4000,
  folder: '/etc',
})

/** Ten different guards, as a real agent has them: each awaits its rules, looks at the call and answers. */
const handlers = [
  async (_event, { tool_input }) =>
    tool_input.command.includes((await rules).deleting) ? deny('no') : proceed(),
  async (_event, { tool_input }) => ((await rules).piping.test(tool_input.command) ? deny('no') : undefined),
  async (_event, { tool_name }) =>
    (await rules).network && tool_name === 'WebFetch' ? deny('no') : proceed(),
  async (_event, { cwd }) => (cwd.startsWith((await rules).folder) ? deny('no') : undefined),
  async (_event, { tool_input }) =>
    tool_input.command.length > (await rules).longest ? deny('no') : proceed(),
  async (_event, { tool_input }) =>
    (await rules) && tool_input.command.startsWith('sudo ') ? deny('no') : undefined,
  async (_event, { tool_input }) =>
    (await rules) && tool_input.file_path?.endsWith('.env') ? deny('no') : proceed(),
  async (_event, { permission_mode }) =>
    (await rules) && permission_mode === 'plan' ? deny('no') : undefined,
  async (_event, { tool_input }) =>
    (await rules) && tool_input.command.includes('-n') ? deny('no') : proceed(),
  async (_event, { tool_use_id }) => ((await rules) && tool_use_id === undefined ? deny('no') : undefined),
]

export async function bench() {
  const data = {
    session_id: 's1',
    cwd: '/project',
    tool_name: 'Bash',
    tool_input: { command: 'npm test', description: 'Run the tests' },
    tool_use_id: 'toolu_01',
  }
  const registry = new HookRegistry()
  for (const handler of handlers) registry.register('PreToolUse', handler, { matcher: 'Bash' })
  const hookable = createHookable()
  for (const handler of handlers) hookable.hook('PreToolUse', (payload) => handler('PreToolUse', payload))
  const series = new tapable.AsyncSeriesWaterfallHook(['data'])
  for (const [i, handler] of handlers.entries())
    series.tapPromise(`h${i}`, async (payload) => void (await handler('PreToolUse', payload)))
  const emittery = new Emittery()
  for (const handler of handlers) emittery.on('PreToolUse', (payload) => handler('PreToolUse', payload))

  const us = await race({
    loop: async () => {
      for (const handler of handlers) await handler('PreToolUse', data)
    },
    carabiner: () => registry.emit('PreToolUse', data),
    hookable: () => hookable.callHook('PreToolUse', data),
    tapable: () => series.promise(data),
    emittery: () => emittery.emitSerial('PreToolUse', data),
  })
  return [
    row(`emit, ${handlers.length} async handlers / bare loop`, us.carabiner, us.loop, 3),
    row(`emit, ${handlers.length} async handlers / hookable`, us.carabiner, us.hookable, 1),
    row('hookable callHook / bare loop', us.hookable, us.loop),
    row('tapable waterfall / bare loop', us.tapable, us.loop),
    row('emittery emitSerial / bare loop', us.emittery, us.loop),
  ]
}

function row(name, value, baseline, limit) {
  return { name, unit: 'us', value, baseline, limit }
}
