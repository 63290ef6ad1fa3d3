// Runs a plan: order, threading, deadlines, failures, rounds. Everything that decides who runs when is in this file.

import { type Diagnostic, HookError, textOf } from '../base/errors.js'
import { type Data, sameJson } from '../base/json.js'
import { isPromise, onAbort } from '../base/promise.js'
import { redactedData } from '../base/secrets.js'
import { endsChain } from '../events/actions.js'
import { type EventKind, matcherValue } from '../events/events.js'
import { applyPatch, type Patched, type PatchRules } from '../events/patch.js'
import { CONTINUE, type HookResult, parseResult } from '../events/result.js'
import { type Hook, type HookEvent, LateAnswer } from '../hooks/hook.js'
import { type Listeners, matches } from '../hooks/hook-set.js'
import type { Outcome, Trace } from '../hooks/outcome.js'
import {
  answerOnFailure,
  HookCall,
  hookError,
  hurry,
  type Occasion,
  timeoutHint,
  unwatch,
  Watched,
  watch,
} from './hook-run.js'
import { type Admit, lanesOf, refusal, repetition, type Skip } from './plan.js'
import { Lane, Route, type Way } from './queue.js'
import { changesBetween, joinLanes, Ran, type TraceDetails, verdictOf } from './trace.js'

export interface DispatchOptions extends PatchRules {
  readonly admit?: Admit | undefined
  readonly signal?: AbortSignal | undefined
  /** For the whole fire, on the engine's clock. */
  readonly deadline: number
  /** Which hooks a changed call is shown to again: those that were skipped, or all that judged an older version. */
  readonly recheck: 'skipped' | 'all'
  /** Closes every gate whose hook fails, whatever the hook says. */
  readonly failClosed: boolean
  /** Takes a detached hook off the path. */
  readonly detach: (hook: Hook, event: HookEvent) => void
  /** For observers. */
  readonly outcome?: Outcome | undefined
}

export interface Dispatched {
  readonly event: HookEvent
  /** In plan order. */
  readonly ran: readonly Ran[]
  readonly diagnostics: readonly Diagnostic[]
  /** Every hook that ran went on and said nothing else. */
  readonly quiet: boolean
  /** Hooks were still changing the call after the last round. */
  readonly unstable: boolean
  /** Place in `ran` of the first hook whose step saw no later step change the call. */
  readonly allowsFrom: number
}

/** Runs the interceptors; the promise is for what `finish` makes of it. Rejects only when the signal is aborted. */
export function dispatch<T>(
  kind: EventKind,
  listeners: Listeners,
  event: HookEvent,
  options: DispatchOptions,
  finish: (dispatched: Dispatched) => T | Promise<T>,
): Promise<T> {
  const route = new Route(kind, listeners, event.data, options.recheck)
  return new Walk(kind, route, event, options).go(finish)
}

/** Runs the given hooks in sequence on the final call; nothing they answer changes it. */
export function runOnFinal(
  kind: EventKind,
  hooks: readonly Hook[],
  event: HookEvent,
  options: DispatchOptions,
): Promise<Dispatched> {
  const value = matcherValue(kind, event.data)
  const wanted = hooks.filter((hook) => kind.matcher === null || matches(hook, value))
  return new Walk(kind, new Lane(wanted), event, options, FINAL).go(itself)
}

/** Runs one hook off the path, whether it is meant to be or not. Nobody waits for it, so its failure closes nothing. */
export async function runAlone(
  kind: EventKind,
  hook: Hook,
  event: HookEvent,
  options: DispatchOptions,
): Promise<{ readonly ran: Ran; readonly diagnostics: readonly Diagnostic[] }> {
  const lane = new Lane([{ ...hook, onFailure: 'continue' }])
  const open = { ...options, failClosed: false }
  const { ran, diagnostics } = await new Walk(kind, lane, event, open, ALONE).go(itself)
  return { ran: ran[0] as Ran, diagnostics }
}

/** How a walk differs from the plain one. */
interface Manner {
  /** What hooks answer cannot change the call any more. */
  readonly final?: boolean
  /** Conditions were asked when the step began. */
  readonly admitted?: boolean
}

const PLAIN: Manner = {}
const FINAL: Manner = { final: true }
const IN_STEP: Manner = { admitted: true }
const ALONE: Manner = { final: true, admitted: true }
const NO_LANES: readonly never[] = []

/**
 * Walks a way, one hook after another, threading data. A hook that is overdue is left behind: the walk is taken up
 * after it on a new leg, and whatever the old leg still brings is dropped.
 */
class Walk extends Watched implements Dispatched, Occasion {
  event: HookEvent
  readonly ran: Ran[] = []
  readonly diagnostics: Diagnostic[] = []
  /** A deny or abort was answered. */
  ended = false
  quiet = true

  readonly #kind: EventKind
  readonly #way: Way
  readonly #sent: HookEvent
  readonly #options: DispatchOptions
  readonly #manner: Manner
  readonly #deadline: number
  /** The global is a getter; asked once per walk, so that the clock costs a third less for each hook. */
  readonly #clock = performance
  #leg = 0
  #now = 0
  /** Where in `ran` the step under way begins. */
  #stepFrom = 0
  #allowsFrom = 0
  #hook: Hook | undefined
  #call: HookCall | undefined
  #lanes: readonly Walk[] = NO_LANES
  /** Keys of hooks that stand for all that are the same. */
  #standing: Set<string> | undefined
  #watching = false
  #stopListening: (() => void) | undefined
  #resolve!: (done: unknown) => void
  #finish!: (dispatched: Dispatched) => unknown
  #reject!: (error: unknown) => void

  constructor(kind: EventKind, way: Way, event: HookEvent, options: DispatchOptions, manner = PLAIN) {
    super()
    this.#kind = kind
    this.#way = way
    this.event = event
    this.#sent = event
    this.#options = options
    this.#manner = manner
    this.#deadline = options.deadline
  }

  /** Settles when the way ends; rejects when the signal is aborted. */
  go<T>(finish: (dispatched: Dispatched) => T | Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#resolve = resolve as (done: unknown) => void
      this.#finish = finish
      this.#reject = reject
      this.#now = this.#clock.now()
      const { signal } = this.#options
      if (signal) {
        const stop = () => {
          const error = new HookError('ABORTED', 'The fire was aborted', {
            cause: signal.reason,
            outcome: { hooks: this.ran },
          })
          reject(error)
          this.#stop(error)
        }
        if (signal.aborted) return stop()
        this.#stopListening = onAbort(signal, stop)
      }
      void this.#walk(++this.#leg)
    })
  }

  async #walk(leg: number): Promise<void> {
    try {
      for (let awaited = this.#advance(); awaited !== undefined; awaited = this.#advance()) {
        try {
          const answer = await awaited
          if (leg !== this.#leg) return
          if (this.#hook) this.#takeInTime(this.#hook, answer)
        } catch (thrown) {
          if (leg !== this.#leg) return
          if (!this.#hook) throw thrown
          this.#fail(this.#hook, hookError(this.#hook, thrown))
        }
      }
      if (leg !== this.#leg) return
      this.#end()
      if (this.event !== this.#sent && this.#manner === PLAIN) noteStale(this.#kind, this)
      this.#resolve(this.#finish(this))
    } catch (error) {
      this.#end()
      this.#reject(error)
    }
  }

  /** Runs hooks until one must be waited for, or a whole step; undefined at the end of the way. */
  #advance(): Promise<unknown> | undefined {
    const leg = this.#leg
    while (!this.ended && leg === this.#leg) {
      const hook = this.#way.next(this.event, this.ran)
      if (hook === undefined) return undefined
      this.#stepFrom = this.ran.length
      if (hook.lane !== null && this.#manner === PLAIN) {
        const step = this.#way.step()
        if (step.length > 1) return this.#step(step) // one alone has nobody to run beside
      }
      if (this.#mustAsk(hook) && (!this.#admits(hook) || leg !== this.#leg)) continue
      if (!this.#inTime(hook)) continue
      this.#hook = hook
      this.#call = new HookCall(hook, this)
      try {
        const answer = hook.run(this.event, this.#call)
        if (leg !== this.#leg) return ignored(answer)
        if (isPromise(answer)) {
          this.#watch(hook)
          return answer
        }
        this.#take(hook, answer)
      } catch (thrown) {
        this.#fail(hook, hookError(hook, thrown))
      }
    }
    return undefined
  }

  #mustAsk({ condition, detached, sameAs }: Hook): boolean {
    const free = !condition && !this.#options.admit && !detached && sameAs === undefined
    return !free && !this.#manner.admitted
  }

  /** Asks what must be asked before a hook runs, and sets off a detached one. */
  #admits(hook: Hook): boolean {
    const { admit, detach } = this.#options
    try {
      const skip = refusal(hook, this.event, admit) ?? this.#repetition(hook)
      if (skip) {
        this.#record(hook, 'skipped', CONTINUE, skip)
        return false
      }
    } catch (thrown) {
      this.#fail(hook, hookError(hook, thrown))
      return false
    }
    if (!hook.detached) return true
    detach(hook, this.event)
    this.#record(hook, 'detached', CONTINUE)
    return false
  }

  /** In a further round a hook stands for itself. */
  #repetition(hook: Hook): Skip | undefined {
    if (hook.sameAs === undefined || this.ran.some((one) => one.hook === hook && one.status !== 'skipped')) {
      return undefined
    }
    this.#standing ??= new Set()
    return repetition(hook, this.#standing)
  }

  #inTime(hook: Hook): boolean {
    if (this.#now < this.#deadline) return true
    const text = 'it was not started: the deadline of the fire has passed'
    this.#fail(hook, new HookError('HOOK_TIMEOUT', text))
    return false
  }

  /** Lanes run at once; their changes are joined in configuration order. */
  async #step(hooks: readonly Hook[]): Promise<void> {
    const leg = this.#leg
    this.#rest()
    const options = { ...this.#options, signal: undefined }
    const admitted = hooks.filter((hook) => !this.#mustAsk(hook) || this.#admits(hook))
    if (leg !== this.#leg) return
    this.#lanes = lanesOf(admitted).map(
      (lane) => new Walk(this.#kind, new Lane(lane), this.event, options, IN_STEP),
    )
    await Promise.all(this.#lanes.map((lane) => lane.go(itself)))
    if (leg !== this.#leg) return
    this.#join(this.#lanes, hooks)
    this.#lanes = NO_LANES
    this.#now = this.#clock.now()
  }

  #join(lanes: readonly Walk[], step: readonly Hook[]): void {
    for (const lane of lanes) {
      this.diagnostics.push(...lane.diagnostics)
      if (lane.ended) this.ended = true
      if (!lane.quiet) this.quiet = false
    }
    const ran = [...this.ran.splice(this.#stepFrom), ...lanes.flatMap((lane) => lane.ran)]
    this.ran.push(...ran.sort((a, b) => step.indexOf(a.hook) - step.indexOf(b.hook)))
    const joined = joinLanes(this.#kind, this.event.data, lanes, step, this.diagnostics)
    if (joined !== this.event.data) this.#change(joined)
  }

  /** What was allowed before, by an earlier step, was another call, and whoever judged that judged it for nobody else. */
  #change(data: Data): void {
    this.#allowsFrom = this.#stepFrom
    this.#standing?.clear()
    this.event = { ...this.event, data }
  }

  #watch(hook: Hook): void {
    if (!this.#watching) watch(this)
    this.#watching = true
    this.dueAt = Math.min(this.#now + longestOf(hook), this.#deadline)
    hurry(this.dueAt)
  }

  /** Nobody is waited for. */
  #rest(): void {
    this.#hook = undefined
    this.dueAt = Infinity
  }

  override overdue(now: number): void {
    this.#miss(this.#hook as Hook, now)
    void this.#walk(++this.#leg)
  }

  #miss(hook: Hook, now: number): void {
    const own = now >= this.#now + longestOf(hook)
    const limit = own ? `within its ${longestOf(hook) / 1000} s` : 'before the deadline of the fire'
    const error = new HookError('HOOK_TIMEOUT', `it did not answer ${limit}`, timeoutHint(hook))
    this.#rest()
    this.#call?.abort(error)
    this.#fail(hook, error)
  }

  /** A hook that keeps the timer from running has still missed its deadline. */
  #takeInTime(hook: Hook, answer: unknown): void {
    const now = this.#clock.now()
    if (now < this.dueAt) this.#take(hook, answer, now)
    else this.#miss(hook, now)
  }

  #take(hook: Hook, value: unknown, now?: number): void {
    if (value instanceof LateAnswer) {
      this.#setAside(hook, value, now)
      return
    }
    const call = this.#call as HookCall
    const answer = parseResult(value, call)
    if (answer.data === undefined || this.#manner.final) {
      this.#record(hook, 'ran', answer, undefined, now)
      return
    }
    const before = this.event.data
    const { data, changed } = this.#patched(answer, answer.data, call)
    if (changed.length === 0) {
      this.#record(hook, 'ran', answer, undefined, now)
      return
    }
    const changes = redactedData(changesBetween(before, data, changed))
    this.#change(data)
    this.#record(hook, 'ran', answer, { changed, changes }, now)
  }

  /** The hook goes on by itself; so does the walk. */
  #setAside(hook: Hook, { timeoutMs, finish }: LateAnswer, now?: number): void {
    const rest: Hook = { ...hook, timeoutMs, run: (_, context) => finish(context) }
    this.#options.detach(rest, this.event)
    this.#record(hook, 'detached', CONTINUE, undefined, now)
  }

  /** A verdict that stands does so also where its change makes no valid call. */
  #patched(answer: HookResult, patch: Data, call: HookCall): Patched {
    try {
      return applyPatch(this.#kind, this.event.data, patch, this.#options, call)
    } catch (error) {
      if (!endsChain(answer.action)) throw error
      call.push({ code: 'malformed-field', text: `${textOf(error)}; the ${answer.action} stands` })
      return { data: this.event.data, changed: [] }
    }
  }

  #fail(hook: Hook, error: HookError): void {
    const effect = answerOnFailure(this.#kind, hook, error, this.#options.failClosed)
    const message = error.message.replace(/[.\s]+$/, '')
    const detail = `${message}${message.endsWith('?') ? '' : '.'} ${error.hint}`
    this.#record(hook, 'failed', effect, { why: error.code, detail })
  }

  #record(
    hook: Hook,
    status: Trace['status'],
    effect: HookResult,
    more?: TraceDetails,
    now = this.#clock.now(),
  ): void {
    const ms = status === 'skipped' ? 0 : now - this.#now
    this.#now = now
    if (effect !== CONTINUE || status !== 'ran') this.quiet = false
    if (effect !== CONTINUE && endsChain(verdictOf(this.#kind, hook, effect.action))) this.ended = true
    const details = this.#withOutput(status, effect, more)
    this.ran.push(new Ran(hook, status, ms, effect, this.event.data, now, details))
  }

  #withOutput(status: Trace['status'], effect: HookResult, more?: TraceDetails): TraceDetails | undefined {
    const output = status === 'skipped' || status === 'detached' ? undefined : this.#call?.output
    return output && !effect.suppressOutput ? { ...more, ...output } : more
  }

  /** Leaves everything where it stands; what was running has failed. */
  #stop(error: HookError): void {
    this.#leg++
    this.#call?.abort(error.cause)
    if (this.#hook) this.#fail(this.#hook, error)
    for (const lane of this.#lanes) lane.#stop(error)
    this.ran.push(...this.#lanes.flatMap((lane) => lane.ran))
    this.#end()
  }

  get outcome(): Outcome | undefined {
    return this.#options.outcome
  }

  get unstable(): boolean {
    return this.#way.unstable
  }

  get allowsFrom(): number {
    return this.#allowsFrom
  }

  #end(): void {
    this.#rest()
    this.#stopListening?.()
    if (this.#watching) unwatch(this, this.#now)
    this.#watching = false
  }
}

/** The hook itself aborted the fire: nobody waits for its answer any more, but its failure must not go unheard of. */
function ignored(answer: unknown): undefined {
  if (isPromise(answer)) Promise.resolve(answer).catch(() => undefined)
  return undefined
}

const itself = (dispatched: Dispatched): Dispatched => dispatched

function longestOf({ timeoutMs, startupMs = 0 }: Hook): number {
  return timeoutMs + startupMs
}

/** A gate that let an older version of the call pass has not judged the one that runs. */
function noteStale(kind: EventKind, walk: Walk): void {
  if (kind.deny !== 'block') return
  const latest = new Map(walk.ran.map((one) => [one.hook, one]))
  for (const { hook, status, left } of latest.values()) {
    if (status === 'ran' && left !== walk.event.data && !sameJson(left, walk.event.data)) {
      const text = `${hook.name} judged a version of the call that a later hook changed; set recheck to "all" to show it the final one`
      walk.diagnostics.push({ code: 'stale', text })
    }
  }
}
