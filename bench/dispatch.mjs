// What does emit cost over a bare loop, and over emitters that check, freeze, time and trace nothing?

import { deny, HookRegistry, proceed } from 'carabiner'
import Emittery from 'emittery'
import { createHooks as createHookable } from 'hookable'
import tapable from 'tapable'
import { cpuClock, race } from './measure.mjs'

/** Ten different guards, as a real agent has them: each looks at the call and answers. */
const atOnce = [
  async (_event, { tool_input }) => (tool_input.command.includes('rm -rf /') ? deny('no') : proceed()),
  async (_event, { tool_input }) => (/\bcurl\b.*\|\s*sh\b/.test(tool_input.command) ? deny('no') : undefined),
  async (_event, { tool_name }) => (tool_name === 'WebFetch' ? deny('no') : proceed()),
  async (_event, { cwd }) => (cwd.startsWith('/etc') ? deny('no') : undefined),
  async (_event, { tool_input }) => (tool_input.command.length > 4000 ? deny('no') : proceed()),
  async (_event, { tool_input }) => (tool_input.command.startsWith('sudo ') ? deny('no') : undefined),
  async (_event, { tool_input }) => (tool_input.file_path?.endsWith('.env') ? deny('no') : proceed()),
  async (_event, { permission_mode }) => (permission_mode === 'plan' ? deny('no') : undefined),
  async (_event, { tool_input }) => (tool_input.command.includes('-n') ? deny('no') : proceed()),
  async (_event, { tool_use_id }) => (tool_use_id === undefined ? deny('no') : undefined),
]

/** What a guard may look up first: in memory, but behind a promise, as configuration is. */
const rules = Promise.resolve({ enabled: true })
const awaiting = atOnce.map((handler) => async (event, data) => {
  const { enabled } = await rules
  return enabled ? handler(event, data) : proceed()
})

export async function bench() {
  const data = {
    session_id: 's1',
    cwd: '/project',
    tool_name: 'Bash',
    tool_input: { command: 'npm test', description: 'Run the tests' },
    tool_use_id: 'toolu_01',
  }
  return [
    ...(await compare('that await', awaiting, data, { loop: 2, emittery: 1.3 })),
    ...(await compare('that answer at once', atOnce, data, { loop: 3 })),
  ]
}

async function compare(which, handlers, data, limits) {
  const registry = new HookRegistry()
  for (const handler of handlers) registry.register('PreToolUse', handler, { matcher: 'Bash' })
  const hookable = createHookable()
  for (const handler of handlers) hookable.hook('PreToolUse', handler)
  const series = new tapable.AsyncSeriesHook(['event', 'data'])
  for (const [i, handler] of handlers.entries()) series.tapPromise(`h${i}`, handler)
  const emittery = new Emittery()
  for (const handler of handlers) emittery.on('PreToolUse', (payload) => handler('PreToolUse', payload))

  const contestants = {
    loop: async () => {
      for (const handler of handlers) await handler('PreToolUse', data)
    },
    carabiner: () => registry.emit('PreToolUse', data),
    hookable: () => hookable.callHook('PreToolUse', 'PreToolUse', data),
    tapable: () => series.promise('PreToolUse', data),
    emittery: () => emittery.emitSerial('PreToolUse', data),
  }
  const rounds = await race(contestants, { clock: cpuClock })
  const what = `${handlers.length} async handlers ${which}`
  return [
    rounds.row(`emit, ${what} / bare loop`, 'carabiner', 'loop', { limit: limits.loop }),
    rounds.row(`emit, ${what} / hookable`, 'carabiner', 'hookable', { limit: 1 }),
    rounds.row(`emit, ${what} / emittery`, 'carabiner', 'emittery', { limit: limits.emittery }),
    rounds.row(`hookable callHook, ${which} / bare loop`, 'hookable', 'loop', { peer: true }),
    rounds.row(`tapable series, ${which} / bare loop`, 'tapable', 'loop', { peer: true }),
    rounds.row(`emittery emitSerial, ${which} / bare loop`, 'emittery', 'loop', { peer: true }),
  ]
}
