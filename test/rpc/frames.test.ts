import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Call,
  callerFrames,
  encodeFromCaller,
  encodeToCaller,
  FROM_CALLER,
  FrameError,
  type FromCaller,
  LONGEST_TO_CALLER,
  PROTOCOL,
  serviceFrames,
  TO_CALLER,
  type ToCaller,
} from '../../src/rpc/frames.js'
import { runs, seeded } from '../property/runs.js'

const bytes = (text: string) => Buffer.from(text)

const CALL: Call = {
  kind: 'call',
  protocol: PROTOCOL,
  pid: 4711,
  cwd: '/a folder/ü',
  args: ['fire', '--as', 'claude-code'],
  script: '/lib/main.js',
  env: { PATH: '/bin', EMPTY: '', __proto__x: 'y', 'a b': 'c=d' },
  stdin: bytes('{"a":1}\0\xff'),
}

const FROM: readonly FromCaller[] = [
  CALL,
  { ...CALL, cwd: '', args: [], env: {}, stdin: bytes('') },
  { kind: 'child', id: 7, pid: 0x7fffffff },
  { kind: 'child', id: 0xffffffff, errno: 2, failed: 'exec' },
  { kind: 'child', id: 0, errno: 20, failed: 'cwd' },
  { kind: 'output', id: 7, fd: 2, bytes: bytes('a\0b') },
  { kind: 'output', id: 7, fd: 1, bytes: bytes('') },
  { kind: 'exited', id: 7, code: 255, signal: null, alone: true },
  { kind: 'exited', id: 7, code: null, signal: 9, alone: false },
  { kind: 'gone', id: 7 },
  { kind: 'ending', id: 7, living: true },
  { kind: 'signal', number: 15 },
  { kind: 'go' },
  { kind: 'status' },
  { kind: 'stop' },
]

const TO: readonly ToCaller[] = [
  { kind: 'cold', why: 'another script' },
  { kind: 'started', deadline: 60_000, exit: 2, stdout: '', stderr: 'judging was interrupted\n' },
  {
    kind: 'run',
    id: 1,
    file: 'sh',
    args: ['-c', 'true', ''],
    cwd: '/',
    env: { A: 'b=c', É: '' },
    input: bytes('{}'),
  },
  { kind: 'run', id: 1, file: '/bin/true', args: [], cwd: '', env: {}, input: bytes('') },
  { kind: 'alive' },
  { kind: 'end', id: 1 },
  { kind: 'out', fd: 1, bytes: bytes('{}\n') },
  { kind: 'answered', exit: 0 },
  { kind: 'exit', code: 2 },
  { kind: 'status', json: '{}' },
  { kind: 'stopped' },
]

/** Buffers and objects without a prototype are compared by what is in them. */
const plain = (messages: readonly object[]) =>
  messages.map((message) => JSON.parse(JSON.stringify(message)) as unknown)

const frame = (type: number, payload: Buffer, length = payload.length) => {
  const header = Buffer.alloc(5)
  header.writeUInt32LE(length)
  header.writeUInt8(type, 4)
  return Buffer.concat([header, payload])
}
const u32 = (...values: number[]) => {
  const all = Buffer.alloc(values.length * 4)
  values.forEach((value, index) => {
    all.writeUInt32LE(value >>> 0, index * 4)
  })
  return all
}

describe('messages', () => {
  it.each(FROM.map((message) => [message.kind, message] as const))('come back: %s', (_, message) => {
    expect(plain(callerFrames().push(encodeFromCaller(message)))).toEqual(plain([message]))
  })

  it.each(TO.map((message) => [message.kind, message] as const))('come back: %s', (_, message) => {
    expect(plain(serviceFrames().push(encodeToCaller(message)))).toEqual(plain([message]))
  })

  it('arrive in order, however the stream is cut', () => {
    const stream = Buffer.concat(FROM.map(encodeFromCaller))
    const cuts = fc.array(fc.nat(stream.length), { maxLength: 40 })
    fc.assert(
      fc.property(cuts, (places) => {
        const frames = callerFrames()
        const ends = [...places.sort((a, b) => a - b), stream.length]
        const messages = ends.flatMap((end, index) => frames.push(stream.subarray(ends[index - 1] ?? 0, end)))
        expect(plain(messages)).toEqual(plain(FROM))
        expect(frames.isInside).toBe(false)
      }),
      { numRuns: runs(500), ...seeded(1) },
    )
  })

  it('arrive byte by byte, in time that does not grow with the square', () => {
    const stdin = Buffer.alloc(100_000, 'x')
    const frames = callerFrames()
    const messages: FromCaller[] = []
    for (const byte of encodeFromCaller({ ...CALL, stdin }))
      messages.push(...frames.push(Buffer.from([byte])))
    expect(messages).toHaveLength(1)
    expect((messages[0] as Call).stdin.equals(stdin)).toBe(true)
  })

  it('that are half there are known as such', () => {
    const frames = callerFrames()
    expect(frames.push(encodeFromCaller(CALL).subarray(0, 9))).toEqual([])
    expect(frames.isInside).toBe(true)
  })
})

describe('the environment of a call', () => {
  const environmentOf = (...variables: string[]) => {
    const strings = variables.map((one) => Buffer.concat([u32(Buffer.byteLength(one)), bytes(one)]))
    const start = Buffer.concat([u32(PROTOCOL, 1, 0, 0, 0, variables.length), ...strings, u32(0)])
    return (callerFrames().push(frame(1, start))[0] as Call).env
  }

  it('is what Node would read', () => {
    expect({ ...environmentOf('A=1', 'A=2', 'none', '=x', 'B=', 'C=d=e') }).toEqual({
      A: '1',
      B: '',
      C: 'd=e',
    })
  })

  it('has any name', () => {
    expect(Object.entries(environmentOf('__proto__=1', 'constructor=2'))).toEqual([
      ['__proto__', '1'],
      ['constructor', '2'],
    ])
  })
})

describe('a caller of another protocol', () => {
  it('is understood as far as its number, so that it can be told', () => {
    const [message] = callerFrames().push(frame(1, Buffer.concat([u32(PROTOCOL + 1, 99), bytes('anything')])))
    expect(message).toMatchObject({ kind: 'call', protocol: PROTOCOL + 1, pid: 99, args: [] })
  })
})

describe('a malformed frame', () => {
  const word = (text: string) => Buffer.concat([u32(text.length), bytes(text)])
  const call = (...parts: Buffer[]) => frame(1, Buffer.concat([u32(PROTOCOL), ...parts]))
  it.each([
    ['an unknown type', frame(64, bytes(''))],
    ['a message to a caller', frame(71, u32(0))],
    ['a call of 9 MiB', frame(1, bytes(''), 9 * 1024 * 1024)],
    ['10,001 arguments', call(u32(1), word('/'), u32(10_001), Buffer.alloc(4 * 10_001))],
    ['output of 4 GiB', frame(3, bytes(''), 0xffffffff)],
    ['a status with a payload', frame(32, bytes('x'))],
    ['an empty call', frame(1, bytes(''))],
    ['a call from process 0', call(u32(0), word(''), u32(0), word(''), u32(0), word(''))],
    ['a relative folder', call(u32(1), word('a'), u32(0), word(''), u32(0), word(''))],
    ['a NUL in an argument', call(u32(1), word('/'), u32(1), word('a\0b'), word(''), u32(0), word(''))],
    ['four billion arguments', call(u32(1), word('/'), u32(0xffffffff))],
    ['a string past the end', call(u32(1), u32(0xffffffff))],
    ['something after the end', call(u32(1), word('/'), u32(0), word(''), u32(0), word(''), bytes('x'))],
    ['process 0', frame(2, u32(1, 0))],
    ['a failure without a reason', frame(2, u32(1, -2))],
    ['a failure for another reason', frame(2, Buffer.concat([u32(1, -2), word('x')]))],
    ['stream 0', frame(3, Buffer.concat([u32(1), Buffer.from([0])]))],
    ['a code and a signal', frame(4, Buffer.concat([u32(1, 0, 9), Buffer.from([0])]))],
    ['neither a code nor a signal', frame(4, Buffer.concat([u32(1, -1, 0), Buffer.from([0])]))],
    ['code 256', frame(4, Buffer.concat([u32(1, 256, 0), Buffer.from([0])]))],
    ['a flag that is 2', frame(6, Buffer.concat([u32(1), Buffer.from([2])]))],
    ['signal 0', frame(7, u32(0))],
  ])('is refused: %s', (_, bad) => {
    expect(() => callerFrames().push(bad)).toThrow(FrameError)
  })

  it('throws nothing but FrameError, whatever the bytes', () => {
    const some = fc.constantFrom(...FROM).map(encodeFromCaller)
    const mutated = fc.tuple(some, fc.nat(), fc.nat(255)).map(([good, at, byte]) => {
      const bad = Buffer.from(good)
      bad[at % bad.length] = byte
      return bad
    })
    const random = fc.uint8Array({ maxLength: 200 }).map((all) => Buffer.from(all))
    fc.assert(
      fc.property(fc.oneof(mutated, random), (input) => {
        try {
          callerFrames().push(input)
        } catch (error) {
          expect(error).toBeInstanceOf(FrameError)
        }
      }),
      { numRuns: runs(10_000), ...seeded(2) },
    )
  })
})

describe('a message that cannot be sent', () => {
  const run = { kind: 'run', id: 1, file: 'a', args: [], cwd: '/', env: {}, input: '' } as const
  it.each([
    ['a NUL in an argument', { ...run, args: ['a\0'] }],
    ['a NUL in the environment', { ...run, env: { A: '\0' } }],
    ['more than 64 MiB', { ...run, input: Buffer.alloc(64 * 1024 * 1024) }],
  ])('is refused: %s', (_, message) => {
    expect(() => encodeToCaller(message)).toThrow(FrameError)
  })
})

describe('clip.c and frames.ts', () => {
  const source = readFileSync(new URL('../../src/service/clip.c', import.meta.url), 'utf8')
  const named = new Map(
    [...source.matchAll(/^ {2}([A-Z_]+) = (\d+),$/gm)].map(([, name, value]) => [name, Number(value)]),
  )
  /** `carabiner service` sends these, and clip does not. */
  const NOT_OF_CLIP = new Set([32, 33, 96, 97])

  it('mean the same by every message', () => {
    for (const kinds of [FROM_CALLER, TO_CALLER]) {
      for (const [kind, { type }] of Object.entries(kinds)) {
        if (!NOT_OF_CLIP.has(type)) expect([kind, named.get(kind.toUpperCase())]).toEqual([kind, type])
      }
    }
    expect(named.get('PROTOCOL')).toBe(PROTOCOL)
  })

  it('have the same limits', () => {
    const limit = (name: string) =>
      Number(new RegExp(`${name} = (\\d+) \\* MIB`).exec(source)?.[1]) * 1024 * 1024
    expect(limit('LONGEST_CALL')).toBe(FROM_CALLER.call.longest)
    expect(limit('LONGEST_FRAME')).toBe(LONGEST_TO_CALLER)
  })
})
