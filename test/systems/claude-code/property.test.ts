// For any output of a hook, decode answers or fails as a hook fails, and a block stays a block.

import { parseResult } from 'carabiner/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { frozenCopy } from '../../../src/core/base/json.js'
import { isLarge, runs } from '../../property/runs.js'
import { BASH, type Ending, eventOf, read, specific } from './reply.js'

const EVENTS = [
  'PreToolUse',
  'PermissionRequest',
  'PostToolUse',
  'UserPromptSubmit',
  'SessionStart',
  'Stop',
  'ConfigChange',
  'Elicitation',
  'WorktreeCreate',
  'deploy',
]

const words = fc.constantFrom(
  'allow',
  'deny',
  'ask',
  'defer',
  'block',
  'approve',
  'accept',
  'decline',
  '',
  'x',
)
const value = fc.oneof(words, fc.boolean(), fc.constant(null), fc.jsonValue({ stringUnit: 'binary' }))
const keys = fc.constantFrom(
  'continue',
  'stopReason',
  'suppressOutput',
  'systemMessage',
  'terminalSequence',
  'decision',
  'reason',
  'newContent',
  'contextInjection',
  'async',
  'permissionDecision',
  'permissionDecisionReason',
  'updatedInput',
  'additionalContext',
  'updatedToolOutput',
  'behavior',
  'updatedPermissions',
  'hookSpecificOutput',
  'action',
  'content',
  'watchPaths',
  'worktreePath',
  'hook_event_name',
  'tool_input',
  '__proto__',
  'constructor',
)
const fields = fc.dictionary(keys, value)
/** Stands for the name of the event that it is printed on. */
const OWN_NAME = '@event'
/** Answers that are nearly right: right keys in every place, right and wrong values. */
const answer = fc
  .record({
    top: fields,
    inner: fc.option(fields),
    ruling: fc.option(fields),
    name: fc.constantFrom(OWN_NAME, OWN_NAME, OWN_NAME, 'Stop', undefined),
  })
  .map(({ top, inner, ruling, name }) => ({
    ...top,
    ...(inner && {
      hookSpecificOutput: { hookEventName: name, ...inner, ...(ruling && { decision: ruling }) },
    }),
  }))
const stdout = fc.oneof(
  answer.map((one) => JSON.stringify(one)),
  answer.map((one) => ` ${JSON.stringify(one, null, 2)}\n`),
  fc.tuple(answer, fc.nat()).map(([one, at]) => JSON.stringify(one).slice(0, at % 60)),
  fc.json({ stringUnit: 'binary' }),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'binary' }).map((text) => `{${text}}`),
)
const ending: fc.Arbitrary<Ending> = fc.record({
  code: fc.oneof(fc.constantFrom(0, 1, 2, 126, 127, 255, null), fc.nat(255)),
  signal: fc.constantFrom(null, 'SIGKILL'),
  stdout,
  stderr: fc.oneof(fc.constant(''), fc.string({ unit: 'binary' })),
  cut: fc.boolean(),
})
const on = (name: string, reply: Ending): Ending => ({
  ...reply,
  stdout: String(reply.stdout).replaceAll(OWN_NAME, name),
})
const policy = fc.constantFrom('block', 'continue', 'byEvent')

describe('decode', () => {
  it('answers a valid HookResult, or throws a HookError of one of three codes', () => {
    fc.assert(
      fc.property(fc.constantFrom(...EVENTS), ending, policy, (name, reply, onFailure) => {
        const event = eventOf(name, {
          tool_name: 'Write',
          tool_input: { content: 'x' },
          source: 'policy_settings',
        })
        const { result, error, notes } = read(event, on(name, reply), onFailure) // throws what is no HookError
        if (error) expect(['ANSWER_INVALID', 'HOOK_EXIT', 'HOOK_OUTPUT']).toContain(error.code)
        else expect(parseResult(result, [])).toEqual(frozenCopy(result, 'it'))
        for (const { text } of notes) expect(text.length).toBeLessThan(1000)
        expect(error?.message.length ?? 0).toBeLessThan(3000)
      }),
      { numRuns: runs(2000) },
    )
  })

  it('turns exit code 2 on PreToolUse into a deny or more, with a reason and no permission, whatever stdout says', () => {
    fc.assert(
      fc.property(ending, policy, (reply, onFailure) => {
        const { result } = read(BASH, { ...on('PreToolUse', reply), code: 2 }, onFailure)
        expect(['deny', 'abort_turn']).toContain(result?.action)
        expect(result?.reason?.trim()).toBeTruthy()
        expect(result?.permission).toBeUndefined()
      }),
      { numRuns: runs(1000) },
    )
  })

  it('turns a deny in its proper place into a deny or more, whatever is beside it and however it ends', () => {
    const deny = fc.constantFrom(
      { decision: 'block' },
      specific('PreToolUse', { permissionDecision: 'deny' }),
      specific('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason: null, updatedInput: 7 }),
    )
    fc.assert(
      fc.property(fields, deny, ending, policy, ({ async: _, ...beside }, one, reply, onFailure) => {
        const printed = JSON.stringify({ ...beside, ...one })
        const { result } = read(BASH, { ...reply, cut: false, stdout: printed }, onFailure)
        expect(['deny', 'abort_turn']).toContain(result?.action)
      }),
      { numRuns: runs(1000) },
    )
  })

  it('never allows where the same answer blocks or stops', () => {
    fc.assert(
      fc.property(fc.constantFrom(...EVENTS), ending, policy, (name, reply, onFailure) => {
        const { result } = read(eventOf(name), on(name, reply), onFailure)
        if (result?.action !== 'deny' && result?.action !== 'abort_turn') return
        expect(result.permission).toBeUndefined()
        expect(result.host?.updatedPermissions).toBeUndefined()
        expect(result.host?.action).not.toBe('accept')
      }),
      { numRuns: runs(1000) },
    )
  })
})

describe('hostile answers', () => {
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

  it.runIf(isLarge)('nested a hundred thousand levels deep', () => {
    for (const stdout of [deep(100_000), `{"decision":${deep(100_000)}}`]) {
      const { error, result } = read(BASH, { stdout })
      expect(error?.code ?? result?.action).toMatch(/ANSWER_INVALID|continue/)
    }
    const own = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","zz":${deep(100_000)}}}`
    expect(read(BASH, { stdout: own }).result?.action).toBe('deny')
  })

  it('with a text of a mebibyte', () => {
    const reason = 'x'.repeat(1 << 20)
    expect(read(BASH, { stdout: { decision: 'block', reason } }).result?.reason).toBe(reason)
    const { error } = read(BASH, { stdout: { decision: reason } })
    expect(error?.message.length).toBeLessThan(200)
  })

  it('with lone surrogates', () => {
    const stdout = '{"decision":"block","reason":"a\\ud800b"}'
    expect(read(BASH, { stdout }).result).toEqual({ action: 'deny', reason: 'a\ud800b' })
  })

  it('with a __proto__ in the input it rewrites', () => {
    const stdout =
      '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"__proto__":{"x":1},"command":"ls"}}}'
    const { result } = read(BASH, { stdout })
    expect(JSON.stringify(result?.data)).toBe('{"tool_input":{"__proto__":{"x":1},"command":"ls"}}')
    expect(result?.data?.tool_input).not.toHaveProperty('x')
  })
})
