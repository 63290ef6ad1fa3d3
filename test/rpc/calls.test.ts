import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/core/base/json.js'
import { refusalsIn } from '../../src/systems/picoclaw/answer.js'
import { checkHello } from '../../src/systems/picoclaw/protocol.js'
import { failure, failureKind, OtherSide } from './other-side.js'

describe('a call', () => {
  it('is a line with the ids 1, 2, 3 and gets its result', async () => {
    const other = new OtherSide()
    const first = other.connection.call('hook.hello', { name: 'é\n' })
    const second = other.connection.call('second', [])
    expect(await other.sent()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      method: 'hook.hello',
      params: { name: 'é\n' },
    })
    expect(await other.sent()).toEqual({ jsonrpc: '2.0', id: 2, method: 'second', params: [] })
    expect(other.connection.inFlight).toBe(2)
    other.say({ jsonrpc: '2.0', id: 1, result: { ok: true } }, { jsonrpc: '2.0', id: '2', result: null })
    expect(await first).toEqual({ ok: true })
    expect(await second).toBeNull()
    expect(other.connection.inFlight).toBe(0)
    expect(other.problems).toEqual([])
  })

  it('gets its own result, in whatever order they come', async () => {
    const other = new OtherSide()
    const calls = Array.from({ length: 64 }, (_, i) => other.connection.call('m', i))
    const asked = []
    for (const _ of calls) asked.push(await other.sent())
    for (const { id, params } of asked.toReversed()) other.say({ id, result: { of: params ?? null } })
    expect(await Promise.all(calls)).toEqual(calls.map((_, i) => ({ of: i })))
  })

  it('fails with code, message and data of an error reply', async () => {
    const other = new OtherSide()
    const call = other.connection.call('m', {})
    other.say({ id: 1, error: { code: -32000, message: 'no \u001b[31mway\u001b[0m', data: { why: [1] } } })
    expect(await failure(call)).toMatchObject({
      name: 'RpcError',
      kind: 'remote',
      message: 'no way',
      code: -32000,
      data: { why: [1] },
    })
  })

  it.each([
    ['a bare text', 'a bare text'],
    [{ code: 'E1', message: 'code of another kind' }, 'code of another kind'],
    [{ reason: 'own field' }, '{"reason":"own field"}'],
    [{ message: '' }, 'an error without a message'],
    [{ message: 'x'.repeat(100_000) }, `${'x'.repeat(1997)}…`],
    [false, 'false'],
    [[], '[]'],
  ])('fails with an error reply of another shape: %j', async (error, message) => {
    const other = new OtherSide()
    const call = other.connection.call('m', {})
    other.say({ id: 1, error })
    const failed = await failure(call)
    expect(failed).toMatchObject({ kind: 'remote', message })
    expect(failed.code).toBeUndefined()
  })

  it.each([1000, 10_000, 100_000])(
    'fails with an error reply that is nested %i levels deep',
    async (depth) => {
      const other = new OtherSide()
      const deep = '['.repeat(depth) + ']'.repeat(depth)
      const calls = [1, 2, 3].map(() => other.connection.call('m', {}))
      other.say(`{"id":1,"error":${deep}}`, `{"id":2,"error":{"message":${deep}}}`)
      other.say(`{"id":3,"error":{"message":"no","data":${deep}}}`)
      expect(await Promise.all(calls.map(failureKind))).toEqual(['remote', 'remote', 'remote'])
    },
  )

  it('fails with what its onStart throws, and nothing is sent', async () => {
    const other = new OtherSide()
    const onStart = () => {
      throw new Error('no start')
    }
    await expect(other.connection.call('first', {}, { onStart, timeoutMs: 60_000 })).rejects.toThrow(
      'no start',
    )
    expect(other.connection.inFlight).toBe(0)
    const second = other.connection.call('second', {})
    expect(await other.sent()).toMatchObject({ id: 2, method: 'second' })
    other.say({ id: 2, result: 'yes' })
    expect(await second).toBe('yes')
  })

  it('alone fails if its result cannot be read', async () => {
    const readResult = (result: Json) => {
      if (result === 'odd') throw new TypeError('odd result')
      return result
    }
    const other = new OtherSide({ readResult })
    const [first, second] = [1, 2].map(() => other.connection.call('m', {})) as [Promise<Json>, Promise<Json>]
    other.say({ id: 1, result: 'odd' }, { id: 2, result: 'fine' })
    expect(await failure(first)).toMatchObject({
      kind: 'malformed',
      message: 'The reply cannot be read: odd result',
      cause: new TypeError('odd result'),
    })
    expect(await second).toBe('fine')
  })

  it('fails at once with a reply that cannot be read, since none will follow', async () => {
    const other = new OtherSide()
    const calls = [1, 2, 3].map(() => other.connection.call('m', {}))
    other.say({ id: 1, result: 1, error: { code: 1 } }, { id: '2' }, { jsonrpc: '1.0', id: 3, result: 1 })
    expect(await Promise.all(calls.map(failureKind))).toEqual(['malformed', 'malformed', 'malformed'])
    expect((await failure(calls[0] as Promise<Json>)).message).toContain('both a result and an error')
    expect(other.kinds()).toEqual(['malformed', 'malformed', 'malformed'])
  })

  it('fails at once with a reply that is too long to be read, if it says first whose it is', async () => {
    const other = new OtherSide({ maxLineBytes: 1000 })
    const long = 'x'.repeat(2000)
    const calls = [1, 2, 3].map(() => other.connection.call('m', {}))
    const kinds = calls.map((call, i) => (i < 2 ? failureKind(call) : call))
    other.say(`{"jsonrpc": "2.0", "id": 1, "result": "${long}"}`, `{"id":"2","error":{"message":"${long}"}}`)
    other.say(
      { id: 3, method: 'a request of its own', params: long },
      { result: { id: 3 }, text: long },
      { id: 3, result: 'ok' },
    )
    expect(await Promise.all(kinds)).toEqual(['malformed', 'malformed', 'ok'])
    expect(other.kinds()).toEqual(['too-long', 'too-long', 'too-long', 'too-long'])
  })

  it('rejects with the reason when JSON cannot carry its params, and takes no id', async () => {
    const other = new OtherSide()
    await expect(other.connection.call('m', 1n as unknown as Json)).rejects.toThrow(TypeError)
    expect(other.connection.inFlight).toBe(0)
    void other.connection.call('m', 1).catch(() => {})
    expect(await other.sent()).toMatchObject({ id: 1 })
  })
})

describe('a time-out', () => {
  it('ends the call; its reply is late, the next one doubled', async () => {
    const other = new OtherSide()
    const error = await failure(other.connection.call('hook.approve_tool', {}, { timeoutMs: 1 }))
    expect(error).toMatchObject({
      kind: 'timeout',
      message: 'hook.approve_tool was not answered within 1 ms',
    })
    expect(other.connection.inFlight).toBe(0)
    other.say({ id: 1, result: 1 }, { id: 1, result: 1 })
    await other.heard()
    expect(other.problems).toEqual([
      { kind: 'late', text: 'The reply to call 1 (hook.approve_tool) came too late and was dropped' },
      { kind: 'doubled', text: 'A second reply to call 1 was dropped: only the first counts' },
    ])
  })

  it('ends the shorter call first, whichever began first', async () => {
    const { connection } = new OtherSide()
    const order: string[] = []
    const long = failure(connection.call('long', {}, { timeoutMs: 60 })).then(() => order.push('long'))
    const short = failure(connection.call('short', {}, { timeoutMs: 20 })).then(() => order.push('short'))
    await Promise.all([long, short])
    expect(order).toEqual(['short', 'long'])
  })

  it('does not touch a call that was answered', async () => {
    const other = new OtherSide()
    const call = other.connection.call('m', {}, { timeoutMs: 5000 })
    other.say({ id: 1, result: 'in time' })
    expect(await call).toBe('in time')
  })
})

describe('a signal', () => {
  it('gives the call up; its reply is late', async () => {
    const other = new OtherSide()
    const turn = new AbortController()
    const call = other.connection.call('m', {}, { signal: turn.signal, timeoutMs: 60_000 })
    turn.abort('enough')
    expect(await failure(call)).toMatchObject({ kind: 'aborted', cause: 'enough' })
    other.say({ id: 1, result: 1 })
    await other.heard()
    expect(other.kinds()).toEqual(['late'])
  })

  it('that gives up thousands does not remember them all: the oldest count as answered', async () => {
    const other = new OtherSide()
    const turn = new AbortController()
    const calls = Array.from({ length: 4097 }, () => other.connection.call('m', 0, { signal: turn.signal }))
    turn.abort()
    await Promise.allSettled(calls)
    other.say({ id: 1, result: 1 }, { id: 2, result: 1 }, { id: 4097, result: 1 })
    await other.heard()
    expect(other.kinds()).toEqual(['doubled', 'late', 'late'])
  })

  it('that is aborted already sends nothing', async () => {
    const other = new OtherSide()
    const call = other.connection.call('m', {}, { signal: AbortSignal.abort() })
    expect(await failureKind(call)).toBe('aborted')
    void other.connection.call('next', {}).catch(() => {})
    expect(await other.sent()).toMatchObject({ id: 1, method: 'next' })
  })

  it('is not listened to any more, however the call ended', async () => {
    const other = new OtherSide()
    const { signal } = new AbortController()
    const calls = [{}, { timeoutMs: 1 }, {}].map((more) =>
      other.connection.call('m', {}, { signal, ...more }),
    )
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    other.say({ id: 1, result: 1 }, { id: 3, error: { code: 1, message: 'no' } })
    await Promise.allSettled(calls)
    expect(getEventListeners(signal, 'abort')).toEqual([])
    const last = other.connection.call('m', {}, { signal })
    other.connection.close()
    await failure(last)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})

describe('a reply to no call', () => {
  it('is dropped and told', async () => {
    const other = new OtherSide()
    const call = other.connection.call('m', {})
    const ids = [0, null, -1, 99, 'x', {}, undefined]
    for (const id of ids) other.say({ id, result: 1 })
    other.say({ id: 1, result: 'right' }, { id: 1, result: 'second' })
    expect(await call).toBe('right')
    await other.heard()
    expect(other.kinds().filter((kind) => kind === 'doubled')).toHaveLength(1)
    const unknown = other.problems.filter(({ kind }) => kind === 'unknown-id').map(({ text }) => text)
    expect(unknown[0]).toBe('A reply with the id 0 was dropped: there is no such call')
    expect(unknown.at(-1)).toContain('7 problems')
  })

  it('without an id is reported as such', async () => {
    const other = new OtherSide()
    other.say({ result: 1 })
    await other.heard()
    expect(other.problems[0]?.text).toBe('A reply without an id was dropped: there is no such call')
  })
})

describe('a refusal that is not a plain result', () => {
  const DENY = { action: 'deny_tool', reason: 'no "x"' }
  const reply = (id: unknown, result: object = DENY) => ({ jsonrpc: '2.0', id, result })
  const error = (data: unknown) => ({ jsonrpc: '2.0', id: 1, error: { code: 403, message: 'no', data } })

  it.each<[string, string]>([
    ['the data of an error', JSON.stringify(error(DENY))],
    ['the data of an error, as text', JSON.stringify(error(JSON.stringify(DENY)))],
    ['an error itself', JSON.stringify({ id: 1, error: { ...DENY, message: 'no' } })],
    ['a result beside an error', JSON.stringify({ ...reply(1), error: { code: 1, message: 'x' } })],
    ['a list', JSON.stringify([reply(1)])],
    ['a list with others', JSON.stringify([reply(7, {}), reply('1'), reply(8, {})])],
    ['several lines', JSON.stringify(reply(1), null, 2)],
    ['several lines after noise', `starting {\n${JSON.stringify(reply(1), null, '\t')}`],
    ['a list over several lines', JSON.stringify([reply(7, {}), reply(1)], null, 1)],
    ['another version', JSON.stringify({ ...reply(1), jsonrpc: '3.0' })],
  ])('is read in %s', async (_, text) => {
    const other = new OtherSide({ repliesIn: refusalsIn })
    const call = other.connection.call('hook.before_tool', {})
    other.say(text)
    expect(await call).toEqual({ action: 'deny_tool', reason: DENY.reason })
  })

  it.each<[string, object]>([
    ['an error', error({ action: 'continue' })],
    ['a list', [reply(1, { action: 'continue' })]],
    ['a list for nobody', [reply(7)]],
  ])('is none where %s opens: the call does not succeed', async (_, message) => {
    const other = new OtherSide({ repliesIn: refusalsIn })
    const call = other.connection.call('hook.before_tool', {})
    other.say(message)
    other.toUs.end()
    expect(await failure(call)).toMatchObject({ name: 'RpcError' })
  })

  it('of the handshake does not count as an answer to a call', () => {
    expect(() => checkHello(DENY)).toThrow('refused the handshake')
  })
})
