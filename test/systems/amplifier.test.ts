// HookResult's words in the answer of a shell hook: it can say all that a function can.

import { describe, expect, it } from 'vitest'
import { BASH, read, specific } from './claude-code/reply.js'

const ASK = { permissionDecision: 'ask', permissionDecisionReason: 'sure?' }
const TERMS = { approvalOptions: ['Allow always', 'Deny'], approvalTimeout: 60, approvalDefault: 'allow' }
const SNAKE = { approval_options: ['Allow always', 'Deny'], approval_timeout: 60, approval_default: 'allow' }
const ASKED = { action: 'ask_user', approvalPrompt: 'sure?', reason: 'sure?', ...TERMS }

describe('the terms of a question', () => {
  it.each([
    ['at the top level', specific('PreToolUse', ASK, TERMS)],
    ['at the top level, in snake_case', specific('PreToolUse', ASK, SNAKE)],
    ['inside hookSpecificOutput', specific('PreToolUse', { ...ASK, ...TERMS })],
    ['inside hookSpecificOutput, in snake_case', specific('PreToolUse', { ...ASK, ...SNAKE })],
    [
      'in both, where those inside count',
      specific('PreToolUse', { ...ASK, ...TERMS }, { approvalTimeout: 9 }),
    ],
  ])('count %s', (_, stdout) => {
    expect(read(BASH, { stdout })).toMatchObject({ result: ASKED, notes: [] })
  })

  it('include its own text; the reason stays the reason', () => {
    const { result } = read(BASH, { stdout: specific('PreToolUse', { ...ASK, approvalPrompt: 'Push it?' }) })
    expect(result).toEqual({ action: 'ask_user', approvalPrompt: 'Push it?', reason: 'sure?' })
  })

  it('are nothing where they are null', () => {
    const stdout = specific('PreToolUse', ASK, { approval_options: null, approval_prompt: null })
    const { result, notes } = read(BASH, { stdout })
    expect([result, notes]).toEqual([{ action: 'ask_user', approvalPrompt: 'sure?', reason: 'sure?' }, []])
  })

  it.each([
    { approvalOptions: 'Allow' },
    { approvalOptions: [] },
    { approvalTimeout: -1 },
    { approval_default: 'yes' },
    { approvalPrompt: 5 },
  ])('that are malformed (%j) are told, and the question stands', (wrong) => {
    const { result, notes } = read(BASH, { stdout: specific('PreToolUse', ASK, wrong) })
    expect(result).toEqual({ action: 'ask_user', approvalPrompt: 'sure?', reason: 'sure?' })
    expect(notes).toEqual([
      {
        code: 'malformed-field',
        text: expect.stringMatching(/^approval.* must be .*; it is ignored, and the ask stands$/),
      },
    ])
  })

  it('without a question are told, with how to ask', () => {
    const { result, notes } = read(BASH, { stdout: TERMS })
    expect(result).toEqual({ action: 'continue' })
    expect(notes).toMatchObject([
      { code: 'answer-misplaced', text: expect.stringContaining('"permissionDecision":"ask"') },
    ])
  })

  it('that are misspelt are told', () => {
    const { notes } = read(BASH, { stdout: specific('PreToolUse', ASK, { ApprovalOptions: ['Allow'] }) })
    expect(notes).toEqual([{ code: 'unknown-answer-key', text: 'an answer has no field "ApprovalOptions"' }])
  })
})

describe('action', () => {
  it('"deny" is a deny, with its reason', () => {
    const { result, notes } = read(BASH, { stdout: { action: 'deny', reason: 'no' } })
    expect([result, notes]).toEqual([{ action: 'deny', reason: 'no' }, []])
  })

  it('"ask_user" asks, with its terms', () => {
    const stdout = { action: 'ask_user', reason: 'r', approval_prompt: 'sure?', ...SNAKE }
    const { result, notes } = read(BASH, { stdout })
    expect([result, notes]).toEqual([{ ...ASKED, reason: 'r' }, []])
  })

  it.each(['abort_turn', 'hard_abort'])('"%s" ends it', (action) => {
    expect(read(BASH, { stdout: { action, reason: 'no' } }).result).toEqual({ action, reason: 'no' })
    expect(read('SubagentStop', { stdout: { action, reason: 'no' } }).result?.action).toBe(action)
  })

  it.each([
    ['a deny', 'deny', specific('PreToolUse', ASK)],
    ['a deny', 'deny', specific('PreToolUse', { permissionDecision: 'allow' })],
    ['a question', 'ask_user', specific('PreToolUse', { permissionDecision: 'allow' })],
  ])('%s is not hidden by a milder verdict beside it', (_, action, beside) => {
    expect(read(BASH, { stdout: { ...beside, action } }).result?.action).toBe(action)
  })

  it('does not hide a deny beside it', () => {
    expect(read(BASH, { stdout: { action: 'ask_user', decision: 'block' } }).result?.action).toBe('deny')
    expect(read(BASH, { stdout: { action: 'ask_user' }, code: 2, stderr: 'no' }).result?.action).toBe('deny')
  })

  it('"deny" stands even if another field is malformed and the hook failed', () => {
    const stdout = { action: 'deny', reason: 'no', systemMessage: 5 }
    expect(read(BASH, { stdout })).toMatchObject({
      result: { action: 'deny', reason: 'no' },
      codes: ['malformed-field'],
    })
    expect(read(BASH, { stdout: { action: 'deny' }, code: 1 }).result?.action).toBe('deny')
  })

  it.each([
    ['UserPromptSubmit', 'deny'],
    ['UserPromptSubmit', 'ask_user'],
    ['PermissionRequest', 'deny'],
    ['Stop', 'deny'],
    ['WorktreeCreate', 'deny'],
    ['WorktreeCreate', 'hard_abort'],
    ['SessionStart', 'abort_turn'],
    ['SubagentStart', 'deny'],
  ])('on %s "%s" counts', (event, action) => {
    expect(read(event, { stdout: { action, reason: 'no' } }).result?.action).toBe(action)
  })

  it.each([
    ['Notification', 'deny'],
    ['PostToolUse', 'ask_user'],
    ['Stop', 'ask_user'],
    ['PermissionRequest', 'ask_user'],
  ])('on %s "%s" decides nothing, which is said', (event, action) => {
    const { result, notes } = read(event, { stdout: { action, reason: 'no' } })
    expect(result).toEqual({ action: 'continue' })
    expect(notes).toMatchObject([
      { code: 'verdict-ignored', text: expect.stringContaining(`"action":"${action}" does not decide`) },
    ])
  })

  it('M2: of another kind is a failure, as for a function', () => {
    for (const action of ['proceed', 'ALLOW', ['deny']]) {
      const { error, codes } = read(BASH, { stdout: { action } })
      expect([error?.code, codes]).toEqual(['ANSWER_INVALID', ['answer-misplaced']])
    }
  })
})

describe('D6: the whole of HookResult', () => {
  it.each([
    ['continue', { action: 'continue' }, { action: 'continue' }],
    [
      'continue with an explicit allow',
      { action: 'continue', permission: 'allow', reason: 'fine' },
      { action: 'continue', permission: 'allow', reason: 'fine' },
    ],
    [
      'modify',
      { action: 'modify', data: { tool_input: { command: 'ls -l' } } },
      { action: 'modify', data: { tool_input: { command: 'ls -l' } } },
    ],
    [
      'respond',
      { action: 'respond', response: { for_llm: 'done' }, reason: 'cached' },
      { action: 'respond', response: { for_llm: 'done' }, reason: 'cached' },
    ],
    ['respond with null', { action: 'respond', response: null }, { action: 'respond', response: null }],
    [
      'inject_context',
      {
        action: 'inject_context',
        contextInjection: 'hint',
        contextInjectionRole: 'user',
        ephemeral: true,
        appendToLastToolResult: true,
      },
      {
        action: 'inject_context',
        contextInjection: 'hint',
        contextInjectionRole: 'user',
        ephemeral: true,
        appendToLastToolResult: true,
      },
    ],
    [
      'a message beside it',
      { action: 'continue', userMessage: 'hi', userMessageLevel: 'warning', userMessageSource: 'me' },
      { action: 'continue', userMessage: 'hi', userMessageLevel: 'warning', userMessageSource: 'me' },
    ],
  ])('%s, in camelCase and snake_case', (_, answer, result) => {
    const snake = Object.fromEntries(
      Object.entries(answer).map(([key, value]) => [
        key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        value,
      ]),
    )
    for (const stdout of [answer, snake]) expect(read(BASH, { stdout })).toMatchObject({ result, notes: [] })
  })

  it('written out with every default, as Python does it, says no more', () => {
    const stdout = {
      action: 'continue',
      data: null,
      reason: null,
      context_injection: null,
      context_injection_role: 'system',
      ephemeral: false,
      approval_prompt: null,
      approval_options: null,
      approval_timeout: 300,
      approval_default: 'deny',
      suppress_output: false,
      user_message: null,
      user_message_level: 'info',
      append_to_last_tool_result: false,
    }
    const { result, notes } = read(BASH, { stdout })
    expect([result?.action, result?.permission, notes]).toEqual(['continue', undefined, []])
  })

  it('without what the action needs is a failure', () => {
    for (const action of ['modify', 'respond', 'inject_context']) {
      expect(read(BASH, { stdout: { action } }).error?.message).toContain(`${action} needs`)
    }
    expect(read(BASH, { stdout: { action: 'modify', data: 5 } }).error?.code).toBe('ANSWER_INVALID')
  })

  it('without an action opens and changes nothing', () => {
    for (const stdout of [
      { permission: 'allow' },
      { data: { tool_input: { command: 'x' } } },
      { response: 'done' },
      specific('PreToolUse', { action: 'modify', data: { tool_input: {} } }),
      specific('PreToolUse', { action: 'respond', response: 'x' }),
    ]) {
      const { result, notes } = read(BASH, { stdout })
      expect(result).toEqual({ action: 'continue' })
      expect(notes).not.toEqual([])
    }
  })

  it('counts beside the words of Claude Code', () => {
    const stdout = specific(
      'PreToolUse',
      { permissionDecision: 'ask', permissionDecisionReason: 'sure?' },
      { user_message: 'hi', context_injection: 'hint', context_injection_role: 'user' },
    )
    expect(read(BASH, { stdout })).toMatchObject({
      result: {
        action: 'ask_user',
        userMessage: 'hi',
        contextInjection: 'hint',
        contextInjectionRole: 'user',
      },
      notes: [],
    })
  })
})
