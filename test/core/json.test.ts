import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  canonicalJson,
  frozenCopy,
  isObject,
  type Json,
  mergedCopy,
  sameJson,
  shapeOf,
} from '../../src/core/base/json.js'
import { runs } from '../property/runs.js'

const refused = (message: string | RegExp) =>
  expect.objectContaining({
    code: 'PAYLOAD_INVALID',
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  })

/** An object with an own key that assignment would take for the prototype. */
const withProtoKey = (): object => JSON.parse('{ "__proto__": { "polluted": true }, "a": 1 }')

function nested(depth: number): object {
  let value: object = {}
  for (let i = 0; i < depth; i++) value = { in: value }
  return value
}

describe('frozenCopy', () => {
  it.each<[unknown, Json]>([
    [null, null],
    [true, true],
    ['', ''],
    [1.5, 1.5],
    [Number.NaN, null],
    [-Infinity, null],
    [undefined, null],
    [() => 1, null],
    [Symbol('s'), null],
    [{ a: undefined, b: () => 1, c: Symbol('s'), d: 1 }, { d: 1 }],
    [
      [undefined, () => 1, Number.NaN],
      [null, null, null],
    ],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
    [{ at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
    [new Map([['a', 1]]), { a: 1 }],
    [{ toJSON: () => ({ as: 'this' }) }, { as: 'this' }],
    [{ gone: { toJSON: () => undefined }, kept: 1 }, { kept: 1 }],
  ])('copies %o by the rules of JSON', (value, expected) => {
    expect(frozenCopy(value, 'it')).toEqual(expected)
  })

  it('fills the holes of a list', () => {
    const holes: unknown[] = []
    holes[2] = 1
    expect(frozenCopy(holes, 'it')).toEqual([null, null, 1])
  })

  it('is private and frozen all the way down', () => {
    const source = { list: [{ a: 1 }], object: { b: { c: 2 } } }
    const copy = frozenCopy(source, 'it') as typeof source
    source.object.b.c = 3
    source.list.push({ a: 4 })
    expect(copy).toEqual({ list: [{ a: 1 }], object: { b: { c: 2 } } })
    for (const part of [copy, copy.list, copy.list[0], copy.object, copy.object.b]) {
      expect(part).not.toBe(source)
      expect(Object.isFrozen(part)).toBe(true)
    }
  })

  it('leaves its source unfrozen', () => {
    const source = { a: { b: 1 } }
    frozenCopy(source, 'it')
    expect(Object.isFrozen(source) || Object.isFrozen(source.a)).toBe(false)
  })

  it('carries no symbol along', () => {
    const copy = frozenCopy({ a: 1, [Symbol('s')]: { mutable: true } }, 'it') as object
    expect(Reflect.ownKeys(copy)).toEqual(['a'])
  })

  it('keeps a key named __proto__ a key', () => {
    const copy = frozenCopy({ in: withProtoKey() }, 'it') as { in: object }
    expect(JSON.stringify(copy)).toBe('{"in":{"__proto__":{"polluted":true},"a":1}}')
    expect(Object.getPrototypeOf(copy.in)).toBe(Object.prototype)
    expect('polluted' in copy.in).toBe(false)
  })

  it('copies what an object inherits, too: a tool could read it', () => {
    expect(
      frozenCopy(Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true } }), 'it'),
    ).toEqual({
      own: 2,
      inherited: 1,
    })
  })

  it.each<[string, unknown, string]>([
    ['alone', 10n, 'it is a bigint, which JSON cannot carry'],
    ['in an object', { a: 10n }, 'it.a is a bigint, which JSON cannot carry'],
    ['deeper', { a: { b: 10n } }, 'it.a.b is a bigint, which JSON cannot carry'],
  ])('refuses a bigint %s, with the path to it', (_where, value, message) => {
    expect(() => frozenCopy(value, 'it')).toThrow(refused(message))
  })

  it('refuses what contains itself', () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    const list: unknown[] = []
    list.push(list)
    for (const value of [cycle, list]) {
      expect(() => frozenCopy(value, 'it')).toThrow(
        refused(/is nested deeper than 500 levels, or contains itself$/),
      )
    }
  })

  it('carries 500 levels and no more', () => {
    expect(frozenCopy(nested(500), 'it')).toEqual(nested(500))
    expect(() => frozenCopy(nested(501), 'it')).toThrow(refused(/is nested deeper than 500 levels/))
  })

  it('refuses more values than anyone sends', () => {
    const shared = {}
    expect(() => frozenCopy(new Array(1_000_001).fill(shared), 'it')).toThrow(
      refused(/^it.* holds more than 1000000 values$/),
    )
  })
})

describe('mergedCopy', () => {
  it('puts later fields over earlier ones', () => {
    expect(mergedCopy({ a: 1, b: 1 }, { b: 2, c: 2 }, 'it')).toEqual({ a: 1, b: 2, c: 2 })
  })

  it('is open itself and frozen below', () => {
    const merged = mergedCopy({}, { list: [1] }, 'it')
    expect(Object.isFrozen(merged)).toBe(false)
    expect(Object.isFrozen(merged.list)).toBe(true)
  })

  it('drops what JSON drops: a field that is undefined is one not given', () => {
    expect(mergedCopy({ a: 1 }, { a: undefined, b: () => 1 }, 'it')).toEqual({ a: 1 })
  })

  it('keeps a stranger’s __proto__ a key', () => {
    const merged = mergedCopy({ z: 0 }, withProtoKey(), 'it')
    expect(JSON.stringify(merged)).toBe('{"z":0,"__proto__":{"polluted":true},"a":1}')
    expect('polluted' in merged).toBe(false)
  })

  it('refuses what JSON cannot carry', () => {
    expect(() => mergedCopy({}, { a: { n: 10n } }, 'it')).toThrow(refused(/is a bigint/))
  })
})

describe('sameJson', () => {
  it.each<[Json | undefined, Json | undefined]>([
    [undefined, undefined],
    [null, null],
    [1, 1],
    ['a', 'a'],
    [[], []],
    [
      [1, { a: [2] }],
      [1, { a: [2] }],
    ],
    [
      { a: 1, b: { c: null } },
      { b: { c: null }, a: 1 },
    ],
  ])('%j is %j', (a, b) => {
    expect(sameJson(a, b)).toBe(true)
    expect(sameJson(b, a)).toBe(true)
  })

  it.each<[Json | undefined, Json | undefined]>([
    [undefined, null],
    [null, {}],
    [0, false],
    [1, '1'],
    [[], {}],
    [['0'], { 0: '0' }],
    [
      [1, 2],
      [2, 1],
    ],
    [[1], [1, 2]],
    [{ a: 1 }, { a: 1, b: 1 }],
    [{ a: 1 }, { b: 1 }],
    [{ a: { b: 1 } }, { a: { b: 2 } }],
    [{ toString: null }, { a: null }],
  ])('%j is not %j', (a, b) => {
    expect(sameJson(a, b)).toBe(false)
    expect(sameJson(b, a)).toBe(false)
  })
})

describe('canonicalJson', () => {
  it.each<[Json, string]>([
    [null, 'null'],
    ['a"b', '"a\\"b"'],
    [[2, 1, { b: 1, a: 2 }], '[2,1,{"a":2,"b":1}]'],
    [{ b: 1, a: { d: [], c: {} } }, '{"a":{"c":{},"d":[]},"b":1}'],
    [{ 10: 1, 9: 2 }, '{"10":1,"9":2}'],
  ])('of %j is %s', (value, text) => {
    expect(canonicalJson(value)).toBe(text)
  })
})

describe('isObject', () => {
  it.each<[unknown, boolean]>([
    [{}, true],
    [Object.create(null), true],
    [null, false],
    [[], false],
    ['text', false],
    [undefined, false],
    [() => 1, false],
  ])('of %o is %s', (value, expected) => {
    expect(isObject(value)).toBe(expected)
  })
})

describe('shapeOf', () => {
  /** A text for each character as its number, so that two spellings of a key are one key. */
  const spelt = (key: string) =>
    `"${[...Array(key.length).keys()].map((i) => `\\u${key.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')}"`

  it('finds no key twice in what JSON.stringify wrote, and any that is added to any object of it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(), fc.boolean(), (value, place, isSpelt) => {
        const text = JSON.stringify({ value }, null, place % 3)
        expect(shapeOf(text)).toEqual({ isTooDeep: false })
        // Every object, as a part of the text that is itself JSON.
        const objects = [...text.matchAll(/\{/g)].flatMap(({ index }) => {
          const end = [...text.matchAll(/\}/g)]
            .map((one) => one.index + 1)
            .find((at) => parses(text.slice(index, at)))
          return end === undefined || !parses(`${text.slice(0, index)}1${text.slice(end)}`)
            ? []
            : [{ index, end }]
        })
        const { index, end } = objects[place % objects.length] ?? { index: 0, end: text.length }
        const [key] = Object.keys(JSON.parse(text.slice(index, end)))
        if (key === undefined) return
        const again = isSpelt ? spelt(key) : JSON.stringify(key)
        const twice = `${text.slice(0, end - 1)},${again}:[{}]${text.slice(end - 1)}`
        expect(shapeOf(twice)).toEqual({ isTooDeep: false, repeated: key })
      }),
      { numRuns: runs(1000) },
    )
  })

  it.each([
    ['equal keys of two objects', '{"a":{"a":1},"b":[{"a":1},{"a":1}]}'],
    ['equal texts that are no keys', '{"a":"b","b":["a","a","b","b"],"c":"a"}'],
    ['keys in a text', '{"a":"{\\"a\\":1,\\"a\\":2}","b\\\\":"\\\\"}'],
    ['many keys', JSON.stringify(Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, i])))],
  ])('finds none in %s', (_, text) => expect(shapeOf(text).repeated).toBeUndefined())

  it.each(['', '{', '"', '{"', ']}', '{"a":1,"a', '{"a\\":1,"a\\', ',,"a","a"'])('takes %s', (text) =>
    expect(shapeOf(text).isTooDeep).toBe(false),
  )

  it('finds the last of many keys', () => {
    const keys = Array.from({ length: 1000 }, (_, i) => `"k${i}":0`)
    expect(shapeOf(`{${[...keys, '"k999":1'].join()}}`).repeated).toBe('k999')
  })
})

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
