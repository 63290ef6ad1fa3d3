// What counts as a yes, what as a no, and that nothing else counts as a yes.

import type { Diagnostic } from 'carabiner'
import { beforeEach, describe, expect, it } from 'vitest'
import { REPLY_LIMIT, readReply } from '../../../src/runners/model/reply.js'

let notes: Diagnostic[]
beforeEach(() => {
  notes = []
})

const read = (text: string) => readReply(text, (d) => notes.push(d))
const codes = () => notes.map(({ code }) => code)

describe('a yes', () => {
  it.each([
    '{"ok": true}',
    ' \n{"ok":true}\n',
    '\uFEFF{"ok": true}',
    '```json\n{"ok": true}\n```',
    '```\n{"ok": true}\n```',
    '{"ok": true, "reason": "fine"}',
    '{"ok": true, "reason": null}',
    '{"ok": true, "reason": "it says \\"ok\\": false somewhere"}',
    '{"reason": "x", "ok": true}',
    'yes',
    'Yes.',
    'OK',
    '**Allow**',
    '"approved"',
  ])('%j', (text) => {
    expect(read(text)).toEqual({ ok: true })
    expect(notes).toEqual([])
  })

  it('may have a key too many, which is told', () => {
    expect(read('{"ok": true, "confidence": 0.9}')).toEqual({ ok: true })
    expect(codes()).toEqual(['unknown-answer-key'])
  })
})

describe('a no', () => {
  it.each([
    ['{"ok": false, "reason": "too wide"}', 'too wide'],
    ['```json\n{"ok": false, "reason": "too wide"}\n```', 'too wide'],
  ])('%j', (text, reason) => {
    expect(read(text)).toEqual({ ok: false, reason, impossible: false })
    expect(notes).toEqual([])
  })

  it.each(['no', 'No.', 'DENY', '`block`', 'false'])('in a word: %j', (text) => {
    expect(read(text)).toEqual({ ok: false, impossible: false })
  })

  it('may be final', () => {
    expect(read('{"ok": false, "reason": "x", "impossible": true}')).toMatchObject({ impossible: true })
  })

  it.each(['{"ok": false}', '{"ok": false, "reason": null}', '{"ok": false, "reason": 7}'])(
    'without a reason stands, and that is told: %j',
    (text) => {
      expect(read(text)).toEqual({ ok: false, impossible: false })
      expect(codes()).toEqual(['malformed-field'])
    },
  )

  it('with a malformed impossible is not final', () => {
    expect(read('{"ok": false, "reason": "x", "impossible": "true"}')).toEqual({
      ok: false,
      reason: 'x',
      impossible: false,
    })
    expect(codes()).toEqual(['malformed-field'])
  })

  it('has a reason of bounded length', () => {
    const reply = read(JSON.stringify({ ok: false, reason: 'x'.repeat(30_000) }))
    expect(reply).toMatchObject({ ok: false })
    expect('reason' in reply && Buffer.byteLength(reply.reason ?? '')).toBe(8192)
  })

  it.each([
    ['prose around it', 'I think:\n```json\n{"ok": false, "reason": "bad"}\n```\nThat is all.', 'bad'],
    ['prose after it', '{"ok": false, "reason": "bad"} because', 'bad'],
    ['beside a yes', '{"ok": true}\n{"ok": false, "reason": "bad"}', 'bad'],
    ['half of it', '{"ok": false, "reason": "ba', undefined],
    ['as a text', '{"ok": "false", "reason": "bad"}', 'bad'],
    ['in another language', "{'ok': False}", undefined],
    ['in a list', '[{"ok": false}]', undefined],
    ['one level down', '{"result": {"ok": false, "reason": "bad"}}', 'bad'],
    ['with another case', '{"OK": false, "reason": "bad"}', 'bad'],
    ['given twice, no first', '{"ok": false, "ok": true, "reason": "bad"}', 'bad'],
    ['given twice, yes first', '{"ok": true, "ok": false, "reason": "bad"}', 'bad'],
    ['given twice, one of them hidden', '{"o\\u006b": false, "ok": true, "reason": "bad"}', 'bad'],
    ['too long', `{"ok": false, "reason": "bad"}${' '.repeat(100)}${'x'.repeat(REPLY_LIMIT)}`, 'bad'],
  ])('that is malformed stands: %s', (_, text, reason) => {
    expect(read(text)).toEqual({ ok: false, impossible: false, ...(reason && { reason }) })
    expect(codes()).toContain('malformed-field')
  })
})

describe('neither', () => {
  it.each([
    '',
    '  \n ',
    'I cannot help with that.',
    'Yes, if it is careful.',
    'yes no',
    'yes\nno',
    'maybe',
    'true',
    '1',
    'null',
    '[]',
    '{}',
    '[{"ok": true}]',
    '{"ok": "true"}',
    '{"ok": 1}',
    '{"ok": null}',
    '{"OK": true}',
    '{"ok": true',
    '{"ok": tr',
    '{"ok": true} and more',
    'Sure: {"ok": true}',
    '{"ok": true}{"ok": true}',
    '{"ok": true, "ok": true}',
    '{"ok": true, "Ok": true}',
    '{"ok": true, "reason": 5}',
    '{"ok": true, "impossible": "no"}',
    '{"decision": "approve"}',
    '{"ok": true, "decision": "block"}',
    '{"permissionDecision": "deny", "ok": true}',
    'Here it is:\n```json\n{"ok": true}\n```',
    '```json\n{"ok": true}\n```\n```json\n{"ok": true}\n```',
    `${'['.repeat(60_000)}`,
  ])('%j', (text) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code: 'ANSWER_INVALID' }))
  })

  it('is what is too long, whatever it begins with', () => {
    const long = `{"ok": true}${' '.repeat(REPLY_LIMIT)}`
    expect(() => read(long)).toThrow(expect.objectContaining({ code: 'HOOK_OUTPUT' }))
  })

  it('carries no more than a beginning of what was said', () => {
    const error = (() => {
      try {
        return read(`secret ${'y'.repeat(5000)}`)
      } catch (thrown) {
        return thrown
      }
    })()
    expect((error as Error).message.length).toBeLessThan(200)
  })
})
