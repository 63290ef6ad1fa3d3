import { PassThrough, Writable } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import type { Json } from '../../src/core/base/json.js'
import { Connection } from '../../src/rpc/connection.js'
import { RpcError } from '../../src/rpc/problem.js'
import { failure, failureKind, OtherSide } from './other-side.js'

/** Takes one write and is never done with it. */
const stuck = () => new Writable({ write: () => {} })

describe('problems', () => {
  it('are cut, and free of control characters and line breaks', async () => {
    const other = new OtherSide()
    other.say(`\u001b[2J\u0007${'é'.repeat(5000)}`, `{${'9'.repeat(5000)}`)
    await other.heard()
    expect(other.kinds()).toEqual(['malformed', 'malformed'])
    for (const { text } of other.problems) {
      expect(text).toMatch(/^A line was skipped, since it is not (?:JSON|a JSON object): [é{]/)
      expect(text).not.toMatch(/\p{Cc}/u)
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(500)
    }
  })

  it('of a flood are reported a few times, with the count', async () => {
    const other = new OtherSide()
    const noise = 'noise\n'.repeat(1000)
    for (let i = 0; i < 1000; i++) other.toUs.write(noise)
    other.toUs.write('noise\n'.repeat(7))
    await other.heard()
    const texts = other.problems.map(({ text }) => text)
    expect(texts).toHaveLength(5 + 6 + 1)
    expect(texts[5]).toContain('(10 like this so far)')
    expect(texts[10]).toContain('(1000000 like this so far)')
    expect(texts[11]).toBe('1000007 problems of the kind "malformed" in total')
  })

  it('of one kind do not hide those of another', async () => {
    const other = new OtherSide({ maxLineBytes: 100 })
    for (let i = 0; i < 9; i++) other.say('noise')
    other.say('x'.repeat(101), { method: 'm' }, { id: 1, method: 'm' }, { id: 5, result: 1 })
    await other.heard()
    expect(new Set(other.kinds())).toEqual(
      new Set(['malformed', 'too-long', 'notification', 'request', 'unknown-id']),
    )
  })

  it('need no listener', async () => {
    const input = new PassThrough()
    const connection = new Connection({ input, output: new PassThrough() })
    const call = connection.call('m', {})
    input.write('noise\n'.repeat(20))
    input.write('{"id":1,"result":1}\n')
    expect(await call).toBe(1)
  })
})

describe('requests of the other side', () => {
  it('are refused and reported if there is no handler', async () => {
    const other = new OtherSide()
    other.say({ jsonrpc: '2.0', id: 'a', method: 'host.do', params: {} })
    expect(await other.sent()).toEqual({
      jsonrpc: '2.0',
      id: 'a',
      error: { code: -32601, message: 'Method not found: "host.do"' },
    })
    expect(other.kinds()).toEqual(['request'])
  })

  it('are answered as they get done', async () => {
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const other = new OtherSide({
      onRequest: (method, params) => (method === 'slow' ? gate.then(() => params) : undefined),
    })
    other.say({ id: 0, method: 'slow', params: { a: 1 } }, { id: 1, method: 'quick' })
    expect(await other.sent()).toEqual({ jsonrpc: '2.0', id: 1, result: null })
    release()
    expect(await other.sent()).toEqual({ jsonrpc: '2.0', id: 0, result: { a: 1 } })
    expect(other.problems).toEqual([])
  })

  it.each([
    ['throws', () => Promise.reject(new Error('broken')), { code: -32000, message: 'broken' }],
    [
      'throws at once',
      () => {
        throw new Error('broken')
      },
      { code: -32000, message: 'broken' },
    ],
    ['has no JSON for an answer', () => ({ big: 1n }), { code: -32603 }],
  ])('get an error where the handler %s', async (_, onRequest, error) => {
    const other = new OtherSide({ onRequest })
    other.say({ id: 7, method: 'm' })
    expect(await other.sent()).toMatchObject({ id: 7, error })
  })

  it('with a key that is there twice are refused, and no handler sees them', async () => {
    const other = new OtherSide({ onRequest: () => expect.unreachable() })
    other.say('{"id":7,"method":"m","params":{"a":{"command":"x","command":"y"}}}')
    expect(await other.sent()).toMatchObject({
      id: 7,
      error: { code: -32600, message: '"m" was refused: an object in it has the key "command" twice' },
    })
  })

  it('get code and data of an RpcError', async () => {
    const errors = [
      new RpcError('remote', 'no such thing', { code: -32602, data: { field: 'x' } }),
      new RpcError('remote', 'no JSON', { data: 1n as unknown as Json }),
    ]
    const other = new OtherSide({ onRequest: () => Promise.reject(errors.shift()) })
    other.say({ id: 1, method: 'm' }, { id: 2, method: 'm' })
    expect((await other.sent()).error).toEqual({
      code: -32602,
      message: 'no such thing',
      data: { field: 'x' },
    })
    expect((await other.sent()).error).toEqual({ code: -32000, message: 'no JSON' })
  })

  it('are refused where thousands are under way', async () => {
    const other = new OtherSide({ onRequest: () => new Promise(() => {}) })
    for (let i = 1; i <= 4097; i++) other.say({ id: i, method: 'm' })
    expect(await other.sent()).toMatchObject({ id: 4097, error: { code: -32000 } })
  })

  it('are still answered after the other side has closed its output, until close', async () => {
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const other = new OtherSide({ onRequest: () => gate.then(() => 'done') })
    other.say({ id: 1, method: 'm' })
    await other.heard()
    const finished = other.connection.finished()
    release()
    await finished
    expect(await other.sent()).toMatchObject({ id: 1, result: 'done' })
    other.connection.close()
    expect(other.fromUs.writableEnded).toBe(true)
  })

  it('that never finish block nothing after close', async () => {
    const other = new OtherSide({ onRequest: () => new Promise(() => {}) })
    other.say({ id: 1, method: 'm' })
    await other.heard()
    const finished = other.connection.finished()
    other.connection.close()
    await finished
    await other.connection.finished()
  })

  it('whose answers are not read do not fill the memory', async () => {
    const other = new OtherSide({ output: stuck(), maxPendingBytes: 1000 })
    for (let i = 0; i < 200; i++) other.say({ id: i, method: 'm' })
    await other.heard()
    expect(other.problems.at(-1)?.text).toMatch(/^1\d\d problems of the kind "unread" in total$/)
  })
})

describe('notifications', () => {
  it('of the other side are handed on', async () => {
    const heard: unknown[] = []
    const other = new OtherSide({ onNotification: (method, params) => heard.push([method, params]) })
    other.say({ jsonrpc: '2.0', method: 'log', params: { a: 1 } }, { method: 'bye' })
    await other.heard()
    expect(heard).toEqual([
      ['log', { a: 1 }],
      ['bye', undefined],
    ])
    expect(other.problems).toEqual([])
  })

  it('are reported if there is no handler or the handler throws, and reading continues', async () => {
    const other = new OtherSide({
      onNotification: () => {
        throw new Error('broken')
      },
    })
    const call = other.connection.call('m', {})
    other.say({ method: 'log' }, { id: 1, result: 1 })
    expect(await call).toBe(1)
    expect(other.problems).toEqual([{ kind: 'notification', text: 'The handler of "log" failed: broken' }])
  })

  it('of ours have no id and expect nothing', async () => {
    const other = new OtherSide()
    expect(other.connection.notify('hook.event', { Kind: 'turn_start' })).toBe(true)
    expect(await other.sent()).toEqual({
      jsonrpc: '2.0',
      method: 'hook.event',
      params: { Kind: 'turn_start' },
    })
    expect(other.connection.inFlight).toBe(0)
  })

  it('that JSON cannot carry are dropped', () => {
    expect(new OtherSide().connection.notify('m', 1n as unknown as Json)).toBe(false)
  })
})

describe('a side that does not read', () => {
  it('loses notifications above the bound, but no call before its own bound', async () => {
    const { connection } = new OtherSide({ output: stuck(), maxQueuedBytes: 1000, maxPendingBytes: 3000 })
    let taken = 0
    while (connection.notify('m', 'x'.repeat(100))) taken++
    expect(taken).toBeGreaterThan(3)
    expect(taken).toBeLessThan(10)
    const waiting = connection.call('m', 'y'.repeat(1500))
    const error = await failure(connection.call('m', 'y'.repeat(1500)))
    expect(error.kind).toBe('overloaded')
    expect(connection.inFlight).toBe(1)
    connection.close()
    expect(await failureKind(waiting)).toBe('closed')
  })

  it('gets everything once it reads again', async () => {
    const other = new OtherSide({ maxQueuedBytes: 200_000 })
    let taken = 0
    while (other.connection.notify('m', `${taken}-${'x'.repeat(1000)}`)) {
      taken++
      await new Promise(setImmediate)
    }
    for (let i = 0; i < taken; i++) expect((await other.sent()).params).toMatch(new RegExp(`^${i}-`))
    await vi.waitFor(() => expect(other.connection.notify('m', 'again')).toBe(true))
    expect((await other.sent()).params).toBe('again')
  })
})

describe('the end', () => {
  it('by close fails every call at once, ends the output, and is reported once', async () => {
    const other = new OtherSide()
    const calls = [other.connection.call('a', {}), other.connection.call('b', {}, { timeoutMs: 60_000 })]
    other.connection.notify('last', {})
    other.connection.close(new Error('over and out'))
    other.connection.close(new Error('again'))
    expect(other.connection.closed).toBe(true)
    expect(other.reasons.map(({ message }) => message)).toEqual(['over and out'])
    for (const call of calls) {
      expect(await failure(call)).toMatchObject({ kind: 'closed', message: 'over and out' })
    }
    expect([await other.sent(), await other.sent(), await other.sent()]).toMatchObject([
      { method: 'a' },
      { method: 'b' },
      { method: 'last' },
    ])
    expect(other.fromUs.writableEnded).toBe(true)
  })

  it('comes when onProblem throws: no call is left waiting, and onClose gets the error', async () => {
    const error = new Error('no more problems')
    const onProblem = () => {
      throw error
    }
    const other = new OtherSide({ onProblem })
    const calls = [1, 2, 3].map(() => other.connection.call('m', {}))
    other.say('noise', { id: 9, result: 1 }, { id: 1, result: 'unread' })
    expect(await other.closed).toBe(error)
    expect(await Promise.all(calls.map(failureKind))).toEqual(['closed', 'closed', 'closed'])
    expect(other.reasons).toEqual([error])
  })

  it('is final', async () => {
    const other = new OtherSide()
    other.connection.close()
    expect(await failureKind(other.connection.call('m', {}))).toBe('closed')
    expect(other.connection.notify('m', {})).toBe(false)
    other.say('noise', { id: 1, result: 1 })
    other.toUs.end()
    await new Promise((resolve) => other.toUs.once('end', resolve))
    expect(other.problems).toEqual([])
    expect(other.reasons).toHaveLength(1)
  })

  it('comes when the other side ends its output, after its last line', async () => {
    const other = new OtherSide()
    const [answered, lost] = [other.connection.call('a', {}), other.connection.call('b', {})]
    other.toUs.end('{"id":1,"result":"last words"}')
    expect(await answered).toBe('last words')
    expect(await failure(lost)).toMatchObject({ kind: 'closed', message: 'the other side closed its output' })
    expect(other.connection.closed).toBe(true)
  })

  it.each(['toUs', 'fromUs'] as const)('comes when %s breaks, with the reason', async (stream) => {
    const other = new OtherSide()
    const call = other.connection.call('m', {})
    other[stream].destroy(new Error('ECONNRESET'))
    expect(await failure(call)).toMatchObject({ kind: 'closed', message: 'ECONNRESET' })
    expect(other.reasons).toHaveLength(1)
  })

  it('from within a handler leaves the rest of the chunk unread', async () => {
    const heard: string[] = []
    const other: OtherSide = new OtherSide({
      onNotification: (method) => {
        heard.push(method)
        other.connection.close()
      },
    })
    other.toUs.write('{"method":"a"}\n{"method":"b"}\n')
    await other.closed
    expect(heard).toEqual(['a'])
  })
})
