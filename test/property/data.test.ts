import { HookError, parseResult } from 'carabiner/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { digest } from '../../src/core/base/digest.js'
import {
  canonicalJson,
  type Data,
  frozenCopy,
  type Json,
  mergedCopy,
  sameJson,
} from '../../src/core/base/json.js'
import { byteLength, cleanText, cutText, plainText } from '../../src/core/base/text.js'
import { runs } from './runs.js'

const json = fc.jsonValue({ stringUnit: 'binary' }) as fc.Arbitrary<Json>
/** Objects with any keys, `__proto__` among them. */
const object = fc.dictionary(
  fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'a', 'b')),
  json,
)

const viaText = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

function everyPart(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return []
  return [value, ...Object.values(value).flatMap(everyPart)]
}

/** The same value with the keys of every object in another order. */
function reordered(value: Json, salt: number): Json {
  if (Array.isArray(value)) return value.map((item) => reordered(item, salt))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, item]) => [key, reordered(item, salt)] as const)
  const turned = entries.map((_, i) => entries[(i + salt) % entries.length] as (typeof entries)[number])
  return Object.fromEntries(salt % 2 === 0 ? turned : turned.toReversed())
}

describe('frozenCopy', () => {
  it('equals what JSON would carry, key for key', () => {
    fc.assert(
      fc.property(fc.oneof(json, object), (value) => {
        const copy = frozenCopy(value, 'it')
        expect(JSON.stringify(copy)).toBe(JSON.stringify(value))
        expect(viaText(copy)).toEqual(viaText(value))
      }),
      { numRuns: runs(1000) },
    )
  })

  it('shares no part with its source, and every part of it is frozen', () => {
    fc.assert(
      fc.property(fc.oneof(json, object), (value) => {
        const source = new Set(everyPart(value))
        for (const part of everyPart(frozenCopy(value, 'it'))) {
          expect(Object.isFrozen(part)).toBe(true)
          expect(source.has(part)).toBe(false)
        }
      }),
      { numRuns: runs(500) },
    )
  })

  it('of anything without maps and sets equals what JSON would carry, or is refused with PAYLOAD_INVALID', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withNullPrototype: true,
      withSparseArray: true,
      withObjectString: true,
    })
    fc.assert(
      fc.property(anything, (value) => {
        let copy: Json
        try {
          copy = frozenCopy(value, 'it')
        } catch (error) {
          expect(error).toMatchObject({ name: 'HookError', code: 'PAYLOAD_INVALID' })
          expect(() => JSON.stringify(value)).toThrow()
          return
        }
        expect(JSON.stringify(copy)).toBe(JSON.stringify(value) ?? 'null')
        for (const part of everyPart(copy)) expect(Object.isFrozen(part)).toBe(true)
      }),
      { numRuns: runs(2000) },
    )
  })
})

describe('mergedCopy', () => {
  it('is a spread of two objects, frozen below the top', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c'), json), object, (base, data) => {
        const merged = mergedCopy(base, data, 'it')
        expect(canonicalJson(merged)).toBe(canonicalJson({ ...base, ...data } as Data))
        for (const part of Object.values(merged).flatMap(everyPart)) expect(Object.isFrozen(part)).toBe(true)
      }),
      { numRuns: runs(500) },
    )
  })
})

describe('canonicalJson', () => {
  it('is JSON of the same value', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(viaText(value))
      }),
    )
  })

  it('does not depend on the order of keys; neither does the digest', () => {
    fc.assert(
      fc.property(json, fc.integer({ min: 0, max: 7 }), (value, salt) => {
        const other = reordered(value, salt)
        expect(canonicalJson(other)).toBe(canonicalJson(value))
        expect(digest(other)).toBe(digest(value))
        expect(sameJson(other, value)).toBe(true)
      }),
      { numRuns: runs(500) },
    )
  })

  it('tells apart exactly what sameJson tells apart', () => {
    const close = fc.oneof(
      json,
      fc.constantFrom<Json>(0, '0', null, false, '', [], {}, [0], { 0: 0 }, { a: null }),
    )
    fc.assert(
      fc.property(close, close, (a, b) => {
        expect(canonicalJson(a) === canonicalJson(b)).toBe(sameJson(a, b))
        expect(sameJson(a, b)).toBe(sameJson(b, a))
      }),
      { numRuns: runs(1000) },
    )
  })
})

describe('parseResult', () => {
  const anything = fc.anything({
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withNullPrototype: true,
    withSparseArray: true,
    withObjectString: true,
  })
  const ACTIONS = [
    'continue',
    'deny',
    'modify',
    'inject_context',
    'ask_user',
    'respond',
    'abort_turn',
    'hard_abort',
  ] as const
  const fields = {
    reason: fc.oneof(fc.string(), anything),
    data: fc.oneof(object, anything),
    response: anything,
    permission: fc.oneof(fc.constant('allow'), anything),
    contextInjection: fc.oneof(fc.string(), anything),
    context_injection_role: fc.oneof(fc.constantFrom('system', 'user', 'assistant'), anything),
    ephemeral: fc.oneof(fc.boolean(), anything),
    approval_options: fc.oneof(fc.array(fc.string({ minLength: 1 }), { minLength: 1 }), anything),
    approvalTimeout: fc.oneof(fc.double({ min: 0 }), anything),
    userMessage: fc.oneof(fc.string(), anything),
    somethingElse: anything,
  }
  const answer = fc.record(
    { action: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...ACTIONS) }, anything), ...fields },
    { requiredKeys: [] },
  )

  it('reads an answer or throws ANSWER_INVALID, and nothing else, whatever it is given', () => {
    fc.assert(
      fc.property(fc.oneof(anything, answer), (value) => {
        try {
          expect(ACTIONS).toContain(parseResult(value, []).action)
        } catch (error) {
          expect(error).toBeInstanceOf(HookError)
          expect(error).toMatchObject({ code: 'ANSWER_INVALID' })
        }
      }),
      { numRuns: runs(3000) },
    )
  })

  it('never loses a deny or an abort, whatever comes with it', () => {
    const stopping = fc.record({ action: fc.constantFrom('deny', 'abort_turn', 'hard_abort') })
    fc.assert(
      fc.property(stopping, fc.record(fields, { requiredKeys: [] }), (verdict, more) => {
        expect(parseResult({ ...more, ...verdict }, []).action).toBe(verdict.action)
      }),
      { numRuns: runs(1000) },
    )
  })

  it('reads what it has read as the same answer', () => {
    fc.assert(
      fc.property(answer, (value) => {
        let once: object
        try {
          once = parseResult(value, [])
        } catch {
          return
        }
        expect(parseResult(once, [])).toEqual(once)
      }),
      { numRuns: runs(1000) },
    )
  })
})

describe('text', () => {
  const hostile = fc.string({
    unit: fc.oneof(
      fc.constantFrom(
        '\u001b',
        '\u009b',
        '\u009d',
        '[',
        ']',
        '31m',
        '\u0007',
        '\u001b\\',
        '\r',
        '\u202e',
        '\u2066',
      ),
      fc.constantFrom('a', '\n', '\t', 'é', '😀', '\ud800', '\udc00'),
    ),
    maxLength: 20,
  })

  it('for a terminal has no control but tab and newline, no direction override, no lone surrogate', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(plainText(text)).not.toMatch(
          /(?![\t\n])\p{Cc}|[\u200e\u200f\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/u,
        )
      }),
      { numRuns: runs(2000) },
    )
  })

  it('for a model has no control but tab, newline and return, and no lone surrogate', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(cleanText(text)).not.toMatch(/(?![\t\n\r])\p{Cc}|\p{Surrogate}/u)
      }),
      { numRuns: runs(1000) },
    )
  })

  it('that is cut keeps to its limit, whole characters, and as many as fit', () => {
    const clean = fc.string({ unit: 'grapheme', maxLength: 30 })
    fc.assert(
      fc.property(clean, fc.integer({ min: 1, max: 80 }), (text, limit) => {
        const cut = cutText(text, limit, '!')
        expect(byteLength(cut)).toBeLessThanOrEqual(limit)
        const kept = cut.slice(0, -1)
        expect(text.startsWith(kept)).toBe(true)
        const next = [...text.slice(kept.length)][0]
        if (next !== undefined) expect(byteLength(kept + next) + 1).toBeGreaterThan(limit)
      }),
      { numRuns: runs(1000) },
    )
  })
})
