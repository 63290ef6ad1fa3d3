// What a no does on each event, as Claude Code does it where it knows such hooks.

import type { Diagnostic } from 'carabiner'
import { describe, expect, it } from 'vitest'
import { verdictOf } from '../../../src/runners/model/verdict.js'

const verdict = (name: string, more: object = {}, asker: object = {}) => {
  const notes: Diagnostic[] = []
  const result = verdictOf(
    { ok: false, reason: 'bad', impossible: false, ...more },
    { name, data: {}, session: undefined },
    { name: 'judge', continueOnBlock: false, givesUp: true, ...asker },
    (d) => notes.push(d),
  )
  return { result, notes }
}

const CONTINUED = { continueOnBlock: true }

describe('a no', () => {
  it.each([
    ['PreToolUse', 'abort_turn', 'deny'],
    ['PostToolUse', 'abort_turn', 'deny'],
    ['TeammateIdle', 'abort_turn', 'deny'],
    ['PostToolBatch', 'abort_turn', 'abort_turn'],
    ['UserPromptSubmit', 'abort_turn', 'abort_turn'],
    ['UserPromptExpansion', 'abort_turn', 'abort_turn'],
    ['PostToolUseFailure', 'deny', 'deny'],
    ['TaskCreated', 'deny', 'deny'],
    ['TaskCompleted', 'deny', 'deny'],
    ['Stop', 'deny', 'deny'],
    ['SubagentStop', 'deny', 'deny'],
    // Claude Code has no such hooks there, and a deny must not be lost.
    ['ModelRequest', 'deny', 'deny'],
    ['PreCompact', 'deny', 'deny'],
    ['SessionStart', 'deny', 'deny'],
  ])('on %s is %s, with continueOnBlock %s', (event, ends, goesOn) => {
    expect(verdict(event).result).toEqual({ action: ends, reason: 'bad' })
    expect(verdict(event, {}, CONTINUED).result).toEqual({ action: goesOn, reason: 'bad' })
  })

  it.each(['PermissionRequest', 'PermissionDenied'])('on %s decides nothing, loudly', (event) => {
    const { result, notes } = verdict(event)
    expect(result).toEqual({ action: 'continue' })
    expect(notes).toEqual([
      expect.objectContaining({ code: 'verdict-ignored', text: expect.stringContaining('bad') }),
    ])
  })

  it('without a reason names the hook', () => {
    expect(verdict('PreToolUse', { reason: undefined }).result.reason).toContain('judge')
  })
})

describe('what can never hold', () => {
  it.each(['Stop', 'SubagentStop'])('lets the agent stop on %s, and says so', (event) => {
    expect(verdict(event, { impossible: true }).result).toMatchObject({
      action: 'continue',
      userMessage: expect.stringContaining('bad'),
      userMessageLevel: 'warning',
    })
  })

  it('is a no on other events, and of hooks that do not give up', () => {
    expect(verdict('PreToolUse', { impossible: true }).result.action).toBe('abort_turn')
    expect(verdict('Stop', { impossible: true }, { givesUp: false }).result.action).toBe('deny')
  })
})

it('a yes is no opinion: other hooks still run', () => {
  const yes = verdictOf(
    { ok: true },
    { name: 'PreToolUse', data: {}, session: undefined },
    { name: 'judge', continueOnBlock: false, givesUp: true },
    () => {},
  )
  expect(yes).toEqual({ action: 'continue' })
})
