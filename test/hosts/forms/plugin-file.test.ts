// The generated plugins of opencode, pi and Cline 3, loaded as the agents load them, over commands that answer as Carabiner would.

import { describe, expect, it, vi } from 'vitest'
import { PLUGIN_MARK } from '../../../src/hosts/answer.js'
import { setup as clineCore } from '../../../src/hosts/cline-core/setup.js'
import type { Entry, HostSetup } from '../../../src/hosts/host-setup.js'
import { setup as opencode } from '../../../src/hosts/opencode/setup.js'
import { setup as pi } from '../../../src/hosts/pi/setup.js'

type Answers = Readonly<Record<string, object | string>>
type Called = (...args: readonly unknown[]) => Promise<unknown>

/** The plugin as setup writes it. Each event has a command that prints this answer with our mark; a text is printed as it is. */
async function plugin({ files }: HostSetup, answers: Answers): Promise<Record<string, unknown>> {
  const entries = Object.entries(answers).map(([event, answer]): Entry => {
    const text = typeof answer === 'string' ? answer : JSON.stringify({ ...PLUGIN_MARK, ...answer })
    return { event, command: `cat >/dev/null; printf %s '${text}'`, timeout: 20 }
  })
  const text = files[0]?.form.put(undefined, entries, { file: 'carabiner.js', earlier: new Map() })
  // A comment of its own makes it a module of its own.
  const own = `${text}// ${loaded++}`
  return import(/* @vite-ignore */ `data:text/javascript;base64,${Buffer.from(own).toString('base64')}`)
}

let loaded = 0

async function inOpencode(answers: Answers) {
  const toasts: unknown[] = []
  const client = {
    tui: { showToast: async ({ body }: { body: { message: string } }) => toasts.push(body.message) },
  }
  const { Carabiner } = await plugin(opencode, answers)
  const hooks = (await (Carabiner as Called)({ client, directory: '/' })) as Record<string, Called>
  return { toasts, call: (hook: string, ...args: unknown[]) => hooks[hook]?.(...args) }
}

async function inPi(answers: Answers, hasUI = true) {
  const shown: string[] = []
  const handlers = new Map<string, Called>()
  const extension = (await plugin(pi, answers)).default as (api: object) => void
  extension({ on: (name: string, handler: Called) => handlers.set(name, handler) })
  const ctx = { cwd: '/', hasUI, ui: { notify: (text: string) => shown.push(text) } }
  return { shown, call: (type: string, event: object) => handlers.get(type)?.({ type, ...event }, ctx) }
}

async function inCline(answers: Answers) {
  const logged: string[] = []
  const { setup, hooks } = (await plugin(clineCore, answers)).default as {
    setup: (api: object, ctx: object) => void
    hooks: Record<string, Called>
  }
  setup({}, { logger: { log: (text: string) => logged.push(text) } })
  return { logged, call: (hook: string, event: object = {}) => hooks[hook]?.({ snapshot: {}, ...event }) }
}

/** What goes to stderr meanwhile. */
async function stderrOf(run: () => Promise<unknown>): Promise<string> {
  const texts: string[] = []
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => texts.push(String(text)) > 0)
  try {
    await run()
  } finally {
    spy.mockRestore()
  }
  return texts.join('')
}

const SHELL = { tool: 'bash', sessionID: 's', callID: 'c' }

describe('messages to the person', () => {
  const FAILED = { PreToolUse: { message: 'a hook failed' } }

  it('opencode: as a toast, and on stderr', async () => {
    const { toasts, call } = await inOpencode(FAILED)
    const stderr = await stderrOf(async () => call('tool.execute.before', SHELL, { args: { command: 'x' } }))
    expect([toasts, stderr]).toEqual([['a hook failed'], 'Carabiner: a hook failed\n'])
  })

  it('opencode: also a refusal that it cannot obey', async () => {
    const { toasts, call } = await inOpencode({ Stop: { deny: 'not done yet' } })
    await stderrOf(async () => call('event', { event: { type: 'session.idle', properties: {} } }))
    expect(toasts).toEqual(['not done yet'])
  })

  it('pi: on its screen, or on stderr if it has none', async () => {
    const event = { toolName: 'bash', input: { command: 'x' } }
    const screen = await inPi(FAILED)
    expect(await screen.call('tool_call', event)).toBe(undefined)
    expect(screen.shown).toEqual(['a hook failed'])
    const printing = await inPi(FAILED, false)
    expect(await stderrOf(async () => printing.call('tool_call', event))).toBe('Carabiner: a hook failed\n')
  })

  it('pi: a refused prompt in print mode', async () => {
    const { call } = await inPi({ UserPromptSubmit: { deny: 'no secrets' } }, false)
    expect(await stderrOf(async () => call('input', { text: 'x' }))).toBe('Carabiner: no secrets\n')
  })

  it('Cline 3: in its log, and once in the context of the model', async () => {
    const { logged, call } = await inCline({ PreToolUse: { errorMessage: 'a hook failed' } })
    const event = { toolCall: { toolName: 'run_commands' }, input: { commands: ['x'] } }
    expect(await call('beforeTool', event)).toEqual({
      appendContext: 'Tell the user what Carabiner says: a hook failed',
    })
    expect(await call('beforeTool', event)).toEqual({})
    expect(logged).toEqual(['Carabiner: a hook failed', 'Carabiner: a hook failed'])
  })
})

describe('a command that cannot be asked', () => {
  it('refuses where something is about to happen', async () => {
    const { call } = await inPi({ PreToolUse: 'oops' })
    expect(await call('tool_call', { toolName: 'bash', input: {} })).toMatchObject({ block: true })
  })

  it('says so elsewhere, and keeps no agent going', async () => {
    const { shown, call } = await inPi({ Stop: 'oops' })
    expect(await call('agent_end', {})).toBe(undefined)
    expect(shown).toEqual([expect.stringContaining('Carabiner could not be asked')])
  })
})

describe('an output that is not an answer of Carabiner refuses', () => {
  const OUTPUTS = [
    '',
    '[]',
    '{}',
    'null',
    '5',
    '"x"',
    'hello',
    '{"ok":true}',
    '{"decision":"block"}',
    '{"cancel":false}',
  ]

  it.each(OUTPUTS)('%j', async (output) => {
    const answers = { PreToolUse: output }
    const plugged = await inOpencode(answers)
    await expect(plugged.call('tool.execute.before', SHELL, { args: {} })).rejects.toThrow(
      'Carabiner could not be asked',
    )
    const extended = await inPi(answers)
    expect(await extended.call('tool_call', { toolName: 'bash', input: {} })).toMatchObject({ block: true })
    const cline = await inCline(answers)
    expect(await cline.call('beforeTool', { toolCall: {}, input: {} })).toMatchObject({ skip: true })
  })
})

describe('a prompt in opencode', () => {
  const text = (one: string) => ({ type: 'text', text: one })

  it('carries nothing that a hook took out, in any of its parts', async () => {
    const { call } = await inOpencode({ UserPromptSubmit: { prompt: 'hello [redacted]', context: 'note' } })
    const file = { type: 'file', url: 'data:,x' }
    const parts = [text('hello'), file, text('SECRET'), { ...text('SECRET'), synthetic: true }]
    await call('chat.message', { sessionID: 's' }, { message: {}, parts })
    expect(parts).toEqual([text('hello [redacted]\n\nnote'), file])
  })

  it('is refused if a hook changed it, and it has no text to change', async () => {
    const { call } = await inOpencode({ UserPromptSubmit: { prompt: 'x' } })
    await expect(call('chat.message', { sessionID: 's' }, { message: {}, parts: [] })).rejects.toThrow(
      'no text',
    )
  })

  it('says why it is refused, as an error whose message opencode shows', async () => {
    const { call } = await inOpencode({ UserPromptSubmit: { deny: 'no secrets' } })
    const refused = call('chat.message', { sessionID: 's' }, { message: {}, parts: [text('x')] })
    const error = (await Promise.resolve(refused).catch((one: unknown) => one)) as { toObject: () => object }
    expect(error).toMatchObject({ message: 'no secrets' })
    expect(error.toObject()).toEqual({
      name: 'ConfigFrontmatterError',
      data: { path: 'carabiner', message: 'no secrets' },
    })
  })
})
