// Words in the wrong place: what closes counts, nothing else does, and both are always reported.

import { describe, expect, it } from 'vitest'
import { BASH, eventOf, read, specific } from './reply.js'

const TO_BLOCK =
  'to block, print {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"…"}}'

const TO_ASK =
  'to ask, print {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"…"}}'

describe('at the wrong level', () => {
  it('a deny at the top level counts, and the right JSON is shown', () => {
    const { result, notes } = read(BASH, {
      stdout: { permissionDecision: 'deny', permissionDecisionReason: 'TR' },
    })
    expect(result).toEqual({ action: 'deny', reason: 'TR' })
    expect(notes).toMatchObject([
      { code: 'answer-misplaced', text: `"permissionDecision":"deny" counts as a deny; ${TO_BLOCK}` },
    ])
  })

  it('an allow and the like at the top level are ignored, and the right JSON is shown', () => {
    const { result, notes } = read(BASH, {
      stdout: { permissionDecision: 'allow', permissionDecisionReason: 'TR' },
    })
    expect(result).toEqual({ action: 'continue' })
    expect(notes).toMatchObject([
      {
        code: 'answer-misplaced',
        text: '"permissionDecision", "permissionDecisionReason" at the top level does not count; print {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"TR"}}',
      },
    ])
  })

  it.each([
    { updatedInput: { command: 'x' } },
    { additionalContext: 'x' },
    { permissionDecision: 'allow' },
    { hookEventName: 'PreToolUse', permissionDecision: 'allow' },
  ])('%j is ignored, which is said once', (stdout) => {
    const { result, codes } = read(BASH, { stdout })
    expect([result, codes]).toEqual([{ action: 'continue' }, ['answer-misplaced']])
  })

  it('decision and reason in hookSpecificOutput block, and approve nothing', () => {
    const blocked = read(BASH, { stdout: specific('PreToolUse', { decision: 'block', reason: 'R' }) })
    expect(blocked.result).toEqual({ action: 'deny', reason: 'R' })
    expect(blocked.notes).toMatchObject([
      { code: 'answer-misplaced', text: `"decision":"block" counts as a deny; ${TO_BLOCK}` },
    ])
    const approved = read(BASH, { stdout: specific('PreToolUse', { decision: 'approve', reason: 'R' }) })
    expect(approved.result).toEqual({ action: 'continue' })
    expect(approved.notes).toMatchObject([
      {
        code: 'answer-misplaced',
        text: `"decision", "reason" in hookSpecificOutput does not count: it belongs at the top level; ${TO_BLOCK}`,
      },
    ])
  })

  it('a decision object at the top level refuses, or is a failure that says where it belongs', () => {
    const denied = read('PermissionRequest', { stdout: { decision: { behavior: 'deny', message: 'M' } } })
    expect(denied.result).toEqual({ action: 'deny', reason: 'M' })
    const { error, notes } = read('PermissionRequest', { stdout: { decision: { behavior: 'allow' } } })
    expect(error?.code).toBe('ANSWER_INVALID')
    expect(notes[0]).toMatchObject({
      code: 'answer-misplaced',
      text: expect.stringContaining('"behavior":"deny"'),
    })
  })
})

describe('on the wrong event', () => {
  it('a deny that the event does not have counts where the hook could block', () => {
    const stdout = specific('PostToolUse', { permissionDecision: 'deny', permissionDecisionReason: 'R' })
    expect(read('PostToolUse', { stdout })).toMatchObject({
      result: { action: 'deny', reason: 'R' },
      codes: ['answer-misplaced'],
    })
    const { result, codes } = read('SessionEnd', { stdout: { permissionDecision: 'deny' } })
    expect([result, codes]).toEqual([{ action: 'continue' }, ['answer-misplaced']])
  })

  it('another field that the event does not have is ignored, and the note says how to block', () => {
    const { result, notes } = read('PostToolUse', {
      stdout: specific('PostToolUse', { permissionDecision: 'allow' }),
    })
    expect(result).toEqual({ action: 'continue' })
    expect(notes).toMatchObject([
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
      expect(notes).toMatchObject([
        {
          code: 'answer-misplaced',
          text: `hookSpecificOutput only counts with "hookEventName":"PreToolUse"; ${TO_BLOCK}`,
        },
      ])
    }
  })
})

describe('in the wrong words', () => {
  it.each([
    ['"deny" as decision', { decision: 'deny', reason: 'no' }, '"decision":"deny"'],
    ['"block" for "deny"', { permissionDecision: 'block', reason: 'no' }, '"permissionDecision":"block"'],
    ['"Deny" for "deny"', { permissionDecision: 'Deny', reason: 'no' }, '"permissionDecision":"Deny"'],
    ['Cursor’s deny', { permission: 'deny', agent_message: 'no' }, '"permission":"deny"'],
    ['Cline’s cancel', { cancel: true, errorMessage: 'no' }, '"cancel":true'],
    ['a prompt hook’s no', { ok: false, reason: 'no' }, '"ok":false'],
    ['a flag', { blocked: true, message: 'no' }, '"blocked":true'],
    ['another flag', { approved: false, reason: 'no' }, '"approved":false'],
    ['an action', { action: 'block', reason: 'no' }, '"action":"block"'],
    ['another case', { Decision: 'DENY', reason: 'no' }, '"Decision":"DENY"'],
    ['snake_case', { permission_decision: 'deny', reason: 'no' }, '"permission_decision":"deny"'],
    [
      'all of it in snake_case',
      { hook_specific_output: { behavior: 'deny', reason: 'no' } },
      '"behavior":"deny"',
    ],
  ])('D4: %s counts, inside and outside, and the right JSON is shown', (_, answer, said) => {
    for (const stdout of [answer, specific('PreToolUse', answer), { hookSpecificOutput: answer }]) {
      const { result, notes } = read(BASH, { stdout })
      expect(result).toEqual({ action: 'deny', reason: 'no' })
      expect(notes).toContainEqual({
        code: 'answer-misplaced',
        text: `${said} counts as a deny; ${TO_BLOCK}`,
        todo: `T${TO_BLOCK.slice(1)}.`,
      })
    }
  })

  it.each([
    ['"allow" for "approve"', { decision: 'allow' }, 'decision "allow" decides nothing'],
    [
      '"approve" for "allow"',
      specific('PreToolUse', { permissionDecision: 'approve' }),
      'permissionDecision "approve" decides nothing',
    ],
  ])('%s is a failure, and the right JSON is shown', (_, stdout, text) => {
    const { error, notes } = read(BASH, { stdout })
    expect(error?.code).toBe('ANSWER_INVALID')
    expect(notes).toMatchObject([{ code: 'answer-misplaced', text: `${text}; ${TO_BLOCK}` }])
  })

  it.each(['ask', 'ask_user', 'confirm'])(
    '"%s" as decision asks, and the note says how to ask',
    (decision) => {
      const { result, notes } = read(BASH, { stdout: { decision, reason: 'sure?' } })
      expect(result).toEqual({ action: 'ask_user', approvalPrompt: 'sure?', reason: 'sure?' })
      expect(notes).toMatchObject([
        { code: 'answer-misplaced', text: `"decision":"${decision}" counts as an ask; ${TO_ASK}` },
      ])
      const { error } = read('Stop', { stdout: { decision } })
      expect(error?.code).toBe('ANSWER_INVALID')
    },
  )

  it('on PermissionRequest, too', () => {
    for (const decision of ['deny', { behavior: 'block' }]) {
      const { result, codes } = read('PermissionRequest', {
        stdout: specific('PermissionRequest', { decision }),
      })
      expect([result?.action, ...codes]).toEqual(['deny', 'answer-misplaced'])
    }
  })

  it.each(['HookSpecificOutput', 'hook_specific_output', 'systemmessage', 'additional_context'])(
    'the key %s is ignored, and its spelling is shown',
    (key) => {
      const { result, notes } = read(BASH, { stdout: { [key]: 'deny' } })
      expect(result).toEqual({ action: 'continue' })
      expect(notes).toMatchObject([
        { code: 'answer-misplaced', text: expect.stringContaining('does not count: it is spelled') },
      ])
    },
  )

  it('other systems’ words for an allow are ignored, and the right JSON is shown', () => {
    const answers = [{ permission: 'allow' }, { ok: true, reason: 'x' }, { blocked: false }, { allow: true }]
    for (const stdout of [...answers, specific('PreToolUse', { behavior: 'allow' })]) {
      const { result, notes } = read(BASH, { stdout })
      expect(result).toEqual({ action: 'continue' })
      expect(notes).toMatchObject([{ code: 'answer-misplaced', text: expect.stringContaining(TO_BLOCK) }])
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
    expect(notes).toEqual([
      { code: 'unknown-answer-key', text: 'an answer has no field "zzz", "yyy", "xxx"' },
    ])
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
      { code: 'unknown-answer-key', text: 'an answer has no field "reason"' },
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

  it('M7: keeps every word that closes, even where the input holds the same', () => {
    const event = eventOf('PreToolUse', { ...BASH.data, decision: 'block', reason: 'no', async: true })
    expect(echoed(event.data, event).result).toEqual({ action: 'continue' })
    for (const more of [{ note: 1 }, { reason: 'never' }, { tool_input: {} }]) {
      expect(echoed({ ...event.data, ...more }, event).result?.action).toBe('deny')
    }
    const { async: _, ...less } = event.data
    expect(echoed(less, event).result?.action).toBe('deny')
  })

  it('on a line of its own among other text is still an echo', () => {
    const event = eventOf('ElicitationResult', { mcp_server_name: 's', action: 'decline', content: {} })
    for (const text of [JSON.stringify(event.data), JSON.stringify(event.data, null, 2)]) {
      expect(read(event, { stdout: `log\n${text}\nlog` }).result).toEqual({ action: 'continue' })
    }
  })

  it('of another event is no echo', () => {
    const { result, notes } = echoed({ ...BASH.data, hook_event_name: 'Stop' })
    expect(result).toEqual({ action: 'continue' })
    expect(notes.map(({ text }) => text).join()).toContain('an answer has no field "tool_name", "tool_input"')
  })
})
