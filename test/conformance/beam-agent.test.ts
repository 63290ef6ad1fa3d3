// BeamAgent.Hooks: every behaviour its own tests show. A comment that begins with "≠" marks a rule of ours that differs
// from upstream on purpose, and says what upstream does.

import {
  buildRegistry,
  type Callback,
  createHooks,
  type EventName,
  globalHooks,
  type HookDef,
  HookRegistry,
  hook,
  type Outcome,
} from 'carabiner'
import { globalHooks as coreGlobalHooks, resolveEvent } from 'carabiner/core'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { runs } from '../property/runs.js'

const CALL = { tool_name: 'Bash', tool_input: { command: 'ls' } }

/** The events of upstream, each with the least it must carry here. */
const BLOCKING = {
  pre_tool_use: CALL,
  user_prompt_submit: { prompt: 'hello' },
  permission_request: CALL,
  subagent_start: { agent_id: 'agent-1' },
  pre_compact: {},
  config_change: {},
} as const
const NOTIFYING = {
  post_tool_use: CALL,
  post_tool_use_failure: CALL,
  stop: {},
  session_start: {},
  session_end: {},
  subagent_stop: { agent_id: 'agent-1' },
  notification: {},
  task_completed: {},
  teammate_idle: {},
} as const
const EVENTS = { ...BLOCKING, ...NOTIFYING }
type Event = keyof typeof EVENTS
const names = <T extends object>(table: T) => Object.keys(table) as (keyof T & Event)[]

const ok = () => 'ok' as const
const denying = (reason: string) => () => ['deny', reason] as const
const asking = (reason: string) => () => ['ask', reason] as const
const crashing = () => {
  throw new Error('kaboom')
}
/** A callback that answers what no typed callback may. */
const answering = (value: unknown) => () => value as 'ok'
/** A callback that adds its mark to the trail in the context. */
const marking =
  (mark: string): Callback =>
  (ctx) => ['ok', { ...ctx, trail: [...((ctx.trail as string[] | undefined) ?? []), mark] }]

/** Upstream's fire/3: these hooks, this event. */
function fire(event: string, ctx: object, ...defs: readonly HookDef[]): Promise<Outcome> {
  const registry = new HookRegistry()
  registry.registerHooks(defs)
  return registry.emit(event, ctx)
}

function codes({ diagnostics }: Outcome): readonly string[] {
  return diagnostics.map((d) => d.code)
}

describe('hook values', () => {
  it('a hook without a matcher has no matcher key', () => {
    const def = hook('pre_tool_use', ok)
    expect(def).toEqual({ event: 'pre_tool_use', callback: ok })
    expect(def).not.toHaveProperty('matcher')
  })

  it('a hook with a matcher stores it', () => {
    const matcher = { tool_name: 'Bash' }
    expect(hook('pre_tool_use', ok, matcher)).toEqual({ event: 'pre_tool_use', callback: ok, matcher })
  })

  it('an invalid pattern throws when the hook is made', () => {
    expect(() => hook('pre_tool_use', ok, { tool_name: '(' })).toThrow(
      expect.objectContaining({ code: 'MATCHER_INVALID' }),
    )
  })

  it.each(names(EVENTS))('the event %s is accepted', async (event) => {
    const callback = vi.fn(ok)
    const outcome = await fire(event, EVENTS[event], hook(event, callback))
    expect(resolveEvent(event).custom).toBe(false)
    expect(callback).toHaveBeenCalledTimes(1)
    expect(outcome.action).toBe('continue')
  })
})

describe('registry', () => {
  it('a new one is empty', () => {
    expect(new HookRegistry().listHandlers()).toEqual({})
  })

  it('a hook is registered under its event', () => {
    const registry = new HookRegistry()
    registry.registerHooks([hook('pre_tool_use', ok)])
    expect(registry.listHandlers()).toEqual({ PreToolUse: ['ok'] })
    expect(registry.listHandlers('stop')).toEqual({ Stop: [] })
  })

  it('several hooks are registered, of one event and of several', () => {
    const registry = new HookRegistry()
    registry.registerHooks([hook('pre_tool_use', ok), hook('stop', ok), hook('pre_tool_use', ok)])
    const handlers = registry.listHandlers()
    expect(Object.keys(handlers)).toEqual(['PreToolUse', 'Stop'])
    expect(handlers.PreToolUse).toHaveLength(2)
    expect(handlers.Stop).toHaveLength(1)
  })

  it('the order of registration is kept when firing', async () => {
    const registry = new HookRegistry()
    for (const mark of ['first', 'second', 'third']) {
      registry.registerHooks([hook('pre_tool_use', marking(mark))])
    }
    const { data } = await registry.emit('pre_tool_use', CALL)
    expect(data.trail).toEqual(['first', 'second', 'third'])
  })
})

describe('firing where nobody listens', () => {
  it('an empty registry returns the context unchanged', async () => {
    const outcome = await new HookRegistry().emit('pre_tool_use', CALL)
    expect(outcome).toMatchObject({ action: 'continue', modified: false })
    expect(outcome.data).toEqual(CALL)
  })

  it('no registry at all returns the context unchanged', async () => {
    const hooks = await createHooks({ globals: false })
    const outcome = await hooks.session().fire('pre_tool_use', CALL)
    expect(outcome).toMatchObject({ action: 'continue', modified: false })
    expect(outcome.data).toEqual(CALL)
  })

  it('an unrelated event returns the context unchanged', async () => {
    const outcome = await fire('user_prompt_submit', { prompt: 'hi' }, hook('pre_tool_use', denying('no')))
    expect(outcome.action).toBe('continue')
    expect(outcome.data).toEqual({ prompt: 'hi' })
  })
})

describe('callback', () => {
  it('receives the context, with the name of the event in it', async () => {
    const callback = vi.fn(ok)
    await fire('pre_tool_use', { ...CALL, tool_use_id: 'use-1' }, hook('pre_tool_use', callback))
    expect(callback).toHaveBeenCalledWith(
      expect.objectContaining({ ...CALL, tool_use_id: 'use-1', event: 'pre_tool_use' }),
    )
  })
})

describe('deny and ask on a notification', () => {
  it('a deny of post_tool_use does not block; its reason is told to the model', async () => {
    // ≠ upstream drops the reason.
    const outcome = await fire('post_tool_use', CALL, hook('post_tool_use', denying('look again')))
    expect(outcome.action).toBe('continue')
    expect(outcome.injections.map((one) => one.text)).toEqual(['look again'])
  })

  it('a deny of stop keeps the agent going', async () => {
    // ≠ upstream ignores it.
    const outcome = await fire('stop', {}, hook('stop', denying('tests fail')))
    expect(outcome).toMatchObject({ action: 'deny', reason: 'tests fail' })
  })

  it('a deny of subagent_stop keeps the subagent going', async () => {
    // ≠ upstream ignores it.
    const outcome = await fire('subagent_stop', {}, hook('subagent_stop', denying('not done')))
    expect(outcome).toMatchObject({ action: 'deny', reason: 'not done' })
  })

  it('a deny of session_start is ignored, and reported', async () => {
    const outcome = await fire('session_start', {}, hook('session_start', denying('no')))
    expect(outcome.action).toBe('continue')
    expect(codes(outcome)).toEqual(['verdict-ignored'])
  })

  it('a deny of session_end is ignored, and reported', async () => {
    const outcome = await fire('session_end', {}, hook('session_end', denying('no')))
    expect(outcome.action).toBe('continue')
    expect(codes(outcome)).toEqual(['verdict-ignored'])
  })

  it('an ask on post_tool_use is ignored, and reported', async () => {
    const outcome = await fire('post_tool_use', CALL, hook('post_tool_use', asking('ok?')))
    expect(outcome.action).toBe('continue')
    expect(codes(outcome)).toEqual(['verdict-ignored'])
  })

  it('an ask on session_start is ignored, and reported', async () => {
    const outcome = await fire('session_start', {}, hook('session_start', asking('ok?')))
    expect(outcome.action).toBe('continue')
    expect(codes(outcome)).toEqual(['verdict-ignored'])
  })

  it.each(['notification', 'task_completed', 'teammate_idle'] as const)(
    'a deny of %s by a function is ignored, and reported',
    async (event) => {
      const outcome = await fire(event, {}, hook(event, denying('no')))
      expect(outcome.action).toBe('continue')
      expect(codes(outcome)).toEqual(['verdict-ignored'])
    },
  )
})

describe('deny', () => {
  it('of pre_tool_use is returned with its reason', async () => {
    const outcome = await fire('pre_tool_use', CALL, hook('pre_tool_use', denying('no shell')))
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no shell' })
  })

  it('of user_prompt_submit is returned with its reason', async () => {
    const def = hook('user_prompt_submit', denying('too long'))
    const outcome = await fire('user_prompt_submit', { prompt: 'hi' }, def)
    expect(outcome).toMatchObject({ action: 'deny', reason: 'too long' })
  })

  it('the first one wins, and the second is not asked', async () => {
    const second = vi.fn(denying('second'))
    const defs = [hook('pre_tool_use', denying('first')), hook('pre_tool_use', second)]
    expect(await fire('pre_tool_use', CALL, ...defs)).toMatchObject({ action: 'deny', reason: 'first' })
    expect(second).not.toHaveBeenCalled()
  })

  it('all ok is ok', async () => {
    const outcome = await fire(
      'pre_tool_use',
      CALL,
      hook('pre_tool_use', ok),
      hook('pre_tool_use', (ctx) => ['ok', ctx]),
    )
    expect(outcome).toMatchObject({ action: 'continue', modified: false, data: CALL, diagnostics: [] })
  })

  it('after an ok still denies', async () => {
    const defs = [hook('pre_tool_use', ok), hook('pre_tool_use', denying('no'))]
    expect(await fire('pre_tool_use', CALL, ...defs)).toMatchObject({ action: 'deny', reason: 'no' })
  })
})

describe('ask', () => {
  it('is returned with its reason', async () => {
    const outcome = await fire('pre_tool_use', CALL, hook('pre_tool_use', asking('sure?')))
    expect(outcome).toMatchObject({ action: 'ask_user', reason: 'sure?' })
  })

  it('does not hide a later deny: the deny wins', async () => {
    // ≠ upstream: the first ask ends the chain, so that the deny is never heard.
    const defs = [hook('pre_tool_use', asking('sure?')), hook('pre_tool_use', denying('no'))]
    expect(await fire('pre_tool_use', CALL, ...defs)).toMatchObject({ action: 'deny', reason: 'no' })
  })

  it('the first of two gives the reason', async () => {
    const defs = [hook('pre_tool_use', asking('first?')), hook('pre_tool_use', asking('second?'))]
    const outcome = await fire('pre_tool_use', CALL, ...defs)
    expect(outcome).toMatchObject({ action: 'ask_user', reason: 'first?' })
  })

  it('after an ok still asks', async () => {
    const defs = [hook('pre_tool_use', ok), hook('pre_tool_use', asking('sure?'))]
    expect(await fire('pre_tool_use', CALL, ...defs)).toMatchObject({ action: 'ask_user', reason: 'sure?' })
  })
})

describe('more events that block', () => {
  it('subagent_start is blocked by a deny', async () => {
    const outcome = await fire('subagent_start', {}, hook('subagent_start', denying('no agents')))
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no agents' })
  })

  it('pre_compact is blocked by a deny', async () => {
    const outcome = await fire('pre_compact', {}, hook('pre_compact', denying('keep it')))
    expect(outcome).toMatchObject({ action: 'deny', reason: 'keep it' })
  })

  it('config_change is blocked by a deny', async () => {
    const outcome = await fire('config_change', {}, hook('config_change', denying('frozen')))
    expect(outcome).toMatchObject({ action: 'deny', reason: 'frozen' })
  })

  it('subagent_start goes on after an ok', async () => {
    const outcome = await fire('subagent_start', { agent_id: 'agent-1' }, hook('subagent_start', ok))
    expect(outcome).toMatchObject({ action: 'continue', data: { agent_id: 'agent-1' } })
  })
})

describe('matcher', () => {
  async function fires(matcher: HookDef['matcher'], tool: string): Promise<boolean> {
    const callback = vi.fn(ok)
    await fire('pre_tool_use', { ...CALL, tool_name: tool }, hook('pre_tool_use', callback, matcher))
    return callback.mock.calls.length > 0
  }

  it('an exact name fires for that tool', async () => {
    expect(await fires({ tool_name: 'Bash' }, 'Bash')).toBe(true)
  })

  it('an exact name skips another tool', async () => {
    expect(await fires({ tool_name: 'Bash' }, 'Read')).toBe(false)
  })

  it('an exact name skips a tool whose name only begins with it', async () => {
    // ≠ upstream searches: Bash fires for BashOutput too.
    expect(await fires({ tool_name: 'Bash' }, 'BashOutput')).toBe(false)
  })

  it('a pattern fires for the tools it matches', async () => {
    expect(await fires({ tool_name: '^(Write|Edit)$' }, 'Write')).toBe(true)
    expect(await fires({ tool_name: '^(Write|Edit)$' }, 'Edit')).toBe(true)
  })

  it('a pattern is searched for, not anchored', async () => {
    expect(await fires({ tool_name: 'File.' }, 'ReadFiles')).toBe(true)
  })

  it('a pattern skips the tools it does not match', async () => {
    expect(await fires({ tool_name: '^(Write|Edit)$' }, 'Bash')).toBe(false)
  })

  it('none fires always', async () => {
    expect(await fires(undefined, 'Anything')).toBe(true)
    expect(await fires({}, 'Anything')).toBe(true)
  })

  it('a hook that is skipped leaves the context untouched for the next', async () => {
    const outcome = await fire(
      'pre_tool_use',
      CALL,
      hook('pre_tool_use', marking('skipped'), { tool_name: 'Read' }),
      hook('pre_tool_use', marking('ran')),
    )
    expect(outcome.data.trail).toEqual(['ran'])
    expect(outcome.hooks.map((one) => [one.status, one.why])).toContainEqual(['skipped', 'matcher'])
  })
})

describe('a notification hook that crashes', () => {
  it('with an error lets later hooks run, and keeps what earlier ones changed', async () => {
    const outcome = await fire(
      'post_tool_use',
      CALL,
      hook('post_tool_use', marking('before')),
      hook('post_tool_use', crashing),
      hook('post_tool_use', marking('after')),
    )
    expect(outcome).toMatchObject({ action: 'continue', data: { trail: ['before', 'after'] } })
    expect(outcome.hooks[1]).toMatchObject({ status: 'failed', detail: expect.stringContaining('kaboom') })
  })

  it('with a thrown value lets later hooks run, and keeps what earlier ones changed', async () => {
    const outcome = await fire(
      'post_tool_use',
      CALL,
      hook('post_tool_use', marking('before')),
      hook('post_tool_use', () => {
        throw 'a plain value'
      }),
      hook('post_tool_use', marking('after')),
    )
    expect(outcome).toMatchObject({ action: 'continue', data: { trail: ['before', 'after'] } })
    expect(outcome.hooks[1]).toMatchObject({ detail: expect.stringContaining('a plain value') })
  })

  it.each(names(NOTIFYING))('does not stop %s, and is not silent', async (event) => {
    const outcome = await fire(
      event,
      EVENTS[event],
      hook(event, marking('before')),
      hook(event, crashing),
      hook(event, marking('after')),
    )
    expect(outcome).toMatchObject({ action: 'continue', data: { trail: ['before', 'after'] } })
    expect(outcome.messages).toMatchObject([{ level: 'warning', text: expect.stringContaining('kaboom') }])
  })
})

describe('a blocking hook that crashes', () => {
  it('with an error denies, and later hooks do not fire', async () => {
    const later = vi.fn(ok)
    const outcome = await fire(
      'pre_tool_use',
      CALL,
      hook('pre_tool_use', crashing),
      hook('pre_tool_use', later),
    )
    expect(outcome.action).toBe('deny')
    expect(outcome.reason).toMatch(/^hook crashed \(fail-safe deny\)/)
    expect(later).not.toHaveBeenCalled()
  })

  it('with a thrown value denies, and later hooks do not fire', async () => {
    const later = vi.fn(ok)
    const throwing = () => {
      throw 'a plain value'
    }
    const outcome = await fire(
      'pre_tool_use',
      CALL,
      hook('pre_tool_use', throwing),
      hook('pre_tool_use', later),
    )
    expect(outcome.action).toBe('deny')
    expect(outcome.reason).toMatch(/^hook crashed \(fail-safe deny\)/)
    expect(later).not.toHaveBeenCalled()
  })

  it('with a rejected promise denies, and later hooks do not fire', async () => {
    const later = vi.fn(ok)
    const rejecting = () => Promise.reject(new Error('kaboom'))
    const outcome = await fire(
      'pre_tool_use',
      CALL,
      hook('pre_tool_use', rejecting),
      hook('pre_tool_use', later),
    )
    expect(outcome.reason).toMatch(/^hook crashed \(fail-safe deny\)/)
    expect(later).not.toHaveBeenCalled()
  })

  it.each(names(BLOCKING))('denies %s', async (event) => {
    const later = vi.fn(ok)
    const outcome = await fire(event, EVENTS[event], hook(event, crashing), hook(event, later))
    expect(outcome.action).toBe('deny')
    expect(outcome.reason).toMatch(/^hook crashed \(fail-safe deny\)/)
    expect(later).not.toHaveBeenCalled()
  })
})

describe('an unexpected return', () => {
  // ≠ upstream takes it for ok, also on a gate.
  it.each([
    ['a word', 'surprise'],
    ['a deny whose reason is no text', ['deny', 42]],
    ['an ask without a reason', ['ask']],
    ['an unknown verdict', ['maybe', 'x']],
    ['an ok without a context', ['ok', 'x']],
    ['a number', 1],
    ['null', null],
  ])('%s denies on a blocking event, and leaves the context unchanged', async (_what, value) => {
    const outcome = await fire('pre_tool_use', CALL, hook('pre_tool_use', answering(value)))
    expect(outcome).toMatchObject({ action: 'deny', modified: false, data: CALL })
    expect(outcome.hooks[0]).toMatchObject({ status: 'failed', why: 'ANSWER_INVALID' })
  })

  it('goes on on a notification, leaves the context unchanged, and is reported', async () => {
    const outcome = await fire('post_tool_use', CALL, hook('post_tool_use', answering('surprise')))
    expect(outcome).toMatchObject({ action: 'continue', modified: false, data: CALL })
    expect(outcome.messages).toMatchObject([{ level: 'warning' }])
  })

  it('a bare ok is expected, and leaves the context unchanged', async () => {
    // ≠ upstream warns about it, though its own examples return it.
    const outcome = await fire('pre_tool_use', CALL, hook('pre_tool_use', ok))
    expect(outcome).toMatchObject({ action: 'continue', modified: false, messages: [] })
  })
})

describe('threading', () => {
  it('a hook sees the tool_input that an earlier one changed', async () => {
    const seen: unknown[] = []
    const outcome = await fire(
      'pre_tool_use',
      CALL,
      hook('pre_tool_use', (ctx) => ['ok', { ...ctx, tool_input: { command: 'ls -l' } }]),
      hook('pre_tool_use', (ctx) => {
        seen.push(ctx.tool_input)
        return 'ok'
      }),
    )
    expect(seen).toEqual([{ command: 'ls -l' }])
    expect(outcome.data.tool_input).toEqual({ command: 'ls -l' })
  })

  it('the final context has the changes of all', async () => {
    const adding =
      (key: string): Callback =>
      (ctx) => ['ok', { ...ctx, [key]: true }]
    const defs = ['a', 'b', 'c'].map((key) => hook('pre_tool_use', adding(key)))
    const outcome = await fire('pre_tool_use', CALL, ...defs)
    expect(outcome).toMatchObject({ modified: true, data: { ...CALL, a: true, b: true, c: true } })
  })

  it('a rewritten prompt reaches the caller', async () => {
    const outcome = await fire(
      'user_prompt_submit',
      { prompt: 'hello' },
      hook('user_prompt_submit', (ctx) => ['ok', { ...ctx, prompt: `${ctx.prompt}, politely` }]),
    )
    expect(outcome).toMatchObject({ action: 'continue', data: { prompt: 'hello, politely' } })
  })

  it('a deny in the middle stops the rest', async () => {
    const last = vi.fn(ok)
    const outcome = await fire(
      'pre_tool_use',
      CALL,
      hook('pre_tool_use', marking('a')),
      hook('pre_tool_use', denying('no')),
      hook('pre_tool_use', last),
    )
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no' })
    expect(last).not.toHaveBeenCalled()
  })

  it('an ask in the middle does not stop the rest', async () => {
    // ≠ upstream stops: the rest might deny.
    const outcome = await fire(
      'pre_tool_use',
      CALL,
      hook('pre_tool_use', marking('a')),
      hook('pre_tool_use', asking('sure?')),
      hook('pre_tool_use', marking('c')),
    )
    expect(outcome).toMatchObject({ action: 'ask_user', reason: 'sure?', data: { trail: ['a', 'c'] } })
  })

  it('a sanitizer before an auditor: the auditor never sees the secret', async () => {
    const audited: unknown[] = []
    const outcome = await fire(
      'pre_tool_use',
      { tool_name: 'Bash', tool_input: { command: 'login --token=hunter2' } },
      hook('pre_tool_use', (ctx) => {
        const command = String(ctx.tool_input.command).replace(/--token=\S+/, '--token=***')
        return ['ok', { ...ctx, tool_input: { ...ctx.tool_input, command } }]
      }),
      hook('pre_tool_use', (ctx) => {
        audited.push(ctx.tool_input.command)
        return ['ok', { ...ctx, audited: true }]
      }),
    )
    expect(audited).toEqual(['login --token=***'])
    expect(outcome.data).toMatchObject({ tool_input: { command: 'login --token=***' }, audited: true })
  })

  it('a deny among notification hooks is ignored, and the changes around it are kept', async () => {
    const outcome = await fire(
      'session_start',
      {},
      hook('session_start', marking('a')),
      hook('session_start', denying('no')),
      hook('session_start', marking('c')),
    )
    expect(outcome).toMatchObject({ action: 'continue', data: { trail: ['a', 'c'] } })
  })

  it('an ask among notification hooks is ignored, and the changes around it are kept', async () => {
    const outcome = await fire(
      'post_tool_use',
      CALL,
      hook('post_tool_use', marking('a')),
      hook('post_tool_use', asking('ok?')),
      hook('post_tool_use', marking('c')),
    )
    expect(outcome).toMatchObject({ action: 'continue', data: { trail: ['a', 'c'] } })
  })
})

describe('global hooks', () => {
  const cleanups: (() => void)[] = []

  function registerGlobal(...defs: readonly HookDef[]): void {
    cleanups.push(globalHooks.registerHooks(defs))
  }

  async function openSession(...defs: readonly HookDef[]) {
    return (await createHooks()).session({ hooks: defs })
  }

  afterEach(() => {
    for (const cleanup of cleanups.splice(0)) cleanup()
    expect(globalHooks.listHandlers()).toEqual({})
  })

  it('there is one table of them, however often it is asked for', () => {
    expect(coreGlobalHooks).toBe(globalHooks)
  })

  it('the first registration needs no preparation', () => {
    expect(globalHooks.listHandlers()).toEqual({})
    registerGlobal(hook('pre_tool_use', ok))
    expect(globalHooks.listHandlers()).toEqual({ PreToolUse: ['ok'] })
  })

  it('several may listen to one event, in the order of registration', async () => {
    registerGlobal(hook('pre_tool_use', marking('first')))
    registerGlobal(hook('pre_tool_use', marking('second')))
    const session = await openSession()
    expect((await session.fire('pre_tool_use', CALL)).data.trail).toEqual(['first', 'second'])
  })

  it('they may listen to several events', () => {
    registerGlobal(hook('pre_tool_use', ok), hook('stop', ok))
    expect(Object.keys(globalHooks.listHandlers())).toEqual(['PreToolUse', 'Stop'])
  })

  it('one that is registered twice fires twice, and goes as one', async () => {
    const twice = hook('pre_tool_use', marking('again'))
    registerGlobal(twice)
    registerGlobal(twice)
    const session = await openSession()
    expect((await session.fire('pre_tool_use', CALL)).data.trail).toEqual(['again', 'again'])
    globalHooks.unregister(twice)
    expect(globalHooks.listHandlers()).toEqual({})
  })

  it('unregister removes exactly that one', async () => {
    const gone = hook('pre_tool_use', marking('gone'))
    registerGlobal(gone, hook('pre_tool_use', marking('kept')))
    globalHooks.unregister(gone)
    const session = await openSession()
    expect((await session.fire('pre_tool_use', CALL)).data.trail).toEqual(['kept'])
  })

  it('unregister of one that was never registered is safe, and removes nothing', () => {
    registerGlobal(hook('pre_tool_use', ok))
    expect(() => globalHooks.unregister(hook('pre_tool_use', denying('no')))).not.toThrow()
    expect(globalHooks.listHandlers()).toEqual({ PreToolUse: ['ok'] })
  })

  it('unregister is safe when there are none at all', () => {
    expect(() => globalHooks.unregister(hook('pre_tool_use', ok))).not.toThrow()
    expect(() => new HookRegistry().unregister(hook('pre_tool_use', ok))).not.toThrow()
    expect(globalHooks.listHandlers()).toEqual({})
  })

  it('the list of them is empty before the first', () => {
    expect(globalHooks.listHandlers()).toEqual({})
    expect(globalHooks.listHandlers('pre_tool_use')).toEqual({ PreToolUse: [] })
    expect(globalHooks.snapshot().all()).toEqual([])
  })

  it('the list of them is empty after the last was removed', () => {
    const def = hook('pre_tool_use', ok)
    registerGlobal(def)
    globalHooks.unregister(def)
    expect(globalHooks.listHandlers()).toEqual({})
    expect(globalHooks.snapshot().all()).toEqual([])
  })

  it('they fire before the hooks of the session, whoever came first', async () => {
    const session = await openSession(hook('pre_tool_use', marking('session')))
    registerGlobal(hook('pre_tool_use', marking('global')))
    expect((await session.fire('pre_tool_use', CALL)).data.trail).toEqual(['global', 'session'])
  })

  it('they fire in a session that was given no hooks', async () => {
    registerGlobal(hook('pre_tool_use', marking('global')))
    const session = (await createHooks()).session()
    expect((await session.fire('pre_tool_use', CALL)).data.trail).toEqual(['global'])
  })

  it('they fire in a session that was given an empty list of hooks', async () => {
    registerGlobal(hook('pre_tool_use', marking('global')))
    const session = (await createHooks()).session({ hooks: [] })
    expect((await session.fire('pre_tool_use', CALL)).data.trail).toEqual(['global'])
  })

  it('a global deny stops the hooks of the session', async () => {
    const own = vi.fn(ok)
    registerGlobal(hook('pre_tool_use', denying('not here')))
    const session = await openSession(hook('pre_tool_use', own))
    expect(await session.fire('pre_tool_use', CALL)).toMatchObject({ action: 'deny', reason: 'not here' })
    expect(own).not.toHaveBeenCalled()
  })

  it('a global ask does not stop the hooks of the session: one that denies wins', async () => {
    // ≠ upstream: the ask ends the chain.
    registerGlobal(hook('pre_tool_use', asking('sure?')))
    const quiet = await openSession(hook('pre_tool_use', marking('session')))
    expect(await quiet.fire('pre_tool_use', CALL)).toMatchObject({
      action: 'ask_user',
      reason: 'sure?',
      data: { trail: ['session'] },
    })
    const strict = await openSession(hook('pre_tool_use', denying('no')))
    expect(await strict.fire('pre_tool_use', CALL)).toMatchObject({ action: 'deny', reason: 'no' })
  })

  it('registering notifies the bus', () => {
    const versions: number[] = []
    const before = globalHooks.version
    cleanups.push(globalHooks.subscribe((version) => void versions.push(version)))
    registerGlobal(hook('pre_tool_use', ok))
    expect(versions).toEqual([before + 1])
    expect(globalHooks.version).toBe(before + 1)
  })

  it('unregistering notifies the bus', () => {
    const def = hook('pre_tool_use', ok)
    registerGlobal(def)
    const versions: number[] = []
    const before = globalHooks.version
    cleanups.push(globalHooks.subscribe((version) => void versions.push(version)))
    globalHooks.unregister(def)
    expect(versions).toEqual([before + 1])
  })
})

// Every registry has its own bus, so these need no clearing up. It tells the version alone: a registry holds only hooks,
// so upstream's other types of reload (skills, tools, plugins, …) have no counterpart, nor has creating the tables twice.
describe('reload bus', () => {
  const change = (registry: HookRegistry) => registry.registerHooks([hook('stop', ok)])

  it('begins at version 0', () => {
    expect(new HookRegistry().version).toBe(0)
  })

  it('a subscriber is told', () => {
    const registry = new HookRegistry()
    const subscriber = vi.fn()
    registry.subscribe(subscriber)
    change(registry)
    expect(subscriber).toHaveBeenCalledTimes(1)
  })

  it('another subscriber is told as well', () => {
    const registry = new HookRegistry()
    const mine = vi.fn()
    const other = vi.fn()
    registry.subscribe(mine)
    registry.subscribe(other)
    change(registry)
    expect(mine).toHaveBeenCalledTimes(1)
    expect(other).toHaveBeenCalledTimes(1)
  })

  it('subscribing twice is subscribing once', () => {
    const registry = new HookRegistry()
    const subscriber = vi.fn()
    registry.subscribe(subscriber)
    registry.subscribe(subscriber)
    change(registry)
    expect(subscriber).toHaveBeenCalledTimes(1)
  })

  it('unsubscribing works, twice is once, and others stay', () => {
    const registry = new HookRegistry()
    const gone = vi.fn()
    const stays = vi.fn()
    const unsubscribe = registry.subscribe(gone)
    registry.subscribe(stays)
    unsubscribe()
    unsubscribe()
    change(registry)
    expect(gone).not.toHaveBeenCalled()
    expect(stays).toHaveBeenCalledTimes(1)
  })

  it('a notification delivers the version', () => {
    const registry = new HookRegistry()
    const subscriber = vi.fn()
    registry.subscribe(subscriber)
    change(registry)
    expect(subscriber).toHaveBeenCalledWith(1)
    expect(registry.version).toBe(1)
  })

  it('versions go 1, 2, 3', () => {
    const registry = new HookRegistry()
    const versions: number[] = []
    registry.subscribe((version) => void versions.push(version))
    const off = change(registry)
    change(registry)
    off()
    expect(versions).toEqual([1, 2, 3])
  })

  it('a subscriber whose signal is aborted is dead: it is told no more', () => {
    const registry = new HookRegistry()
    const life = new AbortController()
    const mortal = vi.fn()
    const other = vi.fn()
    registry.subscribe(mortal, life.signal)
    registry.subscribe(other)
    change(registry)
    life.abort()
    change(registry)
    expect(mortal).toHaveBeenCalledTimes(1)
    expect(other).toHaveBeenCalledTimes(2)
  })

  it('a subscriber that throws is removed and reported; the others are told', () => {
    const registry = new HookRegistry()
    const broken = vi.fn(crashing)
    const other = vi.fn()
    registry.subscribe(broken)
    registry.subscribe(other)
    change(registry)
    change(registry)
    expect(broken).toHaveBeenCalledTimes(1)
    expect(other).toHaveBeenCalledTimes(2)
    expect(registry.diagnostics).toMatchObject([
      { code: 'subscriber-failed', text: expect.stringContaining('kaboom') },
    ])
  })

  it('everything is safe on a registry that nothing was ever done with', () => {
    const registry = new HookRegistry()
    const unsubscribe = registry.subscribe(() => {})
    expect(() => {
      unsubscribe()
      registry.unregister('nobody')
      registry.unregister(hook('stop', ok))
      registry.registerHooks([])()
    }).not.toThrow()
    expect(registry.listHandlers()).toEqual({})
  })
})

describe('properties', () => {
  const RUNS = { numRuns: runs(200) }
  const event = fc.constantFrom(...names(EVENTS))
  const blocking = fc.constantFrom(...names(BLOCKING))
  const tool = fc.stringMatching(/^[A-Z][A-Za-z]{0,3}$/)
  const extra = fc.dictionary(fc.stringMatching(/^x_[a-z]{1,8}$/), fc.jsonValue())
  const canonical = (name: string) => resolveEvent(name).name as EventName

  it('a hook without a matcher has exactly the keys event and callback', () => {
    fc.assert(
      fc.property(event, (name) => {
        expect(Object.keys(hook(name, ok)).sort()).toEqual(['callback', 'event'])
      }),
      RUNS,
    )
  })

  it('registering places every hook under its event, and nowhere else', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 10 }), (list) => {
        const registry = new HookRegistry()
        registry.registerHooks(list.map((name) => hook(name, ok)))
        const counts = new Map<string, number>()
        for (const name of list) counts.set(canonical(name), (counts.get(canonical(name)) ?? 0) + 1)
        const placed = Object.entries(registry.listHandlers()).map(
          ([name, hooks]) => [name, hooks.length] as const,
        )
        expect(new Map(placed)).toEqual(counts)
      }),
      RUNS,
    )
  })

  it('a registry built of nothing is undefined, of anything else it is not', () => {
    expect(buildRegistry(undefined)).toBeUndefined()
    expect(buildRegistry(null)).toBeUndefined()
    fc.assert(
      fc.property(fc.array(event, { maxLength: 3 }), (list) => {
        const registry = buildRegistry(list.map((name) => hook(name, ok)))
        if (list.length === 0) expect(registry).toBeUndefined()
        else expect(registry).toBeInstanceOf(HookRegistry)
      }),
      RUNS,
    )
  })

  it('without a registry every event goes on with the context unchanged', async () => {
    const hooks = await createHooks({ globals: false })
    const session = hooks.session()
    await fc.assert(
      fc.asyncProperty(event, extra, async (name, more) => {
        const ctx = { ...EVENTS[name], ...more }
        const outcome = await session.fire(name, ctx)
        expect(outcome.action).toBe('continue')
        expect(outcome.data).toEqual(ctx)
      }),
      RUNS,
    )
  })

  it('every matching callback is called once', async () => {
    await fc.assert(
      fc.asyncProperty(event, fc.integer({ min: 1, max: 8 }), async (name, count) => {
        const callbacks = Array.from({ length: count }, () => vi.fn(ok))
        await fire(name, EVENTS[name], ...callbacks.map((callback) => hook(name, callback)))
        expect(callbacks.map((callback) => callback.mock.calls.length)).toEqual(Array(count).fill(1))
      }),
      RUNS,
    )
  })

  it('a deny anywhere among hooks of a blocking event is the outcome', async () => {
    const index = fc.nat({ max: 6 })
    await fc.assert(
      fc.asyncProperty(
        blocking,
        index,
        index,
        fc.string({ minLength: 1 }),
        async (name, before, after, reason) => {
          const passing = (count: number) => Array.from({ length: count }, () => hook(name, ok))
          const defs = [...passing(before), hook(name, denying(reason)), ...passing(after)]
          expect(await fire(name, EVENTS[name], ...defs)).toMatchObject({ action: 'deny', reason })
        },
      ),
      RUNS,
    )
  })

  it('a hook with an exact matcher fires for that name and for no other', async () => {
    await fc.assert(
      fc.asyncProperty(tool, fc.option(tool), async (wanted, other) => {
        const name = other ?? wanted
        const callback = vi.fn(ok)
        const def = hook('pre_tool_use', callback, { tool_name: wanted })
        await fire('pre_tool_use', { ...CALL, tool_name: name }, def)
        expect(callback).toHaveBeenCalledTimes(name === wanted ? 1 : 0)
      }),
      RUNS,
    )
  })
})
