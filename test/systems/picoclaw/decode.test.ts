// The actions of an answer, row by row of the seed's table, and answers that are invalid.

import type { Json } from 'carabiner/core'
import { describe, expect, it } from 'vitest'
import { withRepeated } from '../../../src/systems/picoclaw/answer.js'
import { INTERCEPTORS, RESULT, read } from './asked.js'

const changed = {
  before_llm: { request: { model: 'other' } },
  after_llm: { response: { role: 'assistant', content: 'Bye!' } },
  before_tool: { call: { arguments: { text: 'modified hello' } } },
  after_tool: { result: { for_llm: 'redacted' } },
} as const
const patches = {
  before_llm: { model: 'other' },
  after_llm: { response: { role: 'assistant', content: 'Bye!' } },
  before_tool: { tool_input: { text: 'modified hello' } },
  after_tool: { tool_response: 'redacted' },
} as const

describe.each(INTERCEPTORS)('%s', (intercept) => {
  it('continue, an empty action and {} go on', () => {
    for (const answer of [
      { action: 'continue' },
      { action: '' },
      { action: null },
      {},
      { action: 'continue', reason: '' },
    ]) {
      expect(read(intercept, answer)).toMatchObject({ result: { action: 'continue' }, notes: [] })
    }
    expect(read(intercept, { action: 'continue', reason: 'fine' }).result).toEqual({
      action: 'continue',
      reason: 'fine',
    })
  })

  it('modify changes', () => {
    const { result, notes } = read(intercept, { action: 'modify', ...changed[intercept] })
    expect(result).toEqual({ action: 'modify', data: patches[intercept] })
    expect(notes).toEqual([])
  })

  it('continue with a changed object changes as well, and so does no action', () => {
    for (const action of [{ action: 'continue' }, { action: '' }, {}]) {
      const { result } = read(intercept, { ...action, ...changed[intercept] })
      expect(result).toEqual({ action: 'modify', data: patches[intercept] })
    }
  })

  it('an object that is none is a failure', () => {
    const object = Object.keys(changed[intercept])[0]
    for (const value of [5, 'text', [], true]) {
      const { error } = read(intercept, { action: 'modify', [String(object)]: value })
      expect(error?.message).toContain(`${object} must be an object`)
    }
  })

  it('abort_turn and hard_abort keep their reason', () => {
    for (const action of ['abort_turn', 'hard_abort'] as const) {
      expect(read(intercept, { action, reason: 'enough' })).toMatchObject({
        result: { action, reason: 'enough' },
        notes: [],
      })
      expect(read(intercept, { action }).result?.reason).toMatch(/gave no reason/)
    }
  })

  it('deny_tool denies; where the protocol has none that is said', () => {
    const { result, codes } = read(intercept, { action: 'deny_tool', reason: 'Invalid arguments' })
    expect(result).toEqual({ action: 'deny', reason: 'Invalid arguments' })
    expect(codes).toEqual(intercept === 'before_tool' ? [] : ['answer-misplaced'])
    expect(read(intercept, { action: 'deny_tool', reason: ' ' }).result?.reason).toMatch(/gave no reason/)
  })

  it('a deny or an abort stands beside malformed fields', () => {
    const object = String(Object.keys(changed[intercept])[0])
    for (const action of ['deny_tool', 'abort_turn', 'hard_abort']) {
      const { result, notes } = read(intercept, { action, reason: 7, [object]: 'x' })
      expect(result?.action).toBe(action === 'deny_tool' ? 'deny' : action)
      const malformed = notes.filter(({ code }) => code === 'malformed-field').map(({ text }) => text)
      expect(malformed).toEqual([
        expect.stringMatching(/^reason must be a string, got 7; the \w+ stands$/),
        expect.stringMatching(new RegExp(`^${object} must be an object`)),
      ])
    }
  })

  it('what changes beside a deny or abort counts', () => {
    const { result } = read(intercept, { action: 'abort_turn', reason: 'no', ...changed[intercept] })
    expect(result).toEqual({ action: 'abort_turn', reason: 'no', data: patches[intercept] })
  })

  it('a misspelt deny or abort counts, and is said', () => {
    for (const [action, counts, meant] of [
      ['block', 'deny', 'deny_tool'],
      ['Deny-Tool', 'deny', 'deny_tool'],
      ['abort', 'abort_turn', 'abort_turn'],
      ['stop', 'abort_turn', 'abort_turn'],
      ['hardAbort', 'hard_abort', 'hard_abort'],
    ]) {
      const { result, notes } = read(intercept, { action, reason: 'no' })
      expect(result).toEqual({ action: counts, reason: 'no' })
      expect(notes[0]).toMatchObject({
        code: 'answer-misplaced',
        text: `"action":"${action}" counts as "action":"${meant}"; write that`,
      })
    }
  })

  it('D5: asks a person, with terms in either spelling', () => {
    for (const answer of [
      { action: 'ask_user', approvalPrompt: 'Really?', approvalTimeout: 9 },
      { action: 'ask_user', approval_prompt: 'Really?', approval_timeout: 9 },
    ]) {
      expect(read(intercept, answer)).toMatchObject({
        result: { action: 'ask_user', approvalPrompt: 'Really?', approvalTimeout: 9 },
        notes: [],
      })
    }
    expect(read(intercept, { action: 'ask_user', reason: 'why' }).result).toEqual({
      action: 'ask_user',
      reason: 'why',
      approvalPrompt: 'why',
    })
    expect(read(intercept, { action: 'ask', reason: 'why' }).result?.action).toBe('ask_user')
  })

  it('D5: injects context, with its role and lifetime', () => {
    for (const answer of [
      { action: 'inject_context', contextInjection: 'hint', contextInjectionRole: 'user', ephemeral: true },
      {
        action: 'inject_context',
        context_injection: 'hint',
        context_injection_role: 'user',
        ephemeral: true,
      },
    ]) {
      expect(read(intercept, answer)).toMatchObject({
        result: {
          action: 'inject_context',
          contextInjection: 'hint',
          contextInjectionRole: 'user',
          ephemeral: true,
        },
        notes: [],
      })
    }
    expect(read(intercept, { action: 'inject_context' }).error?.message).toContain('needs contextInjection')
  })

  it('D6: says everything else that HookResult can', () => {
    const { result, notes } = read(intercept, {
      action: 'deny',
      reason: 'no',
      user_message: 'Refused',
      user_message_level: 'warning',
      context_injection: null,
      suppress_output: true,
    })
    expect(result).toEqual({
      action: 'deny',
      reason: 'no',
      userMessage: 'Refused',
      userMessageLevel: 'warning',
      suppressOutput: true,
    })
    expect(notes).toEqual([])
    const changed = read(intercept, { action: 'modify', data: { channel: 'x' } })
    expect(changed.result).toEqual({ action: 'modify', data: { channel: 'x' } })
  })

  it('an unknown action is a failure that names the nearest', () => {
    for (const [action, meant] of [
      ['allow', 'continue'],
      ['Continue', 'continue'],
      ['modified', 'modify'],
      ['reply', 'respond'],
    ]) {
      expect(read(intercept, { action }).error?.message).toMatch(
        new RegExp(`^action "${action}" is unknown.*; did you mean ${meant}\\?$`),
      )
    }
    expect(read(intercept, { action: 'zzz' }).error?.message).toMatch(
      /one of continue, modify, .*hard_abort$/,
    )
    for (const action of [1, true, [], {}, ['continue']]) {
      expect(read(intercept, { action }).error?.message).toMatch(/is unknown/)
    }
  })

  it('a refusal in a field of another method or system counts, and is said', () => {
    for (const answer of [
      { decision: 'deny', reason: 'no' },
      { decision: 'block', action: 'continue', reason: 'no' },
      { verdict: 'Reject', reason: 'no' },
      { permissionDecision: 'deny', reason: 'no' },
      { approved: false, reason: 'no' },
      { action: 'continue', approved: false, reason: 'no' },
    ]) {
      const { result, codes } = read(intercept, answer)
      expect(result).toEqual({ action: 'deny', reason: 'no' })
      expect(codes).toContain('answer-misplaced')
    }
    const { notes } = read(intercept, { decision: 'deny' })
    expect(notes.map(({ text }) => text).join()).toContain('did you mean action?')
    expect(read(intercept, { action: 'abort_turn', approved: false }).result?.action).toBe('abort_turn')
  })

  it('a change without effect, because its fields are misspelt or missing, is a failure', () => {
    const object = String(Object.keys(changed[intercept])[0])
    expect(read(intercept, { action: 'modify' }).error?.message).toContain(
      `changes nothing without "${object}"`,
    )
    if (intercept === 'after_llm') return // a message of a model may have any field
    const { error } = read(intercept, { action: 'modify', [object]: { zz: 1 } })
    expect(error?.message).toMatch(/changes nothing: an answer has no field "zz"|for_llm/)
  })

  it('unknown fields or a reason without an action are a failure', () => {
    for (const answer of [{ decision: 'allow' }, { approved: true }, { verdict: 7 }, { action: '', zz: 1 }]) {
      expect(read(intercept, answer).error?.message).toMatch(/^it has no action, and an answer has no field /)
    }
    expect(read(intercept, { decision: 'allow' }).error?.message).toContain('did you mean action?')
    expect(read(intercept, { reason: 'dangerous' }).error?.message).toMatch(/a reason means nothing without/)
  })

  it('what is no object is a failure', () => {
    for (const answer of [null, 'continue', 1, true, [], [{ action: 'continue' }]]) {
      const { error } = read(intercept, answer)
      expect(error?.message).toMatch(/^an answer must be an object, got /)
      expect(error?.hint).toContain(`hook.${intercept}`)
    }
  })

  it('reason of another type is a failure', () => {
    expect(read(intercept, { action: 'continue', reason: { a: 1 } }).error?.message).toMatch(
      /^reason must be/,
    )
  })

  it('unknown fields beside an action are reported, and the rest counts', () => {
    const { result, notes } = read(intercept, { action: 'continue', message: 'hi', zz: 1 })
    expect(result).toEqual({ action: 'continue' })
    expect(notes).toEqual([
      {
        code: 'unknown-answer-key',
        text: `an answer to hook.${intercept} has no field "message" (did you mean reason?), "zz"`,
      },
    ])
  })
})

describe('respond', () => {
  const result = { for_llm: 'done', for_user: '', silent: false, is_error: false }

  it('gives its whole result in place of the tool’s', () => {
    const call = { tool: 'echo_text', arguments: { text: 'hello' } }
    expect(read('before_tool', { action: 'respond', call, result })).toMatchObject({
      result: { action: 'respond', response: result },
      notes: [],
    })
    const whole = { ...RESULT, media: ['a.png'], response_handled: true }
    expect(read('before_tool', { action: 'respond', result: whole }).result?.response).toEqual(whole)
  })

  it('tells the user what is for the user, unless it is silent', () => {
    const spoken = read('before_tool', { action: 'respond', result: { for_llm: 'x', for_user: 'Look!' } })
    expect(spoken.result).toMatchObject({ userMessage: 'Look!', userMessageLevel: 'info' })
    for (const more of [{ for_user: 'Look!', silent: true }, { for_user: '' }, { for_user: null }]) {
      const quiet = read('before_tool', { action: 'respond', result: { for_llm: 'x', ...more } })
      expect(quiet.result).not.toHaveProperty('userMessage')
      expect(quiet.result?.action).toBe('respond')
    }
  })

  it('D6: takes HookResult’s own field, which may be any JSON', () => {
    expect(read('before_tool', { action: 'respond', response: { rows: [1] } })).toMatchObject({
      result: { action: 'respond', response: { rows: [1] } },
      notes: [],
    })
  })

  it('ignores a call beside it, and says so if that would change something', () => {
    const call = { tool: 'other', arguments: { rm: true } }
    const { result: answer, notes } = read('before_tool', { action: 'respond', call, result })
    expect(answer).toEqual({ action: 'respond', response: result })
    expect(notes).toEqual([
      { code: 'verdict-ignored', text: expect.stringContaining('call.tool, call.arguments is ignored') },
    ])
  })

  it('needs a result with for_llm', () => {
    for (const [answer, message] of [
      [{ action: 'respond' }, /respond needs "result"/],
      [{ action: 'respond', result: null }, /respond needs "result"/],
      [{ action: 'respond', result: {} }, /result\.for_llm is missing/],
      [{ action: 'respond', result: { for_llm: null } }, /result\.for_llm is missing/],
      [{ action: 'respond', result: { output: 'x' } }, /result\.for_llm is missing/],
      [{ action: 'respond', result: { for_llm: { a: 1 } } }, /result\.for_llm must be a string/],
      [{ action: 'respond', result: 'done' }, /result must be an object/],
      [{ action: 'respond', result: { for_llm: 'x', silent: 'no' } }, /result\.silent must be true or false/],
      [{ action: 'respond', result: { for_llm: 'x' }, call: 5 }, /call must be an object/],
    ] as const) {
      expect(read('before_tool', answer).error?.message).toMatch(message)
    }
    const { notes } = read('before_tool', { action: 'respond', result: { output: 'x' } })
    expect(notes[0]?.text).toBe(
      'the result of an answer has no field "output" (did you mean result.for_llm?)',
    )
  })

  it('only works on before_tool', () => {
    for (const intercept of ['before_llm', 'after_llm', 'after_tool'] as const) {
      expect(read(intercept, { action: 'respond', result }).error?.message).toContain(
        'only works on hook.before_tool',
      )
    }
  })

  it('is what makes a result count', () => {
    for (const action of ['continue', 'modify', 'deny_tool']) {
      const { codes, result: answer } = read('before_tool', { action, result, call: {} })
      expect(codes).toEqual(['answer-misplaced'])
      expect(answer?.response).toBeUndefined()
    }
  })
})

describe('D3: two equal keys', () => {
  const readLine = (result: string) => {
    const line = `{"jsonrpc":"2.0","id":1,"result":${result}}`
    return withRepeated((JSON.parse(line) as { result: Json }).result, line)
  }

  it.each([1, 100, 10_000, 100_000])('are looked for in a result that is nested %d deep', (depth) => {
    expect(() => readLine(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)).not.toThrow()
  })

  it.each([
    '{"action":"deny_tool","action":"continue"}',
    '{"action":"continue","action":"deny_tool"}',
    '{"act\\u0069on":"deny_tool","action":"continue"}',
    '{"approved":false,"approved":true}',
    '{"action":"continue","hookSpecificOutput":{"permissionDecision":"deny","permissionDecision":"allow"}}',
    '{"action":"continue","hookSpecificOutput":{"permissionDecision":"deny"},"hookSpecificOutput":{}}',
    '{"action":"continue","decision":{"behavior":"deny","behavior":"allow"}}',
    '{"action":"continue","hookSpecificOutput":{"decision":{"behavior":"deny"},"decision":{"behavior":"allow"}}}',
    '{"action":"deny"},"result":{"action":"continue"}',
    '{"action":"deny"},"result":{}',
    '{"action":"deny"},"result":7',
  ])('close in %s', (result) => {
    expect(read('before_tool', readLine(result)).result?.action).toBe('deny')
  })

  it('change nothing else', () => {
    for (const result of [
      '{"action":"continue"}',
      '{"action":"modify","action":"continue"}',
      '7',
      '{"x":"\\u0041"}',
    ]) {
      expect(readLine(result)).toEqual(JSON.parse(result))
    }
    const inside = '{"action":"continue","call":{"arguments":{"action":"deny"}}}'
    expect(readLine(inside)).toEqual(JSON.parse(inside))
    const echoed =
      '{"action":"continue","call":{"arguments":{"action":"deny","action":"deny"}},"result":{"action":"deny"}}'
    expect(readLine(echoed)).toEqual(JSON.parse(echoed))
  })

  it('keep the reason that stands beside the word that closes', () => {
    const result =
      '{"action":"continue","hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"},"hookSpecificOutput":{}}'
    expect(read('before_tool', readLine(result)).result).toMatchObject({ action: 'deny', reason: 'no' })
  })
})
