// Judges one event: runs its hooks, shows approvers the final call, and merges all answers into one Outcome.

import type { Diagnostic } from '../base/errors.js'
import type { Data } from '../base/json.js'
import { endsChain } from '../events/actions.js'
import { type EventKind, matcherValue } from '../events/events.js'
import { CONTINUE } from '../events/result.js'
import type { Hook, HookEvent } from '../hooks/hook.js'
import { type Listeners, matches } from '../hooks/hook-set.js'
import type { Approval, Message, Outcome, Trace } from '../hooks/outcome.js'
import { type Dispatched, type DispatchOptions, dispatch, runOnFinal } from '../run/dispatch.js'
import { type Admit, admissionOrProblem, idleSkip } from '../run/plan.js'
import type { Recheck } from '../run/queue.js'
import { type Ran, traceOf, tracesOf } from '../run/trace.js'
import { allowsFinal, closingRuns, gatesBehind } from './final-look.js'
import { keptInjections, type Merged, type MergeRules, merge, NOTHING_SAID, ONE_VERSION } from './merge.js'

/** The hooks' judgement of an event, before the budget and the person. */
export interface Judgement {
  readonly kind: EventKind
  readonly listeners: Listeners | undefined
  /** `sent` is the event before the hooks; `event` includes every modification. */
  readonly sent: HookEvent
  readonly event: HookEvent
  readonly modified: boolean
  readonly ran: readonly Ran[]
  readonly rules: MergeRules
  readonly merged: Merged
  /** Diagnostics of the dispatch; `merged` has those of the merge. */
  readonly diagnostics: readonly Diagnostic[]
}

/** Every diagnostic of a judgement. */
export function diagnosticsOf({ diagnostics, merged }: Judgement): readonly Diagnostic[] {
  // A copy, because an overdue hook may still add something, which is too late.
  const none = diagnostics.length + merged.diagnostics.length === 0
  return none ? NO_TRACE : [...diagnostics, ...merged.diagnostics]
}

/** Resolves to the value of `finish`. Rejects only if the signal is aborted. */
export function judge<T>(
  kind: EventKind,
  listeners: Listeners,
  event: HookEvent,
  options: DispatchOptions,
  finish: (judgement: Judgement) => T,
): Promise<T> {
  const end = (judgement: Judgement) => finish(withUnaskedObservers(judgement, listeners, options.admit))
  return dispatch(kind, listeners, event, options, (dispatched) => {
    const judgement = judgementOf(kind, listeners, event, dispatched, options.recheck)
    const settled = !judgement.modified && listeners.approvers.length === 0
    return settled || endsChain(judgement.merged.action)
      ? end(judgement)
      : judgeFinal(judgement, listeners, options).then(end)
  })
}

/** Shows the final call to the gates that judged an older one, then to the approvers. A deny ends it. */
async function judgeFinal(
  judgement: Judgement,
  { approvers }: Listeners,
  options: DispatchOptions,
): Promise<Judgement> {
  const looked = judgement.modified ? await lookAgain(judgement, options) : judgement
  if (approvers.length === 0 || endsChain(looked.merged.action)) return looked
  const final = await showFinal(looked, approvers, options)
  return withRuns(looked, final.ran, [...final.diagnostics, ...final.ran.flatMap(approverChange)])
}

/** The final look. With the setting `skipped`, the user is only told which gates did not get it. */
async function lookAgain(judgement: Judgement, options: DispatchOptions): Promise<Judgement> {
  const { kind, event, ran } = judgement
  const behind = gatesBehind(kind, event, ran)
  if (behind.length === 0) return judgement
  if (options.recheck === 'skipped') return withStale(judgement, behind)
  const final = await showFinal(judgement, behind, options)
  const look = closingRuns(kind, event.data, ran, final.ran)
  return withRuns(judgement, look.ran, [...final.diagnostics, ...look.diagnostics])
}

/** If the fire is aborted meanwhile, the hooks that ran before are recorded too. */
function showFinal(
  { kind, event, ran }: Judgement,
  hooks: readonly Hook[],
  options: DispatchOptions,
): Promise<Dispatched> {
  const aborted = (last: readonly Ran[]) => options.aborted?.([...ran, ...last])
  return runOnFinal(kind, hooks, event, { ...options, aborted })
}

function withRuns(
  judgement: Judgement,
  added: readonly Ran[],
  diagnostics: readonly Diagnostic[],
): Judgement {
  const { kind, event, rules } = judgement
  const ran = [...judgement.ran, ...added]
  const now = judgement.modified
    ? { ...rules, allows: allowsFinal(event.data, gatesBehind(kind, event, ran)) }
    : rules
  return {
    ...judgement,
    ran,
    rules: now,
    diagnostics: [...judgement.diagnostics, ...diagnostics],
    merged: merge(kind, ran, now),
  }
}

function withStale(judgement: Judgement, behind: readonly Hook[]): Judgement {
  const ran = judgement.ran.map((one): Ran => {
    const isStale = behind.includes(one.hook) && one.trace.status !== 'skipped'
    return isStale ? { ...one, trace: { ...one.trace, stale: true } } : one
  })
  const texts = behind.map(staleText)
  const { merged } = judgement
  const warnings = texts.map((text): Message => ({ text, level: 'warning', source: 'carabiner' }))
  return {
    ...judgement,
    ran,
    diagnostics: [...judgement.diagnostics, ...texts.map((text): Diagnostic => ({ code: 'stale', text }))],
    merged: { ...merged, messages: [...merged.messages, ...warnings] },
  }
}

function staleText({ name }: Hook): string {
  return `${name} judged a version of the call that a later hook changed, and has not seen the final one; remove "recheck": "skipped" from the settings to show it to such gates`
}

/** Adds observers that may not run to the trace. An unreviewed observer is reported, so that it does not look as if it had watched. */
function withUnaskedObservers(
  judgement: Judgement,
  { observers }: Listeners,
  admit: Admit | undefined,
): Judgement {
  if (observers.length === 0 || !admit) return judgement
  const { kind, event, merged } = judgement
  const value = matcherValue(kind, event.data)
  const skipped = observers.flatMap((hook): Ran[] => {
    const skip = admissionOrProblem(kind, hook, event, value, admit)
    if (typeof skip !== 'object' || skip.why === 'matcher') return []
    const trace = traceOf(hook, 'skipped', 0, CONTINUE, skip)
    return [{ trace, hook, effect: CONTINUE, left: event.data, endedAt: 0 }]
  })
  if (skipped.length === 0) return judgement
  const said = new Set(merged.messages.map(({ text }) => text))
  const isNew = ({ text }: { readonly text: string }) => !said.has(text)
  const { messages, diagnostics } = merge(kind, skipped)
  return {
    ...judgement,
    ran: [...judgement.ran, ...skipped],
    merged: {
      ...merged,
      messages: [...merged.messages, ...messages.filter(isNew)],
      diagnostics: [...merged.diagnostics, ...diagnostics.filter(isNew)],
    },
  }
}

function judgementOf(
  kind: EventKind,
  listeners: Listeners,
  sent: HookEvent,
  dispatched: Dispatched,
  recheck: Recheck,
): Judgement {
  const { event, ran, diagnostics, unstable, quiet } = dispatched
  const rules =
    event === sent
      ? ONE_VERSION
      : {
          rechecked: recheck === 'all',
          allows: allowsFinal(event.data, gatesBehind(kind, event, ran)),
        }
  const merged = quiet ? NOTHING_SAID : merge(kind, ran, rules)
  return {
    kind,
    listeners,
    sent,
    event,
    modified: event !== sent,
    ran,
    rules,
    merged: unstable ? denyUnstable(kind, merged) : merged,
    diagnostics: unstable ? [...diagnostics, { code: 'HOOK_UNSTABLE', text: UNSTABLE }] : diagnostics,
  }
}

function approverChange({ hook, effect }: Ran): Diagnostic[] {
  if (effect.data === undefined) return []
  return [
    {
      code: 'verdict-ignored',
      text: `${hook.name} is an approver and may not change the call; its change is ignored`,
    },
  ]
}

const UNSTABLE = 'hooks kept changing the call, so no version of it was judged by all of them'

/** No version of the call was judged by all hooks, so none may run. */
function denyUnstable(kind: EventKind, merged: Merged): Merged {
  const reason = `HOOK_UNSTABLE: ${UNSTABLE}`
  if (endsChain(merged.action)) return merged
  const injections = keptInjections(kind, 'deny', merged.injections)
  return { ...merged, action: 'deny', reason, permission: undefined, injections }
}

type Final = Pick<Merged, 'action' | 'reason' | 'injections' | 'messages'>

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** A judgement as an Outcome. Optional fields are only set if they say something. */
export function outcomeOf(
  judgement: Judgement,
  final: Final,
  diagnostics: readonly Diagnostic[],
  approval?: Approval,
): Outcome {
  const { merged, event, modified, listeners } = judgement
  const outcome: Writable<Outcome> =
    listeners && listeners.size > FEW && judgement.ran.length < listeners.size
      ? (new TracedLater(judgement, final, diagnostics) as object as Outcome)
      : {
          action: final.action,
          data: event.data,
          modified,
          injections: final.injections,
          messages: final.messages,
          hooks: wholeTrace(judgement),
          diagnostics,
        }
  if (final.reason !== undefined) outcome.reason = final.reason
  if (merged.permission !== undefined && final.action === merged.action)
    outcome.permission = merged.permission
  if (merged.response !== undefined && !endsChain(final.action)) outcome.response = merged.response
  if (merged.host !== undefined) outcome.host = merged.host
  if (approval !== undefined) outcome.approval = approval
  return outcome
}

const NO_TRACE: readonly never[] = Object.freeze([])

/** The outcome of an event that nobody listens to. */
export function quietOutcome(data: object, diagnostics: readonly Diagnostic[] = NO_TRACE): Outcome {
  return {
    action: 'continue',
    data: data as Data,
    modified: false,
    injections: NO_TRACE,
    messages: NO_TRACE,
    hooks: NO_TRACE,
    diagnostics,
  }
}

/** Up to this many candidates, the trace is made right away. */
const FEW = 64

/** An outcome that makes its trace on first read, so that thousands of idle hooks cost nothing. */
class TracedLater {
  readonly action: Outcome['action']
  readonly data: Data
  readonly modified: boolean
  readonly injections: Outcome['injections']
  readonly messages: Outcome['messages']
  readonly diagnostics: Outcome['diagnostics']
  readonly #judgement: Judgement
  #hooks: readonly Trace[] | undefined

  constructor(judgement: Judgement, final: Final, diagnostics: readonly Diagnostic[]) {
    this.action = final.action
    this.data = judgement.event.data
    this.modified = judgement.modified
    this.injections = final.injections
    this.messages = final.messages
    this.diagnostics = diagnostics
    this.#judgement = judgement
    // An own property, so that JSON, spreading and cloning see it. All instances share one getter, because creating one is slow.
    Object.defineProperty(this, 'hooks', TracedLater.#LATER)
  }

  static readonly #LATER: PropertyDescriptor = {
    enumerable: true,
    configurable: true,
    get(this: TracedLater) {
      this.#hooks ??= wholeTrace(this.#judgement)
      return this.#hooks
    },
  }
}

/** Every candidate is in the trace. */
function wholeTrace(judgement: Judgement): readonly Trace[] {
  const { listeners, ran } = judgement
  const traces = tracesOf(ran)
  // A hook runs twice only after a change.
  if (!listeners || (ran.length === listeners.size && !judgement.modified)) return traces
  const { selected, all, rest } = idleOf(judgement.kind, listeners, judgement.event.data)
  if (ran.length === selected.length && ran.every(({ hook }, i) => hook === selected[i]))
    return traces.concat(rest)
  const seen = new Set(ran.map((one) => one.hook))
  return traces.concat(all.filter(([hook]) => !seen.has(hook)).map(([, trace]) => trace))
}

/** The traces of hooks that did not run, for one value of the matcher. */
interface Idle {
  /** The interceptors that match. */
  readonly selected: readonly Hook[]
  readonly all: readonly (readonly [Hook, Trace])[]
  /** Without those of `selected`, which all run for most events. */
  readonly rest: readonly Trace[]
}

/** Made once, because the same tools are called again and again. */
const idle = new WeakMap<Listeners, Map<string, Idle>>()
const MAX_REMEMBERED = 64

function idleOf(kind: EventKind, listeners: Listeners, data: Data): Idle {
  const value = matcherValue(kind, data)
  const known = idle.get(listeners) ?? new Map<string, Idle>()
  let made = known.get(value)
  if (made === undefined) {
    const selected = listeners.select(value).hooks
    const { interceptors, approvers, observers } = listeners
    const all = [...interceptors, ...approvers, ...observers].map(
      (hook) => [hook, idleTrace(kind, hook, value)] as const,
    )
    const runs = new Set(selected)
    const rest = all.filter(([hook]) => !runs.has(hook)).map(([, trace]) => trace)
    made = { selected, all, rest }
    if (known.size >= MAX_REMEMBERED) known.clear()
    idle.set(listeners, known.set(value, made))
  }
  return made
}

function idleTrace(kind: EventKind, hook: Hook, value: string): Trace {
  const { name, origin, role } = hook
  // Observers run after the outcome is made, so the trace can only say that they were started.
  const isStarted = role === 'observe' && (kind.matcher === null || matches(hook, value))
  return Object.freeze({
    name,
    kind: hook.kind,
    source: origin.source,
    ...(role !== 'intercept' && { role }),
    status: isStarted ? 'detached' : 'skipped',
    ms: 0,
    ...(!isStarted && idleSkip(kind, hook, value)),
  })
}
