import {
  abortTurn,
  askUser,
  type Diagnostic,
  deny,
  type HookResult,
  hardAbort,
  inject,
  modify,
  parseResult,
  proceed,
  respond,
} from 'carabiner/core'
import { describe, expect, it } from 'vitest'

function parsed(value: unknown): { result: HookResult; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = []
  return { result: parseResult(value, diagnostics), diagnostics }
}

function refusal(value: unknown): unknown {
  try {
    return { accepted: parseResult(value, []) }
  } catch (error) {
    return error
  }
}

const invalid = (message: string) => expect.objectContaining({ code: 'ANSWER_INVALID', message })

const whole: HookResult = {
  action: 'ask_user',
  reason: 'because',
  data: { tool_input: { command: 'ls' } },
  response: { for_llm: 'text' },
  permission: 'allow',
  contextInjection: 'context',
  contextInjectionRole: 'user',
  ephemeral: true,
  appendToLastToolResult: true,
  approvalPrompt: 'really?',
  approvalOptions: ['Allow', 'Deny'],
  approvalTimeout: 1.5,
  approvalDefault: 'allow',
  userMessage: 'hello',
  userMessageLevel: 'warning',
  userMessageSource: 'linter',
  suppressOutput: true,
}

describe('constructors', () => {
  it.each<[string, HookResult, HookResult]>([
    ['proceed', proceed(), { action: 'continue' }],
    ['deny', deny('no'), { action: 'deny', reason: 'no' }],
    ['modify', modify({ a: 1 }), { action: 'modify', data: { a: 1 } }],
    ['inject', inject('text'), { action: 'inject_context', contextInjection: 'text' }],
    ['askUser', askUser('ok?'), { action: 'ask_user', approvalPrompt: 'ok?' }],
    ['respond', respond({ for_llm: 'x' }), { action: 'respond', response: { for_llm: 'x' } }],
    ['abortTurn', abortTurn('enough'), { action: 'abort_turn', reason: 'enough' }],
    ['hardAbort', hardAbort('stop'), { action: 'hard_abort', reason: 'stop' }],
  ])('%s() makes a valid answer', (_name, made, expected) => {
    expect(made).toEqual(expected)
    expect(parsed(made)).toEqual({ result: expected, diagnostics: [] })
  })

  it('take the remaining fields under their own names', () => {
    expect(inject('x', { ephemeral: true })).toEqual({
      action: 'inject_context',
      contextInjection: 'x',
      ephemeral: true,
    })
    expect(askUser('ok?', { approvalTimeout: 60 })).toEqual({
      action: 'ask_user',
      approvalPrompt: 'ok?',
      approvalTimeout: 60,
    })
    expect(proceed({ permission: 'allow', userMessage: 'fine' })).toEqual({
      action: 'continue',
      permission: 'allow',
      userMessage: 'fine',
    })
    expect(deny('no', { contextInjection: 'why' })).toMatchObject({ contextInjection: 'why' })
    expect(modify({ a: 1 }, { reason: 'r' })).toMatchObject({ reason: 'r' })
    expect(respond(1, { userMessage: 'm' })).toMatchObject({ userMessage: 'm' })
    expect(abortTurn('a', { userMessage: 'm' })).toMatchObject({ userMessage: 'm' })
    expect(hardAbort('a', { userMessage: 'm' })).toMatchObject({ userMessage: 'm' })
  })

  it('let no remaining field change the action', () => {
    const more = { action: 'continue', reason: 'other' } as object
    expect(deny('no', more)).toEqual({ action: 'deny', reason: 'no' })
    expect(hardAbort('no', more)).toEqual({ action: 'hard_abort', reason: 'no' })
  })
})

describe('what is valid', () => {
  it('undefined is continue', () => {
    expect(parsed(undefined)).toEqual({ result: { action: 'continue' }, diagnostics: [] })
  })

  it('an object without an action is continue with its effects', () => {
    expect(parsed({}).result).toEqual({ action: 'continue' })
    expect(parsed({ contextInjection: 'text' }).result).toEqual({
      action: 'continue',
      contextInjection: 'text',
    })
  })

  it('every field in camelCase', () => {
    expect(parsed(whole)).toEqual({ result: whole, diagnostics: [] })
  })

  it('every field in snake_case', () => {
    const snake = Object.fromEntries(
      Object.entries(whole).map(([key, value]) => [
        key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        value,
      ]),
    )
    expect(Object.keys(snake)).toContain('append_to_last_tool_result')
    expect(parsed(snake)).toEqual({ result: whole, diagnostics: [] })
  })

  it('a null field is an absent one', () => {
    const nulls = Object.fromEntries(Object.keys(whole).map((key) => [key, null]))
    expect(parsed({ ...nulls, response: undefined, action: 'deny' })).toEqual({
      result: { action: 'deny' },
      diagnostics: [],
    })
    expect(refusal({ action: 'modify', data: null })).toEqual(invalid('modify needs data'))
  })

  it('a response may be null, false or empty', () => {
    for (const response of [null, false, 0, '']) {
      expect(parsed({ action: 'respond', response }).result).toEqual({ action: 'respond', response })
    }
  })

  it('an object without a prototype, or of a class', () => {
    class Answer {
      action = 'deny'
      reason = 'no'
    }
    const bare: object = Object.assign(Object.create(null), { action: 'deny', reason: 'no' })
    for (const value of [bare, new Answer()]) {
      expect(parsed(value).result).toEqual({ action: 'deny', reason: 'no' })
    }
  })

  it('is read into a private frozen copy', () => {
    const answer = { action: 'modify', data: { tool_input: { list: [1] } } }
    const { result } = parsed(answer)
    answer.data.tool_input.list.push(2)
    expect(result.data).toEqual({ tool_input: { list: [1] } })
    expect(Object.isFrozen(result.data)).toBe(true)
    expect(Object.isFrozen(result.data?.tool_input)).toBe(true)
  })
})

describe('what is not', () => {
  it.each<[unknown, string]>([
    [null, 'an answer must be an object or undefined, got null'],
    [true, 'an answer must be an object or undefined, got true'],
    [0, 'an answer must be an object or undefined, got 0'],
    ['deny', 'an answer must be an object or undefined, got "deny"'],
    [['deny', 'no'], 'an answer must be an object or undefined, got ["deny","no"]'],
    [() => undefined, 'an answer must be an object or undefined, got function'],
    [Symbol('deny'), 'an answer must be an object or undefined, got symbol'],
  ])('%o is no answer', (value, message) => {
    expect(refusal(value)).toEqual(invalid(message))
  })

  const actions = 'continue, deny, modify, inject_context, ask_user, respond, abort_turn, hard_abort'
  it.each<[unknown, string]>([
    ['block', '"block"'],
    ['Deny', '"Deny"'],
    ['', '""'],
    [5, '5'],
    [['deny'], '["deny"]'],
    [{}, '{}'],
    [Symbol('deny'), 'symbol'],
  ])('the action %o is unknown', (action, shown) => {
    expect(refusal({ action })).toEqual(invalid(`action ${shown} is unknown; it must be one of ${actions}`))
  })

  const oneOf = (words: string) => `must be one of ${words}`
  const wrong: readonly [string, unknown, string, string][] = [
    ['reason', 5, 'must be a string', '5'],
    ['reason', { text: 'no' }, 'must be a string', '{"text":"no"}'],
    ['data', [], 'must be an object', '[]'],
    ['data', 'text', 'must be an object', '"text"'],
    ['data', new Date(0), 'must be an object', '"1970-01-01T00:00:00.000Z"'],
    ['permission', 'deny', oneOf('"allow"'), '"deny"'],
    ['permission', true, oneOf('"allow"'), 'true'],
    ['contextInjection', ['a'], 'must be a string', '["a"]'],
    ['contextInjectionRole', 'tool', oneOf('"system", "user", "assistant"'), '"tool"'],
    ['ephemeral', 'true', 'must be true or false', '"true"'],
    ['appendToLastToolResult', 1, 'must be true or false', '1'],
    ['approvalPrompt', false, 'must be a string', 'false'],
    ['approvalOptions', [], 'must be a list of at least one non-empty string', '[]'],
    ['approvalOptions', ['Allow', ''], 'must be a list of at least one non-empty string', '["Allow",""]'],
    ['approvalOptions', ['Allow', 5], 'must be a list of at least one non-empty string', '["Allow",5]'],
    ['approvalOptions', 'Allow', 'must be a list of at least one non-empty string', '"Allow"'],
    ['approvalOptions', new Array(1), 'must be a list of at least one non-empty string', '[null]'],
    ['approvalTimeout', 0, 'must be a number of seconds above 0', '0'],
    ['approvalTimeout', -1, 'must be a number of seconds above 0', '-1'],
    ['approvalTimeout', '60', 'must be a number of seconds above 0', '"60"'],
    ['approvalTimeout', Number.NaN, 'must be a number of seconds above 0', 'NaN'],
    ['approvalTimeout', Infinity, 'must be a number of seconds above 0', 'Infinity'],
    ['approvalDefault', 'ask', oneOf('"allow", "deny"'), '"ask"'],
    ['userMessage', 5, 'must be a string', '5'],
    ['userMessageLevel', 'debug', oneOf('"info", "warning", "error"'), '"debug"'],
    ['userMessageSource', 5, 'must be a string', '5'],
    ['suppressOutput', 'no', 'must be true or false', '"no"'],
  ]

  it.each(wrong)('%s: %o is refused', (field, value, problem, shown) => {
    const snake = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    for (const key of [field, snake]) {
      expect(refusal({ action: 'continue', [key]: value })).toEqual(
        invalid(`${key} ${problem}, got ${shown}`),
      )
    }
  })

  it('every problem is said at once', () => {
    expect(refusal({ action: 'continue', reason: 5, ephemeral: 'x' })).toEqual(
      invalid('reason must be a string, got 5; ephemeral must be true or false, got "x"'),
    )
  })

  it('a long value is shown shortened', () => {
    const shown = `"${'x'.repeat(57)}…"`
    expect(refusal({ action: 'continue', ephemeral: 'x'.repeat(500) })).toEqual(
      invalid(`ephemeral must be true or false, got ${shown}`),
    )
  })

  it.each([
    ['modify', 'data'],
    ['inject_context', 'contextInjection'],
    ['respond', 'response'],
  ])('%s needs %s', (action, field) => {
    expect(refusal({ action })).toEqual(invalid(`${action} needs ${field}`))
  })

  it('data that JSON cannot carry', () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    for (const data of [{ n: 10n }, cycle]) {
      expect(refusal({ action: 'modify', data })).toMatchObject({ code: 'ANSWER_INVALID' })
    }
  })

  it('another system’s answer without an action', () => {
    expect(refusal({ decision: 'block' })).toEqual(
      invalid('it has no action, and a HookResult has no field "decision"'),
    )
    expect(refusal({ reason: 'no', permissionDecision: 'deny' })).toEqual(
      invalid('it has no action, and a HookResult has no field "permissionDecision"'),
    )
    expect(refusal({ action: null, decision: 'block' })).toMatchObject({ code: 'ANSWER_INVALID' })
  })

  it.each<[string, unknown]>([
    ['an Error', new Error('no')],
    ['a Map', new Map([['action', 'deny']])],
    ['a Date', new Date(0)],
  ])('%s, which is no HookResult, is never a silent allow', (_what, value) => {
    expect(refusal(value)).toMatchObject({ code: 'ANSWER_INVALID' })
  })

  it.each<[string, () => unknown]>([
    ['a bigint', () => 10n],
    ['an action that is a bigint', () => ({ action: 10n })],
    ['a field that is a bigint', () => ({ action: 'continue', reason: 10n })],
    [
      'a field that contains itself',
      () => {
        const list: unknown[] = []
        list.push(list)
        return { action: 'continue', approvalOptions: list }
      },
    ],
    [
      'a field with a toJSON that throws',
      () => ({
        action: 'continue',
        reason: {
          toJSON() {
            throw new Error('hostile')
          },
        },
      }),
    ],
    [
      'a getter that throws',
      () => ({
        get action(): string {
          throw new Error('hostile')
        },
      }),
    ],
  ])('%s is refused like everything else', (_what, make) => {
    expect(refusal(make())).toMatchObject({ name: 'HookError', code: 'ANSWER_INVALID' })
  })
})

describe('a verdict that stands', () => {
  it.each(['deny', 'abort_turn', 'hard_abort'])('%s stands beside a malformed field', (action) => {
    const { result, diagnostics } = parsed({ action, reason: 'no', user_message_level: 'loud' })
    expect(result).toEqual({ action, reason: 'no' })
    expect(diagnostics).toEqual([
      {
        code: 'malformed-field',
        text: `user_message_level must be one of "info", "warning", "error", got "loud"; the ${action} stands`,
      },
    ])
  })

  it('even if its own reason is malformed', () => {
    expect(parsed({ action: 'deny', reason: 5 })).toEqual({
      result: { action: 'deny' },
      diagnostics: [{ code: 'malformed-field', text: 'reason must be a string, got 5; the deny stands' }],
    })
  })

  it.each<[string, unknown]>([
    ['a bigint', 10n],
    ['a list that holds a bigint', [10n]],
    [
      'an object that cannot be shown',
      {
        toJSON() {
          throw new Error('hostile')
        },
      },
    ],
  ])('even if another field is %s', (_what, value) => {
    const { result, diagnostics } = parsed({ action: 'deny', reason: 'no', approvalOptions: value })
    expect(result).toMatchObject({ action: 'deny', reason: 'no' })
    expect(diagnostics).toMatchObject([{ code: 'malformed-field' }])
  })

  it('even if its data is not JSON', () => {
    const { result, diagnostics } = parsed({ action: 'deny', reason: 'no', data: { n: 10n } })
    expect(result).toMatchObject({ action: 'deny', reason: 'no' })
    expect(result.data).toBeUndefined()
    expect(diagnostics).toMatchObject([{ code: 'malformed-field' }])
  })

  it.each(['continue', 'ask_user', 'respond', 'modify', 'inject_context'])('%s does not', (action) => {
    const value = { ...whole, action, suppressOutput: 'yes' }
    expect(refusal(value)).toEqual(invalid('suppressOutput must be true or false, got "yes"'))
  })
})

describe('unknown keys', () => {
  it('are reported, and the rest of the answer counts', () => {
    const { result, diagnostics } = parsed({ action: 'deny', reason: 'no', severity: 'high' })
    expect(result).toEqual({ action: 'deny', reason: 'no' })
    expect(diagnostics).toEqual([
      { code: 'unknown-answer-key', text: 'a HookResult has no field "severity"' },
    ])
  })

  it.each([
    ['decision', 'action: "deny"'],
    ['permissionDecision', 'action: "deny"'],
    ['block', 'action: "deny"'],
    ['systemMessage', 'userMessage'],
    ['additionalContext', 'contextInjection'],
    ['updatedInput', 'data: { tool_input: … }'],
  ])('%s: did you mean %s?', (key, meant) => {
    expect(parsed({ action: 'continue', [key]: 'x' }).diagnostics).toEqual([
      {
        code: 'unknown-answer-key',
        text: `a HookResult has no field "${key}"; did you mean ${meant}?`,
      },
    ])
  })

  it('a name that every object inherits is no suggestion', () => {
    expect(parsed({ action: 'continue', constructor: 'x' }).diagnostics).toEqual([
      { code: 'unknown-answer-key', text: 'a HookResult has no field "constructor"' },
    ])
  })
})
