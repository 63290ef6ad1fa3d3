// Handlers ported from Amplifier and BeamAgent meet the names and values that they know.

import { createHooks, type Data, deny, globalHooks, globalRegistry, HookRegistry, hook } from 'carabiner'
import { describe, expect, test } from 'vitest'

const BASH = { tool_name: 'Bash', tool_input: { command: 'ls' }, note: 'secret', cwd: '/' }

describe('S1: a handler gets the name under which it was registered', () => {
  test.each(['tool:pre', 'PreToolUse', 'pre_tool_use', 'preToolUse', 'hook.before_tool'])(
    '%s',
    async (name) => {
      const hooks = await createHooks({ globals: false })
      hooks.register(name, (event) => (event === name ? deny('as in Amplifier') : undefined))
      for (const fired of ['PreToolUse', 'tool:pre', 'pre_tool_use']) {
        expect(await hooks.session().fire(fired, BASH)).toMatchObject({
          action: 'deny',
          reason: 'as in Amplifier',
        })
      }
    },
  )

  test('for * it is the canonical one, and so is hook_event_name in any case', async () => {
    const registry = new HookRegistry()
    const seen: unknown[] = []
    registry.register('*', (event, data) => void seen.push(event, data.hook_event_name))
    registry.register('tool:pre', (event, data) => void seen.push(event, data.hook_event_name))
    await registry.emit('tool:pre', BASH)
    expect(seen).toEqual(['PreToolUse', 'PreToolUse', 'tool:pre', 'PreToolUse'])
  })

  test('a hook value gets BeamAgent’s name of a canonical one', async () => {
    const registry = new HookRegistry()
    const seen: string[] = []
    const note = ({ event }: { readonly event: string }) => {
      seen.push(event)
      return 'ok' as const
    }
    registry.registerHooks([hook('PreToolUse', note), hook('pre_tool_use', note), hook('tool:pre', note)])
    await registry.emit('PreToolUse', BASH)
    expect(seen).toEqual(['pre_tool_use', 'pre_tool_use', 'tool:pre'])
  })
})

describe('S3: ["ok", context] replaces the data whole', () => {
  async function fired(change: (context: Data) => object, event = 'PreToolUse', data: object = BASH) {
    const hooks = await createHooks({ globals: false })
    const callback = (context: object) => ['ok', change(context as Data)] as const
    const session = hooks.session({ hooks: [hook(event, callback)] })
    return session.fire(event, data)
  }

  test('a sanitiser that drops a key', async () => {
    const outcome = await fired(({ note: _, ...rest }) => rest)
    expect(outcome).toMatchObject({ action: 'continue', modified: true })
    expect(outcome.data).not.toHaveProperty('note')
    expect(outcome.hooks).toMatchObject([
      { changed: ['note'], changes: [{ path: 'note', before: 'secret' }] },
    ])
  })

  test('a key with the value undefined is dropped, too', async () => {
    expect((await fired((context) => ({ ...context, note: undefined }))).data).not.toHaveProperty('note')
  })

  test('what it changes and adds counts', async () => {
    const { data } = await fired(({ note: _, ...rest }) => ({
      ...rest,
      tool_input: { command: 'pwd' },
      more: 1,
    }))
    expect(data).toMatchObject({
      tool_input: { command: 'pwd' },
      more: 1,
      cwd: '/',
      hook_event_name: 'PreToolUse',
    })
  })

  test('the same context changes nothing', async () => {
    expect(await fired((context) => context)).toMatchObject({ modified: false, diagnostics: [] })
    expect(await fired((context) => ({ ...context }))).toMatchObject({ modified: false })
  })

  test.each(['tool_name', 'tool_input', 'session_id', 'timestamp', 'hook_event_name'])(
    'without %s it is the failure of that hook',
    async (key) => {
      const outcome = await fired((context) => ({ ...context, [key]: undefined }))
      expect(outcome).toMatchObject({ action: 'deny', hooks: [{ status: 'failed', why: 'ANSWER_INVALID' }] })
      expect(outcome.reason).toContain(`the context lacks ${key}`)
      expect(outcome.data).toHaveProperty(key)
    },
  )

  test('one of two names of a field is enough; without both it is gone', async () => {
    const done = { tool_name: 'Bash', tool_input: {}, tool_response: 'secret' }
    const one = await fired(({ tool_result: _, ...rest }) => rest, 'PostToolUse', done)
    expect(one.data).toMatchObject({ tool_response: 'secret', tool_result: 'secret' })
    const none = await fired(({ tool_result: _, tool_response: __, ...rest }) => rest, 'PostToolUse', done)
    expect(none.data).not.toHaveProperty('tool_response')
    expect(none.data).not.toHaveProperty('tool_result')
    expect(none.hooks).toMatchObject([{ changed: ['tool_response'] }])
  })

  test('what instructs the model stays', async () => {
    const request = { model: 'm', messages: [], system: 'be kind', options: { system: 'a', seed: 1 } }
    const change = ({ system: _, options: __, ...rest }: Data) => rest
    const outcome = await fired(change, 'ModelRequest', request)
    expect(outcome.data).toMatchObject({ system: 'be kind', options: { system: 'a' } })
    expect(outcome.diagnostics.map(({ code }) => code)).toContain('system-message-reverted')
  })

  test('callModel makes the call without a field that was dropped', async () => {
    const hooks = await createHooks({ globals: false })
    const drop = hook('ModelRequest', (context) => {
      const { user: _, ...rest } = context as Data
      return ['ok', rest]
    })
    let got: object = {}
    await hooks.session({ hooks: [drop] }).callModel({ model: 'm', messages: [], user: 'me' }, (request) => {
      got = request
      return 'answer'
    })
    expect(got).not.toHaveProperty('user')
  })
})

describe('S4: globalRegistry() lists the definitions of hooks by event', () => {
  test('empty where there are none, and values as they were given', () => {
    expect(globalRegistry()).toEqual({})
    const first = hook('pre_tool_use', () => 'ok', { tool_name: 'Bash' })
    const second = hook('session_start', () => 'ok')
    const off = globalHooks.registerHooks([first, second])
    try {
      expect(globalRegistry().PreToolUse?.[0]).toBe(first)
      expect(globalRegistry()).toEqual({ PreToolUse: [first], SessionStart: [second] })
    } finally {
      off()
    }
    expect(globalRegistry()).toEqual({})
  })

  test('a handler is listed as a value that does the same, in order of execution', async () => {
    const registry = new HookRegistry()
    registry.register('tool:pre', () => deny('second'), { name: 'b', matcher: 'Bash', priority: 2 })
    registry.register('tool:pre', (event) => deny(`first on ${event}`), { name: 'a' })
    const { PreToolUse: defs = [] } = registry.definitions()
    expect(defs.map(({ event, matcher }) => [event, matcher])).toEqual([
      ['PreToolUse', undefined],
      ['PreToolUse', 'Bash'],
    ])
    const copied = new HookRegistry()
    copied.registerHooks(defs)
    expect(await copied.emit('PreToolUse', BASH)).toMatchObject({
      action: 'deny',
      reason: 'first on tool:pre',
    })
  })
})
