// callTool: PreToolUse, the tool, PostToolUse or PostToolUseFailure, and what the host gets in each case.

import {
  abortTurn,
  askUser,
  createHooks,
  type Data,
  deny,
  type HookError,
  hardAbort,
  inject,
  type Json,
  memoryAudit,
  modify,
  type Outcome,
  respond,
  type ToolCall,
} from 'carabiner'
import { describe, expect, expectTypeOf, test, vi } from 'vitest'

const CALL = { name: 'Bash', input: { command: 'ls' }, id: 't1' }
const never = () => new Promise<never>(() => {})

describe('what comes back', () => {
  test('ok: the tool’s own result, untouched', async () => {
    class Result {
      readonly lines = ['a', 'b']
    }
    const result = new Result()
    const session = (await createHooks({ globals: false })).session()
    session.register('PostToolUse', () => inject('a note'))
    const called = await session.callTool(CALL, () => result)
    expect(called.status).toBe('ok')
    expect(called.result).toBe(result)
    expect(called.outcome.action).toBe('continue')
    expect(called.status === 'ok' && called.after.injections).toMatchObject([{ text: 'a note' }])
  })

  test('responded: the hook’s answer, and the tool does not run', async () => {
    const session = (await createHooks({ globals: false })).session()
    session.register('PreToolUse', () => respond({ for_llm: 'cached', for_user: '', silent: true }))
    const run = vi.fn()
    const called = await session.callTool(CALL, run)
    expect(called).toMatchObject({
      status: 'responded',
      result: { for_llm: 'cached', for_user: '', silent: true },
      outcome: { action: 'respond' },
    })
    expect(run).not.toHaveBeenCalled()
  })

  test('denied: the reason for the model, and the tool does not run', async () => {
    const session = (await createHooks({ globals: false })).session()
    session.register('PreToolUse', () => deny('use the other tool'))
    const run = vi.fn()
    const called = await session.callTool(CALL, run)
    expect(called).toMatchObject({ status: 'denied', reason: 'use the other tool' })
    expect(called.result).toBeUndefined()
    expect(run).not.toHaveBeenCalled()
  })

  test('denied without a reason: the hook is named', async () => {
    const session = (await createHooks({ globals: false })).session()
    session.register('PreToolUse', () => ({ action: 'deny' }), { name: 'taciturn' })
    expect((await session.callTool(CALL, () => 'ran')).reason).toMatch(/taciturn/)
  })

  test('needs_approval: a hook asks and there is nobody to ask', async () => {
    const session = (await createHooks({ globals: false })).session()
    session.register('PreToolUse', () => askUser('list the files?'))
    const run = vi.fn()
    const called = await session.callTool(CALL, run)
    expect(called).toMatchObject({
      status: 'needs_approval',
      reason: 'list the files?',
      outcome: { approval: { question: { asks: [{ prompt: 'list the files?' }] } } },
    })
    expect(run).not.toHaveBeenCalled()
  })

  test.each([
    ['Allow', 'ok'],
    ['Deny', 'denied'],
  ])('a person who answers %s: %s', async (reply, status) => {
    const session = (await createHooks({ globals: false, approver: () => reply })).session()
    session.register('PreToolUse', () => askUser('list the files?'))
    expect((await session.callTool(CALL, () => 'ran')).status).toBe(status)
  })

  test('what a person edited is what runs', async () => {
    const approver = () => ({ option: 'Allow', data: { tool_input: { command: 'ls -l' } } })
    const session = (await createHooks({ globals: false, approver })).session()
    session.register('PreToolUse', () => askUser('list the files?'))
    const called = await session.callTool(CALL, ({ command }) => command)
    expect(called.result).toBe('ls -l')
  })

  test.each([
    ['abort_turn', abortTurn('enough'), 'TURN_ABORTED'],
    ['hard_abort', hardAbort('enough'), 'AGENT_ABORTED'],
  ])('%s before the call rejects, and the tool does not run', async (action, answer, code) => {
    const session = (await createHooks({ globals: false })).session()
    session.register('PreToolUse', () => answer)
    const run = vi.fn()
    const error = await session.callTool(CALL, run).catch((thrown: HookError) => thrown)
    expect(error).toMatchObject({ name: 'HookError', code, message: 'enough', outcome: { action } })
    expect(run).not.toHaveBeenCalled()
  })

  test.each([
    ['abort_turn', abortTurn('enough'), 'TURN_ABORTED'],
    ['hard_abort', hardAbort('enough'), 'AGENT_ABORTED'],
  ])('%s after the call rejects as well, also after a failure', async (_, answer, code) => {
    const session = (await createHooks({ globals: false })).session()
    session.register('PostToolUse', () => answer)
    session.register('PostToolUseFailure', () => answer)
    await expect(session.callTool(CALL, () => 'ran')).rejects.toMatchObject({ code, message: 'enough' })
    const fails = () => {
      throw new Error('tool error')
    }
    await expect(session.callTool(CALL, fails)).rejects.toMatchObject({ code, message: 'enough' })
  })
})

describe('what the tool gets', () => {
  test('input and name as hooks left them, its id and the signal', async () => {
    const session = (await createHooks({ globals: false })).session()
    session.register('PreToolUse', () => modify({ tool_name: 'Shell', tool_input: { command: 'ls -a' } }))
    const { signal } = new AbortController()
    const run = vi.fn(() => 'ran')
    await session.callTool(CALL, run, { signal, renames: true })
    expect(run).toHaveBeenCalledExactlyOnceWith({ command: 'ls -a' }, { name: 'Shell', id: 't1', signal })
  })

  test('a frozen input: what was judged is what runs', async () => {
    for (const listens of [true, false]) {
      const session = (await createHooks({ globals: false })).session()
      if (listens) session.register('PreToolUse', () => undefined)
      const input = { command: 'ls', nested: { list: [1] } }
      const called = await session.callTool({ name: 'Bash', input }, (given) => given as Data)
      expect(called.result).toEqual(input)
      expect(Object.isFrozen(called.result)).toBe(true)
      expect(Object.isFrozen((called.result as Data).nested)).toBe(true)
      expect(Object.isFrozen(input)).toBe(false)
    }
  })

  test('an input that the host changes while it is judged does not change', async () => {
    const session = (await createHooks({ globals: false })).session()
    const input = { command: 'ls' }
    session.register('PreToolUse', async () => {
      input.command = 'rm /'
    })
    expect((await session.callTool({ name: 'Bash', input }, ({ command }) => command)).result).toBe('ls')
  })

  test.each([
    ['a name that is missing', { input: {} }],
    ['an input that is missing', { name: 'Bash' }],
    ['an input that is text', { name: 'Bash', input: 'ls' }],
  ])('nothing for %s: it is refused, hooks or none', async (_, call) => {
    const hooks = await createHooks({ globals: false })
    const run = vi.fn()
    const call_ = call as never
    await expect(hooks.session().callTool(call_, run)).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
    hooks.register('PreToolUse', () => undefined)
    await expect(hooks.session().callTool(call_, run)).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
    expect(run).not.toHaveBeenCalled()
  })

  test('parallel calls do not mix', async () => {
    const session = (await createHooks({ globals: false })).session()
    session.register('PreToolUse', async (_, { tool_input }) => {
      await new Promise((resolve) => setImmediate(resolve))
      return tool_input.n === 2 ? deny('not two') : modify({ tool_input: { n: Number(tool_input.n) * 10 } })
    })
    const results = await Promise.all(
      [1, 2, 3].map((n) => session.callTool({ name: 'Count', input: { n } }, (input) => input.n)),
    )
    expect(results.map(({ status, result }) => [status, result])).toEqual([
      ['ok', 10],
      ['denied', undefined],
      ['ok', 30],
    ])
  })
})

describe('after the tool', () => {
  test('PostToolUse sees the call that ran and its result, under both names', async () => {
    const session = (await createHooks({ globals: false })).session()
    let seen: unknown
    session.register('PreToolUse', () => modify({ tool_input: { command: 'ls -a' } }))
    session.register('PostToolUse', (_, data) => {
      seen = data
    })
    await session.callTool(CALL, () => ({ stdout: 'a b' }))
    expect(seen).toMatchObject({
      tool_name: 'Bash',
      tool_input: { command: 'ls -a' },
      tool_use_id: 't1',
      tool_response: { stdout: 'a b' },
      tool_result: { stdout: 'a b' },
      duration_ms: expect.any(Number),
    })
  })

  test.each(['tool_response', 'tool_result'])('a changed %s is the result', async (field) => {
    const session = (await createHooks({ globals: false })).session()
    session.register('PostToolUse', () => modify({ [field]: 'redacted' }))
    expect((await session.callTool(CALL, () => 'a secret')).result).toBe('redacted')
  })

  test('changed to null it is null', async () => {
    const session = (await createHooks({ globals: false })).session()
    session.register('PostToolUse', () => modify({ tool_response: null }))
    expect((await session.callTool(CALL, () => 'a secret')).result).toBeNull()
  })

  test.each([
    ['a text', 'a secret', 'redacted'],
    ['an object with the same fields', { out: 'a secret', code: 0 }, { out: 'redacted', code: 0, note: 1 }],
    ['a list of the same', [{ out: 'a' }, 'b'], [{ out: 'c' }, 'd', 'e']],
    ['a long list', Array(50_000).fill(['secret']), Array(50_000).fill(['redacted'])],
    ['a field that was never set', { out: 'a', err: undefined }, { out: 'b' }],
  ])('replaced by what can stand in for it (%s) it is still ok', async (_, result, replaced) => {
    const session = (await createHooks({ globals: false })).session()
    session.register('PostToolUse', () => modify({ tool_response: replaced }))
    expect(await session.callTool(CALL, () => result)).toMatchObject({ status: 'ok', result: replaced })
  })

  test.each<[string, unknown, unknown]>([
    ['a text for an object', { out: 'a secret' }, 'redacted'],
    ['an object that lacks a field', { out: 'a secret', code: 0 }, { out: 'redacted' }],
    ['a field of another type', { code: 0 }, { code: '0' }],
    ['null', 'a secret', null],
    ['an item of another type', ['a'], ['a', 1]],
    ['a list in another order', [{ out: 'a' }, 'b'], ['b', { out: 'a' }]],
    ['anything for nothing', undefined, 'text'],
    ['anything for an object of a class', new Map([['a', 1]]), [['a', 1, 2]]],
  ])('replaced by something else (%s) it is what a hook responded', async (_, result, replaced) => {
    const session = (await createHooks({ globals: false })).session()
    session.register('PostToolUse', () => modify({ tool_response: replaced }))
    const called = await session.callTool<unknown>(CALL, () => result)
    expect(called).toMatchObject({ status: 'responded', result: replaced, after: { modified: true } })
  })

  test('the status tells which result it is', async () => {
    const session = (await createHooks({ globals: false })).session()
    const called = await session.callTool({ name: 'Sum', input: { a: 1, b: 2 } }, (input, { signal }) => {
      expectTypeOf(input).toEqualTypeOf<{ a: number; b: number }>()
      expectTypeOf(signal).toEqualTypeOf<AbortSignal | undefined>()
      return { sum: input.a + input.b }
    })
    expectTypeOf(called.result).toEqualTypeOf<{ sum: number } | Json | undefined>()
    if (called.status === 'ok') {
      expectTypeOf(called.result).toEqualTypeOf<{ sum: number }>()
      expectTypeOf(called.after).toEqualTypeOf<Outcome>()
      expectTypeOf(called.reason).toEqualTypeOf<undefined>()
    } else if (called.status === 'responded') {
      expectTypeOf(called.result).toEqualTypeOf<Json>()
      expectTypeOf(called.after).toEqualTypeOf<Outcome | undefined>()
    } else {
      expectTypeOf(called.status).toEqualTypeOf<'denied' | 'needs_approval'>()
      expectTypeOf(called.reason).toEqualTypeOf<string>()
      expectTypeOf(called.result).toEqualTypeOf<undefined>()
    }
    expect(called.result).toEqual({ sum: 3 })
    const call: ToolCall = CALL
    await session.callTool(call, (input) => void expectTypeOf(input).toEqualTypeOf<Data>())
  })

  test('a deny tells the model; the result stays', async () => {
    const session = (await createHooks({ globals: false })).session()
    session.register('PostToolUse', () => deny('tests fail'), { name: 'tests' })
    const called = await session.callTool(CALL, () => 'ran')
    expect(called).toMatchObject({ status: 'ok', result: 'ran', after: { action: 'continue' } })
    expect(called.status === 'ok' && called.after.injections).toMatchObject([
      { text: 'tests fail', source: 'tests' },
    ])
  })

  test('a hook that fails costs no result', async () => {
    const session = (await createHooks({ globals: false })).session()
    session.register('PostToolUse', () => {
      throw new Error('broken')
    })
    const called = await session.callTool(CALL, () => 'ran')
    expect(called).toMatchObject({ status: 'ok', result: 'ran', after: { hooks: [{ status: 'failed' }] } })
  })

  test('nothing is fired after a call that was denied or answered', async () => {
    const session = (await createHooks({ globals: false })).session()
    const after = vi.fn()
    session.register('PostToolUse', after)
    session.register('PostToolUseFailure', after)
    session.register('PreToolUse', () => deny('no'))
    await session.callTool(CALL, () => 'ran')
    expect(after).not.toHaveBeenCalled()
  })

  test('every outcome is handed out as it comes', async () => {
    const session = (await createHooks({ globals: false })).session()
    session.register('*', () => undefined)
    const events: string[] = []
    const onOutcome = (event: string, outcome: Outcome) => void events.push(`${event} ${outcome.action}`)
    await session.callTool(CALL, () => events.push('the tool'), { onOutcome })
    expect(events).toEqual(['PreToolUse continue', 'the tool', 'PostToolUse continue'])
  })
})

describe('a tool that fails', () => {
  test('its own error is rethrown, after PostToolUseFailure', async () => {
    const session = (await createHooks({ globals: false })).session()
    const seen: unknown[] = []
    session.register('PostToolUseFailure', (_, data) => {
      seen.push(data)
      return inject('try again')
    })
    const outcomes: string[] = []
    const error = new TypeError('no such file')
    for (const run of [
      () => Promise.reject(error),
      () => Promise.resolve().then(() => Promise.reject(error)),
    ]) {
      const called = session.callTool(CALL, run, { onOutcome: (event) => void outcomes.push(event) })
      await expect(called).rejects.toBe(error)
    }
    expect(seen).toHaveLength(2)
    expect(seen[0]).toMatchObject({
      tool_name: 'Bash',
      tool_input: { command: 'ls' },
      tool_use_id: 't1',
      error: 'no such file',
      is_interrupt: false,
      duration_ms: expect.any(Number),
    })
    expect(outcomes).toEqual(['PreToolUse', 'PostToolUseFailure', 'PreToolUse', 'PostToolUseFailure'])
  })

  test('also where it throws at once', async () => {
    const session = (await createHooks({ globals: false })).session()
    const seen = vi.fn()
    session.register('PostToolUseFailure', seen)
    const error = new Error('at once')
    const run = () => {
      throw error
    }
    await expect(session.callTool(CALL, run)).rejects.toBe(error)
    expect(seen).toHaveBeenCalledOnce()
  })

  test.each([['a text'], [null], [undefined], [{ code: 7 }]])('also where it throws %j', async (thrown) => {
    const session = (await createHooks({ globals: false })).session()
    const seen: unknown[] = []
    session.register('PostToolUseFailure', (_, { error }) => void seen.push(error))
    const called = session.callTool(CALL, () => Promise.reject(thrown))
    await expect(
      called.then(
        () => 'resolved',
        (error: unknown) => ({ error }),
      ),
    ).resolves.toEqual({
      error: thrown,
    })
    expect(seen).toEqual([expect.any(String)])
  })

  test('a hook that fails on PostToolUseFailure does not hide it', async () => {
    const session = (await createHooks({ globals: false })).session()
    session.register('PostToolUseFailure', () => Promise.reject(new Error('of the hook')))
    const error = new Error('of the tool')
    await expect(session.callTool(CALL, () => Promise.reject(error))).rejects.toBe(error)
  })

  test('PostToolUse is not fired', async () => {
    const session = (await createHooks({ globals: false })).session()
    const after = vi.fn()
    session.register('PostToolUse', after)
    await session.callTool(CALL, () => Promise.reject(new Error('no'))).catch(() => undefined)
    expect(after).not.toHaveBeenCalled()
  })
})

describe('a signal', () => {
  test('aborted before: no hook and no tool runs, the record is written', async () => {
    const audit = memoryAudit()
    const hooks = await createHooks({ globals: false, audit })
    const ran = vi.fn()
    hooks.register('PreToolUse', ran)
    const signal = AbortSignal.abort('no longer wanted')
    const called = hooks.session().callTool(CALL, ran, { signal })
    await expect(called).rejects.toMatchObject({ code: 'ABORTED', cause: 'no longer wanted' })
    expect(ran).not.toHaveBeenCalled()
    expect(audit.records).toMatchObject([{ event: 'PreToolUse', action: 'aborted' }])
  })

  test('aborted before: the same where nobody listens', async () => {
    const ran = vi.fn()
    const session = (await createHooks({ globals: false })).session()
    const called = session.callTool(CALL, ran, { signal: AbortSignal.abort() })
    await expect(called).rejects.toMatchObject({ code: 'ABORTED' })
    expect(ran).not.toHaveBeenCalled()
  })

  test('aborted while a hook runs: the hook is told, the tool does not run', async () => {
    const controller = new AbortController()
    const session = (await createHooks({ globals: false })).session()
    let told: AbortSignal | undefined
    session.register('PreToolUse', (_, __, { signal }) => {
      told = signal
      queueMicrotask(() => controller.abort('stop'))
      return never()
    })
    const run = vi.fn()
    const called = session.callTool(CALL, run, { signal: controller.signal })
    await expect(called).rejects.toMatchObject({ code: 'ABORTED', cause: 'stop' })
    expect(told?.aborted).toBe(true)
    expect(run).not.toHaveBeenCalled()
  })

  test('aborted between the decision and the call: the tool does not run', async () => {
    const controller = new AbortController()
    const display = () => controller.abort('stop')
    const hooks = await createHooks({ globals: false, display })
    hooks.register('PreToolUse', () => ({ action: 'continue', userMessage: 'about to run' }))
    const run = vi.fn()
    const called = hooks.session().callTool(CALL, run, { signal: controller.signal })
    await expect(called).rejects.toMatchObject({ code: 'ABORTED' })
    expect(run).not.toHaveBeenCalled()
  })

  test('aborted while the tool runs: it is an interrupted failure that hooks see', async () => {
    const controller = new AbortController()
    const session = (await createHooks({ globals: false })).session()
    const seen: unknown[] = []
    session.register('PostToolUseFailure', (_, data) => void seen.push([data.is_interrupt, data.error]))
    const error = new Error('interrupted')
    const run = (_: Data, { signal }: { readonly signal: AbortSignal | undefined }) =>
      new Promise<never>((_, reject) => {
        signal?.addEventListener('abort', () => reject(error))
        controller.abort()
      })
    await expect(session.callTool(CALL, run, { signal: controller.signal })).rejects.toBe(error)
    expect(seen).toEqual([[true, 'interrupted']])
  })

  test('aborted while PostToolUse hooks run: it rejects', async () => {
    const controller = new AbortController()
    const session = (await createHooks({ globals: false })).session()
    session.register('PostToolUse', () => {
      queueMicrotask(() => controller.abort())
      return never()
    })
    const called = session.callTool(CALL, () => 'ran', { signal: controller.signal })
    await expect(called).rejects.toMatchObject({ code: 'ABORTED' })
  })

  test('aborted afterwards: nothing happens', async () => {
    const controller = new AbortController()
    const session = (await createHooks({ globals: false })).session()
    session.register('PreToolUse', async () => undefined)
    const called = await session.callTool(CALL, () => 'ran', { signal: controller.signal })
    controller.abort()
    expect(called).toMatchObject({ status: 'ok', result: 'ran' })
  })

  test('a time-out of the call bounds the hooks: an overdue gate denies', async () => {
    const session = (await createHooks({ globals: false })).session()
    session.register('PreToolUse', never)
    const called = await session.callTool(CALL, () => 'ran', { timeout: 0.02 })
    expect(called.status).toBe('denied')
  })
})

describe('a result that JSON cannot carry', () => {
  const cycle: Record<string, unknown> = { name: 'cycle' }
  cycle.self = cycle
  const withoutPrototype: Record<string, unknown> = Object.create(null)
  withoutPrototype.big = 1n

  test.each([
    [
      'a field that cannot be read',
      {
        get field(): never {
          throw new Error('no field')
        },
      },
      '[Object: its content cannot be shown]',
    ],
    [
      'a stream',
      { text: 'a', body: new ReadableStream() },
      {
        text: 'a',
        body: expect.objectContaining({ content: '[ReadableStream: its content cannot be shown]' }),
      },
    ],
  ])('%s: hooks are told, it is reported, and the host gets the result itself', async (_, result, shown) => {
    const session = (await createHooks({ globals: false })).session()
    const seen: unknown[] = []
    session.register('PostToolUse', (_, { tool_response }) => void seen.push(tool_response))
    const called = await session.callTool<unknown>(CALL, () => result)
    expect(called.status).toBe('ok')
    expect(called.result).toBe(result)
    expect(seen).toEqual([shown])
    const diagnostics = called.status === 'ok' ? called.after.diagnostics : []
    expect(diagnostics.map(({ code }) => code)).toEqual(['result-not-json'])
  })

  test.each([
    ['nothing', undefined, null],
    ['a function', () => 1, null],
    ['a symbol', Symbol('s'), null],
    ['a bigint', 1n, '1'],
    ['a bigint inside', { big: 1n }, { big: '1' }],
    ['a bigint in an object without a prototype', withoutPrototype, { big: '1' }],
    ['a cycle', cycle, { name: 'cycle', self: '[circular: shown above]' }],
    ['a map', new Map([[1, 2]]), [[1, 2]]],
    ['an error', new Error('sk-1'), 'Error: sk-1'],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    [
      'a class',
      new (class {
        readonly field = 1
      })(),
      { field: 1 },
    ],
    ['NaN', Number.NaN, null],
    ['text', 'text', 'text'],
  ])('%s is shown with its content, and returned as it is', async (_, result, shown) => {
    const session = (await createHooks({ globals: false })).session()
    const seen: unknown[] = []
    session.register('PostToolUse', (_, { tool_response }) => void seen.push(tool_response))
    const called = await session.callTool<unknown>(CALL, () => result)
    expect(called.status).toBe('ok')
    expect(called.result).toBe(result)
    expect(seen).toEqual([shown])
  })

  test('a hook can replace it', async () => {
    const session = (await createHooks({ globals: false })).session()
    session.register('PostToolUse', () => modify({ tool_response: 'plain' }))
    expect((await session.callTool<unknown>(CALL, () => cycle)).result).toBe('plain')
  })
})
