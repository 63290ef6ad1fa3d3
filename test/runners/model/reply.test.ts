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
    'Yes, this is safe.',
    '**Yes.** It reads a file.',
    'Yes - it reads a file',
    'Allow: it lists a folder',
  ])('%j', (text) => {
    expect(read(text)).toEqual({ ok: true })
    expect(notes).toEqual([])
  })

  it('may have an extra key, which is reported', () => {
    expect(read('{"ok": true, "confidence": 0.9}')).toEqual({ ok: true })
    expect(codes()).toEqual(['unknown-answer-key'])
    expect(read('{"ok": true, "checks": [{"name": "a", "passed": true}]}')).toEqual({ ok: true })
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

  it.each(['no', 'No.', 'DENY', '`block`', 'false', 'Declined.', 'veto', 'Forbid', 'unapproved'])(
    'in a word: %j',
    (text) => {
      expect(read(text)).toEqual({ ok: false, impossible: false })
    },
  )

  it.each([
    ['No. It deletes the database.', 'It deletes the database.'],
    ['**No** - use a branch', 'use a branch'],
    ['No: löscht alles', 'löscht alles'],
    ['no, never', 'never'],
    ['No\n\nIt deletes the database.', 'It deletes the database.'],
    ['No because it deletes', 'because it deletes'],
    ['No, yes would be wrong', 'yes would be wrong'],
    ['Deny: destructive', 'destructive'],
    ['Denied – destructive', 'destructive'],
    ['BLOCK this command', 'this command'],
    ['Rejected, too wide', 'too wide'],
    ['Not ok: too wide', 'too wide'],
    ['Not safe.', undefined],
    ['Unsafe, it deletes', 'it deletes'],
    ['**Verdict:** deny (too wide)', '(too wide)'],
    ['Answer: no', undefined],
    ['N\u200bо. It deletes', 'It deletes'],
    ['ＤＥＮＹ: too wide', 'too wide'],
    ['No. {"ok": false, "reason": "too wide"}', 'too wide'],
    ['No. {"ok": true}', '{"ok": true}'],
    ['Yes, I object', 'Yes, I object'],
    ['Yes. I must refuse.', 'Yes. I must refuse.'],
    ['Yes, block it', 'Yes, block it'],
  ])('in more words: %j', (text, reason) => {
    expect(read(text)).toEqual({ ok: false, impossible: false, ...(reason && { reason }) })
    expect(notes).toEqual([])
  })

  it.each([
    ['{"decision": "block", "reason": "bad"}', 'bad'],
    ['{"decision": "Deny: too wide"}', undefined],
    ['{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "bad"}}', 'bad'],
    ['{"action": "abort_turn"}', undefined],
    ['{"allowed": false, "reason": "bad"}', 'bad'],
    ['{"ok": "no", "reason": "bad"}', 'bad'],
    ['{"ok": true, "decision": "block"}', undefined],
    ['{"permissionDecision": "deny", "ok": true}', undefined],
    ['{"ok": true, "safe": false}', undefined],
    ['{"ok": true, "block": true}', undefined],
    ['{"ok": true, "deny": true, "reason": "bad"}', 'bad'],
    ['{"ok": true, "approved": false}', undefined],
    ['{"ok": true, "permission": "ask"}', undefined],
    ['{"ok": true, "continue": false}', undefined],
    ['{"ok": true, "hookSpecificOutput": {"behavior": "deny"}}', undefined],
    ['{"ok": true, "decision": ["block"]}', undefined],
    ['Here it is: {"decision": "block", "reason": "bad"}', 'bad'],
    ['[{"verdict": "denied"}]', undefined],
  ])('in the words of others: %j', (text, reason) => {
    expect(read(text)).toEqual({ ok: false, impossible: false, ...(reason && { reason }) })
    expect(codes()).toContain('malformed-field')
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
    ['far from its key, no first', `{"ok":${' '.repeat(60)}false,"ok":true}`, undefined],
    ['far from its key, in prose', `So: {"ok"${' '.repeat(60)}:${' '.repeat(60)}false}`, undefined],
    ['below a yes', '{"ok": true, "result": {"ok": false, "reason": "bad"}}', 'bad'],
    ['in a list below a yes', '{"ok": true, "all": [{"ok": true}, {"ok": false}]}', undefined],
    ['in a text beside a yes', '{"ok": true, "result": "{\\"ok\\": false}"}', undefined],
    ['with a character that has no width', '{"ok": true, "ok\u200b": false}', undefined],
    ['with an escaped one', '{"ok": true, "ok\\u200b": false}', undefined],
    ['in Cyrillic', '{"ok": true, "\u043e\u043a": false}', undefined],
    ['in Greek', '{"ok": true, "\u03bf\u03ba": false}', undefined],
    ['in full width', '{"ok": true, "\uff4f\uff4b": false}', undefined],
    ['with a space', '{"ok": true, "ok ": false}', undefined],
    ['escaped, in prose', 'So: {"o\\u006b": false}', undefined],
    ['in words, too long', `No. ${'x'.repeat(REPLY_LIMIT)}`, `${'x'.repeat(8192 - 3)}…`],
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
    'Yes, but only in a sandbox.',
    'Yes, this is safe. However, it writes.',
    'Yes, it is not allowed.',
    "Yes, it's dangerous",
    'Yes, n\u043et so',
    'Yes: {"ok": true}',
    `Yes, ${'safe '.repeat(80)}`,
    'yes it is',
    'Allow-lists are missing here.',
    'Allowed: 0',
    'Yes, as long as nobody looks.',
    'Yes, it deletes everything.',
    'OK, let me look at it.',
    'Okay.\n\nI will begin.',
    'No problem, go ahead.',
    'No such file or directory',
    'No-op commands are fine.',
    'Nobody knows',
    'Blocking is for others.',
    'It is denied that this is safe.',
    'false positive',
    'yes no',
    'yes\nno',
    'maybe',
    'Yes, this is bad',
    'Yes, malware',
    'Yes: hesitantly',
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
    '{"ok": true, "note": "deny it"}',
    '{"ok": true, "harmless": false}',
    '{"ok": true, "harmless": "no"}',
    '{"ok": true, "harmless": [true, false]}',
    '{"ok": true, "ok\u200b": true}',
    '{"decision": "No problem"}',
    '{"result": "no issues found"}',
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

  it.each(['ok ', 'ok"', '"ok" ', '\\', ' ', '"reason":', 'no ', '{"ok":', '*', 'Answer'])(
    'is told in time, however often it says %j',
    (text) => {
      const spaces = ' '.repeat(REPLY_LIMIT / 2)
      for (const said of [text.repeat(REPLY_LIMIT / text.length), `${text}${spaces}`, `no${spaces}x`]) {
        expect(() => read(`x${said}`.slice(0, REPLY_LIMIT))).toThrow('not valid')
        expect(() => read(`${said}y`.slice(0, REPLY_LIMIT))).toThrow('not valid')
      }
    },
  )

  it('carries only the beginning of the text', () => {
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

describe('a yes with words beside it', () => {
  it.each([
    'but actually no',
    'No, this is wrong',
    'This must be blocked',
    'I would deny this',
    'not ok',
    'MARKER is dangerous, I object, do not run',
    'needs human approval first',
    'only if the user confirms',
    'However, it deletes files',
  ])('is none: %s', (words) => {
    for (const key of ['reason', 'note', 'condition']) {
      expect(readReply(JSON.stringify({ ok: true, [key]: words }), () => {}).ok).toBe(false)
    }
  })

  it.each([
    'All fine',
    'It does not touch secrets',
    'No issues found',
    'Nothing is blocked by this, and nothing is deleted',
    'It only reads files, but slowly',
    'The user has approved it',
  ])('is one: %s', (words) => {
    expect(readReply(JSON.stringify({ ok: true, reason: words }), () => {})).toEqual({ ok: true })
  })
})
