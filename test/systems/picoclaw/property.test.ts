// Any answer of a resident hook becomes a valid HookResult or a hook's failure, and a deny stays a deny.

import type { Json } from 'carabiner/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { goesOn } from '../../../src/systems/picoclaw/decode.js'
import type { Intercept } from '../../../src/systems/picoclaw/protocol.js'
import { runs } from '../../property/runs.js'
import { ASKED, eventOf, RESULT, ran, read } from './asked.js'

const EVENTS = [
  ...(Object.entries(ASKED) as [Intercept, (typeof ASKED)[Intercept]][]),
  ['after_tool', ran(RESULT)],
  ['after_tool', ran({ a: [1] })],
  ['after_tool', eventOf('PostToolUseFailure', { tool_name: 'x', error: 'gone' })],
] as const
const asked = fc.constantFrom(...EVENTS)
const value = fc.oneof(
  fc.constantFrom<Json>(null, true, false, '', 'x', 0, [], {}, [{}], ['a'], RESULT, '{"a":[2]}'),
  fc.jsonValue({ stringUnit: 'binary' }) as fc.Arbitrary<Json>,
)
const keys = fc.constantFrom(
  ...Object.keys(RESULT),
  ...['model', 'messages', 'tools', 'options', 'graceful_terminal', 'meta', 'channel', 'duration'],
  ...['tool', 'arguments', 'result', 'response', 'role', 'content', '__proto__', 'constructor', 'zz'],
)
const inner = fc.dictionary(keys, value)
const object = fc.oneof(
  value,
  inner,
  fc.tuple(inner, inner, keys).map(([a, b, key]) => ({ ...a, [key]: b })),
)
const action = fc.constantFrom<Json>('continue', 'modify', 'respond', '', null, 'deny', 5)
const fields = fc.record(
  {
    request: object,
    response: object,
    call: object,
    result: object,
    reason: value,
    approved: value,
    decision: value,
    ['__proto__']: value,
  },
  { requiredKeys: [] },
)

describe('decodeAnswer', () => {
  it('answers a valid HookResult, or throws ANSWER_INVALID; what it says is short', () => {
    fc.assert(
      fc.property(asked, fc.option(action, { nil: undefined }), fields, ([intercept, event], verb, given) => {
        const answer = { ...given, ...(verb !== undefined && { action: verb }) }
        const { result, error, notes } = read(intercept, answer, event) // throws what is no ANSWER_INVALID
        expect(result === undefined).toBe(error !== undefined)
        expect(notes.length).toBeLessThan(16)
        for (const { text } of notes) expect(text.length).toBeLessThan(800)
        expect(error?.message.length ?? 0).toBeLessThan(1500)
      }),
      { numRuns: runs(3000) },
    )
  })

  it('reads any JSON at all', () => {
    fc.assert(
      fc.property(asked, fc.jsonValue({ stringUnit: 'binary' }), ([intercept, event], answer) => {
        const { result, error } = read(intercept, answer, event)
        expect(result === undefined).toBe(error !== undefined)
        if (intercept === 'approve_tool') expect(error).toBeDefined()
      }),
      { numRuns: runs(1000) },
    )
  })

  it('never loses a deny or an abort, whatever is beside it', () => {
    const stops = fc.constantFrom('deny_tool', 'abort_turn', 'hard_abort')
    fc.assert(
      fc.property(asked, stops, fields, ([intercept, event], verb, given) => {
        const { result } = read(intercept, { ...given, action: verb }, event)
        expect(result?.action).toBe(verb === 'deny_tool' ? 'deny' : verb)
        expect(result?.reason?.trim()).toBeTruthy()
      }),
      { numRuns: runs(1000) },
    )
  })

  it('never approves without approved: true, and never loses a refusal', () => {
    fc.assert(
      fc.property(fc.option(action, { nil: undefined }), fields, (verb, given) => {
        const answer = { ...given, ...(verb !== undefined && { action: verb }) }
        const { result } = read('approve_tool', answer)
        if (given.approved === false) expect(result?.action).toBe('deny')
        else if (given.approved !== true)
          expect(['deny', 'abort_turn', 'hard_abort', undefined]).toContain(result?.action)
        expect(result?.data).toBeUndefined()
      }),
      { numRuns: runs(1000) },
    )
  })
})

describe('goesOn', () => {
  it('says so only where a closer look says the same', () => {
    fc.assert(
      fc.property(asked, fc.option(action, { nil: undefined }), fields, ([intercept, event], verb, given) => {
        const answer = { ...given, ...(verb !== undefined && { action: verb }) } as Json
        if (!goesOn(intercept, answer)) return
        expect(read(intercept, answer, event)).toMatchObject({ result: { action: 'continue' }, notes: [] })
      }),
      { numRuns: runs(2000) },
    )
    expect(goesOn('before_tool', { action: 'continue' })).toBe(true)
    expect(goesOn('approve_tool', { approved: true })).toBe(true)
    expect(goesOn('approve_tool', { action: 'continue' })).toBe(false)
  })
})

describe('hostile answers', () => {
  const deep = (levels: number): Json => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`) as Json
  const DEEP = deep(100_000)

  it('nested a hundred thousand levels deep', () => {
    for (const [intercept, event] of EVENTS) {
      for (const key of ['action', 'reason', 'request', 'response', 'call', 'result', 'approved', 'zz']) {
        const { result, error } = read(intercept, { action: 'continue', [key]: DEEP }, event)
        expect(result === undefined).toBe(error !== undefined)
        const stopped = read(intercept, { [key]: DEEP, action: 'abort_turn' }, event)
        expect(stopped.result?.action).toBe('abort_turn')
      }
    }
    expect(read('before_tool', { action: 'modify', call: { arguments: DEEP } }).error).toBeDefined()
    expect(read('before_llm', { action: 'modify', request: { messages: [DEEP] } }).error).toBeDefined()
    expect(
      read('before_tool', { action: 'respond', result: { for_llm: 'x', media: [DEEP] } }).error,
    ).toBeDefined()
    const text = '['.repeat(100_000) + ']'.repeat(100_000)
    expect(read('after_tool', { action: 'modify', result: { for_llm: text } }, ran([1])).error).toBeDefined()
  })

  it('with texts of a mebibyte', () => {
    const long = 'x'.repeat(1 << 20)
    expect(read('before_tool', { action: 'deny_tool', reason: long }).result?.reason).toBe(long)
    expect(read('after_tool', { action: 'modify', result: { for_llm: long } }).result?.data).toEqual({
      tool_response: long,
    })
    for (const answer of [{ action: long }, { [long]: 1 }, { action: 'modify', call: long }, long]) {
      expect(read('before_tool', answer).error?.message.length).toBeLessThan(400)
    }
    const { notes } = read('before_tool', { action: 'continue', [long]: 1 })
    expect(notes[0]?.text.length).toBeLessThan(200)
  })

  it('with keys that are prototypes elsewhere', () => {
    const answer = JSON.parse(
      '{"action":"modify","__proto__":{"action":"deny_tool"},"call":{"__proto__":{"tool":"x"},"arguments":{"__proto__":{"y":1}}}}',
    )
    const { result, codes } = read('before_tool', answer)
    expect(JSON.stringify(result?.data)).toBe('{"tool_input":{"__proto__":{"y":1}}}')
    expect(result?.data?.tool_input).not.toHaveProperty('y')
    expect(codes).toEqual(['unknown-answer-key', 'unknown-answer-key'])
    const own = JSON.parse('{"action":"respond","result":{"for_llm":"x","__proto__":{"silent":true}}}')
    expect(JSON.stringify(read('before_tool', own).result?.response)).toBe(
      '{"__proto__":{"silent":true},"for_llm":"x"}',
    )
    const inherited = JSON.parse('{"__proto__":{"approved":true}}')
    expect(read('approve_tool', inherited).error).toBeDefined()
  })

  it('with what would disturb a terminal', () => {
    const { error } = read('before_tool', { action: 'zzz\u202e\u009b31m' })
    expect(error?.message).toMatch(/^action "zzz" is unknown/)
    const { notes } = read('before_tool', { action: 'continue', 'k\u202e\u009b31m': 1 })
    expect(notes[0]?.text).toBe('an answer to hook.before_tool has no field "k"')
  })
})
