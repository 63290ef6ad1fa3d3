import {
  askUser,
  buildRegistry,
  createHooks,
  deny,
  globalHooks,
  HookError,
  HookRegistry,
  hook,
  inject,
  modify,
} from 'carabiner'
import type { Data, HookContext, Outcome } from 'carabiner/core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { laneHook, madeHook } from './made-hook.js'

const CALL = { tool_name: 'Bash', tool_input: { command: 'ls' } }
const refused = (code: string, message: string | RegExp) =>
  expect.objectContaining({
    code,
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  })

/** A registry, and the names of its hooks in the order they ran. */
function recording() {
  const registry = new HookRegistry()
  const ran: string[] = []
  const add = (name: string, options: { priority?: number; event?: string } = {}) => {
    const { event = 'PreToolUse', ...rest } = options
    return registry.register(event, () => void ran.push(name), { name, ...rest })
  }
  return { registry, ran, add }
}

describe('register', () => {
  it('adds a hook and returns its unregister, which may be called any number of times', async () => {
    const { registry, ran, add } = recording()
    const off = add('a')
    await registry.emit('PreToolUse', CALL)
    off()
    off()
    await registry.emit('PreToolUse', CALL)
    expect(ran).toEqual(['a'])
  })

  it('runs hooks by priority, then in order of registration', async () => {
    const { registry, ran, add } = recording()
    add('late', { priority: 5 })
    add('first')
    add('early', { priority: -5 })
    add('second')
    await registry.emit('PreToolUse', CALL)
    expect(ran).toEqual(['early', 'first', 'second', 'late'])
  })

  it('is on() under another name', async () => {
    const registry = new HookRegistry()
    const off = registry.on('PreToolUse', () => deny('on'), { priority: 1 })
    registry.register('PreToolUse', () => askUser('register'))
    expect(await registry.emit('PreToolUse', CALL)).toMatchObject({ action: 'deny', reason: 'on' })
    off()
    expect(await registry.emit('PreToolUse', CALL)).toMatchObject({ action: 'ask_user' })
  })

  it('calls hooks of their own event alone, and hooks of * for every event', async () => {
    const { registry, ran, add } = recording()
    add('pre')
    add('stop', { event: 'Stop' })
    add('every', { event: '*' })
    await registry.emit('Stop', {})
    await registry.emit('my:event', {})
    expect(ran).toEqual(['stop', 'every', 'every'])
  })

  it('gives a handler the name it was registered under, frozen data and its context', async () => {
    const registry = new HookRegistry()
    let seen: { event: string; data: object; context: HookContext } | undefined
    registry.register('tool:pre', (event, data, context) => {
      seen = { event, data, context }
    })
    await registry.emit('before_tool', CALL)
    expect(seen?.event).toBe('tool:pre')
    expect(seen?.data).toMatchObject(CALL)
    expect(Object.isFrozen(seen?.data)).toBe(true)
    expect(seen?.context.signal.aborted).toBe(false)
  })

  it.each<[string, object, RegExp]>([
    ['an unknown option', { matchers: 'Bash' }, /unknown option matchers/],
    ['a priority that is no number', { priority: Number.NaN }, /priority must be a number/],
    ['a time-out of 0', { timeout: 0 }, /timeout must be a number of seconds above 0, got 0/],
    ['a time-out in words', { timeout: '60' }, /timeout must be a number of seconds above 0, got "60"/],
    ['an unknown role', { role: 'judge' }, /role must be "intercept" or "approve" or "observe", got "judge"/],
    [
      'an unknown failure policy',
      { onFailure: 'deny' },
      /onFailure must be "block" or "continue", got "deny"/,
    ],
  ])('refuses %s', (_what, options, message) => {
    const registry = new HookRegistry()
    expect(() => registry.register('PreToolUse', () => undefined, options)).toThrow(
      refused('OPTIONS_INVALID', message),
    )
    expect(registry.listHandlers()).toEqual({})
    expect(registry.version).toBe(0)
  })

  it.each([null, undefined, 'function', {}])('refuses %j for a handler', (handler) => {
    expect(() => new HookRegistry().register('PreToolUse', handler as never)).toThrow(
      refused('OPTIONS_INVALID', `The handler of PreToolUse must be a function, got ${typeof handler}`),
    )
  })

  it('refuses an empty event name', () => {
    expect(() => new HookRegistry().register('' as string, () => undefined)).toThrow(
      refused('EVENT_INVALID', /non-empty/),
    )
  })
})

describe('names', () => {
  it('are the option, else the function’s own, else EVENT#n', () => {
    const registry = new HookRegistry()
    function guard() {}
    registry.register('PreToolUse', guard)
    registry.register('PreToolUse', guard, { name: 'other' })
    registry.register('PreToolUse', () => undefined)
    registry.register('PreToolUse', () => undefined)
    registry.register('*', () => undefined)
    expect(registry.listHandlers('PreToolUse')).toEqual({
      PreToolUse: ['guard', 'other', 'PreToolUse#1', 'PreToolUse#2', '*#1'],
    })
  })

  it('are made unique', () => {
    const registry = new HookRegistry()
    const register = (name: string) => registry.register('PreToolUse', () => undefined, { name })
    register('a#1')
    const off = register('a')
    register('a')
    expect(registry.listHandlers('PreToolUse')).toEqual({ PreToolUse: ['a#1', 'a', 'a#2'] })
    off()
    expect(registry.listHandlers('PreToolUse')).toEqual({ PreToolUse: ['a#1', 'a#2'] })
  })

  it('taken again belong to the new hook: an old unregister does not remove it', () => {
    const registry = new HookRegistry()
    const off = registry.register('PreToolUse', () => undefined, { name: 'a' })
    registry.unregister('a')
    registry.register('PreToolUse', () => undefined, { name: 'a' })
    off()
    expect(registry.listHandlers('PreToolUse')).toEqual({ PreToolUse: ['a'] })
  })
})

describe('add and unregister', () => {
  it('add takes a hook made elsewhere, under a free name', async () => {
    const registry = new HookRegistry()
    registry.add(madeHook('a', { run: () => deny('made') }))
    expect(await registry.emit('PreToolUse', CALL)).toMatchObject({ action: 'deny', reason: 'made' })
    expect(() => registry.add(madeHook('a'))).toThrow(
      refused('OPTIONS_INVALID', 'A hook named a is already registered'),
    )
  })

  it('unregister takes a name; an unknown one is no error', () => {
    const { registry, add } = recording()
    add('a')
    add('b')
    registry.unregister('a')
    registry.unregister('nobody')
    expect(registry.listHandlers('PreToolUse')).toEqual({ PreToolUse: ['b'] })
  })
})

describe('listHandlers', () => {
  it('of nothing is empty', () => {
    expect(new HookRegistry().listHandlers()).toEqual({})
    expect(new HookRegistry().listHandlers('tool:pre')).toEqual({ PreToolUse: [] })
  })

  it('lists names in order of execution by canonical event', () => {
    const { registry, add } = recording()
    add('late', { event: 'tool:pre', priority: 1 })
    add('early', { event: 'pre_tool_use' })
    add('stop', { event: 'Stop' })
    expect(registry.listHandlers()).toEqual({ PreToolUse: ['early', 'late'], Stop: ['stop'] })
    expect(registry.listHandlers('hook.before_tool')).toEqual({ PreToolUse: ['early', 'late'] })
  })

  it('lists hooks of every event under * as well, in order of execution', () => {
    const { registry, add } = recording()
    add('late', { event: '*', priority: 1 })
    add('early', { event: '*' })
    add('pre')
    expect(registry.listHandlers()).toEqual({ '*': ['early', 'late'], PreToolUse: ['early', 'pre', 'late'] })
    expect(registry.listHandlers('*')).toEqual({ '*': ['early', 'late'] })
  })

  it('lists approvers and observers after interceptors', () => {
    const registry = new HookRegistry()
    registry.register('PreToolUse', () => undefined, { name: 'watcher', role: 'observe' })
    registry.register('PreToolUse', () => undefined, { name: 'judge', role: 'approve' })
    registry.register('PreToolUse', () => undefined, { name: 'gate' })
    expect(registry.listHandlers('PreToolUse')).toEqual({ PreToolUse: ['gate', 'judge', 'watcher'] })
  })
})

describe('emit', () => {
  it('without hooks answers continue with the data exactly as sent', async () => {
    const registry = new HookRegistry()
    registry.setDefaultFields({ session_id: 's1' })
    expect(await registry.emit('PreToolUse', CALL)).toEqual({
      action: 'continue',
      data: CALL,
      modified: false,
      injections: [],
      messages: [],
      hooks: [],
      diagnostics: [],
    })
  })

  it('threads data from hook to hook', async () => {
    const registry = new HookRegistry()
    const seen: unknown[] = []
    registry.register('PreToolUse', () => modify({ tool_input: { command: 'pwd' }, step: 1 }))
    registry.register('PreToolUse', (_event, data) => {
      seen.push(data.tool_input, data.step)
      return modify({ step: 2 })
    })
    const outcome = await registry.emit('PreToolUse', CALL)
    expect(seen).toEqual([{ command: 'pwd' }, 1])
    expect(outcome).toMatchObject({ modified: true, data: { tool_input: { command: 'pwd' }, step: 2 } })
  })

  it('ends at a deny: later hooks are not called', async () => {
    const { registry, ran, add } = recording()
    add('before')
    registry.register('PreToolUse', () => deny('no'), { priority: 1 })
    add('after', { priority: 2 })
    expect(await registry.emit('PreToolUse', CALL)).toMatchObject({ action: 'deny', reason: 'no' })
    expect(ran).toEqual(['before'])
  })

  it('takes sync and async handlers alike', async () => {
    const registry = new HookRegistry()
    registry.register('PreToolUse', () => inject('sync'))
    registry.register('PreToolUse', async () => inject('async'))
    registry.register('PreToolUse', async () => undefined)
    const { injections } = await registry.emit('PreToolUse', CALL)
    expect(injections.map((one) => one.text)).toEqual(['sync', 'async'])
  })

  it('stamps a time, whatever the caller says', async () => {
    const registry = new HookRegistry()
    registry.register('PreToolUse', () => undefined)
    const { data } = await registry.emit('PreToolUse', {
      ...CALL,
      timestamp: 'forged',
      hook_event_name: 'Stop',
    })
    expect(new Date(String(data.timestamp)).toISOString()).toBe(data.timestamp)
    expect(data.hook_event_name).toBe('PreToolUse')
  })

  it('works on a snapshot: hooks that come or go meanwhile change nothing', async () => {
    const { registry, ran, add } = recording()
    registry.register('PreToolUse', () => {
      add('newcomer')
      registry.unregister('leaver')
    })
    add('leaver')
    await registry.emit('PreToolUse', CALL)
    expect(ran).toEqual(['leaver'])
    await registry.emit('PreToolUse', CALL)
    expect(ran).toEqual(['leaver', 'newcomer'])
  })

  it('rejects when its signal is aborted', async () => {
    const registry = new HookRegistry()
    const controller = new AbortController()
    let signal: AbortSignal | undefined
    registry.register('PreToolUse', (_event, _data, context) => {
      signal = context.signal
      controller.abort(new Error('enough'))
      return new Promise<undefined>(() => {})
    })
    await expect(registry.emit('PreToolUse', CALL, { signal: controller.signal })).rejects.toMatchObject({
      code: 'ABORTED',
      cause: new Error('enough'),
    })
    expect(signal?.aborted).toBe(true)
  })

  it('a mutation in place is the hook’s failure, with what to do instead', async () => {
    const registry = new HookRegistry()
    registry.register(
      'PreToolUse',
      (_event, data) => {
        ;(data as { tool_name: string }).tool_name = 'Edit'
      },
      { name: 'mutator' },
    )
    const outcome = await registry.emit('PreToolUse', CALL)
    expect(outcome).toMatchObject({
      action: 'deny',
      data: CALL,
      hooks: [{ status: 'failed', why: 'HOOK_FAILED' }],
    })
    expect(outcome.hooks[0]?.detail).toContain('mutator must return modify({ … }) to change it.')
  })
})

describe('failure', () => {
  it('says what to do behind what happened, with one mark between them', async () => {
    const detailOf = async (message: string) => {
      const registry = new HookRegistry()
      const fails = () => {
        throw new HookError('HOOK_FAILED', message, { hint: 'Mend it.' })
      }
      registry.register('PreToolUse', fails, { name: 'gate' })
      return (await registry.emit('PreToolUse', CALL)).hooks[0]?.detail
    }
    expect(await detailOf('it broke.')).toBe('it broke. Mend it.')
    expect(await detailOf('it broke')).toBe('it broke. Mend it.')
    expect(await detailOf('no "polcy"; did you mean policy?')).toBe(
      'no "polcy"; did you mean policy? Mend it.',
    )
  })

  const boom = () => {
    throw new Error('boom')
  }

  it.each<[string, object, 'deny' | 'continue']>([
    ['PreToolUse', CALL, 'deny'],
    ['UserPromptSubmit', { prompt: 'hi' }, 'deny'],
    ['PostToolUse', CALL, 'continue'],
    ['Stop', {}, 'continue'],
    ['SessionStart', {}, 'continue'],
    ['my:event', {}, 'continue'],
  ])('on %s goes by the event', async (event, data, action) => {
    const registry = new HookRegistry()
    registry.register(event, boom, { name: 'broken' })
    const outcome = await registry.emit(event, data)
    expect(outcome).toMatchObject({
      action,
      hooks: [{ name: 'broken', status: 'failed', why: 'HOOK_FAILED' }],
      messages: [
        { level: 'warning', source: 'broken', text: expect.stringMatching(/^Hook broken failed; .*boom/) },
      ],
    })
    if (action === 'deny') expect(outcome.reason).toMatch(/^hook crashed \(fail-safe deny\)/)
  })

  it('goes by the registry where the hook does not say', async () => {
    const registry = new HookRegistry({ onFailure: 'continue' })
    const off = registry.register('PreToolUse', boom)
    expect((await registry.emit('PreToolUse', CALL)).action).toBe('continue')
    off()
    registry.register('PreToolUse', boom, { onFailure: 'block' })
    expect((await registry.emit('PreToolUse', CALL)).action).toBe('deny')
  })

  it('of the registry’s option is refused', () => {
    expect(() => new HookRegistry({ onFailure: 'deny' as never })).toThrow(
      refused('OPTIONS_INVALID', 'HookRegistry: onFailure must be "block" or "continue", got "deny"'),
    )
  })

  it('in a notification does not stop the rest', async () => {
    const { registry, ran, add } = recording()
    registry.register('Stop', boom, { priority: -1 })
    add('next', { event: 'Stop' })
    await registry.emit('Stop', {})
    expect(ran).toEqual(['next'])
  })
})

describe('default fields', () => {
  async function seenWith(registry: HookRegistry, data: object): Promise<Data | undefined> {
    let seen: Data | undefined
    registry.register('my:event', (_event, payload) => {
      seen = payload
    })
    await registry.emit('my:event', data)
    return seen
  }

  it('are merged under the data', async () => {
    const registry = new HookRegistry()
    registry.setDefaultFields({ session_id: 's1', parent_id: 'p1' })
    expect(await seenWith(registry, { parent_id: 'p2' })).toMatchObject({ session_id: 's1', parent_id: 'p2' })
  })

  it('replace what was set before', async () => {
    const registry = new HookRegistry()
    registry.setDefaultFields({ a: 1 })
    registry.setDefaultFields({ b: 2 })
    const seen = await seenWith(registry, {})
    expect(seen).toMatchObject({ b: 2 })
    expect(seen).not.toHaveProperty('a')
  })

  it('are a copy', async () => {
    const registry = new HookRegistry()
    const fields = { list: [1] }
    registry.setDefaultFields(fields)
    fields.list.push(2)
    expect(await seenWith(registry, {})).toMatchObject({ list: [1] })
  })
})

describe('emitAndCollect', () => {
  it('asks every hook, whatever the others answer, and returns what data they give', async () => {
    const registry = new HookRegistry()
    registry.register('tool:resolve', () => modify({ tool: 'a' }))
    registry.register('tool:resolve', () => deny('no', { data: { tool: 'b' } }))
    registry.register('tool:resolve', () => undefined)
    registry.register('tool:resolve', async () => modify({ tool: 'c' }), { priority: -1 })
    expect(await registry.emitAndCollect('tool:resolve', {})).toEqual([
      { tool: 'c' },
      { tool: 'a' },
      { tool: 'b' },
    ])
  })

  it('shows every hook the data as sent: no time, no defaults, no changes of others', async () => {
    const registry = new HookRegistry()
    registry.setDefaultFields({ session_id: 's1' })
    const seen: object[] = []
    for (const value of [1, 2]) {
      registry.register('my:event', (_event, data) => {
        seen.push(data)
        return modify({ value })
      })
    }
    await registry.emitAndCollect('my:event', { value: 0 })
    expect(seen).toEqual([{ value: 0 }, { value: 0 }])
  })

  it('without hooks is an empty list', async () => {
    expect(await new HookRegistry().emitAndCollect('my:event', {})).toEqual([])
  })

  it('heeds matchers', async () => {
    const registry = new HookRegistry()
    registry.register('PreToolUse', () => modify({ by: 'bash' }), { matcher: 'Bash' })
    registry.register('PreToolUse', () => modify({ by: 'edit' }), { matcher: 'Edit' })
    expect(await registry.emitAndCollect('PreToolUse', CALL)).toEqual([{ by: 'bash' }])
  })

  it('heeds conditions', async () => {
    const registry = new HookRegistry()
    registry.add(madeHook('never', { condition: () => 'not now', run: () => modify({ by: 'never' }) }))
    registry.add(madeHook('always', { condition: () => true, run: () => modify({ by: 'always' }) }))
    expect(await registry.emitAndCollect('PreToolUse', CALL)).toEqual([{ by: 'always' }])
  })

  it('leaves out a hook that fails, and says so', async () => {
    const registry = new HookRegistry()
    registry.register('my:event', () => Promise.reject(new Error('boom')), { name: 'broken' })
    registry.register('my:event', () => modify({ a: 1 }))
    expect(await registry.emitAndCollect('my:event', {})).toEqual([{ a: 1 }])
    expect(registry.diagnostics).toMatchObject([
      { code: 'late-failed', text: expect.stringMatching(/^broken on my:event: boom/) },
    ])
  })

  it.each([0, -1, Number.NaN])('refuses %d for a time-out', async (timeout) => {
    await expect(new HookRegistry().emitAndCollect('my:event', {}, { timeout })).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
    })
  })
})

describe('time-outs', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  })
  afterEach(() => {
    vi.runAllTimers() // the one for all deadlines would never fire
    vi.useRealTimers()
  })

  const never = () => new Promise<undefined>(() => {})

  /** What a promise settles to when this much time has passed; 'pending' if it has not settled by then. */
  async function passing<T>(ms: number, promise: Promise<T>): Promise<T | 'pending'> {
    let settled: T | 'pending' = 'pending'
    promise.then(
      (value) => {
        settled = value
      },
      () => undefined,
    )
    await vi.advanceTimersByTimeAsync(ms)
    return settled
  }

  it('of a hook fail it', async () => {
    const registry = new HookRegistry()
    registry.register('PreToolUse', never, { name: 'slow', timeout: 0.5 })
    const emitted = registry.emit('PreToolUse', CALL)
    expect(await passing(499, emitted)).toBe('pending')
    expect(await passing(1, emitted)).toMatchObject({
      action: 'deny',
      hooks: [{ name: 'slow', status: 'failed', why: 'HOOK_TIMEOUT' }],
    })
  })

  it('are 60 seconds for a function that does not say', async () => {
    const registry = new HookRegistry()
    registry.register('PreToolUse', never)
    const emitted = registry.emit('PreToolUse', CALL)
    expect(await passing(59_999, emitted)).toBe('pending')
    expect(await passing(1, emitted)).toMatchObject({ action: 'deny' })
  })

  it('of an emit bound all its hooks together', async () => {
    const registry = new HookRegistry()
    registry.register('Stop', never, { name: 'slow' })
    registry.register('Stop', () => undefined, { name: 'next' })
    const emitted = registry.emit('Stop', {}, { timeout: 0.2 })
    expect(await passing(199, emitted)).toBe('pending')
    expect(await passing(1, emitted)).toMatchObject({
      action: 'continue',
      hooks: [
        { name: 'slow', status: 'failed', why: 'HOOK_TIMEOUT' },
        { name: 'next', status: 'failed', why: 'HOOK_TIMEOUT' },
      ],
    })
  })

  it('of an emit bind even a hook that has none of its own', async () => {
    const registry = new HookRegistry()
    registry.register('PreToolUse', never, { timeout: 1e9 })
    const emitted = registry.emit('PreToolUse', CALL, { timeout: 0.2 })
    expect(await passing(200, emitted)).toMatchObject({ action: 'deny', hooks: [{ why: 'HOOK_TIMEOUT' }] })
  })

  it('of emitAndCollect are 1 second per hook', async () => {
    const registry = new HookRegistry()
    registry.register('my:event', never, { name: 'slow' })
    registry.register('my:event', () => modify({ a: 1 }))
    const collected = registry.emitAndCollect('my:event', {})
    expect(await passing(999, collected)).toBe('pending')
    expect(await passing(1, collected)).toEqual([{ a: 1 }])
    expect(registry.diagnostics).toMatchObject([{ code: 'late-failed' }])
  })

  it('of emitAndCollect may be set', async () => {
    const registry = new HookRegistry()
    registry.register('my:event', never)
    expect(await passing(100, registry.emitAndCollect('my:event', {}, { timeout: 0.1 }))).toEqual([])
  })
})

describe('approvers', () => {
  it('see the final call, and all must approve', async () => {
    const registry = new HookRegistry()
    const seen: unknown[] = []
    registry.register('PreToolUse', () => modify({ tool_input: { command: 'pwd' } }))
    for (const name of ['a', 'b']) {
      registry.register(
        'PreToolUse',
        (_event, data) => {
          seen.push(data.tool_input)
          return name === 'b' ? deny('not approved') : undefined
        },
        { name, role: 'approve', priority: -1 },
      )
    }
    expect(await registry.emit('PreToolUse', CALL)).toMatchObject({ action: 'deny', reason: 'not approved' })
    expect(seen).toEqual([{ command: 'pwd' }, { command: 'pwd' }])
  })

  it('are not asked about what is denied already', async () => {
    const registry = new HookRegistry()
    let asked = false
    registry.register('PreToolUse', () => deny('no'))
    registry.register(
      'PreToolUse',
      () => {
        asked = true
      },
      { role: 'approve' },
    )
    await registry.emit('PreToolUse', CALL)
    expect(asked).toBe(false)
  })

  it('may not change the call', async () => {
    const registry = new HookRegistry()
    registry.register('PreToolUse', () => modify({ tool_name: 'Edit' }), { name: 'judge', role: 'approve' })
    const outcome = await registry.emit('PreToolUse', CALL)
    expect(outcome).toMatchObject({ modified: false, data: CALL })
    expect(outcome.diagnostics).toMatchObject([
      { code: 'verdict-ignored', text: expect.stringContaining('judge') },
    ])
  })

  it('that fail block', async () => {
    const registry = new HookRegistry()
    registry.register('PreToolUse', () => Promise.reject(new Error('boom')), { role: 'approve' })
    expect((await registry.emit('PreToolUse', CALL)).action).toBe('deny')
  })
})

describe('observers', () => {
  it('get every event, denied ones too, with the outcome', async () => {
    const registry = new HookRegistry()
    registry.register('PreToolUse', () => deny('no'))
    const observed = new Promise<Outcome | undefined>((resolve) => {
      registry.register('PreToolUse', (_event, _data, { outcome }) => resolve(outcome), {
        name: 'watcher',
        role: 'observe',
      })
    })
    const outcome = await registry.emit('PreToolUse', CALL)
    expect(await observed).toMatchObject({ action: 'deny', reason: 'no' })
    expect(outcome.hooks).toMatchObject([{ status: 'ran' }, { name: 'watcher', status: 'detached' }])
  })

  it('hold nobody up and decide nothing', async () => {
    const registry = new HookRegistry()
    registry.register('PreToolUse', () => new Promise<undefined>(() => {}), { role: 'observe', timeout: 1 })
    registry.register('PreToolUse', () => deny('ignored'), { role: 'observe' })
    expect((await registry.emit('PreToolUse', CALL)).action).toBe('continue')
  })

  it('that fail are in the diagnostics of the registry', async () => {
    const registry = new HookRegistry()
    registry.register('Stop', () => Promise.reject(new Error('boom')), { name: 'watcher', role: 'observe' })
    await registry.emit('Stop', {})
    await vi.waitFor(() => expect(registry.diagnostics).toHaveLength(1))
    expect(registry.diagnostics).toMatchObject([
      { code: 'late-failed', text: expect.stringMatching(/^watcher on Stop: boom/) },
    ])
  })
})

describe('detached hooks', () => {
  it('hold nobody up; their verdict does not count', async () => {
    const registry = new HookRegistry()
    const ran = new Promise<string>((resolve) => {
      registry.add(
        laneHook('aside', {
          detached: true,
          run: () => {
            resolve('ran')
            return deny('too late')
          },
        }),
      )
    })
    const outcome = await registry.emit('PreToolUse', CALL)
    expect(outcome).toMatchObject({ action: 'continue', hooks: [{ name: 'aside', status: 'detached' }] })
    expect(await ran).toBe('ran')
  })
})

describe('the reload bus', () => {
  it('counts and tells every change', () => {
    const registry = new HookRegistry()
    const versions: number[] = []
    const stop = registry.subscribe((version) => versions.push(version))
    expect(registry.version).toBe(0)
    const off = registry.register('Stop', () => undefined)
    registry.add(madeHook('a'))
    off()
    expect(versions).toEqual([1, 2, 3])
    stop()
    registry.unregister('a')
    expect(versions).toEqual([1, 2, 3])
    expect(registry.version).toBe(4)
  })

  it('ends a subscription with its signal', () => {
    const registry = new HookRegistry()
    const versions: number[] = []
    const controller = new AbortController()
    registry.subscribe((version) => versions.push(version), controller.signal)
    registry.add(madeHook('a'))
    controller.abort()
    registry.add(madeHook('b'))
    expect(versions).toEqual([1])
  })

  it('reports a subscriber that throws', () => {
    const registry = new HookRegistry()
    registry.subscribe(() => {
      throw new Error('boom')
    })
    registry.add(madeHook('a'))
    expect(registry.diagnostics).toMatchObject([{ code: 'subscriber-failed' }])
    expect(registry.listHandlers('PreToolUse')).toEqual({ PreToolUse: ['a'] })
  })
})

describe('snapshot', () => {
  it('is what is there now, and stays so', () => {
    const registry = new HookRegistry()
    registry.add(madeHook('a'))
    const before = registry.snapshot()
    expect(registry.snapshot()).toBe(before)
    registry.add(madeHook('b'))
    expect(before.all().map((one) => one.name)).toEqual(['a'])
    expect(
      registry
        .snapshot()
        .all()
        .map((one) => one.name),
    ).toEqual(['a', 'b'])
  })
})

describe('BeamAgent’s hook values', () => {
  it.each<[unknown, object]>([
    ['ok', { action: 'continue', modified: false }],
    [undefined, { action: 'continue', modified: false }],
    [['ok', { tool_name: 'Edit' }], { action: 'deny', hooks: [{ why: 'ANSWER_INVALID' }] }],
    [['deny', 'no'], { action: 'deny', reason: 'no' }],
    [['ask', 'sure?'], { action: 'ask_user', reason: 'sure?' }],
    [
      { action: 'deny', reason: 'no' },
      { action: 'deny', reason: 'no' },
    ],
  ])('answer %j', async (answer, expected) => {
    for (const value of [answer, Promise.resolve(answer)]) {
      const registry = buildRegistry([hook('pre_tool_use', () => value as 'ok')])
      expect(await registry?.emit('PreToolUse', CALL)).toMatchObject(expected)
    }
  })

  it.each([[['deny', 5]], [['deny']], [['ok', 'text']], [['maybe', 'x']], ['fine'], [null], [[]]])(
    'that answer %j have failed',
    async (answer) => {
      const registry = buildRegistry([hook('pre_tool_use', () => answer as never)])
      expect(await registry?.emit('PreToolUse', CALL)).toMatchObject({
        action: 'deny',
        hooks: [{ status: 'failed', why: 'ANSWER_INVALID' }],
      })
    },
  )

  it('get the context with its event, frozen', async () => {
    let seen: Record<string, unknown> = {}
    const registry = buildRegistry([
      hook('PreToolUse', (context) => {
        seen = context
        return ['ok', context]
      }),
    ])
    expect(await registry?.emit('PreToolUse', CALL)).toMatchObject({ modified: false, diagnostics: [] })
    expect(seen).toMatchObject({ ...CALL, event: 'pre_tool_use' })
    expect(Object.isFrozen(seen)).toBe(true)
  })

  it('are values: frozen, and without a matcher where none was given', () => {
    const def = hook('Stop', () => 'ok')
    expect(Object.isFrozen(def)).toBe(true)
    expect(def).not.toHaveProperty('matcher')
    expect(hook('PreToolUse', () => 'ok', { tool_name: 'Bash' }).matcher).toEqual({ tool_name: 'Bash' })
  })

  it('are registered in order, and unregistered by value', async () => {
    const ran: string[] = []
    const def = hook('Stop', () => {
      ran.push('value')
      return 'ok'
    })
    const registry = new HookRegistry()
    registry.registerHooks([def, hook('Stop', () => void ran.push('other')), def])
    await registry.emit('Stop', {})
    expect(ran).toEqual(['value', 'other', 'value'])
    registry.unregister(def)
    registry.unregister(def)
    await registry.emit('Stop', {})
    expect(ran).toEqual(['value', 'other', 'value', 'other'])
  })

  it('are taken away together by what registerHooks returns', () => {
    const registry = new HookRegistry()
    registry.register('Stop', () => undefined, { name: 'kept' })
    const off = registry.registerHooks([hook('Stop', () => 'ok'), hook('PreToolUse', () => 'ok')])
    off()
    off()
    expect(registry.listHandlers()).toEqual({ Stop: ['kept'] })
  })

  it('are registered all or none', () => {
    const registry = new HookRegistry()
    const broken = { event: 'Stop', callback: () => 'ok' as const, matcher: '(' }
    expect(() => registry.registerHooks([hook('Stop', () => 'ok'), broken])).toThrow(
      refused('MATCHER_INVALID', /./),
    )
    expect(registry.listHandlers()).toEqual({})
  })

  it.each([[[]], [null], [undefined]])('buildRegistry(%j) is undefined', (defs) => {
    expect(buildRegistry(defs)).toBeUndefined()
  })
})

describe('globalHooks', () => {
  it('run before a session’s own hooks of the same priority, unless the host opts out', async () => {
    const ran: string[] = []
    const off = globalHooks.register('Stop', () => void ran.push('global'), { name: 'global of this test' })
    try {
      const hooks = await createHooks()
      hooks.register('Stop', () => void ran.push('early'), { priority: -1 })
      hooks.register('Stop', () => void ran.push('host'))
      const session = hooks.session()
      session.register('Stop', () => void ran.push('session'))
      await session.fire('Stop')
      expect(ran).toEqual(['early', 'global', 'host', 'session'])
      const isolated = await createHooks({ globals: false })
      await isolated.session().fire('Stop')
      expect(ran).toEqual(['early', 'global', 'host', 'session'])
    } finally {
      off()
    }
  })

  it('reach sessions that are open already', async () => {
    const globals = new HookRegistry({ scope: 'global' })
    const session = (await createHooks({ globals })).session()
    expect((await session.fire('PreToolUse', CALL)).action).toBe('continue')
    globals.register('PreToolUse', () => deny('now'))
    expect((await session.fire('PreToolUse', CALL)).action).toBe('deny')
  })
})
