import { describe, expect, it } from 'vitest'
import { callNumber, readMessage } from '../../src/rpc/message.js'

const why = (line: string) => {
  const message = readMessage(line)
  return message?.type === 'malformed' ? message.why : message
}

describe('a line', () => {
  it('is a reply, an error reply, a request or a notification', () => {
    expect(readMessage('{"jsonrpc":"2.0","id":1,"result":{"a":1}}')).toEqual({
      type: 'result',
      id: 1,
      result: { a: 1 },
    })
    expect(readMessage('{"jsonrpc":"2.0","id":1,"error":{"code":1}}')).toEqual({
      type: 'error',
      id: 1,
      error: { code: 1 },
    })
    expect(readMessage('{"jsonrpc":"2.0","id":0,"method":"m","params":[1]}')).toEqual({
      type: 'request',
      id: 0,
      method: 'm',
      params: [1],
    })
    expect(readMessage('{"jsonrpc":"2.0","method":"m"}')).toEqual({ type: 'notification', method: 'm' })
    expect(readMessage('{"id":null,"method":"m"}')).toEqual({ type: 'notification', method: 'm' })
  })

  it('may lack jsonrpc, begin with a byte order mark or blanks, end with a carriage return, or be blank', () => {
    const reply = { type: 'result', id: 1, result: true }
    for (const line of [
      '{"id":1,"result":true}',
      '\ufeff{"id":1,"result":true}',
      ' {"id":1,"result":true}\r',
    ]) {
      expect(readMessage(line)).toEqual(reply)
    }
    for (const line of ['\r', '  \t', '\ufeff', '']) expect(readMessage(line)).toBeUndefined()
  })

  it('may have null in the field that does not count', () => {
    expect(readMessage('{"id":1,"result":2,"error":null}')).toEqual({ type: 'result', id: 1, result: 2 })
    expect(readMessage('{"id":1,"result":null,"error":null}')).toEqual({
      type: 'result',
      id: 1,
      result: null,
    })
    expect(readMessage('{"id":1,"result":null,"error":"no"}')).toEqual({ type: 'error', id: 1, error: 'no' })
  })

  it.each([
    ['Starting up…', 'it is not a JSON object'],
    ['[INFO] up', 'it is not a JSON object'],
    ['{"id":1,"result":', 'it is not JSON'],
    ['[{"id":1,"result":1}]', 'it is a list, but batches are not supported'],
    ['42', 'it is not a JSON object'],
    ['null', 'it is not a JSON object'],
    ['{"jsonrpc":"1.0","id":1,"result":1}', 'its jsonrpc is "1.0" instead of "2.0"'],
    ['{"jsonrpc":2,"id":1,"result":1}', 'its jsonrpc is 2 instead of "2.0"'],
    ['{"jsonrpc":"2.0","id":1}', 'it has no method, no result and no error'],
    ['{}', 'it has no method, no result and no error'],
    ['{"id":1,"error":null}', 'it has no method, no result and no error'],
    ['{"id":1,"result":1,"error":{"code":1}}', 'it has both a result and an error'],
    ['{"id":1,"method":7}', 'its method is 7, not a string'],
    ['{"id":{},"method":"m"}', 'its id is {}, neither a number nor a string'],
    [
      '{"id":1,"method":"m","result":1}',
      'it has both a method and a result or error, so it is neither a request nor a reply',
    ],
  ])('%s is refused', (line, reason) => {
    expect(why(line)).toBe(reason)
  })

  it('with keys of prototypes has no fields by them', () => {
    expect(why('{"__proto__":{"id":1,"result":1}}')).toBe('it has no method, no result and no error')
    const message = readMessage('{"id":1,"result":{"__proto__":{"polluted":true}}}')
    expect(message).toMatchObject({ type: 'result' })
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  it('that is nested without end does not break the reader', () => {
    const depth = 400_000
    expect(why('{"a":'.repeat(depth))).toBe('it is not JSON')
    expect(readMessage(`{"id":1,"result":${'['.repeat(depth)}${']'.repeat(depth)}}`)).toMatchObject({ id: 1 })
  })
})

it.each([
  [1, 1],
  ['12', 12],
  [0, undefined],
  [-1, undefined],
  [1.5, undefined],
  [1e300, undefined],
  ['0', undefined],
  ['01', undefined],
  ['1 ', undefined],
  ['', undefined],
  [null, undefined],
  [undefined, undefined],
  [true, undefined],
  [[1], undefined],
])('the id %j is the number %j', (id, number) => {
  expect(callNumber(id)).toBe(number)
})
