// Runs the hooks of an event: their order, how data passes from hook to hook, and the effect of a failure.

import { hurry, unwatch, Watched, watch } from '../base/deadlines.js'
import { type Diagnostic, HookError, textOf } from '../base/errors.js'
import type { Data } from '../base/json.js'
import { isPromise, onAbort } from '../base/promise.js'
import { redactedData } from '../base/secrets.js'
import { endsChain, isClosing } from '../events/actions.js'
import { type EventKind, matcherValue } from '../events/events.js'
import { applyPatch, applyWhole, type Patched, type PatchRules } from '../events/patch.js'
import { CONTINUE, type HookResult, isContinue, modify, parseResult } from '../events/result.js'
import type { Count } from '../hooks/count.js'
import { isGate } from '../hooks/gate.js'
import { closesOnFailure, type Hook, type HookEvent, LateAnswer, WholeData } from '../hooks/hook.js'
import { type Listeners, matches } from '../hooks/hook-set.js'
import type { Outcome, Trace } from '../hooks/outcome.js'
import {
  answerOnFailure,
  type CallSite,
  fireTimeoutHint,
  HookCall,
  hookError,
  type Spent,
  timeoutHint,
} from './hook-run.js'
import { type Admit, admissionOf, lanesOf, repetition, type Skip } from './plan.js'
import { EventQueue, FixedQueue, type HookQueue, type Recheck } from './queue.js'
import {
  changesBetween,
  continued,
  joinLanes,
  type Ran,
  shadowOf,
  type TraceDetails,
  traceOf,
  tracesOf,
  verdictOf,
} from './trace.js'

export interface DispatchOptions extends PatchRules {
  readonly admit?: Admit | undefined
  readonly signal?: AbortSignal | undefined
  /** The deadline of the whole fire, on the clock of performance.now(). */
  readonly deadline: number
  readonly recheck: Recheck
  /** Closes every gate whose hook fails, whatever the hook says. */
  readonly failClosed: boolean
  /** Refused stops are counted, so the agent may stop eventually. */
  readonly countsStops?: boolean
  /** Hooks that ran before, under the same deadline. */
  readonly earlier?: readonly Ran[]
  /** Hooks that were admitted in shadow mode when their step began. */
  readonly shadows?: ReadonlySet<Hook> | undefined
  /** Takes a detached hook off the path. */
  readonly detach: (hook: Hook, event: HookEvent) => void
  /** Counts for limits. */
  readonly count?: Count | undefined
  /** The outcome that observers get. */
  readonly outcome?: Outcome | undefined
  /** Gets the hooks that had run when the signal was aborted. */
  readonly aborted?: (ran: readonly Ran[]) => void
}

export interface Dispatched {
  readonly event: HookEvent
  /** Runs in plan order. */
  readonly ran: readonly Ran[]
  readonly diagnostics: readonly Diagnostic[]
  /** Every hook ran and answered a bare `continue`. */
  readonly quiet: boolean
  /** Hooks were still changing the call after the last round. */
  readonly unstable: boolean
}

/** Runs the interceptors and resolves to the value of `finish`. Rejects only if the signal is aborted. */
export function dispatch<T>(
  kind: EventKind,
  listeners: Listeners,
  event: HookEvent,
  options: DispatchOptions,
  finish: (dispatched: Dispatched) => T | Promise<T>,
): Promise<T> {
  const queue = new EventQueue(kind, listeners, event.data, options.recheck)
  return new Sequence(kind, queue, event, options).go(finish)
}

/** Shows these hooks the final call, in steps as in a plan. Their answers cannot change it. */
export function runOnFinal(
  kind: EventKind,
  hooks: readonly Hook[],
  event: HookEvent,
  options: DispatchOptions,
): Promise<Dispatched> {
  const value = matcherValue(kind, event.data)
  const wanted = hooks.filter((hook) => kind.matcher === null || matches(hook, value))
  return new Sequence(kind, new FixedQueue(wanted), event, options, FINAL).go(itself)
}

/** Runs one hook off the path. Nothing waits for it, so its failure closes nothing. */
export async function runAlone(
  kind: EventKind,
  hook: Hook,
  event: HookEvent,
  options: DispatchOptions,
): Promise<{ readonly ran: Ran; readonly diagnostics: readonly Diagnostic[] }> {
  const lane = new FixedQueue([{ ...hook, onFailure: 'continue', cappedBy: undefined }])
  const open = { ...options, failClosed: false }
  const { ran, diagnostics } = await new Sequence(kind, lane, event, open, ALONE).go(itself)
  return { ran: ran[0] as Ran, diagnostics }
}

/** How a sequence differs from the plain one. */
interface Mode {
  /** The lanes of a step run in parallel, step by step. */
  readonly steps?: boolean
  /** Answers can no longer change the call. */
  readonly final?: boolean
  /** Conditions were checked when the step began. */
  readonly admitted?: boolean
}

/** How a hook missed its deadline. */
interface Missed {
  /** Its answer, if there is one by now. */
  readonly late?: unknown
  /** It may have answered in time. */
  readonly isInterrupted?: boolean
}

const PLAIN: Mode = { steps: true }
const FINAL: Mode = { steps: true, final: true }
const IN_STEP: Mode = { admitted: true }
const ALONE: Mode = { final: true, admitted: true }
const NO_LANES: readonly never[] = []
const IN_SHADOW = { mode: 'shadow' } as const

/**
 * Runs the hooks of a queue one after another; each sees the data as the last one left it. An overdue hook is left
 * behind: a new pass continues after it, and late results of the old pass are dropped.
 */
class Sequence extends Watched implements Dispatched, CallSite {
  event: HookEvent
  readonly ran: Ran[] = []
  readonly diagnostics: Diagnostic[] = []
  /** A deny or abort was answered. */
  ended = false
  quiet = true

  readonly #kind: EventKind
  readonly #queue: HookQueue
  readonly #options: DispatchOptions
  readonly #mode: Mode
  readonly #deadline: number
  /** `performance` is a getter: reading it once makes the clock a third cheaper for each hook. */
  readonly #clock = performance
  #pass = 0
  #now = 0
  /** Where in `ran` the current step begins. */
  #stepFrom = 0
  #hook: Hook | undefined
  #call: HookCall | undefined
  #lanes: readonly Sequence[] = NO_LANES
  /** `sameAs` keys of the hooks that run, so that the same hook does not run twice. */
  #standing: Set<string> | undefined
  /** Hooks that run here in shadow mode, although they are not in it themselves. */
  #shadows: Set<Hook> | undefined
  #watching = false
  /** The deadline of the hook has passed, but its answer may be on its way. */
  #isOnItsWay = false
  #stopListening: (() => void) | undefined
  #resolve!: (done: unknown) => void
  #finish!: (dispatched: Dispatched) => unknown
  #reject!: (error: unknown) => void

  constructor(kind: EventKind, queue: HookQueue, event: HookEvent, options: DispatchOptions, mode = PLAIN) {
    super()
    this.#kind = kind
    this.#queue = queue
    this.event = event
    this.#options = options
    this.#mode = mode
    this.#deadline = options.deadline
  }

  /** Settles at the end of the queue; rejects when the signal is aborted. */
  go<T>(finish: (dispatched: Dispatched) => T | Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#resolve = resolve as (done: unknown) => void
      this.#finish = finish
      this.#reject = reject
      this.#now = this.#clock.now()
      const { signal } = this.#options
      if (signal) {
        const stop = () => {
          const hooks: Trace[] = []
          const cause = signal.reason
          const error = new HookError('ABORTED', 'The fire was aborted', { cause, outcome: { hooks } })
          reject(error)
          this.#stop(error)
          hooks.push(...tracesOf(this.ran))
          this.#options.aborted?.(this.ran)
        }
        if (signal.aborted) return stop()
        this.#stopListening = onAbort(signal, stop)
      }
      void this.#runPass(++this.#pass)
    })
  }

  /** One loop, because a function for each hook would cost more than most hooks. */
  async #runPass(pass: number): Promise<void> {
    try {
      while (!this.ended && pass === this.#pass) {
        const hook = this.#queue.next(this.event, this.ran)
        if (hook === undefined) break
        this.#stepFrom = this.ran.length
        if (hook.lane !== null && this.#mode.steps) {
          const step = this.#queue.step()
          if (step.length > 1) {
            await this.#step(step)
            continue
          }
        }
        if (this.#mustAsk(hook) && (!this.#admits(hook) || pass !== this.#pass)) continue
        if (this.#now >= this.#deadline) {
          this.#skipLate(hook)
          continue
        }
        this.#hook = hook
        this.#call = new HookCall(hook, this)
        try {
          const answer = hook.run(this.event, this.#call)
          if (pass !== this.#pass) return ignored(answer)
          if (isPromise(answer)) {
            this.#watch(hook)
            const awaited = await answer
            if (pass !== this.#pass) return
            this.#takeInTime(hook, awaited)
          } else this.#take(hook, answer)
        } catch (thrown) {
          if (pass !== this.#pass) return
          this.#fail(hook, hookError(hook, thrown))
        }
      }
      if (pass !== this.#pass) return
      this.#end()
      this.#resolve(this.#finish(this))
    } catch (error) {
      this.#end()
      this.#reject(error)
    }
  }

  #mustAsk({ condition, detached, sameAs }: Hook): boolean {
    const free = !condition && !this.#options.admit && !detached && sameAs === undefined
    return !free && !this.#mode.admitted
  }

  /** Checks whether the hook may run here, and starts a detached one on its own. */
  #admits(hook: Hook): boolean {
    const { admit, detach } = this.#options
    try {
      const admission = admissionOf(hook, this.event, admit)
      const skip = typeof admission === 'object' ? admission : this.#repetition(hook)
      if (skip) {
        this.#record(hook, 'skipped', CONTINUE, skip)
        return false
      }
      if (admission === 'shadow') this.#shadows = (this.#shadows ?? new Set()).add(hook)
      else this.#shadows?.delete(hook)
    } catch (thrown) {
      this.#fail(hook, hookError(hook, thrown))
      return false
    }
    if (!hook.detached) return true
    detach(this.#isShadow(hook) ? { ...hook, mode: 'shadow' } : hook, this.event)
    this.#record(hook, 'detached', CONTINUE)
    return false
  }

  /** A hook that ran in an earlier round does not repeat itself. */
  #repetition(hook: Hook): Skip | undefined {
    if (
      hook.sameAs === undefined ||
      this.ran.some((one) => one.hook === hook && one.trace.status !== 'skipped')
    ) {
      return undefined
    }
    this.#standing ??= new Set()
    return repetition(hook, this.#standing)
  }

  #skipLate(hook: Hook): void {
    const text = "it was not started, because the event's deadline had passed"
    this.#fail(hook, new HookError('HOOK_TIMEOUT', text, fireTimeoutHint(this.#spent())), true)
  }

  #spent(): readonly Spent[] {
    return tracesOf([...(this.#options.earlier ?? []), ...this.ran])
  }

  /** Runs lanes in parallel, and joins their changes in configuration order. */
  async #step(hooks: readonly Hook[]): Promise<void> {
    const pass = this.#pass
    this.#rest()
    const earlier = [...(this.#options.earlier ?? []), ...this.ran]
    const inStep = this.#mode.final ? ALONE : IN_STEP
    const admitted = hooks.filter((hook) => !this.#mustAsk(hook) || this.#admits(hook))
    const options = { ...this.#options, signal: undefined, earlier, shadows: this.#shadows }
    if (pass !== this.#pass) return
    this.#lanes = lanesOf(admitted).map(
      (lane) => new Sequence(this.#kind, new FixedQueue(lane), this.event, options, inStep),
    )
    await Promise.all(this.#lanes.map((lane) => lane.go(itself)))
    if (pass !== this.#pass) return
    this.#join(this.#lanes, hooks)
    this.#lanes = NO_LANES
    this.#now = this.#clock.now()
  }

  #join(lanes: readonly Sequence[], step: readonly Hook[]): void {
    for (const lane of lanes) {
      this.diagnostics.push(...lane.diagnostics)
      if (lane.ended) this.ended = true
      if (!lane.quiet) this.quiet = false
    }
    const ran = [...this.ran.splice(this.#stepFrom), ...lanes.flatMap((lane) => lane.ran)]
    const places = new Map(step.map((hook, i) => [hook, i]))
    const placeOf = ({ hook }: Ran) => places.get(hook) ?? -1
    for (const one of ran.sort((a, b) => placeOf(a) - placeOf(b))) this.ran.push(one)
    const joined = joinLanes(this.#kind, this.event.data, lanes, placeOf, this.diagnostics)
    if (joined !== this.event.data) this.#change(joined)
  }

  /** The call has changed, so identical hooks may run again. */
  #change(data: Data): void {
    this.#standing?.clear()
    this.event = { ...this.event, data }
  }

  #watch(hook: Hook): void {
    if (!this.#watching) watch(this)
    this.#watching = true
    this.#isOnItsWay = false
    this.dueAt = Math.min(this.#now + longestOf(hook), this.#deadline)
    hurry(this.dueAt)
  }

  /** Stops waiting for a hook. */
  #rest(): void {
    this.#hook = undefined
    this.dueAt = Infinity
  }

  override overdue(now: number): void {
    const said = now < this.#deadline ? this.#call?.askAtDeadline() : undefined
    if (said !== undefined) this.#listenOn(said, now)
    else this.#leaveBehind(now, this.#isOnItsWay)
  }

  /** An answer may be on its way from another process. */
  #listenOn(said: Promise<boolean>, now: number): void {
    const [hook, call] = [this.#hook, this.#call]
    const settle = (isAll: boolean) => {
      if (this.#hook === hook && this.#call === call) this.#leaveBehind(now, !isAll)
    }
    said.then(settle, () => settle(false))
    this.#isOnItsWay = true
    this.dueAt = Math.min(now + ON_ITS_WAY_MS, this.#deadline)
  }

  #leaveBehind(now: number, isInterrupted: boolean): void {
    this.#miss(this.#hook as Hook, now, { isInterrupted })
    void this.#runPass(++this.#pass)
  }

  #miss(hook: Hook, now: number, { late, isInterrupted = false }: Missed): void {
    const own = now >= this.#now + longestOf(hook)
    const limit = own ? `within its ${longestOf(hook) / 1000} s` : "before the event's deadline"
    const hint = own
      ? timeoutHint(hook)
      : fireTimeoutHint([...this.#spent(), { name: hook.name, ms: now - this.#now }])
    const error = isInterrupted
      ? new HookError('HOOK_INTERRUPTED', INTERRUPTED)
      : new HookError('HOOK_TIMEOUT', `it did not answer ${limit}`, hint)
    this.#rest()
    this.#call?.abort(error)
    const word = this.#call?.closingWord(late)
    if (word) this.#takeLast(hook, word, error)
    else this.#fail(hook, error, !own)
  }

  /** A refusal that was already read is never lost, however late the hook is. */
  #takeLast(hook: Hook, word: HookResult, overdue: HookError): void {
    try {
      this.#take(hook, word)
      this.#call?.push({ code: overdue.code, text: `${overdue.message}; its ${word.action} counts` })
    } catch (thrown) {
      this.#fail(hook, hookError(hook, thrown))
    }
  }

  /** A hook that blocks the event loop keeps the timer from firing, but has still missed its deadline. */
  #takeInTime(hook: Hook, answer: unknown): void {
    const now = this.#clock.now()
    if (now < this.dueAt) this.#take(hook, answer, now)
    else this.#miss(hook, now, { late: answer })
  }

  #take(hook: Hook, value: unknown, now?: number): void {
    if (isContinue(value)) this.#goOn(hook, now)
    else if (value instanceof LateAnswer) this.#setAside(hook, value, now)
    else this.#takeAnswer(hook, value, now)
  }

  /** The usual answer gets no further look. */
  #goOn(hook: Hook, now = this.#clock.now()): void {
    if (this.#isShadow(hook)) {
      this.#record(hook, 'ran', CONTINUE, undefined, now)
      return
    }
    const trace = this.#call?.output
      ? traceOf(hook, 'ran', now - this.#now, CONTINUE, this.#call.output)
      : continued(hook, now - this.#now)
    this.#now = now
    this.ran.push({ trace, hook, effect: CONTINUE, left: this.event.data, endedAt: now })
  }

  #takeAnswer(hook: Hook, value: unknown, now?: number): void {
    const call = this.#call as HookCall
    const isWhole = value instanceof WholeData
    const answer = this.#withSureAllow(hook, parseResult(isWhole ? modify(value.data) : value, call))
    if (answer.data === undefined || this.#mode.final || this.#isShadow(hook)) {
      this.#record(hook, 'ran', answer, undefined, now)
      return
    }
    const before = this.event.data
    const { data, changed } = isWhole
      ? applyWhole(this.#kind, before, answer.data, this.#options, call)
      : this.#patched(answer, answer.data, call)
    if (changed.length === 0) {
      this.#record(hook, 'ran', answer, undefined, now)
      return
    }
    const changes = redactedData(changesBetween(before, data, changed))
    this.#change(data)
    this.#record(hook, 'ran', answer, { changed, changes }, now)
  }

  /** Says what the hook would have done. */
  #shadow(hook: Hook, answer: HookResult): Pick<Trace, 'would'> {
    const { would, text } = shadowOf(answer)
    new HookCall(hook, this).push({ code: 'shadow', text })
    return { would }
  }

  #isShadow(hook: Hook): boolean {
    return hook.mode === 'shadow' || (this.#shadows ?? this.#options.shadows)?.has(hook) === true
  }

  #withSureAllow(hook: Hook, answer: HookResult): HookResult {
    if (answer.permission !== 'allow' || hook.isSure?.(this.event) !== false) return answer
    const text = 'its allow does not count, because its "if" may not mean this call; name the call exactly'
    this.#call?.push({ code: 'answer-misplaced', text })
    const { permission: _, ...rest } = answer
    return rest
  }

  /** The hook continues in the background, and the sequence goes on. A gate that is not declared async has not judged. */
  #setAside(hook: Hook, { timeoutMs, finish }: LateAnswer, now?: number): void {
    const unexpected = isGate(this.#kind, hook) ? new HookError('ANSWER_INVALID', ...WENT_ON) : undefined
    if (unexpected && this.closes(hook)) {
      this.#call?.abort(unexpected)
      this.#fail(hook, unexpected)
      return
    }
    const mode = this.#isShadow(hook) ? 'shadow' : 'enforce'
    const rest: Hook = { ...hook, mode, timeoutMs, run: (_, context) => finish(context) }
    this.#options.detach(rest, this.event)
    this.#record(hook, 'detached', CONTINUE, unexpected && whyOf(unexpected), now)
  }

  /**
   * A deny or an abort stands even if its change would make the call invalid. So does an ask, unless the hook's failure
   * would have a stricter effect.
   */
  #patched(answer: HookResult, patch: Data, call: HookCall): Patched {
    try {
      return applyPatch(this.#kind, this.event.data, patch, this.#options, call)
    } catch (error) {
      const stands = endsChain(answer.action) || (isClosing(answer.action) && call.onFailure === 'continue')
      if (!stands) throw error
      call.push({ code: 'malformed-field', text: `${textOf(error)}; the ${answer.action} stands` })
      return { data: this.event.data, changed: [] }
    }
  }

  #fail(hook: Hook, error: HookError, byFire = false): void {
    const { failClosed, countsStops } = this.#options
    const effect = answerOnFailure(this.#kind, hook, error, { failClosed, byFire, countsStops })
    this.#record(hook, 'failed', effect, whyOf(error))
  }

  #record(
    hook: Hook,
    status: Trace['status'],
    answer: HookResult,
    more?: TraceDetails,
    now = this.#clock.now(),
  ): void {
    const isShadow = status !== 'skipped' && this.#isShadow(hook)
    const would = isShadow && answer !== CONTINUE ? this.#shadow(hook, answer) : undefined
    const effect = isShadow ? CONTINUE : answer
    const ms = status === 'skipped' ? 0 : now - this.#now
    this.#now = now
    if (effect !== CONTINUE || status !== 'ran') this.quiet = false
    if (effect !== CONTINUE && endsChain(verdictOf(this.#kind, hook, effect.action))) this.ended = true
    const details = this.#withOutput(status, answer, isShadow ? { ...more, ...IN_SHADOW, ...would } : more)
    const trace = traceOf(hook, status, ms, effect, details)
    this.ran.push({ trace, hook, effect, left: this.event.data, endedAt: now })
  }

  #withOutput(status: Trace['status'], effect: HookResult, more?: TraceDetails): TraceDetails | undefined {
    const output = status === 'skipped' || status === 'detached' ? undefined : this.#call?.output
    return output && !effect.suppressOutput ? { ...more, ...output } : more
  }

  /** Stops at once. The hook that was running counts as failed. */
  #stop(error: HookError): void {
    this.#pass++
    this.#call?.abort(error.cause)
    if (this.#hook) this.#fail(this.#hook, error)
    for (const lane of this.#lanes) lane.#stop(error)
    this.ran.push(...this.#lanes.flatMap((lane) => lane.ran))
    this.#end()
  }

  closes({ onFailure }: Hook): boolean {
    return closesOnFailure(this.#kind, onFailure, this.#options.failClosed)
  }

  get count(): Count | undefined {
    return this.#options.count
  }

  get outcome(): Outcome | undefined {
    return this.#options.outcome
  }

  get unstable(): boolean {
    return this.#queue.unstable
  }

  #end(): void {
    this.#rest()
    this.#stopListening?.()
    if (this.#watching) unwatch(this, this.#now)
    this.#watching = false
  }
}

/** For a hook that aborted the fire itself: drops its answer, and keeps its rejection from crashing the process. */
function ignored(answer: unknown): undefined {
  if (isPromise(answer)) Promise.resolve(answer).catch(() => undefined)
  return undefined
}

const itself = (dispatched: Dispatched): Dispatched => dispatched

function longestOf({ timeoutMs, startupMs = 0 }: Hook): number {
  return timeoutMs + startupMs
}

/** How long an answer may be on its way after the deadline. */
const ON_ITS_WAY_MS = 2000

const INTERRUPTED =
  'judging was interrupted; try again (the process that runs the hook did not report in time)'

const WENT_ON = [
  'it answered "async": true, so its verdict cannot count',
  { hint: 'Make it answer when it has decided, or put "async": true in its entry if it is not a gate.' },
] as const

function whyOf({ code, message, hint }: HookError): TraceDetails {
  const text = message.replace(/[.\s]+$/, '')
  const sentence = `${text}${text.endsWith('?') ? '' : '.'}`
  // This error already says what to type.
  return { why: code, detail: code === 'HOOK_NOT_TRUSTED' ? sentence : `${sentence} ${hint}` }
}
