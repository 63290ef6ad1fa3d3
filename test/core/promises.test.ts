// Ways in which a silent allow, a lost deny or a hang was once possible: none of them may come back.

import {
  createHooks,
  deny,
  HookRegistry,
  type HooksOptions,
  hook,
  inject,
  modify,
  type Outcome,
  proceed,
  respond,
} from 'carabiner'
import { describe, expect, it, vi } from 'vitest'
import { madeHook } from './made-hook.js'

const BASH = { tool_name: 'Bash', tool_input: { command: 'rm -rf /' } }
const CALL = { name: 'Bash', input: { command: 'rm -rf /' } }
const isolated = (options: HooksOptions = {}) => createHooks({ globals: false, ...options })

describe('a deny is not lost', () => {
  it('in a thenable whose then returns nothing, behind a hook value', async () => {
    const hooks = await isolated()
    const thenable = {
      // biome-ignore lint/suspicious/noThenProperty: a thenable is what is under test
      then: (resolve: (answer: unknown) => void) => {
        resolve(['deny', 'no'])
      },
    }
    hooks.registerHooks([hook('pre_tool_use', () => thenable as never)])
    expect(await hooks.session().fire('PreToolUse', BASH)).toMatchObject({ action: 'deny', reason: 'no' })
  })

  it('to an observer that writes on the outcome', async () => {
    const hooks = await isolated()
    hooks.register('PreToolUse', () => deny('no'))
    hooks.register(
      '*',
      (_event, _data, { outcome }) => {
        ;(outcome as { action: string }).action = 'continue'
      },
      { role: 'observe', name: 'vandal' },
    )
    const run = vi.fn()
    expect((await hooks.session().callTool(CALL, run)).status).toBe('denied')
    expect(run).not.toHaveBeenCalled()
    await hooks.close()
    expect(hooks.diagnostics).toMatchObject([{ code: 'late-failed' }])
  })

  it.each<[string, () => unknown]>([
    ['false', () => false],
    ['nothing', () => undefined],
    ['null', () => null],
    ['a word', () => 'no'],
    ['an empty object', () => ({})],
    ['a promise', async () => true],
    ['a promise that rejects', () => Promise.reject(new Error('down'))],
  ])('to an admit that answers %s', async (_what, admit) => {
    const hooks = await isolated({ admit: admit as () => true })
    hooks.register('PreToolUse', () => deny('no'), { name: 'gate' })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome.action).toBe('deny')
    expect(outcome.hooks).toMatchObject([{ name: 'gate', status: 'failed', why: 'OPTIONS_INVALID' }])
  })

  it('to a tool that hooks renamed, unless the host runs what they chose', async () => {
    const hooks = await isolated()
    hooks.register('PreToolUse', () => modify({ tool_name: 'Echo' }), { priority: -1 })
    hooks.register('PreToolUse', () => deny('no shell'), { matcher: 'Bash' })
    const run = vi.fn((_input: unknown, { name }: { name: string }) => name)
    const session = hooks.session()
    expect(await session.callTool(CALL, run)).toMatchObject({
      status: 'denied',
      reason: /renamed Bash to Echo/,
    })
    expect(run).not.toHaveBeenCalled()
    expect(await session.callTool(CALL, run, { renames: true })).toMatchObject({
      status: 'ok',
      result: 'Echo',
    })
  })

  it('in an answer that gives a reason and no action', async () => {
    const hooks = await isolated()
    hooks.register('PreToolUse', () => ({ reason: 'forbidden' }) as never, { name: 'gate' })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', hooks: [{ why: 'ANSWER_INVALID' }] })
  })
})

describe('nothing is allowed in silence', () => {
  it.each(['PreTooluse', 'pre-tool-use', 'PRE_TOOL_USE', 'PreTolUse', 'PerToolUse', 'tool:prre'])(
    'G6: by the misspelt event %s',
    async (event) => {
      const hooks = await isolated()
      hooks.register('PreToolUse', () => deny('no'))
      const registry = new HookRegistry()
      const slip = {
        code: 'EVENT_INVALID',
        message: expect.stringContaining('did you mean PreToolUse?'),
        hint: expect.stringContaining('{ custom: true }'),
      }
      const session = hooks.session()
      await expect(session.fire(event, BASH)).rejects.toMatchObject(slip)
      await expect(registry.emit(event, BASH)).rejects.toMatchObject(slip)
      await expect(registry.emitAndCollect(event, BASH)).rejects.toMatchObject(slip)
      expect(() => hooks.register(event, () => undefined)).toThrow(expect.objectContaining(slip))
      expect(() => session.register(event, () => undefined)).toThrow(expect.objectContaining(slip))
      expect((await session.fire(event, BASH, { custom: true })).action).toBe('continue')
      expect((await registry.emit(event, BASH, { custom: true })).action).toBe('continue')
      expect(hooks.diagnostics).toEqual([])
    },
  )

  it('G6: by an unknown event: hooks.diagnostics lists it once, unless it is meant', async () => {
    const hooks = await isolated()
    hooks.register('my:hook', () => undefined, { name: 'mine' })
    hooks.register('my:meant', () => undefined, { custom: true })
    hooks.register('my:notice', () => undefined, { role: 'observe' })
    const session = hooks.session()
    for (const event of ['my:event', 'my:event', 'my:hook', 'my:meant']) await session.fire(event, {})
    await session.fire('my:other', {}, { custom: true })
    session.notify('my:notice')
    await session.close()
    expect(hooks.diagnostics).toEqual([
      { code: 'custom-event', text: expect.stringMatching(/^mine is registered on "my:hook"/) },
      { code: 'custom-event', text: expect.stringMatching(/^the host fired "my:event"/) },
    ])
  })

  it('by a name that looks like an event: the diagnostic names the event, and people are told', async () => {
    const shown: string[] = []
    const hooks = await isolated({ display: ({ text }) => shown.push(text) })
    hooks.register('PreTool' as string, () => undefined, { name: 'gate' })
    hooks.register('PostTool', () => undefined, { custom: true })
    const text = expect.stringMatching(/^gate is registered on "PreTool", .*; did you mean PreToolUse\? /)
    expect(hooks.diagnostics).toEqual([{ code: 'custom-event', text, meant: 'PreToolUse' }])
    expect(shown).toEqual([text])
  })

  it.each<[string, unknown]>([
    ['a RegExp', /^Read$/],
    ['a Map', new Map()],
    ['a misspelt key', { toolName: 'Read' }],
  ])('by %s as a matcher', async (_what, matcher) => {
    const hooks = await isolated()
    const register = () => hooks.register('PreToolUse', () => undefined, { matcher: matcher as string })
    expect(register).toThrow(expect.objectContaining({ code: 'MATCHER_INVALID' }))
  })

  it.each<[string, unknown]>([
    ['data that is no object', { option: 'Allow', data: 'rm' }],
    ['a misspelt edit', { option: 'Allow', tool_input: { command: 'ls' } }],
  ])('by a reply with %s', async (_what, reply) => {
    const hooks = await isolated({ approver: () => reply as string })
    hooks.register('PreToolUse', () => ({ action: 'ask_user' }))
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome.action).toBe('deny')
    expect(outcome.diagnostics).toMatchObject([{ code: 'host-failed' }])
  })

  it('by a change of a field that is spelt otherwise', async () => {
    const hooks = await isolated()
    hooks.register('PreToolUse', () => modify({ toolInput: { command: 'ls' } }))
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', reason: /did you mean tool_input\?/ })
  })

  it('by a hook with once that failed: it is still due', async () => {
    const hooks = await isolated()
    hooks.register(
      'PreToolUse',
      () => {
        throw new Error('broken')
      },
      { once: true },
    )
    const session = hooks.session()
    for (const _ of [1, 2]) expect((await session.fire('PreToolUse', BASH)).action).toBe('deny')
  })

  it('by an answer that came after the deadline, though the timer could not run', async () => {
    const hooks = await isolated()
    const busy = async () => {
      for (const end = performance.now() + 60; performance.now() < end; ) await null
    }
    hooks.register('PreToolUse', busy, { timeout: 0.02, name: 'busy' })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', hooks: [{ name: 'busy', why: 'HOOK_TIMEOUT' }] })
  })

  it('by a session of another name: state and grants are its own', async () => {
    const hooks = await isolated({ approver: () => 'Allow always' })
    const cwdChanger = () => modify({ cwd: '/elsewhere' })
    hooks.register('PreToolUse', cwdChanger, { name: 'mover', priority: -1 })
    hooks.register('PreToolUse', () => ({ action: 'ask_user', approvalOptions: ['Allow always', 'Deny'] }), {
      name: 'asks',
    })
    await hooks.session({ cwd: '/trusted' }).fire('PreToolUse', BASH)
    expect(await hooks.grants()).toMatchObject([{ cwd: '/trusted' }])
  })
})

describe('nothing hangs', () => {
  it.each(['tool', 'model', 'stream'])('on a %s that ignores an aborted signal', async (what) => {
    vi.useFakeTimers()
    try {
      const session = (await isolated()).session()
      const controller = new AbortController()
      const { signal } = controller
      const never = () => new Promise<never>(() => {})
      const request = { model: 'm', messages: [] }
      const call = {
        tool: () => session.callTool(CALL, never, { signal }),
        model: () => session.callModel(request, never, { signal }),
        stream: () =>
          session.callModel<unknown, string>(
            request,
            async function* () {
              yield 'a'
              await never()
            },
            { signal },
          ),
      }[what] as () => Promise<unknown>
      const settled = expect(call()).rejects.toMatchObject({ code: 'ABORTED' })
      await vi.advanceTimersByTimeAsync(1)
      controller.abort()
      await vi.advanceTimersByTimeAsync(5000)
      await settled
    } finally {
      vi.runAllTimers() // the one for all deadlines would never fire
      vi.useRealTimers()
    }
  })

  it('on a list with a hundred million holes', async () => {
    const holes: unknown[] = []
    holes.length = 1e8
    const fired = (await isolated()).session().fire('my:event', { holes })
    expect((await fired).action).toBe('continue')
    const hooks = await isolated()
    hooks.register('my:event', () => undefined)
    await expect(hooks.session().fire('my:event', { holes })).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
    })
  })

  it('and eleven calls share one signal without a warning', async () => {
    const warned = vi.fn()
    process.on('warning', warned)
    const session = (await isolated()).session()
    session.register('PreToolUse', async () => undefined)
    const { signal } = new AbortController()
    await Promise.all(Array.from({ length: 30 }, () => session.callTool(CALL, () => 'ran', { signal })))
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', warned)
    expect(warned).not.toHaveBeenCalled()
  })
})

describe('effects are not lost in a session', () => {
  const texts = (outcome: Outcome) => outcome.injections.map(({ text }) => text)

  it('when a person edits the call', async () => {
    const reply = { option: 'Allow', data: { tool_input: { command: 'ls' }, session_id: 'other' } }
    const hooks = await isolated({ approver: () => reply })
    const seen: unknown[] = []
    const asks = { action: 'ask_user', contextInjection: 'asked', userMessage: 'please look' } as const
    hooks.register('PreToolUse', () => asks, { once: true, name: 'asks' })
    hooks.register('PreToolUse', (_, { tool_input }) => void seen.push(tool_input.command), { once: true })
    hooks.register('PreToolUse', () => inject('only for rm'), {
      name: 'rm-only',
      priority: 5,
      matcher: 'Bash',
    })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome.action).toBe('continue')
    expect(seen).toEqual(['rm -rf /', 'ls'])
    expect(texts(outcome)).toEqual(['asked', 'only for rm'])
    expect(outcome.diagnostics.map(({ code }) => code)).toContain('owned-field')
  })

  it('but those of a prompt go with it when the person refuses it', async () => {
    const hooks = await isolated({ approver: () => 'Deny' })
    hooks.register('UserPromptSubmit', () => ({ action: 'ask_user', contextInjection: 'more' }))
    const outcome = await hooks.session().fire('UserPromptSubmit', { prompt: 'hello' })
    expect([outcome.action, texts(outcome)]).toEqual(['deny', []])
  })

  it('where the host has no context: the next model call carries what callTool brought', async () => {
    const session = (await isolated()).session()
    session.register('PostToolUse', () => deny('the output holds a secret'), { name: 'scan' })
    await session.callTool(CALL, () => 'sk-123')
    const sent: unknown[] = []
    const run = ({ messages }: { readonly messages: readonly unknown[] }) => {
      sent.push(JSON.stringify(messages))
      return 'ok'
    }
    await session.callModel({ model: 'm', messages: [] }, run)
    await session.callModel({ model: 'm', messages: [] }, run)
    expect(sent[0]).toContain('the output holds a secret')
    expect(sent[1]).toBe('[]')
  })
})

describe('an outcome is plain JSON', () => {
  it.each([
    ['a bigint', 10n],
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
  ])('%s is no response', async (_what, response) => {
    const hooks = await isolated()
    hooks.register('PreToolUse', () => respond(response))
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome).toMatchObject({ action: 'deny', hooks: [{ why: 'ANSWER_INVALID' }] })
    expect(() => JSON.stringify(outcome)).not.toThrow()
  })

  it('and one field under two names has one value', async () => {
    const hooks = await isolated()
    hooks.register('PostToolUse', () => modify({ tool_response: 'a', tool_result: 'b' }), { name: 'two' })
    const outcome = await hooks.session().fire('PostToolUse', { ...BASH, tool_response: 'ok' })
    expect(outcome.hooks).toMatchObject([{ name: 'two', status: 'failed', why: 'ANSWER_INVALID' }])
    expect(outcome.data).toMatchObject({ tool_response: 'ok', tool_result: 'ok' })
  })
})

describe('hooks never make it reject', () => {
  const throwing = () => {
    throw new Error('bad rule')
  }

  it.each(['intercept', 'approve', 'observe'] as const)('with a condition that throws (%s)', async (role) => {
    const registry = new HookRegistry()
    registry.register('PreToolUse', () => modify({ tool_input: { command: 'ls' } }))
    registry.add(madeHook('odd', { role, condition: throwing, priority: 1 }))
    const outcome = await registry.emit('PreToolUse', BASH)
    expect(outcome.action).toBe(role === 'observe' ? 'continue' : 'deny')
    expect(await registry.emitAndCollect('PreToolUse', BASH)).toEqual([{ tool_input: { command: 'ls' } }])
  })

  it.each<[string, () => number]>([
    ['throws', throwing],
    ['is out of range', () => 1e20],
    ['gives no number', () => Number.NaN],
  ])('with a clock that %s', async (_what, clock) => {
    const hooks = await isolated({ clock })
    hooks.register('PreToolUse', () => proceed())
    expect((await hooks.session().fire('PreToolUse', BASH)).action).toBe('continue')
  })
})
