// Answers of approvers.

import { describe, expect, it } from 'vitest'
import { read } from './asked.js'

describe('an approver', () => {
  it('approves with true and refuses with false', () => {
    expect(read('approve_tool', { approved: true })).toMatchObject({
      result: { action: 'continue' },
      notes: [],
    })
    const refusal = { approved: false, reason: 'Dangerous command, execution denied' }
    expect(read('approve_tool', refusal)).toMatchObject({
      result: { action: 'deny', reason: 'Dangerous command, execution denied' },
      notes: [],
    })
    expect(read('approve_tool', { approved: false }).result?.reason).toMatch(/gave no reason/)
  })

  it('fails with anything but a boolean', () => {
    for (const approved of ['true', 1, null, {}, [], 'yes']) {
      expect(read('approve_tool', { approved }).error?.message).toMatch(/approved"? (must be|is missing)/)
    }
    for (const answer of [{}, { action: 'continue' }, { action: 'modify' }, { reason: 'fine' }, null, true]) {
      expect(read('approve_tool', answer).error).toBeDefined()
    }
  })

  it('refuses in other words as well, and that is said', () => {
    for (const answer of [
      { approved: 0 },
      { approved: 'no' },
      { allow: false },
      { ok: false },
      { decision: 'block' },
      { hookSpecificOutput: { permissionDecision: 'deny' } },
      { approved: true, permission: 'deny' },
    ]) {
      const { result, codes } = read('approve_tool', { ...answer, reason: 'no' })
      expect(result).toEqual({ action: 'deny', reason: 'no' })
      expect(codes).toContain('answer-misplaced')
    }
  })

  it('D5: may ask a person', () => {
    const { result } = read('approve_tool', { action: 'ask_user', approval_prompt: 'Really?' })
    expect(result).toEqual({ action: 'ask_user', approvalPrompt: 'Really?' })
  })

  it('hears which field was probably meant', () => {
    for (const key of ['allow', 'allowed', 'approve', 'ok', 'decision', 'Approved']) {
      const { error, notes } = read('approve_tool', { [key]: true })
      expect(error?.message).toBe('"approved" is missing: it must be true or false')
      expect(notes[0]?.text).toContain(`"${key}" (did you mean approved?)`)
    }
  })

  it('may not change the call', () => {
    const { result, notes } = read('approve_tool', { approved: true, call: { arguments: {} } })
    expect(result).toEqual({ action: 'continue' })
    expect(notes).toEqual([
      { code: 'verdict-ignored', text: expect.stringContaining('an approver may not change the call: call') },
    ])
  })

  it('may deny and abort in the words of an interceptor, and that is said', () => {
    for (const [action, counts] of [
      ['deny_tool', 'deny'],
      ['abort_turn', 'abort_turn'],
      ['hard_abort', 'hard_abort'],
    ] as const) {
      for (const approved of [undefined, true, false, 'x']) {
        const answer = { action, reason: 'no', ...(approved !== undefined && { approved }) }
        const { result, codes } = read('approve_tool', answer)
        expect(result).toEqual({ action: counts, reason: 'no' })
        expect(codes).toEqual(['answer-misplaced'])
      }
    }
  })

  it('that refuses refuses, whatever else it says', () => {
    const { result, codes } = read('approve_tool', { approved: false, reason: 5, action: 'continue' })
    expect(result?.action).toBe('deny')
    expect(codes).toEqual(['answer-misplaced', 'malformed-field'])
  })

  it('that approves and acts at once has not approved', () => {
    for (const action of ['modify', 'respond', 5]) {
      expect(read('approve_tool', { approved: true, action }).error?.message).toMatch(
        /can only approve or refuse/,
      )
    }
    for (const action of ['deny', 'deny_tool', 'Block']) {
      expect(read('approve_tool', { approved: true, action }).result?.action).toBe('deny')
    }
    for (const action of ['continue', '', null]) {
      expect(read('approve_tool', { approved: true, action }).result).toEqual({ action: 'continue' })
    }
    expect(read('approve_tool', { approved: true, reason: 5 }).error?.message).toMatch(
      /reason must be a string/,
    )
  })
})
