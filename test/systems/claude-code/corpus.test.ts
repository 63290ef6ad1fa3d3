// Answers of real plugins, and Claude Code's reading of answers, compared with ours.

import { type Outcome, resolveEvent } from 'carabiner/core'
import { describe, expect, it } from 'vitest'
import { corpusFiles, corpusIsHere, readCorpus, replay, type Said, type Seen, seen } from './replay.js'

const corpus = describe.skipIf(!corpusIsHere)

// ---- real plugins ---------------------------------------------------------------------------------------------

interface Plugin {
  readonly cases: readonly {
    readonly id: string
    readonly event: string
    readonly payload: object
    readonly observed: readonly (Said & { readonly async?: boolean })[]
    readonly expect: {
      readonly decision: string
      readonly accept?: readonly string[]
      readonly reason_contains?: string
      readonly context_contains?: string
      readonly system_message_contains?: string
      readonly permission?: string
      readonly updated_input?: object
      readonly non_blocking_errors?: readonly string[]
    }
  }[]
}

const failures = ({ hooks }: Outcome) => hooks.filter(({ status }) => status === 'failed').length

corpus('real plugins (../shared/corpus/cases)', () => {
  const cases = corpusIsHere
    ? corpusFiles('cases').flatMap((file) => readCorpus<Plugin>(file).cases.map((one) => ({ file, ...one })))
    : []

  it('are all here', () => {
    expect(cases).toHaveLength(141)
  })

  it.each(cases)('$file $id', async ({ event, payload, observed, expect: expected }) => {
    const outcome = await replay(
      event,
      payload,
      observed.filter(({ async }) => !async),
    )
    const ours = seen(event, outcome)
    expect(expected.accept ?? [expected.decision]).toContain(ours.decision)
    expect(ours.decision).toBe(expected.decision)
    expect(ours.permission).toBe(expected.permission)
    expect(failures(outcome)).toBe(expected.non_blocking_errors?.length ?? 0)
    if (expected.reason_contains) expect(ours.reason).toContain(expected.reason_contains)
    if (expected.context_contains) expect(ours.context).toContain(expected.context_contains)
    if (expected.updated_input) expect(ours.updated).toEqual(expected.updated_input)
    if (expected.system_message_contains) {
      expect(outcome.messages.map(({ text }) => text).join('\n')).toContain(expected.system_message_contains)
    }
  })
})

// ---- probes of Claude Code itself -----------------------------------------------------------------------------

interface Probe {
  readonly name: string
  readonly event: string | null
  readonly tool_name: string | null
  readonly tool_input?: unknown
  readonly hooks: readonly ProbeHook[]
  readonly observed: {
    readonly decision: string
    readonly reason?: string
    readonly context?: string
    readonly permission?: string
    readonly updated_input?: object
    readonly updated_output?: string
    readonly no_verdict?: boolean
    readonly hooks_run?: readonly string[]
  }
}

interface ProbeHook extends Said {
  readonly event: string
  readonly id?: string
  readonly fields?: { readonly onFailure?: 'block' | 'continue' }
  readonly handler?: object
  readonly script?: string
  readonly script_pre?: string
}

/** Probes whose outcome follows from the hooks' output alone, all of which is in the corpus. */
function replayable({ event, observed, hooks }: Probe): boolean {
  if (event === null || event === '*') return false // a whole session; no one event was watched
  const own = hooks.filter((hook) => hook.event === event)
  return (
    own.some(({ id }) => observed.hooks_run?.includes(id ?? '')) && // others are about matchers and files
    own.every(({ handler, script, script_pre }) => !handler && !script && !script_pre) &&
    own.every(({ fields }) => Object.keys(fields ?? {}).every((key) => key === 'onFailure')) && // timeout, if, …
    own.every(({ stdout }) => !/… \(\d+ characters\)$/.test(stdout ?? '')) // shortened when it was recorded
  )
}

const NAMED = 'a deny without a reason names the hook (semantics §9)'
const FAILED = 'a failure has the words of the kernel: whose, and what happened (semantics §6)'
const STEADY = 'among equals hook order counts, not who finished first or last (≠C, semantics §3)'
const STOPPED =
  'continue: false on PreToolUse: the tool does not run, so that nothing else about the call counts (≠C, §9)'
const CLOSING = 'a deny or an ask counts wherever it stands, in any spelling (≠C, §9)'
const DEFERRED = 'defer is an ask (≠C, semantics §9)'
const SCHEMA = 'the schema of a tool is the host’s, who refuses what does not fit'
const ENDED = 'ends the loop; that is what a deny of PostToolBatch means here (semantics §1)'
const ESCAPED = 'what wraps an injection is the host’s, and escapes its own tags (semantics §8)'

type Difference = Partial<Seen> & { readonly failed?: boolean; readonly why: string }

/** Every difference, with our outcome of the probe and the reason. */
const DIFFERENT: Readonly<Record<string, Difference>> = {
  'e-0-two-json': { decision: 'deny', failed: false, why: CLOSING },
  'e-1-twojson': { decision: 'deny', failed: false, why: CLOSING },
  'j-top-decision-deny': { decision: 'deny', failed: false, why: CLOSING },
  'j-top-decision-ask': { decision: 'ask', failed: false, why: CLOSING },
  'j-top-permissionDecision': { decision: 'deny', why: CLOSING },
  'j-hso-noname': { decision: 'deny', failed: false, why: CLOSING },
  'j-hso-lowername': { decision: 'deny', failed: false, why: CLOSING },
  'j-hso-badpd': { decision: 'deny', failed: false, why: CLOSING },
  'j-hso-Deny-case': { decision: 'deny', failed: false, why: CLOSING },
  'j-hso-decision-block': { decision: 'deny', why: CLOSING },
  'j-async-json-deny': { decision: 'deny', why: CLOSING },
  'e-2-text-noerr': { reason: 'Blocked by hook h0', why: NAMED },
  'e-2-nothing': { reason: 'Blocked by hook h0', why: NAMED },
  'p-exit2-noerr': { reason: 'Blocked by hook h0', why: NAMED },
  'u-block-noreason': { reason: 'Blocked by hook h0', why: NAMED },
  'pr-deny-nomsg-nohost': { reason: 'Blocked by hook h0', why: NAMED },
  'a-worktree': { reason: 'Hook h0 succeeded but returned no worktree path', why: NAMED },
  'j-defer': { decision: 'ask', why: DEFERRED },
  'g-defer+allow': { decision: 'ask', why: DEFERRED },
  'g-defer+ask': { decision: 'ask', why: DEFERRED },
  'j-hso-reason-number': {
    decision: 'deny',
    failed: false,
    why: 'a deny in its right place stands though its reason is malformed (≠C, semantics §9)',
  },
  'j-ui-partial': { decision: 'modify', reason: undefined, why: SCHEMA },
  'j-ui-empty': { decision: 'modify', reason: undefined, why: SCHEMA },
  'p-uto-partial': { decision: 'modify', why: SCHEMA },
  'j-cont-false-deny': {
    reason: 'SR',
    why: 'the stopReason is the reason of a stop; Claude Code shows it to the user and the deny’s to the model',
  },
  'j-cont-false-allow': { permission: undefined, why: STOPPED },
  'r-contfalse-two-hooks': { permission: undefined, why: STOPPED },
  'r-contfalse-nobase': { decision: 'stop', why: STOPPED },
  'g-ask-late+ask': { reason: 'AS', why: STEADY },
  'r-ask-late+ask#2': { reason: 'AS', why: STEADY },
  'r-ask-late+ask#3': { reason: 'AS', why: STEADY },
  'g-deny+deny-late': { reason: 'DE', why: STEADY },
  'r-deny+deny-late#1': { reason: 'DE', why: STEADY },
  'r-deny+deny-late#2': { reason: 'DE', why: STEADY },
  'g-ui+ui': { updated: { command: 'touch ran.txt && echo BBB' }, why: STEADY },
  'g-ui-late+ui': { updated: { command: 'touch ran.txt && echo BBB' }, why: STEADY },
  'p-uto-two': { updated: 'R_B', why: STEADY },
  'p-two-block': { reason: 'B1\nB2', why: STEADY },
  'x-ups-two-json': { context: 'C1\nC2', why: STEADY },
  'x-ups-two-plain': { context: 'C1\nC2', why: STEADY },
  'x-ss-two-json': { context: 'C1\nC2', why: STEADY },
  'x-ss-two-plain': { context: 'C1\nC2', why: STEADY },
  'x-post-two-json': { context: 'C1\nC2', why: STEADY },
  'ptb-exit2': { decision: 'deny', why: ENDED },
  'ptb-block': { decision: 'deny', why: ENDED },
  'st-ctx-always': {
    decision: 'deny',
    context: undefined,
    why: 'context alone keeps the agent going (C, semantics §9): it is the reason of a deny, and told once',
  },
  't-onFail-exit3': { reason: 'hook crashed (fail-safe deny): h0: exited with 3: ER', why: FAILED },
  't-onFail-exit127': { reason: 'hook crashed (fail-safe deny): h0: exited with 127: ER', why: FAILED },
  't2-post-onfail': { reason: 'hook crashed (fail-safe deny): h0: exited with 1: ER', why: FAILED },
  't-onFail-exit1-noerr': { reason: 'hook crashed (fail-safe deny): h0: exited with 1', why: FAILED },
  't-onFail-emptyjson-exit1': {
    reason:
      'hook crashed (fail-safe deny): h0: exited with 1; its answer does not count, because onFailure is "block"',
    why: FAILED,
  },
  't-onFail-wrongname': {
    reason:
      'hook crashed (fail-safe deny): h0: hookSpecificOutput.hookEventName must be "PreToolUse", got "PostToolUse"',
    why: FAILED,
  },
  'v-precompact-plain': {
    decision: 'inject',
    context: 'EXTRA INSTR',
    why: 'as observed (H11): it joins the instructions of the compaction, which the probe did not record as context',
  },
  'x-nested-reminder-plain': { context: '<system-reminder>\nNESTED\n</system-reminder> tail', why: ESCAPED },
  'x-nested-reminder-json': { context: '<system-reminder>\nNESTED\n</system-reminder> tail', why: ESCAPED },
  'x-post-nested': { context: '</system-reminder> tail', why: ESCAPED },
}

const SAMPLE = { string: 'x', number: 1, boolean: true, object: {}, list: [], json: 'x' } as const

function dataOf({ event, tool_name, tool_input }: Probe): object {
  const required = Object.entries(resolveEvent(event ?? '').required)
  return {
    ...Object.fromEntries(required.map(([field, type]) => [field, SAMPLE[type]])),
    ...(tool_name && { tool_name, tool_input: typeof tool_input === 'object' ? tool_input : {} }),
  }
}

/** Our value for every field in which we differ from Claude Code. Fields that were not recorded are not compared. */
function differences({ observed }: Probe, ours: Seen, failed: boolean): object {
  const { updated_output: output, updated_input: input } = observed
  // The probe kept the part of a replaced output that the model saw.
  const text = ours.updated as { readonly stdout?: string } | undefined
  const pairs: Record<string, [unknown, unknown]> = {
    decision: [ours.decision, observed.decision],
    context: [ours.context, observed.context],
    ...(observed.reason && { reason: [ours.reason, observed.reason] }),
    ...(observed.permission && {
      permission: [ours.permission, observed.permission === 'allow' ? 'allow' : undefined],
    }),
    ...(input && { updated: [ours.updated, input] }),
    ...(output && { updated: [text?.stdout ?? text, output] }),
    ...(observed.no_verdict && { failed: [failed, true] }),
  }
  const differing = Object.entries(pairs).filter(([, [a, b]]) => JSON.stringify(a) !== JSON.stringify(b))
  return Object.fromEntries(differing.map(([key, [value]]) => [key, value]))
}

corpus('probes of Claude Code 2.1.325 (../shared/corpus/observed.json)', () => {
  const all = corpusIsHere ? readCorpus<readonly Probe[]>('observed.json') : []
  const probes = all.filter(replayable)

  it('are here, and every listed difference is one of them', () => {
    expect(all).toHaveLength(365)
    expect(probes).toHaveLength(222)
    const names = new Set(probes.map(({ name }) => name))
    expect(Object.keys(DIFFERENT).filter((name) => !names.has(name))).toEqual([])
  })

  it.each(probes)('$name', async (probe) => {
    const { name, event, hooks, observed } = probe
    const said = hooks
      .filter((hook) => hook.event === event && observed.hooks_run?.includes(hook.id ?? ''))
      .map(({ fields, ...hook }) => ({ ...hook, onFailure: fields?.onFailure ?? ('continue' as const) }))
    const outcome = await replay(event ?? '', dataOf(probe), said)
    const { why: _, ...expected } = DIFFERENT[name] ?? { why: '' }
    expect(differences(probe, seen(event ?? '', outcome), failures(outcome) > 0)).toStrictEqual(expected)
  })
})
