// Decisions in places where they do not count: ignored as in Claude Code, but always reported.

import { describe, expect, it } from 'vitest'
import { BASH, eventOf, read, specific } from './reply.js'

const TO_BLOCK =
  'to block, print {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"…"}}'

const TO_ASK =
  'to ask, print {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"…"}}'

describe('at the wrong level', () => {
  it('permissionDecision and its kin at the top level are ignored, and the right JSON is shown', () => {
    const { result, notes } = read(BASH, {
      stdout: { permissionDecision: 'deny', permissionDecisionReason: 'TR' },
    })
    expect(result).toEqual({ action: 'continue' })
    expect(notes).toEqual([
      {
        code: 'answer-misplaced',
        text: '"permissionDecision", "permissionDecisionReason" at the top level does not count; print {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"TR"}}',
      },
    ])
  })

  it.each([
    { updatedInput: { command: 'x' } },
    { additionalContext: 'x' },
    { permissionDecision: 'allow' },
    { hookEventName: 'PreToolUse', permissionDecision: 'deny' },
  ])('%j is ignored, which is said once', (stdout) => {
    const { result, codes } = read(BASH, { stdout })
    expect([result, codes]).toEqual([{ action: 'continue' }, ['answer-misplaced']])
  })

  it('decision and reason in hookSpecificOutput are ignored', () => {
    const { result, notes } = read(BASH, {
      stdout: specific('PreToolUse', { decision: 'block', reason: 'R' }),
    })
    expect(result).toEqual({ action: 'continue' })
    expect(notes).toEqual([
      {
        code: 'answer-misplaced',
        text: `"decision", "reason" in hookSpecificOutput does not count: it belongs at the top level; ${TO_BLOCK}`,
      },
    ])
  })

  it('a decision object at the top level is a failure that says where it belongs', () => {
    const { error, notes } = read('PermissionRequest', { stdout: { decision: { behavior: 'deny' } } })
    expect(error?.code).toBe('ANSWER_INVALID')
    expect(notes[0]).toMatchObject({
      code: 'answer-misplaced',
      text: expect.stringContaining('"behavior":"deny"'),
    })
  })
})

describe('on the wrong event', () => {
  it('a field that the event does not have is ignored, and what blocks is said', () => {
    const { result, notes } = read('PostToolUse', {
      stdout: specific('PostToolUse', { permissionDecision: 'deny' }),
    })
    expect(result).toEqual({ action: 'continue' })
    expect(notes).toEqual([
      {
        code: 'answer-misplaced',
        text: 'PostToolUse has no "permissionDecision"; to block, print {"decision":"block","reason":"…"}',
      },
    ])
  })

  it('another hookEventName, or none, is said', () => {
    for (const stdout of [
      specific('PostToolUse', {}),
      specific('pretooluse', {}),
      { hookSpecificOutput: {} },
    ]) {
      const { error, notes } = read(BASH, { stdout })
      expect(error?.code).toBe('ANSWER_INVALID')
      expect(notes).toEqual([
        {
          code: 'answer-misplaced',
          text: `hookSpecificOutput counts only with "hookEventName":"PreToolUse"; ${TO_BLOCK}`,
        },
      ])
    }
  })
})

describe('in the wrong words', () => {
  it.each([
    ['"deny" as decision', { decision: 'deny' }, 'decision "deny" decides nothing'],
    ['"allow" for "approve"', { decision: 'allow' }, 'decision "allow" decides nothing'],
    [
      '"block" for "deny"',
      specific('PreToolUse', { permissionDecision: 'block' }),
      'permissionDecision "block" decides nothing',
    ],
    [
      '"Deny" for "deny"',
      specific('PreToolUse', { permissionDecision: 'Deny' }),
      'permissionDecision "Deny" decides nothing',
    ],
  ])('%s is a failure, and the right JSON is shown', (_, stdout, text) => {
    const { error, notes } = read(BASH, { stdout })
    expect(error?.code).toBe('ANSWER_INVALID')
    expect(notes).toEqual([{ code: 'answer-misplaced', text: `${text}; ${TO_BLOCK}` }])
  })

  it.each(['ask', 'ask_user'])('"%s" as decision is a failure that says how to ask', (decision) => {
    const { error, notes } = read(BASH, { stdout: { decision } })
    expect(error).toMatchObject({ code: 'ANSWER_INVALID', hint: expect.stringContaining(TO_ASK) })
    expect(notes).toEqual([
      { code: 'answer-misplaced', text: `decision "${decision}" decides nothing; ${TO_ASK}` },
    ])
  })

  it('on PermissionRequest, too', () => {
    for (const decision of ['deny', { behavior: 'block' }]) {
      const { error, codes } = read('PermissionRequest', {
        stdout: specific('PermissionRequest', { decision }),
      })
      expect([error?.code, ...codes]).toEqual(['ANSWER_INVALID', 'answer-misplaced'])
    }
  })

  it.each(['HookSpecificOutput', 'hook_specific_output', 'Decision', 'systemmessage', 'permission_decision'])(
    'the key %s is ignored, and its spelling is shown',
    (key) => {
      const { result, notes } = read(BASH, { stdout: { [key]: 'deny' } })
      expect(result).toEqual({ action: 'continue' })
      expect(notes).toEqual([
        { code: 'answer-misplaced', text: expect.stringContaining('does not count: it is spelled') },
      ])
    },
  )

  it('what other systems decide with is ignored, and the right JSON is shown', () => {
    const answers = [
      { action: 'block' },
      { permission: 'deny' },
      { ok: false, reason: 'x' },
      { blocked: true },
    ]
    for (const stdout of [...answers, specific('PreToolUse', { behavior: 'deny' })]) {
      const { result, notes } = read(BASH, { stdout })
      expect(result).toEqual({ action: 'continue' })
      expect(notes).toEqual([{ code: 'answer-misplaced', text: expect.stringContaining(TO_BLOCK) }])
    }
  })
})

describe('unknown keys', () => {
  it('are named in one note, and the rest of the answer counts', () => {
    const stdout = {
      decision: 'block',
      reason: 'no',
      zzz: 1,
      yyy: null,
      hookSpecificOutput: { hookEventName: 'PreToolUse', xxx: 1 },
    }
    const { result, notes } = read(BASH, { stdout })
    expect(result).toEqual({ action: 'deny', reason: 'no' })
    expect(notes).toEqual([{ code: 'unknown-answer-key', text: 'no answer has "zzz", "yyy", "xxx"' }])
  })

  it('are named by the first few', () => {
    const stdout = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`${'k'.repeat(200)}${i}`, i]))
    const [note] = read(BASH, { stdout }).notes
    expect(note?.text).toMatch(/ and 995 more$/)
    expect(note?.text.length).toBeLessThan(400)
  })

  it('in the decision of PermissionRequest are named as well', () => {
    const stdout = specific('PermissionRequest', { decision: { behavior: 'deny', reason: 'R' } })
    expect(read('PermissionRequest', { stdout }).notes).toEqual([
      { code: 'unknown-answer-key', text: 'no answer has "reason"' },
    ])
  })

  it('may have names that JavaScript is touchy about', () => {
    const stdout =
      '{"__proto__":{"decision":"approve"},"constructor":1,"toString":2,"decision":"block","reason":"no"}'
    const { result, codes } = read(BASH, { stdout })
    expect([result, codes]).toEqual([{ action: 'deny', reason: 'no' }, ['unknown-answer-key']])
    expect(read(BASH, { stdout: '{"__proto__":{"decision":"block"}}' }).result).toEqual({
      action: 'continue',
    })
  })
})

describe('an echo of the hook’s own input', () => {
  const echoed = (stdout: object, event = BASH) => read(event, { stdout })

  it('is neither a decision nor context, and gets one short note', () => {
    const { result, notes } = echoed(BASH.data)
    expect(result).toEqual({ action: 'continue' })
    expect(notes).toEqual([
      { code: 'unknown-answer-key', text: expect.stringContaining('printed its own input') },
    ])
  })

  it('with a reason, a prompt, an action of the event’s own is still none', () => {
    const ended = eventOf('SessionEnd', { reason: { why: 'logout' }, prompt: 'x' })
    const answered = eventOf('ElicitationResult', { mcp_server_name: 's', action: 'accept', content: {} })
    for (const event of [ended, answered]) {
      expect(echoed(event.data, event)).toMatchObject({
        result: { action: 'continue' },
        codes: ['unknown-answer-key'],
      })
    }
  })

  it('with a decision added is that decision', () => {
    const { result } = echoed({ ...BASH.data, decision: 'block', reason: 'no' })
    expect(result).toEqual({ action: 'deny', reason: 'no' })
  })

  it('of another event is no echo', () => {
    const { result, notes } = echoed({ ...BASH.data, hook_event_name: 'Stop' })
    expect(result).toEqual({ action: 'continue' })
    expect(notes.map(({ text }) => text).join()).toContain('no answer has "tool_name", "tool_input"')
  })
})
