// A hook that was waited for and works on by itself, and one that may wake the model: what becomes of what they bring.

import {
  askUser,
  type ContextMessage,
  createHooks,
  deny,
  HookRegistry,
  type HooksOptions,
  inject,
  memoryAudit,
  modify,
  type Outcome,
  type Session,
} from 'carabiner'
import type { Hook, Run } from 'carabiner/core'
import { describe, expect, test } from 'vitest'
import { type HookContext, LateAnswer } from '../../src/core/hooks/hook.js'
import { laneHook, madeHook } from './made-hook.js'

const BASH = { tool_name: 'Bash', tool_input: { command: 'ls' } }
const texts = ({ injections }: Outcome) => injections.map(({ text }) => text)
const said = ({ messages }: Outcome) => messages.map(({ text }) => text)
const codes = ({ diagnostics }: Pick<Outcome, 'diagnostics'>) => diagnostics.map(({ code }) => code)

/** A promise that the test settles. */
function latch<T>() {
  let open!: (value: T) => void
  let fail!: (error: unknown) => void
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve
    fail = reject
  })
  return { promise, open, fail }
}

/** What is under way has come to rest. */
const rest = () => new Promise<void>((resolve) => setImmediate(resolve))

function withMade(hooks: readonly Hook[], options: HooksOptions = {}) {
  const registry = new HookRegistry({ scope: 'global' })
  for (const one of hooks) registry.add(one)
  return createHooks({ ...options, globals: registry })
}

/** A hook that answers later, at once said so. */
const late = (finish: (context: HookContext) => Promise<unknown>, more: Partial<Hook> = {}, ms = 60_000) =>
  madeHook('late', { run: async () => new LateAnswer(ms, finish), onFailure: 'continue', ...more })

const nextEvent = (session: Session) => session.fire('PreToolUse', BASH)
/** What late hooks in these tests listen to, so that the next event is another. */
const ON_POST = { events: new Set(['PostToolUse']) }
const post = (session: Session) => session.fire('PostToolUse', { ...BASH, tool_response: 'ok' })

describe('a hook that works on by itself', () => {
  test('delays nothing, and the next event that can carry its context and message delivers them', async () => {
    const done = latch<unknown>()
    const session = (await withMade([late(() => done.promise, ON_POST)])).session()
    const first = await post(session)
    expect(first.hooks).toMatchObject([{ name: 'late', status: 'detached' }])
    expect([first.action, texts(first), said(first)]).toEqual(['continue', [], []])
    done.open(inject('found', { userMessage: 'done' }))
    await rest()
    expect(texts(await session.fire('Notification', { message: 'carries nothing' }))).toEqual([])
    const next = await nextEvent(session)
    expect(next.injections).toMatchObject([{ text: 'found', source: 'late' }])
    expect(next.messages).toMatchObject([{ text: 'done', source: 'late' }])
    expect(texts(await nextEvent(session))).toEqual([])
  })

  test('lets the hooks after it run, on the call as it is', async () => {
    const done = latch<unknown>()
    const hooks = await withMade([
      madeHook('before', { run: () => modify({ tool_input: { command: 'pwd' } }) }),
      late(() => done.promise),
      madeHook('after', { run: ({ data }) => deny(JSON.stringify(data.tool_input)) }),
    ])
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect([outcome.action, outcome.reason]).toEqual(['deny', '{"command":"pwd"}'])
    expect(outcome.hooks.map(({ status }) => status)).toEqual(['ran', 'detached', 'ran'])
    done.open(undefined)
  })

  test('leaves the others of its step alone', async () => {
    const done = latch<unknown>()
    const run = async () => new LateAnswer(60_000, () => done.promise)
    const hooks = await withMade([
      laneHook('late', { run }),
      laneHook('beside', { run: () => inject('beside') }),
      laneHook('gate', { run: () => deny('no') }),
    ])
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect([outcome.action, texts(outcome)]).toEqual(['deny', ['beside']])
    done.open(undefined)
  })

  test('H1: that was a gate has not judged, so no other hook’s allow counts', async () => {
    const allow: Run = () => ({ action: 'continue', permission: 'allow' })
    const hooks = await withMade([late(async () => undefined), madeHook('allows', { run: allow })])
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect([outcome.action, outcome.permission]).toEqual(['continue', undefined])
    expect(said(outcome)[0]).toContain('did not judge; the operation went on without it')
  })

  test.each([{ onFailure: 'block' }, { onFailure: 'byEvent' }] as const)(
    'H1: that was a gate closes where its failure would (%o)',
    async (policy) => {
      const session = (await withMade([late(async () => undefined, policy)])).session()
      expect((await session.fire('PreToolUse', BASH)).action).toBe('deny')
    },
  )

  test('H1: that was a gate closes with on_failure "block"', async () => {
    const session = (
      await withMade([late(async () => undefined)], { settings: { on_failure: 'block' } })
    ).session()
    expect((await session.fire('PreToolUse', BASH)).action).toBe('deny')
  })

  test.each([
    ['deny', deny('too late')],
    ['ask_user', askUser('too late?')],
    ['modify', modify({ tool_input: { command: 'too late' } })],
    ['hard_abort', { action: 'hard_abort', reason: 'too late' }],
  ])('has no say any more: its %s is ignored, and that is reported', async (action, answer) => {
    const session = (await withMade([late(async () => answer)])).session()
    const first = await session.fire('PreToolUse', BASH)
    expect(first).toMatchObject({ action: 'continue', modified: false })
    await rest()
    const next = await session.fire('UserPromptSubmit', { prompt: 'next' })
    expect([next.action, codes(next)]).toEqual(['continue', ['async-verdict-ignored']])
    expect(next.diagnostics[0]?.text).toMatch(new RegExp(`late.*${action}`))
  })

  test('an ignored deny still brings its context and message', async () => {
    const answer = deny('no', { contextInjection: 'but mind this', userMessage: 'told' })
    const session = (await withMade([late(async () => answer, ON_POST)])).session()
    await post(session)
    await rest()
    const next = await nextEvent(session)
    expect([texts(next), said(next)]).toEqual([expect.arrayContaining(['but mind this']), ['told']])
  })

  test.each([
    ['rejects', () => Promise.reject(new Error('broken'))],
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    ['answers nonsense', async () => ({ action: 'broken' })],
  ])('one that %s in the end closes no gate, and the user is told', async (_how, finish) => {
    const session = (await withMade([late(finish)])).session()
    expect((await session.fire('PreToolUse', BASH)).action).toBe('continue')
    await rest()
    const next = await session.fire('UserPromptSubmit', { prompt: 'next' })
    expect([next.action, codes(next)]).toEqual(['continue', ['late-failed']])
    expect(next.messages).toMatchObject([{ level: 'warning', source: 'late' }])
    expect(said(next)[0]).toContain('broken')
    expect(said(next)[0]).not.toContain('gate stays closed')
  })

  test('has the time it asked for, not what the hook was given before', async () => {
    const done = latch<unknown>()
    const run: Run = () => new LateAnswer(60_000, () => done.promise)
    const session = (await withMade([madeHook('late', { ...ON_POST, timeoutMs: 1, run })])).session()
    await post(session)
    await new Promise((resolve) => setTimeout(resolve, 20)) // long enough for the old limit to strike
    done.open(inject('in time'))
    await rest()
    expect(texts(await nextEvent(session))).toEqual(['in time'])
  })

  test('one that is overdue has failed, its signal is aborted, and the user is told', async () => {
    const aborted = latch<unknown>()
    const finish = ({ signal }: HookContext) =>
      new Promise<never>(() => signal.addEventListener('abort', () => aborted.open(signal.reason)))
    const hooks = await withMade([late(finish, ON_POST, 20)])
    const session = hooks.session()
    await post(session)
    expect(await aborted.promise).toMatchObject({ code: 'HOOK_TIMEOUT' })
    await rest()
    const next = await nextEvent(session)
    expect(codes(next)).toEqual(['late-failed'])
    expect(said(next)[0]).toContain('0.02 s')
  })

  test('one that our limit cuts short closes no gate, because nothing waits for it', async () => {
    const aborted = latch<void>()
    const finish = ({ signal }: HookContext) =>
      new Promise<never>(() => signal.addEventListener('abort', () => aborted.open()))
    const hooks = await withMade([late(finish, { cappedBy: 'Raise "max_timeout"' }, 20)])
    const session = hooks.session()
    expect((await session.fire('PreToolUse', BASH)).action).toBe('continue')
    await aborted.promise
    await rest()
    const next = await session.fire('UserPromptSubmit', { prompt: 'next' })
    expect([next.action, codes(next)]).toEqual(['continue', ['late-failed']])
    expect(said(next)[0]).not.toContain('gate stays closed')
  })

  test('runs on when the fire that set it going is aborted afterwards', async () => {
    const [done, begun] = [latch<unknown>(), latch<void>()]
    const seen: HookContext[] = []
    const finish = (context: HookContext) => {
      seen.push(context)
      begun.open()
      return done.promise
    }
    const never = madeHook('never', { events: ON_POST.events, run: () => new Promise(() => {}) })
    const hooks = await withMade([late(finish, ON_POST), never])
    const session = hooks.session()
    const controller = new AbortController()
    const fired = session.fire('PostToolUse', { ...BASH, tool_response: '' }, { signal: controller.signal })
    await begun.promise
    controller.abort()
    await expect(fired).rejects.toMatchObject({ code: 'ABORTED' })
    expect(seen[0]?.signal.aborted).toBe(false)
    done.open(inject('all the same'))
    await rest()
    expect(texts(await nextEvent(session))).toEqual(['all the same'])
  })

  test('is not bound by the time-out of the fire', async () => {
    const done = latch<unknown>()
    const never = madeHook('never', { events: ON_POST.events, run: () => new Promise(() => {}) })
    const hooks = await withMade([late(() => done.promise, ON_POST), never])
    const session = hooks.session()
    const first = await session.fire('PostToolUse', { ...BASH, tool_response: '' }, { timeout: 2 })
    expect(first.hooks.map(({ status }) => status)).toEqual(['detached', 'failed'])
    done.open(inject('after the time-out'))
    await rest()
    expect(texts(await nextEvent(session))).toEqual(['after the time-out'])
  })

  test('one that says so when its time is over has failed like any other', async () => {
    const begun: string[] = []
    const run: Run = async () => {
      const end = performance.now() + 30
      while (performance.now() < end) {} // no timer runs meanwhile
      return new LateAnswer(60_000, async () => void begun.push('rest'))
    }
    const hooks = await withMade([madeHook('late', { run, timeoutMs: 10, onFailure: 'block' })])
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect([outcome.action, outcome.hooks[0]?.why]).toEqual(['deny', 'HOOK_TIMEOUT'])
    expect(begun).toEqual([])
  })

  test('is waited for by close() of the session, and of all', async () => {
    for (const which of ['session', 'hooks'] as const) {
      const [done, ended] = [latch<unknown>(), [] as string[]]
      const finish = () => done.promise.finally(() => ended.push('hook'))
      const hooks = await withMade([late(finish)])
      const session = hooks.session()
      await session.fire('PreToolUse', BASH)
      const closed = { session, hooks }[which].close().then(() => ended.push('close'))
      await rest()
      expect(ended).toEqual([])
      done.open(undefined)
      await closed
      expect(ended).toEqual(['hook', 'close'])
    }
  })

  test('is ended by close({ abort: true })', async () => {
    const reasons: unknown[] = []
    const finish = ({ signal }: HookContext) =>
      new Promise<never>(() => signal.addEventListener('abort', () => reasons.push(signal.reason)))
    const hooks = await withMade([late(finish)])
    await hooks.session().fire('PreToolUse', BASH)
    await hooks.close({ abort: true })
    expect(reasons).toHaveLength(1)
  })

  test('may work on once more after it worked on', async () => {
    const again = async () => new LateAnswer(60_000, async () => inject('third time'))
    const session = (await withMade([late(again, ON_POST)])).session()
    await post(session)
    await rest()
    expect(texts(await nextEvent(session))).toEqual(['third time'])
  })

  test('is on record twice: when it went off, and when it was done', async () => {
    const audit = memoryAudit()
    const session = (await withMade([late(async () => inject('found'))], { audit })).session()
    await session.fire('PreToolUse', BASH)
    await session.close()
    expect(audit.records.map(({ kind, hooks }) => [kind, hooks[0]?.status])).toEqual([
      ['fire', 'detached'],
      ['late', 'ran'],
    ])
  })

  test('leaves its effects in its own session, and a subagent’s in the subagent', async () => {
    const session = (await withMade([late(async () => inject('mine'), ON_POST)])).session()
    const child = session.child({ agentId: 'a1' })
    await post(child)
    await rest()
    expect(texts(await nextEvent(session))).toEqual([])
    expect(texts(await nextEvent(child))).toEqual(['mine'])
  })

  test('its notes are told with what it brings', async () => {
    const finish = async ({ note }: HookContext) => {
      note({ code: 'malformed-field', text: 'odd' })
      return undefined
    }
    const session = (await withMade([late(finish, ON_POST)])).session()
    await post(session)
    await rest()
    expect((await nextEvent(session)).diagnostics).toMatchObject([
      { code: 'malformed-field', text: 'late: odd' },
    ])
  })
})

describe('a hook that may wake the model', () => {
  const waking = (run: Run, more: Partial<Hook> = {}) =>
    madeHook('waker', { events: ON_POST.events, detached: true, wakes: true, run, ...more })
  const found: Run = () => deny('tests fail', { userMessage: 'look here' })

  /** A host that is woken. */
  function sleeper() {
    const heard: ContextMessage[] = []
    return { heard, wake: (message: ContextMessage) => void heard.push(message) }
  }

  test('wakes it through the host with its reason; the user’s part goes out with the next event', async () => {
    const { heard, wake } = sleeper()
    const session = (await withMade([waking(found)], { wake })).session({ id: 's1' })
    await post(session)
    await rest()
    expect(heard).toMatchObject([
      {
        role: 'system',
        content: 'tests fail',
        metadata: { hook: 'waker', event: 'PostToolUse', session: 's1' },
      },
    ])
    const next = await nextEvent(session)
    expect([texts(next), said(next), codes(next)]).toEqual([[], ['look here'], []])
  })

  test('if the host has no wake, the model hears of it with the next event, and that is reported', async () => {
    const hooks = await withMade([waking(found)])
    const session = hooks.session()
    await post(session)
    await rest()
    expect(codes(hooks)).toEqual(['wake-waits'])
    const next = await nextEvent(session)
    expect([texts(next), said(next), codes(next)]).toEqual([['tests fail'], ['look here'], []])
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('asleep')
      },
    ],
    ['rejects', () => Promise.reject(new Error('asleep'))],
  ])('where the wake of the host %s, the model hears of it with the next event', async (_how, wake) => {
    const session = (await withMade([waking(found)], { wake })).session()
    await post(session)
    await rest()
    const next = await nextEvent(session)
    expect([texts(next), codes(next)]).toEqual([['tests fail'], ['host-failed']])
    expect(next.diagnostics[0]?.text).toContain('asleep')
  })

  test.each<[string, Run]>([
    ['goes on', () => undefined],
    ['injects', () => inject('nothing urgent')],
    [
      'fails',
      () => {
        throw new Error('broken')
      },
    ],
  ])('one that %s wakes nobody', async (_how, run) => {
    const { heard, wake } = sleeper()
    const hooks = await withMade([waking(run)], { wake })
    await post(hooks.session())
    await rest()
    expect([heard, codes(hooks)]).toEqual([[], []])
  })

  test('is charged to the turn: over the budget nobody is woken, and the user is told', async () => {
    const { heard, wake } = sleeper()
    const settings = { injection_budget_per_turn: 1 }
    const session = (await withMade([waking(found)], { wake, settings })).session()
    await post(session)
    await rest()
    const next = await nextEvent(session)
    expect([heard, texts(next), codes(next)]).toEqual([[], [], ['injection-over-budget']])
  })

  test('what wakes is cut to size like every injection', async () => {
    const { heard, wake } = sleeper()
    const run: Run = () => deny('x'.repeat(1000))
    const settings = { injection_size_limit: 100 }
    await post((await withMade([waking(run)], { wake, settings })).session())
    await rest()
    expect(Buffer.byteLength(heard[0]?.content ?? '')).toBe(100)
  })

  test('a deny of an async hook without asyncRewake does not wake the model', async () => {
    const { heard, wake } = sleeper()
    const session = (await withMade([waking(found, { wakes: false })], { wake })).session()
    await post(session)
    await rest()
    expect([heard, codes(await nextEvent(session))]).toEqual([[], ['async-verdict-ignored']])
  })

  test('is on record with what it said', async () => {
    const audit = memoryAudit()
    const { wake } = sleeper()
    const session = (await withMade([waking(found)], { wake, audit })).session()
    await post(session)
    await session.close()
    expect(audit.records[1]).toMatchObject({ kind: 'late', injections: [{ source: 'waker', bytes: 10 }] })
  })
})

describe('leaving a session', () => {
  test('waits for background work, and keeps its state for the process that continues it', async () => {
    const done = latch<unknown>()
    const hooks = await withMade([late(() => done.promise, ON_POST)])
    const session = hooks.session({ id: 's1' })
    await post(session)
    const left = session.leave()
    expect(session.closed).toBe(true)
    await expect(nextEvent(session)).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
    done.open(inject('for the next'))
    await left
    expect(hooks.diagnostics).toEqual([])
    expect(texts(await nextEvent(hooks.session({ id: 's1' })))).toEqual(['for the next'])
  })

  test('also leaves its children, and waits for their background work', async () => {
    const done = latch<unknown>()
    const hooks = await withMade([late(() => done.promise, ON_POST)])
    const session = hooks.session({ id: 's1' })
    const child = session.child({ agentId: 'a1' })
    await post(child)
    let left = false
    const leaving = session.leave().then(() => {
      left = true
    })
    await rest()
    expect([child.closed, left]).toEqual([true, false])
    done.open(inject('for the child'))
    await leaving
    const again = hooks.session({ id: 's1' }).child({ agentId: 'a1' })
    expect(texts(await nextEvent(again))).toEqual(['for the child'])
  })

  test('a session that was closed is not left any more, and one that was left not closed', async () => {
    const hooks = await withMade([late(async () => inject('kept'), ON_POST)])
    const session = hooks.session({ id: 's1' })
    await post(session)
    await session.leave()
    await session.close()
    const again = hooks.session({ id: 's1' })
    expect(texts(await nextEvent(again))).toEqual(['kept'])
    await post(again)
    await again.close()
    await again.leave()
    expect(texts(await nextEvent(hooks.session({ id: 's1' })))).toEqual([])
  })

  test('a session that is closed tells what nobody heard', async () => {
    const answer = inject('for nobody', { userMessage: 'unsaid' })
    const hooks = await withMade([late(async () => answer)])
    const session = hooks.session()
    await session.fire('PreToolUse', BASH)
    await session.close()
    expect(hooks.diagnostics).toMatchObject([
      { code: 'late-undelivered', text: 'late: for nobody' },
      { code: 'late-undelivered', text: 'late: unsaid' },
    ])
  })
})
