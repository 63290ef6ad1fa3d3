// One hook's part in one event: its entry in the trace, and details that only the engine needs.

import type { DiagnosticSink } from '../base/errors.js'
import { type Data, isObject, type Json, sameJson } from '../base/json.js'
import { redacted } from '../base/secrets.js'
import { plainText } from '../base/text.js'
import { type Action, actionRow, isVerdict, type Verdict } from '../events/actions.js'
import type { EventKind } from '../events/events.js'
import { firstName, patchedData } from '../events/patch.js'
import { CONTINUE, type HookResult } from '../events/result.js'
import { mayDeny } from '../hooks/gate.js'
import type { Hook, HookEvent } from '../hooks/hook.js'
import type { Change, Trace } from '../hooks/outcome.js'

/** Details that a trace has only if there is something to say. */
export type TraceDetails = Pick<
  Trace,
  'why' | 'detail' | 'changed' | 'changes' | 'stdout' | 'stderr' | 'mode' | 'would'
>

/** Texts of an answer and of a trace that people read. */
const SPOKEN = ['reason', 'userMessage', 'approvalPrompt', 'contextInjection'] as const
const PRINTED = ['detail', 'stdout', 'stderr'] as const

/** Removes control sequences first, because a secret right after one would not be recognised. */
function plain(more: TraceDetails): TraceDetails {
  const { stdout, stderr } = more
  if (stdout === undefined && stderr === undefined) return more
  return {
    ...more,
    ...(stdout !== undefined && { stdout: plainText(stdout) }),
    ...(stderr !== undefined && { stderr: plainText(stderr) }),
  }
}

/** One hook's part in an event: its entry in the trace, and details that only the engine needs. */
export interface Ran {
  readonly trace: Trace
  readonly hook: Hook
  /** The answer that counts: the hook's own, or the one that its failure policy prescribes. */
  readonly effect: HookResult
  /** The data as this hook left it. */
  readonly left: Data
  /** A time on the clock of performance.now(). */
  readonly endedAt: number
}

/** Whether a gate answered later although it is not declared async. */
export function hasGoneOn({ status, why }: Trace): boolean {
  return status === 'detached' && why !== undefined
}

/** `ms` is the time it took; `more` may hold the hook's raw output. */
export function traceOf(
  hook: Hook,
  status: Trace['status'],
  ms: number,
  effect: HookResult,
  more?: TraceDetails,
): Trace {
  const { name, kind, role } = hook
  const { source } = hook.origin
  const trace: { -readonly [K in keyof Trace]: Trace[K] } = { name, kind, source, status, ms }
  if (role !== 'intercept') trace.role = role
  if (status === 'ran') trace.answer = redacted(effect, SPOKEN)
  else if (status === 'failed') trace.countsAs = effect.action === 'deny' ? 'deny' : 'continue'
  return more ? Object.assign(trace, redacted(plain(more), PRINTED)) : trace
}

/** What a hook in shadow mode would have done, for its trace and in words. */
export function shadowOf(effect: HookResult): { readonly would: HookResult; readonly text: string } {
  const would = redacted(effect, SPOKEN)
  const { does } = actionRow(would.action)
  const why = would.approvalPrompt ?? would.reason
  const deeds = [
    ...(does === undefined ? [] : [why === undefined ? does : `${does} (${why})`]),
    ...(would.data ? [`change ${Object.keys(would.data).join(', ')}`] : []),
    ...(would.permission ? ['allow it without asking'] : []),
    ...(would.contextInjection === undefined ? [] : ['add to the context']),
    ...(would.userMessage === undefined ? [] : ['tell the user something']),
    ...(would.host ? [`set ${Object.keys(would.host).join(', ')}`] : []),
  ]
  return { would, text: `it is in shadow mode; it would ${deeds.join(', and ') || 'go on'}` }
}

/** Most hooks just continue. One literal is cheaper than adding fields one by one. */
export function continued(hook: Hook, ms: number): Trace {
  const { name, kind, role, origin } = hook
  if (role !== 'intercept') return traceOf(hook, 'ran', ms, CONTINUE)
  return { name, kind, source: origin.source, status: 'ran', ms, answer: CONTINUE }
}

export function tracesOf(ran: readonly Ran[]): readonly Trace[] {
  return ran.map(({ trace }) => trace)
}

/** The verdict of this hook's answer on this event; `continue` if it cannot act there. */
export function verdictOf(kind: EventKind, hook: Hook, action: Action): Verdict {
  if (!isVerdict(action)) return 'continue'
  const { actsWhereRespond, actsWhereDeny } = actionRow(action)
  if (actsWhereRespond && !kind.respond) return 'continue'
  if (actsWhereDeny && !(actsWhereDeny.includes(kind.deny) && mayDeny(kind, hook))) return 'continue'
  return action
}

// ---- what it changed

/** A longer list would not help. */
const MOST_CHANGES = 32
/** Characters of JSON. Longer values are in the answer and the data. */
const LONGEST_VALUE = 2000

/** Lists the differences under these keys. */
export function changesBetween(before: Data, after: Data, keys: readonly string[]): readonly Change[] {
  const found: Change[] = []
  for (const key of keys) compare(key, before[key], after[key], found)
  return found
}

function compare(path: string, before: Json | undefined, after: Json | undefined, found: Change[]): void {
  if (found.length >= MOST_CHANGES || sameJson(before, after)) return
  if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      compare(`${path}/${key}`, own(before, key), own(after, key), found)
    }
  } else if (Array.isArray(before) && Array.isArray(after)) compareLists(path, before, after, found)
  else found.push({ path, ...shortly('before', before), ...shortly('after', after) })
}

/** Skips the common beginning and end of the lists, so that an item added in front does not count as a change of all that follow. */
function compareLists(path: string, before: readonly Json[], after: readonly Json[], found: Change[]): void {
  let start = 0
  const shorter = Math.min(before.length, after.length)
  while (start < shorter && sameJson(before[start], after[start])) start++
  let same = 0
  while (same < shorter - start && sameJson(before.at(-1 - same), after.at(-1 - same))) same++
  const ends = [before.length - same, after.length - same] as const
  for (let i = start; i < Math.max(...ends) && found.length < MOST_CHANGES; i++) {
    compare(`${path}/${i}`, i < ends[0] ? before[i] : undefined, i < ends[1] ? after[i] : undefined, found)
  }
}

function own(object: { readonly [key: string]: unknown }, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? (object[key] as Json) : undefined
}

function shortly(name: 'before' | 'after', value: Json | undefined): { before?: Json; after?: Json } {
  if (value === undefined) return {}
  const text = JSON.stringify(value)
  return { [name]: text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : value }
}

// ---- joining the changes of lanes that ran in parallel

/** A lane that has run. */
interface RanLane {
  readonly event: HookEvent
  readonly ran: readonly Ran[]
}

/**
 * If two lanes changed the same key, the one whose hook comes later in the step counts, whichever was faster. A diagnostic
 * names both. `placeOf` is the place of its hook in the step.
 */
export function joinLanes(
  kind: EventKind,
  data: Data,
  lanes: readonly RanLane[],
  placeOf: (ran: Ran) => number,
  diagnostics: DiagnosticSink,
): Data {
  const changes = lanes
    .flatMap((lane) =>
      [...lastToChange(kind, lane)].map(([key, by]) => ({ key, by, lane, value: lane.event.data[key] })),
    )
    .sort((a, b) => placeOf(a.by) - placeOf(b.by))
  const winners = new Map<string, (typeof changes)[number]>()
  for (const change of changes) {
    const { key, by, lane, value } = change
    const earlier = winners.get(key)
    if (earlier && earlier.lane !== lane && !sameJson(earlier.value, value)) {
      const text = `${earlier.by.hook.name} and ${by.hook.name} both changed ${key}; ${by.hook.name}, the later one, counts`
      diagnostics.push({ code: 'conflict', text })
    }
    winners.set(key, change)
  }
  if (winners.size === 0) return data
  const patch = Object.fromEntries([...winners].map(([key, { value }]) => [key, value as Json]))
  return patchedData(kind, data, patch)
}

/** The last hook to set each changed key, by the first name of the key. */
function lastToChange(kind: EventKind, { ran }: RanLane): ReadonlyMap<string, Ran> {
  const last = new Map<string, Ran>()
  for (const one of ran) for (const key of one.trace.changed ?? []) last.set(firstName(kind, key), one)
  return last
}
