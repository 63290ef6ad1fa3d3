// beginTool and beginModel: the two halves of a call, each way to end it, and a question that is answered between them.

import {
  abortTurn,
  askUser,
  type BegunTool,
  createHooks,
  type Data,
  deny,
  type Hooks,
  type HooksOptions,
  inject,
  type Json,
  memoryAudit,
  modify,
  type Question,
  respond,
  type Session,
} from 'carabiner'
import { describe, expect, expectTypeOf, test, vi } from 'vitest'

const CALL = { name: 'Bash', input: { command: 'ls' }, id: 't1' }
const REQUEST = { model: 'small', messages: [{ role: 'user', content: 'When?' }] }
const never = () => new Promise<never>(() => {})

async function opened(options: HooksOptions = {}): Promise<{ hooks: Hooks; session: Session }> {
  const hooks = await createHooks({ globals: false, ...options })
  return { hooks, session: hooks.session({ id: 's1' }) }
}

/** What hooks are told after the call. */
function watched({ hooks }: { hooks: Hooks }): string[] {
  const seen: string[] = []
  hooks.register('PostToolUse', (_, { tool_response }) => void seen.push(`ok ${tool_response}`))
  hooks.register('PostToolUseFailure', (_, data) => {
    seen.push(`${data.is_interrupt ? 'interrupted' : 'failed'}: ${data.error}`)
  })
  return seen
}

type Status = BegunTool['status']

/** Fails unless the call has this status. */
function as<B extends { readonly status: string }, S extends B['status']>(
  begun: B,
  status: S,
): Extract<B, { readonly status: S }> {
  expect(begun.status).toBe(status)
  return begun as Extract<B, { readonly status: S }>
}

describe('the first half', () => {
  test('run: the call as hooks left it', async () => {
    const { session } = await opened()
    session.register('PreToolUse', () => modify({ tool_input: { command: 'ls -a' } }))
    const begun = as(await session.beginTool(CALL), 'run')
    expect(begun).toMatchObject({ name: 'Bash', input: { command: 'ls -a' }, outcome: { modified: true } })
    expect(Object.isFrozen(begun.input)).toBe(true)
  })

  test.each<[Exclude<Status, 'run'>, () => object, object]>([
    ['responded', () => respond('cached'), { result: 'cached' }],
    ['denied', () => deny('no'), { reason: 'no' }],
    [
      'needs_approval',
      () => askUser('list?'),
      { reason: 'list?', question: { asks: [{ prompt: 'list?' }] } },
    ],
  ])('%s: nothing to run, and nothing to end', async (status, answer, shown) => {
    const { hooks, session } = await opened()
    const seen = watched({ hooks })
    session.register('PreToolUse', answer as never)
    const begun = await session.beginTool(CALL)
    expect(begun).toMatchObject({ status, ...shown })
    expect(begun).not.toHaveProperty('input')
    await begun[Symbol.asyncDispose]()
    await session.close()
    expect(seen).toEqual([])
  })

  test('the compiler knows no input before the status, and its type afterwards', async () => {
    const { session } = await opened()
    const begun = await session.beginTool({ name: 'Sum', input: { a: 1, b: 2 } })
    // @ts-expect-error it may not run
    begun.input
    // @ts-expect-error neither can it be finished
    begun.finish
    if (begun.status === 'run') {
      expectTypeOf(begun.input).toEqualTypeOf<{ a: number; b: number }>()
      const finished = await begun.finish({ sum: begun.input.a + begun.input.b })
      if (finished.status === 'ok') expectTypeOf(finished.result).toEqualTypeOf<{ sum: number }>()
      else if (finished.status === 'responded') expectTypeOf(finished.result).toEqualTypeOf<Json>()
      else expectTypeOf(finished.reason).toEqualTypeOf<string>()
    } else if (begun.status === 'responded') expectTypeOf(begun.result).toEqualTypeOf<Json>()
    else if (begun.status === 'denied') expectTypeOf(begun.reason).toEqualTypeOf<string>()
    else {
      expectTypeOf(begun.question).toEqualTypeOf<Question>()
      expectTypeOf(begun.answer).returns.resolves.toEqualTypeOf<BegunTool<{ a: number; b: number }>>()
    }
    const plain = await session.beginTool({ name: 'Sum', input: {} as object })
    if (plain.status === 'run') expectTypeOf(plain.input).toEqualTypeOf<Data>()
    await using _ = plain
  })

  test.each([
    ['a call that is none', [null], 'PAYLOAD_INVALID'],
    ['an input that is none', [{ name: 'Bash', input: 'ls' }], 'PAYLOAD_INVALID'],
    ['an option that does not exist', [CALL, { aprover: () => 'Allow' }], 'OPTIONS_INVALID'],
    ['an approver that is none', [CALL, { approver: 'Allow' }], 'OPTIONS_INVALID'],
  ])('%s is refused', async (_, given, code) => {
    const { session } = await opened()
    await expect(session.beginTool(...(given as [never]))).rejects.toMatchObject({
      code,
      message: expect.stringMatching(/^beginTool: /),
    })
  })

  test('a hook that ends the turn: it rejects, as callTool does', async () => {
    const { session } = await opened()
    session.register('PreToolUse', () => abortTurn('enough'))
    await expect(session.beginTool(CALL)).rejects.toMatchObject({ code: 'TURN_ABORTED', message: 'enough' })
  })

  test('a signal that is aborted before, or while hooks judge: nothing may run', async () => {
    const { session } = await opened()
    const controller = new AbortController()
    session.register('PreToolUse', () => controller.abort('stop'))
    const { signal } = controller
    await expect(session.beginTool(CALL, { signal })).rejects.toMatchObject({ code: 'ABORTED' })
    await expect(session.beginTool(CALL, { signal })).rejects.toMatchObject({ code: 'ABORTED' })
  })

  test('a session that is closed while hooks judge: nothing may run, in either form', async () => {
    for (const which of ['begin', 'call'] as const) {
      const { hooks, session } = await opened()
      const seen = watched({ hooks })
      session.register('PreToolUse', () => void session.close())
      const run = vi.fn()
      const called = which === 'begin' ? session.beginTool(CALL) : session.callTool(CALL, run)
      await expect(called).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
      await session.close()
      expect([run.mock.calls.length, seen]).toEqual([0, []])
    }
  })
})

describe('the second half', () => {
  test('finish: PostToolUse sees the call that ran, and may replace its result', async () => {
    const { session } = await opened()
    const seen: unknown[] = []
    session.register('PostToolUse', (_, data) => {
      seen.push(data)
      return modify({ tool_response: 'redacted' }, { contextInjection: 'mind the gap' })
    })
    const begun = as(await session.beginTool(CALL), 'run')
    const finished = await begun.finish('a secret')
    expect(finished).toMatchObject({
      status: 'ok',
      result: 'redacted',
      after: { injections: [{ text: 'mind the gap' }] },
    })
    expect(seen).toMatchObject([
      {
        tool_name: 'Bash',
        tool_input: { command: 'ls' },
        tool_use_id: 't1',
        duration_ms: expect.any(Number),
      },
    ])
    expect(await as(await session.beginTool(CALL), 'run').finish({ out: 1 })).toMatchObject({
      status: 'responded',
      result: 'redacted',
    })
  })

  test('fail: PostToolUseFailure, and the error is not thrown at whoever reports it', async () => {
    const { hooks, session } = await opened()
    const seen = watched({ hooks })
    session.register('PostToolUseFailure', () => inject('try again'))
    const begun = as(await session.beginTool(CALL), 'run')
    expect(await begun.fail(new Error('no such file'))).toMatchObject({
      status: 'failed',
      reason: 'no such file',
      after: { injections: [{ text: 'try again' }] },
    })
    expect(seen).toEqual(['failed: no such file'])
  })

  test('a failure under an aborted signal is an interruption, and a result is still seen', async () => {
    const { hooks, session } = await opened()
    const seen = watched({ hooks })
    const controller = new AbortController()
    const { signal } = controller
    const [first, second] = [
      await session.beginTool(CALL, { signal }),
      await session.beginTool(CALL, { signal }),
    ]
    controller.abort()
    await as(first, 'run').fail(new Error('killed'))
    await as(second, 'run').finish('done')
    expect(seen).toEqual(['interrupted: killed', 'ok done'])
  })

  test('the first ending counts, and every other gets its result', async () => {
    const { hooks, session } = await opened()
    const seen = watched({ hooks })
    const [one, two, three] = await Promise.all([1, 2, 3].map(() => session.beginTool(CALL)))
    const a = as(one as BegunTool, 'run')
    const [finished, failed] = await Promise.all([
      a.finish('done'),
      a.fail(new Error('late')),
      a.finish('again'),
    ])
    expect(finished).toMatchObject({ status: 'ok', result: 'done' })
    expect(failed).toBe(finished)
    const b = as(two as BegunTool, 'run')
    const broken = await b.fail('broken')
    expect(await b.finish('done')).toBe(broken)
    await b[Symbol.asyncDispose]()
    const c = as(three as BegunTool, 'run')
    await c[Symbol.asyncDispose]()
    expect(await c.finish('done')).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/dropped/),
    })
    await session.close()
    expect(seen).toEqual([
      'ok done',
      'failed: broken',
      'interrupted: The call was dropped before it was finished',
    ])
  })

  test('a hook that ends the turn: every ending rejects, and disposing of an ended call does not', async () => {
    const { session } = await opened()
    session.register('PostToolUse', () => abortTurn('enough'))
    const begun = as(await session.beginTool(CALL), 'run')
    const refused = { code: 'TURN_ABORTED', message: 'enough' }
    await expect(begun.finish('done')).rejects.toMatchObject(refused)
    await expect(begun.finish('done')).rejects.toMatchObject(refused)
    await expect(begun.fail('broken')).rejects.toMatchObject(refused)
    await begun[Symbol.asyncDispose]()
  })

  test('a hook that ends the turn of a dropped call is not lost', async () => {
    const { hooks, session } = await opened()
    session.register('PostToolUseFailure', () => abortTurn('enough'))
    const refused = { code: 'TURN_ABORTED', message: 'enough' }
    await expect(as(await session.beginTool(CALL), 'run')[Symbol.asyncDispose]()).rejects.toMatchObject(
      refused,
    )
    await session.beginTool(CALL)
    await session.close()
    expect(hooks.diagnostics).toMatchObject([{ code: 'late-failed', text: 'an unfinished call: enough' }])
  })

  test('a promise is no result: hooks would see nothing of it', async () => {
    const { hooks, session } = await opened()
    const seen = watched({ hooks })
    const begun = as(await session.beginTool(CALL), 'run')
    const refused = { code: 'OPTIONS_INVALID', message: expect.stringMatching(/promise; await it first/) }
    await expect(begun.finish(Promise.resolve('a secret'))).rejects.toMatchObject(refused)
    expect(await begun.finish('done')).toMatchObject({ status: 'ok', result: 'done' })
    expect(seen).toEqual(['ok done'])
    const model = as(await session.beginModel(REQUEST), 'run')
    await expect(model.finish(Promise.resolve('a secret'))).rejects.toMatchObject(refused)
    async function* stream() {
      yield 'a secret'
    }
    await expect(model.finish(stream())).rejects.toThrow(/stream; read it first/)
  })

  test('await using ends what an error left open', async () => {
    const { hooks, session } = await opened()
    const seen = watched({ hooks })
    const work = async () => {
      await using begun = await session.beginTool(CALL)
      expect(begun.status).toBe('run')
      throw new Error('the host')
    }
    await expect(work()).rejects.toThrow('the host')
    expect(seen).toEqual(['interrupted: The call was dropped before it was finished'])
  })

  test.each<[string, (open: { hooks: Hooks; session: Session; child: Session }) => Promise<void>]>([
    ['the session is closed', ({ child }) => child.close()],
    ['it is left', ({ child }) => child.leave()],
    ['its parent is closed', ({ session }) => session.close()],
    ['all hooks are closed', ({ hooks }) => hooks.close()],
  ])('where %s, calls that are still open are interrupted before it returns', async (_, close) => {
    const { hooks, session } = await opened()
    const seen = watched({ hooks })
    const child = session.child({ agentId: 'a1' })
    const [open, ended] = [await child.beginTool(CALL), as(await child.beginTool(CALL), 'run')]
    await ended.finish('done')
    await close({ hooks, session, child })
    const why = 'The session was closed before the call was finished'
    expect(seen).toEqual(['ok done', `interrupted: ${why}`])
    expect(await as(open, 'run').finish('too late')).toMatchObject({ status: 'failed', reason: why })
  })

  test('a call of callTool ends by itself, also where the session is closed meanwhile', async () => {
    const { hooks, session } = await opened()
    const seen = watched({ hooks })
    const called = await session.callTool(CALL, async () => {
      await session.close()
      return 'done'
    })
    expect([called.status, seen]).toEqual(['ok', ['ok done']])
  })

  test('closing at once waits for no hook of an open call, and the record says so', async () => {
    const audit = memoryAudit()
    const { hooks, session } = await opened({ audit })
    hooks.register('PostToolUseFailure', never)
    await session.beginTool(CALL)
    await hooks.close({ abort: true })
    expect(audit.records.at(-1)).toMatchObject({ event: 'PostToolUseFailure', action: 'aborted' })
  })

  test('many calls of one session do not mix', async () => {
    const { session } = await opened()
    const seen: unknown[] = []
    session.register(
      'PostToolUse',
      (_, { tool_use_id, tool_response }) => void seen.push([tool_use_id, tool_response]),
    )
    const ids = Array.from({ length: 20 }, (_, i) => `t${i}`)
    const begun = await Promise.all(ids.map((id) => session.beginTool({ ...CALL, id })))
    await Promise.all(begun.toReversed().map((one, i) => as(one, 'run').finish(19 - i)))
    expect(Object.fromEntries(seen as [string, number][])).toEqual(
      Object.fromEntries(ids.map((id, i) => [id, i])),
    )
  })
})

describe('a question', () => {
  const asking = async (options: HooksOptions = {}, more: object = {}) => {
    const open = await opened(options)
    const asks = vi.fn((_: string, { tool_input }: Data) =>
      (tool_input as Data).command === 'ls -l' ? undefined : askUser('list?', more),
    )
    open.hooks.register('PreToolUse', asks as never, { name: 'asks' })
    const begun = as(await open.session.beginTool(CALL), 'needs_approval')
    return { ...open, asks, begun }
  }

  test.each<[unknown, Status]>([
    ['Allow', 'run'],
    [{ option: 'Allow', by: 'ada' }, 'run'],
    ['Deny', 'denied'],
    ['Allow everything', 'denied'],
    [{ option: 'Allow', date: {} }, 'denied'],
    [undefined, 'denied'],
    [{ unanswered: 'ask again' }, 'needs_approval'],
  ])('answered with %j: %s, and no hook runs twice', async (reply, status) => {
    const { begun, asks, session, hooks } = await asking()
    const seen = watched({ hooks })
    const answered = await begun.answer(reply as never)
    expect(answered.status).toBe(status)
    expect(asks).toHaveBeenCalledOnce()
    if (answered.status === 'run') await answered.finish('done')
    await session.close()
    expect(seen).toEqual(status === 'run' ? ['ok done'] : [])
  })

  test('it carries the id of the call', async () => {
    const { begun } = await asking()
    expect(begun.question.call).toMatchObject({ tool_use_id: 't1', tool_input: { command: 'ls' } })
  })

  test('an edited call is judged again, and is what runs', async () => {
    const { begun, asks } = await asking()
    const answered = await begun.answer({ option: 'Allow', data: { tool_input: { command: 'ls -l' } } })
    expect(as(answered, 'run').input).toEqual({ command: 'ls -l' })
    expect(asks).toHaveBeenCalledTimes(2)
  })

  test('an edit that a hook refuses is refused; an edit that is asked about is asked about', async () => {
    const edited = (command: string) => ({ option: 'Allow', data: { tool_input: { command } } })
    const { hooks, session } = await opened()
    hooks.register(
      'PreToolUse',
      (_, { tool_input }) => {
        if (tool_input.command === 'rm') return deny('never')
        if (tool_input.command !== 'pwd') return askUser('list?')
        return undefined
      },
      { name: 'first', matcher: 'Bash' },
    )
    hooks.register(
      'PreToolUse',
      (_, { tool_input }) => (tool_input.command === 'pwd' ? askUser('where?') : undefined),
      {
        name: 'second',
      },
    )
    const begin = async () => as(await session.beginTool(CALL), 'needs_approval')
    expect(await (await begin()).answer(edited('rm'))).toMatchObject({ status: 'denied', reason: 'never' })
    const again = as(await (await begin()).answer(edited('pwd')), 'needs_approval')
    expect(again.question.asks).toMatchObject([{ hook: 'second', prompt: 'where?' }])
    expect(as(await again.answer('Allow'), 'run').input).toEqual({ command: 'pwd' })
  })

  test('a hook with once that asks is not dodged: its answer counts, and it judges an edit', async () => {
    const { hooks, session } = await opened()
    hooks.register(
      'PreToolUse',
      (_, { tool_input }) => ((tool_input as Data).command === 'rm' ? deny('never') : askUser('list?')),
      { once: true },
    )
    const begun = as(await session.beginTool(CALL), 'needs_approval')
    const edited = { option: 'Allow', data: { tool_input: { command: 'rm' } } }
    expect(await begun.answer(edited)).toMatchObject({ status: 'denied', reason: 'never' })
  })

  test('the first answer counts', async () => {
    const { begun } = await asking()
    const [first, second] = await Promise.all([begun.answer('Deny'), begun.answer('Allow')])
    expect(first).toMatchObject({ status: 'denied' })
    expect(second).toBe(first)
  })

  test('an answer after the session was closed, or the signal aborted, lets nothing run', async () => {
    const { begun, session } = await asking()
    await session.close()
    await expect(begun.answer('Allow')).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
    const audit = memoryAudit()
    const { session: another, hooks } = await opened({ audit })
    hooks.register('PreToolUse', () => askUser('list?'))
    const controller = new AbortController()
    const asked = as(await another.beginTool(CALL, { signal: controller.signal }), 'needs_approval')
    controller.abort('stop')
    await expect(asked.answer('Allow')).rejects.toMatchObject({ code: 'ABORTED', cause: 'stop' })
    expect(audit.records.map(({ action }) => action)).toEqual(['ask_user', 'aborted'])
  })

  test.each<[string, unknown, object, Status]>([
    ['an allow', 'Allow', {}, 'denied'],
    ['a deny', 'Deny', { approvalDefault: 'allow' }, 'denied'],
    ['an allow, and allow is the default', 'Allow', { approvalDefault: 'allow' }, 'run'],
    [
      'an edit, and allow is the default',
      { option: 'Allow', data: { tool_input: { command: 'ls -l' } } },
      { approvalDefault: 'allow' },
      'denied',
    ],
  ])('too late, %s: %o', async (_, reply, more, status) => {
    let now = 1e12
    const { begun } = await asking({ clock: () => now }, { approvalTimeout: 60, ...more })
    now += 60_001
    expect((await begun.answer(reply as never)).status).toBe(status)
  })

  test('a time-out of the call begins anew with the answer', async () => {
    const { hooks, session } = await opened()
    hooks.register(
      'PreToolUse',
      (_, { tool_input }) => (tool_input.command === 'ls' ? askUser('list?') : undefined),
      {
        matcher: 'Bash',
      },
    )
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      const begun = as(await session.beginTool(CALL, { timeout: 5 }), 'needs_approval')
      vi.advanceTimersByTime(6000)
      const answered = await begun.answer({ option: 'Allow', data: { tool_input: { command: 'ls -l' } } })
      expect(answered.status).toBe('run')
    } finally {
      vi.useRealTimers()
    }
  })

  test('what hooks said is delivered once, and recorded once', async () => {
    const audit = memoryAudit()
    const context = vi.fn()
    const display = vi.fn()
    const { hooks, session } = await opened({ audit, context, display })
    hooks.register(
      'PreToolUse',
      () => askUser('list?', { contextInjection: 'careful', userMessage: 'asking' }),
      { name: 'asks' },
    )
    hooks.register('PermissionRequest', () => inject('still careful'), { name: 'silent' })
    const begun = as(await session.beginTool(CALL), 'needs_approval')
    const answered = as(await begun.answer({ option: 'Allow', by: 'ada' }), 'run')
    expect(answered.outcome.approval?.answer).toMatchObject({ decision: 'allow', by: 'ada' })
    expect(answered.outcome.approval?.question.id).toBe(begun.question.id)
    expect(answered.outcome.hooks.map(({ name }) => name)).toEqual(['asks', 'silent'])
    await hooks.close()
    expect(context.mock.calls.map(([{ content }]) => content)).toEqual(['careful', 'still careful'])
    expect(display.mock.calls.map(([{ text }]) => text)).toEqual(['asking'])
    const records = audit.records.filter(({ event }) => event === 'PreToolUse')
    expect(records.map(({ action, hooks: ran }) => [action, ran.length])).toEqual([
      ['ask_user', 2],
      ['continue', 0],
    ])
  })

  test('"Allow always" is a grant', async () => {
    const { begun, hooks, session } = await asking(
      {},
      { approvalOptions: ['Allow once', 'Allow always', 'Deny'] },
    )
    expect((await begun.answer('Allow always')).status).toBe('run')
    expect(await hooks.grants()).toMatchObject([{ tool: 'Bash' }])
    expect((await session.beginTool(CALL)).status).toBe('run')
  })

  test('a call whose values changed before the answer does not run', async () => {
    const { session } = await opened()
    session.register('PreToolUse', () => askUser('list?'))
    const files = new Map([['a', 1]])
    const begun = as(await session.beginTool({ name: 'Read', input: { files } }), 'needs_approval')
    files.set('b', 2)
    expect(await begun.answer('Allow')).toMatchObject({
      status: 'denied',
      reason: expect.stringMatching(/changed/),
    })
  })

  test('respond stays below the ask', async () => {
    const { hooks, session } = await opened()
    hooks.register('PreToolUse', () => respond('cached'))
    hooks.register('PreToolUse', () => askUser('list?'))
    const begun = as(await session.beginTool(CALL), 'needs_approval')
    expect(await begun.answer('Allow')).toMatchObject({ status: 'responded', result: 'cached' })
  })
})

describe('an approver for one call', () => {
  test.each([
    ['beginTool', (session: Session, approver: never) => session.beginTool(CALL, { approver })],
    ['callTool', (session: Session, approver: never) => session.callTool(CALL, () => 'ran', { approver })],
    ['beginModel', (session: Session, approver: never) => session.beginModel(REQUEST, { approver })],
    [
      'callModel',
      (session: Session, approver: never) => session.callModel(REQUEST, () => 'ran', { approver }),
    ],
  ])('is asked instead of the common one: %s', async (_, call) => {
    const common = vi.fn(() => 'Deny')
    const { session } = await opened({ approver: common })
    session.register('PreToolUse', () => askUser('sure?'))
    session.register('ModelRequest', () => askUser('sure?'))
    const approver = vi.fn(() => 'Allow')
    expect((await call(session, approver as never)).status).toMatch(/^(run|ok)$/)
    expect(approver).toHaveBeenCalledOnce()
    expect(common).not.toHaveBeenCalled()
    expect((await call(session, 'deny' as never)).status).toBe('denied')
    expect((await call(session, undefined as never)).status).toBe('denied')
    expect(common).toHaveBeenCalledOnce()
  })

  test('also for fire', async () => {
    const { session } = await opened()
    session.register('UserPromptSubmit', () => askUser('sure?'))
    const outcome = await session.fire('UserPromptSubmit', { prompt: 'hi' }, { approver: () => 'Allow' })
    expect(outcome).toMatchObject({ action: 'continue', approval: { answer: { decision: 'allow' } } })
  })

  test('one that leaves the question open: it can be answered later', async () => {
    const { session } = await opened()
    session.register('PreToolUse', () => askUser('sure?'))
    const begun = await session.beginTool(CALL, { approver: () => ({ unanswered: 'see the queue' }) })
    const open = as(begun, 'needs_approval')
    expect(open.reason).toBe('see the queue')
    expect((await open.answer('Allow')).status).toBe('run')
  })
})

describe('beginModel', () => {
  const ANSWER = { role: 'assistant', content: 'Noon.' }

  test('the request as hooks left it, and the response that may be used', async () => {
    const { session } = await opened()
    session.register('ModelRequest', () => inject('be brief'))
    const begun = as(await session.beginModel(REQUEST), 'run')
    expectTypeOf(begun.request.messages).items.toHaveProperty('content')
    expect(begun).toMatchObject({ held: false, request: { model: 'small' } })
    expect(begun.request.messages.at(-1)?.content).toContain('be brief')
    const finished = await begun.finish(ANSWER)
    if (finished.status === 'ok') expectTypeOf(finished.response).toEqualTypeOf<typeof ANSWER>()
    expect(finished).toMatchObject({ status: 'ok', response: ANSWER })
    expect(await begun.fail('late')).toBe(finished)
  })

  test.each<[string, () => object, object]>([
    ['denied', () => deny('a secret'), { status: 'denied', reason: 'a secret' }],
    ['changed', () => modify({ response: 'redacted' }), { status: 'responded', response: 'redacted' }],
    ['asked about', () => askUser('show it?'), { status: 'needs_approval', reason: 'show it?' }],
  ])('a response that is %s', async (_, answer, shown) => {
    const { session } = await opened()
    session.register('ModelResponse', answer as never)
    const begun = as(await session.beginModel(REQUEST), 'run')
    expect(begun.held).toBe(true)
    const finished = await begun.finish(ANSWER)
    expect(finished).toMatchObject({ ...shown, outcome: { action: 'continue' } })
    expect(finished.response).not.toEqual(ANSWER)
    if (finished.status !== 'needs_approval') return
    expect(await finished.answer('Allow')).toMatchObject({ status: 'ok', response: ANSWER })
  })

  test('a question about the request: what hooks injected before it is not lost', async () => {
    const { session } = await opened()
    session.register('ModelRequest', () => askUser('an expensive model?', { contextInjection: 'be brief' }))
    const begun = as(await session.beginModel(REQUEST), 'needs_approval')
    const { request } = as(await begun.answer('Allow'), 'run')
    expect(
      request.messages
        .map(({ content }) => content)
        .join()
        .split('be brief'),
    ).toHaveLength(2)
  })

  test.each<
    [
      string,
      (begun: { fail(error: unknown): unknown } & AsyncDisposable, session: Session) => unknown,
      string,
    ]
  >([
    ['fails', (begun) => begun.fail(new Error('overloaded')), 'overloaded'],
    [
      'is disposed of',
      (begun) => begun[Symbol.asyncDispose](),
      'The call was dropped before it was finished',
    ],
    ['is left open', (_, session) => session.leave(), 'The session was closed before the call was finished'],
  ])(
    'a call that %s: observers are told, and ephemeral context waits for the next one',
    async (_, end, why) => {
      const { hooks, session } = await opened()
      const told: unknown[] = []
      hooks.register('error', (_event, { message }) => void told.push(message), { role: 'observe' })
      hooks.register('PostToolUse', () => inject('a remark', { ephemeral: true }))
      await as(await session.beginTool(CALL), 'run').finish('done')
      await end(as(await session.beginModel(REQUEST), 'run'), session)
      const next = as(await hooks.session({ id: 's1' }).beginModel(REQUEST), 'run')
      expect(JSON.stringify(next.request.messages)).toContain('a remark')
      await hooks.close()
      expect(told[0]).toBe(why)
    },
  )

  test('a wrong request or option is refused by name', async () => {
    const { session } = await opened()
    await expect(session.beginModel(null as never)).rejects.toThrow(/^beginModel: the request/)
    await expect(session.beginModel(REQUEST, { renames: true } as never)).rejects.toThrow(
      /^beginModel: unknown option/,
    )
  })
})
