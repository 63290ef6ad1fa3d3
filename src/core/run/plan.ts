// The plan of an event: which hooks would run, in which order, and why the others would not. Runs nothing.

import { HookError, textOf } from '../base/errors.js'
import { isObject } from '../base/json.js'
import { isPromise } from '../base/promise.js'
import { shown } from '../base/text.js'
import type { EventKind } from '../events/events.js'
import { matcherValue } from '../events/events.js'
import type { Hook, HookEvent, Origin } from '../hooks/hook.js'
import { type HookSet, matches } from '../hooks/hook-set.js'
import type { HookKind } from '../hooks/kinds.js'
import type { SkipReason } from '../hooks/outcome.js'

/** Why a hook does not run: a code and a sentence. */
export interface Skip {
  readonly why: SkipReason
  readonly detail: string
}

/** Asked for every hook that matches. It decides about trust, switches and `once`. */
export type Admit = (hook: Hook) => Admission

/** `shadow`: it runs in shadow mode. */
export type Admission = true | 'shadow' | Skip

/** A hook in a plan, as plain data. */
export interface Candidate {
  readonly name: string
  readonly kind: HookKind
  readonly role: Hook['role']
  readonly priority: number
  readonly origin: Origin
  /** Place in the order of the event, from 1. */
  readonly order: number
  readonly matched: boolean
  /** Nothing of it counts. */
  readonly mode?: 'shadow'
  /** Present if it does not run. */
  readonly why?: SkipReason
  readonly detail?: string
}

/** Steps run one after another, the lanes of a step in parallel, and the hooks of a lane in sequence. */
export interface Plan {
  readonly event: string
  readonly steps: readonly { readonly priority: number; readonly lanes: readonly (readonly string[])[] }[]
  readonly approvers: readonly string[]
  readonly observers: readonly string[]
  readonly candidates: readonly Candidate[]
}

/** Plans the event as it is now. A hook that rewrites it may change what later steps do. */
export function planOf(kind: EventKind, event: HookEvent, set: HookSet, admit: Admit | undefined): Plan {
  const listeners = set.listeners(kind)
  const value = matcherValue(kind, event.data)
  const running = { intercept: [] as Hook[], approve: [] as Hook[], observe: [] as Hook[] }
  const candidates: Candidate[] = []
  const standing = new Set<string>()
  for (const role of ['interceptors', 'approvers', 'observers'] as const) {
    for (const hook of listeners?.[role] ?? []) {
      const admission = admissionOrProblem(kind, hook, event, value, admit)
      const skip = typeof admission === 'object' ? admission : repetition(hook, standing)
      if (!skip) running[hook.role].push(hook)
      const isShadow = !skip && admission === 'shadow'
      candidates.push({
        ...candidate(hook, candidates.length + 1, skip),
        ...(isShadow && { mode: 'shadow' as const }),
      })
    }
  }
  const steps: Plan['steps'][number][] = []
  for (let at = 0; at < running.intercept.length; ) {
    const step = stepAt(running.intercept, at)
    const priority = (step[0] as Hook).priority
    steps.push({ priority, lanes: lanesOf(step).map((lane) => lane.map((hook) => hook.name)) })
    at += step.length
  }
  return {
    event: kind.name,
    steps,
    approvers: running.approve.map((hook) => hook.name),
    observers: running.observe.map((hook) => hook.name),
    candidates,
  }
}

/** Checked last, because only a hook that runs turns the others into repetitions. */
export function repetition({ sameAs }: Hook, standing: Set<string>): Skip | undefined {
  if (sameAs === undefined) return undefined
  if (standing.has(sameAs)) return { why: 'duplicate', detail: 'the same hook already runs for this event' }
  standing.add(sameAs)
  return undefined
}

/** Explaining must not fail where running would. A condition or admission that throws is a failure of that hook. */
export function admissionOrProblem(
  ...[kind, hook, event, value, admit]: Parameters<typeof skipOf>
): Admission {
  try {
    return mismatch(kind, hook, value) ?? admissionOf(hook, event, admit)
  } catch (error) {
    return { why: 'failed', detail: `cannot tell whether it may run: ${textOf(error)}` }
  }
}

/** The hooks of the step that begins at `at`: one hook, or all with lanes at its priority. */
export function stepAt(hooks: readonly Hook[], at: number): readonly Hook[] {
  const first = hooks[at] as Hook
  let end = at + 1
  if (first.lane !== null) {
    while (hooks[end] && hooks[end]?.lane !== null && hooks[end]?.priority === first.priority) end++
  }
  return hooks.slice(at, end)
}

export function lanesOf(step: readonly Hook[]): readonly (readonly Hook[])[] {
  const lanes = new Map<string, Hook[]>()
  for (const hook of step) {
    const lane = lanes.get(hook.lane ?? '')
    if (lane) lane.push(hook)
    else lanes.set(hook.lane ?? '', [hook])
  }
  return [...lanes.values()]
}

/** The reason why this hook does not run for this event; undefined if it does. */
export function skipOf(
  kind: EventKind,
  hook: Hook,
  event: HookEvent,
  value: string,
  admit: Admit | undefined,
): Skip | undefined {
  return mismatch(kind, hook, value) ?? refusal(hook, event, admit)
}

function mismatch(kind: EventKind, hook: Hook, value: string): Skip | undefined {
  return kind.matcher !== null && !matches(hook, value) ? matcherSkip(kind, hook, value) : undefined
}

/** The reason why a hook does not run although its matcher accepts the event. */
function refusal(hook: Hook, event: HookEvent, admit: Admit | undefined): Skip | undefined {
  const admission = admissionOf(hook, event, admit)
  return typeof admission === 'object' ? admission : undefined
}

/** How a hook runs whose matcher accepts the event, or why it does not. */
export function admissionOf(hook: Hook, event: HookEvent, admit: Admit | undefined): Admission {
  const held = hook.condition?.(event) ?? true
  if (held !== true) return { why: 'if', detail: held }
  const admission = admit ? checked(admit(hook)) : true
  return admission === true && hook.mode === 'shadow' ? 'shadow' : admission
}

/** Whether the hook's own condition refuses the event. A condition that throws does not: it is asked again when the hook is due, and then the error is the hook's failure. */
export function isRefused(hook: Hook, event: HookEvent): boolean {
  try {
    return refusal(hook, event, undefined) !== undefined
  } catch {
    return false
  }
}

/** An answer that neither admits nor gives a reason is a failure of this hook, so its gate closes. */
function checked(answer: unknown): Admission {
  if (answer === true || answer === 'shadow') return answer
  if (isObject(answer) && typeof answer.why === 'string' && typeof answer.detail === 'string') {
    return answer as unknown as Skip
  }
  if (isPromise(answer)) Promise.resolve(answer).catch(() => undefined)
  const got = isPromise(answer) ? 'a promise' : shown(answer)
  throw new HookError(
    'OPTIONS_INVALID',
    `admit must return true, "shadow" or { why, detail } synchronously, got ${got}`,
  )
}

/** Why a hook did not run: its matcher did not match, or an earlier hook ended the chain. */
export function idleSkip(kind: EventKind, hook: Hook, value: string): Skip {
  const ended = { why: 'ended', detail: 'an earlier hook denied or aborted, so it was not asked' } as const
  return mismatch(kind, hook, value) ?? ended
}

function matcherSkip(kind: EventKind, hook: Hook, value: string): Skip {
  const detail = `matcher ${shown(hook.matcher?.pattern)} does not match ${kind.matcher} ${shown(value)}`
  return { why: 'matcher', detail }
}

function candidate(hook: Hook, order: number, skip: Skip | undefined): Candidate {
  const { name, kind, role, priority, origin } = hook
  return { name, kind, role, priority, origin, order, matched: !skip, ...skip }
}
