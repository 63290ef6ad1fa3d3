// Amplifier's words in the answer of a shell hook: a refusal or a question is not lost, and a question has its terms.

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
        text: expect.stringMatching(/^approval.* must be .*; it is ignored, the ask stands$/),
      },
    ])
  })

  it('without a question are told, with how to ask', () => {
    const { result, notes } = read(BASH, { stdout: TERMS })
    expect(result).toEqual({ action: 'continue' })
    expect(notes).toEqual([
      { code: 'answer-misplaced', text: expect.stringContaining('"permissionDecision":"ask"') },
    ])
  })

  it('that are misspelt are told their spelling', () => {
    const { notes } = read(BASH, { stdout: specific('PreToolUse', ASK, { ApprovalOptions: ['Allow'] }) })
    expect(notes).toEqual([
      { code: 'answer-misplaced', text: '"ApprovalOptions" does not count: it is spelled approvalOptions' },
    ])
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
    // If the turn cannot be ended, it still refuses.
    expect(read('SubagentStop', { stdout: { action, reason: 'no' } }).result?.action).toBe('deny')
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

  it('"deny" stands although another field is malformed, and although the hook failed', () => {
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
  ])('on %s "%s" counts', (event, action) => {
    expect(read(event, { stdout: { action, reason: 'no' } }).result?.action).toBe(action)
  })

  it.each([
    ['Notification', 'deny'],
    ['SessionStart', 'abort_turn'],
    ['PostToolUse', 'ask_user'],
    ['Stop', 'ask_user'],
    ['PermissionRequest', 'ask_user'],
  ])('on %s "%s" decides nothing, which is said', (event, action) => {
    const { result, notes } = read(event, { stdout: { action, reason: 'no' } })
    expect(result).toEqual({ action: 'continue' })
    expect(notes).toEqual([
      { code: 'verdict-ignored', text: expect.stringContaining(`"action":"${action}" does not decide`) },
    ])
  })

  it('of another kind decides nothing, as in Claude Code', () => {
    for (const action of ['continue', 'modify', 'respond', 'DENY', ['deny']]) {
      const { result, codes } = read(BASH, { stdout: { action } })
      expect([result, codes]).toEqual([{ action: 'continue' }, ['answer-misplaced']])
    }
  })
})
