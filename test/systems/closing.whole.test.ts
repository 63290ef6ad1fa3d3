// Closing is generous, opening is strict: every word that closes, in every place, on every event that the hook can close.

import { knownEvents } from 'carabiner/core'
import { describe, expect, it } from 'vitest'
import { answerOf } from '../../src/hosts/answer.js'
import { HOSTS } from '../../src/hosts/hosts.js'
import { readReply } from '../../src/runners/model/reply.js'
import { readResult } from '../../src/systems/amplifier.js'
import { decodeUnfinished } from '../../src/systems/claude-code/decode.js'
import { objectsIn } from '../../src/systems/json-lines.js'
import { withRepeated } from '../../src/systems/picoclaw/answer.js'
import { isLarge, sample } from '../property/runs.js'
import { BASH, type Ending, eventOf, read } from './claude-code/reply.js'
import { ASKED, read as readResident } from './picoclaw/asked.js'

const writtenIn = (text: string) => [...objectsIn(text)].map((one) => one.text)

type Word = readonly [key: string, value: unknown]

const KEYS = [
  'decision',
  'permissionDecision',
  'permission_decision',
  'permission',
  'action',
  'verdict',
  'behavior',
]
const DENIES = [
  'deny',
  'Deny',
  'DENIED',
  'block',
  'blocked',
  'reject',
  'refuse',
  'forbid',
  'deny_tool',
  'cancel',
]
const ASKS = ['ask', 'ask_user', 'askUser', 'defer', 'confirm']
const STOPS = ['abort_turn', 'hard_abort', 'abort', 'stop']
const YES = ['approved', 'allow', 'allowed', 'ok', 'approve', 'permitted', 'safe']
const NO = ['block', 'blocked', 'deny', 'denied', 'reject', 'cancel', 'Blocked']

const DENYING: readonly Word[] = [
  ...KEYS.flatMap((key) => [...DENIES, ...STOPS].map((word) => [key, word] as const)),
  ...YES.flatMap((key) => [false, 'false', 0, 'no'].map((value) => [key, value] as const)),
  ...NO.flatMap((key) => [true, 'true', 1, 'yes'].map((value) => [key, value] as const)),
]
const ASKING: readonly Word[] = KEYS.flatMap((key) => ASKS.map((word) => [key, word] as const))

const ALLOW = '{"hookSpecificOutput":{"hookEventName":"@event","permissionDecision":"allow"}}'

/** Where a word may stand. `@event` is the event's name. */
const PLACES: Readonly<Record<string, (word: Word) => string>> = {
  'at the top': ([key, value]) => JSON.stringify({ [key]: value, reason: 'no' }),
  inside: ([key, value]) =>
    JSON.stringify({ hookSpecificOutput: { hookEventName: '@event', [key]: value, reason: 'no' } }),
  'inside, for another event': ([key, value]) =>
    JSON.stringify({ hookSpecificOutput: { hookEventName: 'SessionEnd', [key]: value } }),
  'inside, without a name': ([key, value]) => JSON.stringify({ hookSpecificOutput: { [key]: value } }),
  'over many lines': ([key, value]) => JSON.stringify({ reason: 'no', [key]: value }, null, 2),
  'after a log line': ([key, value]) => `checking "it"…\n${JSON.stringify({ [key]: value })}`,
  'before a log line': ([key, value]) => `${JSON.stringify({ [key]: value }, null, 1)}\n} done {`,
  'before an allow': ([key, value]) => `${JSON.stringify({ [key]: value })}\n${ALLOW}`,
  'after an allow': ([key, value]) => `${ALLOW}\n${JSON.stringify({ [key]: value })}`,
  'on one line with an allow': ([key, value]) => `${ALLOW}${JSON.stringify({ [key]: value })}`,
  'beside an allow': ([key, value]) =>
    `${ALLOW.slice(0, -1)},${JSON.stringify(key)}:${JSON.stringify(value)}}`,
  'first of two keys': ([key, value]) =>
    `{${JSON.stringify(key)}:${JSON.stringify(value)},${JSON.stringify(key)}:"approve"}`,
  'last of two keys': ([key, value]) =>
    `{${JSON.stringify(key)}:"approve",${JSON.stringify(key)}:${JSON.stringify(value)}}`,
  'beside malformed fields': ([key, value]) =>
    JSON.stringify({ systemMessage: 5, [key]: value, suppressOutput: 'x', stopReason: 7 }),
}

type End = Partial<Ending> | 'time-out'
const ENDINGS: readonly End[] = [
  { code: 0 },
  { code: 1 },
  { code: 2 },
  { code: 127 },
  { code: null, signal: 'SIGKILL' },
  { code: 0, cut: true },
  'time-out',
]

const BLOCKABLE = [
  'PermissionRequest',
  ...knownEvents()
    .map(({ name }) => name)
    .filter((name) => read(name, { code: 2 }).result?.action === 'deny'),
]
const ASKABLE = BLOCKABLE.filter(
  (name) => read(name, { stdout: { action: 'ask_user' } }).result?.action === 'ask_user',
)

/** What becomes of a reply; undefined where the hook failed. */
function outcomeOf(name: string, printed: string, end: End) {
  const event = name === 'PreToolUse' ? BASH : eventOf(name)
  const stdout = printed.replaceAll('@event', name)
  if (end !== 'time-out') return read(event, { ...end, stdout }).result
  const reply = { code: null, signal: null, stderr: '', cut: false, stdout }
  return decodeUnfinished(event, reply, { name: 'guard', onFailure: 'continue' }, () => {})
}

/** Every case on PreToolUse; of the other events as many as there is time for. */
function open(words: readonly Word[], events: readonly string[], closed: readonly string[]): string[] {
  let turn = 0
  const isTried = (event: string) => isLarge || event === 'PreToolUse' || turn++ % 47 === 0
  return Object.entries(PLACES).flatMap(([where, place]) =>
    words.flatMap((word) =>
      events.flatMap((event) =>
        ENDINGS.flatMap((end) => {
          if (!isTried(event)) return []
          const result = outcomeOf(event, place(word), end)
          const isClosed = result && closed.includes(result.action) && result.permission === undefined
          return isClosed ? [] : [`${event}: ${JSON.stringify(word)} ${where}, ${JSON.stringify(end)}`]
        }),
      ),
    ),
  )
}

describe('D1 to D4: a word that closes', () => {
  it('is tried on every event that a hook can block', () => {
    expect(BLOCKABLE.length).toBeGreaterThan(18)
    expect(ASKABLE).toEqual(expect.arrayContaining(['PreToolUse', 'UserPromptSubmit', 'ModelRequest']))
  })

  it('never goes on, wherever it stands and however the hook ends', () => {
    expect(open(sample(DENYING), BLOCKABLE, ['deny', 'abort_turn', 'hard_abort'])).toEqual([])
  })

  it('asks where a person can be asked', () => {
    expect(open(sample(ASKING), ASKABLE, ['ask_user', 'deny'])).toEqual([])
  })

  it('counts as every agent spells its own deny', () => {
    // What a plugin of ours is answered is no answer of a hook.
    for (const host of HOSTS.filter(({ name }) => name !== 'opencode' && name !== 'pi')) {
      const event = { name: 'PreToolUse', sentAs: 'PreToolUse', data: BASH.data }
      const verdict = { action: 'deny', reason: 'no', injections: [], messages: [] } as const
      const { stdout, exit, stderr = '' } = answerOf(host, event, verdict)
      const { result } = read(BASH, { stdout: stdout ?? '', code: exit ?? 0, stderr })
      expect([host.name, result?.action, result?.reason]).toEqual([host.name, 'deny', 'no'])
    }
  })

  it('does nothing where nothing can be blocked, and that is said', () => {
    for (const name of ['SessionEnd', 'Notification', 'InstructionsLoaded', 'deploy']) {
      for (const stdout of [
        { permission: 'deny' },
        { blocked: true },
        { hookSpecificOutput: { ok: false } },
      ]) {
        const { result, error, notes } = read(name, { stdout })
        expect(error ?? result).toMatchObject(error ? { code: 'ANSWER_INVALID' } : { action: 'continue' })
        expect(notes).not.toEqual([])
      }
    }
  })

  it('closes a resident hook’s call', () => {
    for (const intercept of Object.keys(ASKED) as (keyof typeof ASKED)[]) {
      for (const [key, value] of [...DENYING, ...ASKING]) {
        for (const answer of [
          { [key]: value },
          { hookSpecificOutput: { [key]: value } },
          { action: 'continue', ...(key === 'approved' ? {} : { approved: true }), [key]: value },
          { result: 5, call: 7, [key]: value },
        ]) {
          const { result } = readResident(intercept, answer)
          expect([answer, result?.action]).toEqual([answer, expect.stringMatching(/deny|ask_user|abort/)])
        }
      }
    }
  })

  it('takes back a model’s yes', () => {
    for (const [key, value] of [...DENYING, ...ASKING, ['continue', false] as const]) {
      if (key === 'ok') continue
      const reply = readReply(JSON.stringify({ ok: true, [key]: value }), () => {})
      expect([key, value, reply.ok]).toEqual([key, value, false])
    }
  })

  it('counts in what a handler of runHook returns', () => {
    for (const [key, value] of [...DENYING, ...ASKING]) {
      const { action } = readResult({ [key]: value, reason: 'no' }, [])
      expect([key, value, action]).toEqual([key, value, expect.stringMatching(/deny|ask_user|abort/)])
    }
  })
})

describe('a word that opens', () => {
  const specific = (fields: object, name = '@event') => ({
    hookSpecificOutput: { hookEventName: name, ...fields },
  })
  const EXACT = [
    specific({ permissionDecision: 'allow' }),
    specific({ permissionDecision: 'allow', updatedInput: { command: 'x' } }),
    specific({ decision: { behavior: 'allow', updatedInput: { command: 'x' } } }),
    { decision: 'approve' },
    { action: 'continue', permission: 'allow' },
    { action: 'modify', data: { tool_input: { command: 'x' } } },
    { action: 'respond', response: 'x' },
  ]
  const WRONG = [
    ...KEYS.flatMap((key) => ['allow', 'approved', 'yes'].map((word) => ({ [key]: word }))),
    ...YES.map((key) => ({ [key]: true })),
    ...NO.map((key) => ({ [key]: false })),
    { updatedInput: { command: 'x' } },
    { data: { tool_input: { command: 'x' } } },
    { response: 'x' },
    specific({ permissionDecision: 'approve' }),
    specific({ decision: 'approve' }),
    specific({ permissionDecision: 'allow' }, 'Stop'),
    { hookSpecificOutput: { permissionDecision: 'allow' } },
    specific({ action: 'respond', response: 'x' }),
    specific({ action: 'modify', data: { tool_input: {} } }),
  ]

  const opened = (answers: readonly string[], ends: readonly End[]) =>
    answers.flatMap((printed) =>
      BLOCKABLE.flatMap((event) =>
        ends.flatMap((end) => {
          const result = outcomeOf(event, printed, end)
          const opens = result?.permission ?? result?.data ?? result?.response
          return opens === undefined && result?.action !== 'respond' ? [] : [`${event}: ${printed}`]
        }),
      ),
    )

  it('in the wrong place or spelling opens and changes nothing', () => {
    const wrong = WRONG.map((one) => JSON.stringify(one))
    expect(opened(wrong, ENDINGS)).toEqual([])
  })

  it('among other text, twice, or in incomplete output opens and changes nothing', () => {
    const exact = EXACT.map((one) => JSON.stringify(one))
    const among = exact.flatMap((one) => [`log\n${one}`, `${one}\nlog`, `${one}\n${one}`, `{}\n${one}`])
    expect(opened(among, ENDINGS)).toEqual([])
    expect(opened(exact, ['time-out', { code: 0, cut: true }])).toEqual([])
  })

  it('exact and in its place opens', () => {
    expect(
      read(BASH, { stdout: specific({ permissionDecision: 'allow' }, 'PreToolUse') }).result?.permission,
    ).toBe('allow')
  })
})

describe('objects on lines of their own', () => {
  it('are found among anything, the outermost only', () => {
    expect(writtenIn('a\n{"a":{"b":1}}\n{\n "c": {\n  "d": "}"\n }\n}\nb')).toEqual([
      '{"a":{"b":1}}',
      '{\n "c": {\n  "d": "}"\n }\n}',
    ])
    expect(writtenIn('{\n{"a":1}\n"\n}\n{"b":2} {"c":3}\r\n')).toEqual(['{"a":1}', '{"b":2}', '{"c":3}'])
    expect(writtenIn('x {"a":1}\n{"b":2} x\n{bad}\n"{\n')).toEqual([])
    expect(writtenIn('[{"c":3}]\n[\n{"d":4},\n{"e":5} ];\n')).toEqual(['{"c":3}', '{"d":4}', '{"e":5}'])
  })

  it('cost no more than a moment, whatever noise there is', () => {
    const size = isLarge ? 1 << 19 : 1 << 16
    const noise = [
      '{\n',
      '{"a":\n',
      '}\n',
      '{}x\n',
      '"\\"',
      '\\"',
      '{"a',
      '{\n"a":{\n',
      '{x}\n',
      ' ',
      '{ }{',
      '{"level":"info"}\n',
      '{"decision":"approve"} ',
      '{"hookSpecificOutput":{"a":[[1]]}}\n',
    ].map((one) => one.repeat(Math.ceil(size / one.length)))
    noise.push(`${'{\n'.repeat(size / 4)}${'}\n'.repeat(size / 4)}`)
    for (const text of noise) {
      const { result } = read(BASH, { stdout: `${text}\n{"decision":"block","reason":"no"}`, cut: true })
      expect([text.slice(0, 9), result?.action]).toEqual([text.slice(0, 9), 'deny'])
    }
  })

  // Each would take minutes if the payload, or the line, were read again for every object or key.
  it('that echo a large payload on every line cost a moment, too', { timeout: 30_000 }, () => {
    const lines = '{"hook_event_name":"PreToolUse","decision":1}\n'.repeat(20_000)
    const payload = { tool_name: 'Write', tool_input: { content: '{"a":1}'.repeat(100_000) } }
    const stdout = `${lines}{"decision":"block","reason":"no"}\nlog`
    expect(read(eventOf('PreToolUse', payload), { stdout }).result).toMatchObject({
      action: 'deny',
      reason: 'no',
    })
  })

  it('with very many keys cost a moment, too', { timeout: 30_000 }, () => {
    const result = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`key${i}`, i]))
    const line = JSON.stringify({ result }).replace('{"key0"', '{"action":"deny","action":"continue","key0"')
    const { result: parsed } = JSON.parse(line)
    expect(withRepeated(parsed, line)).toMatchObject({ action: 'deny' })
  })
})
