// The queue of hooks for an event: which one comes next, given the data as it is now.

import { type Data, sameJson } from '../base/json.js'
import { type EventKind, matcherValue } from '../events/events.js'
import type { Hook, HookEvent } from '../hooks/hook.js'
import type { Listeners, Selection } from '../hooks/hook-set.js'
import { isRefused, stepAt } from './plan.js'
import type { Ran } from './trace.js'

/**
 * What happens if the call changed after a gate judged it. `final`: the gate is shown the final call, and may only close.
 * `all`: it runs again, with all effects. `skipped`: the user is told. Hooks that only match the changed call always run.
 */
export type Recheck = 'final' | 'all' | 'skipped'

export interface HookQueue {
  /** The next hook for the event as it is now; undefined at the end. */
  next(event: HookEvent, ran: readonly Ran[]): Hook | undefined
  /** All hooks of the step that begins with the last hook from `next`. */
  step(): readonly Hook[]
  /** Hooks were still changing the call after the last round. */
  readonly unstable: boolean
}

/** Hooks in a fixed order: a lane of a step, or those that are shown the final call. */
export class FixedQueue implements HookQueue {
  readonly unstable = false
  readonly #hooks: readonly Hook[]
  #at = 0

  constructor(hooks: readonly Hook[]) {
    this.#hooks = hooks
  }

  next(): Hook | undefined {
    return this.#hooks[this.#at++]
  }

  step(): readonly Hook[] {
    const step = stepAt(this.#hooks, this.#at - 1)
    this.#at += step.length - 1
    return step
  }
}

/** Rounds after the first. */
const MAX_EXTRA_ROUNDS = 3

/**
 * The steps of an event. Matchers see the data as it is when their step begins, so the selection follows the data.
 * If the call changes, hooks that now match run in another round.
 */
export class EventQueue implements HookQueue {
  unstable = false
  readonly #kind: EventKind
  readonly #listeners: Listeners
  readonly #recheck: Recheck
  /** The data as it was sent, and as it was when the selection was made. */
  readonly #sent: Data
  #seen: Data
  #selection: Selection
  #index = 0
  /** Position of the last hook in the order of the event. */
  #position = -1
  #extraRounds = 0
  /** The only hooks that run from the second round on. */
  #only: ReadonlySet<Hook> | undefined

  constructor(kind: EventKind, listeners: Listeners, data: Data, recheck: Recheck) {
    this.#kind = kind
    this.#listeners = listeners
    this.#recheck = recheck
    this.#sent = data
    this.#seen = data
    this.#selection = listeners.select(matcherValue(kind, data))
  }

  next(event: HookEvent, ran: readonly Ran[]): Hook | undefined {
    if (event.data !== this.#seen) this.#follow(event.data)
    const { hooks } = this.#selection
    if (this.#only)
      while (this.#index < hooks.length && !this.#only.has(hooks[this.#index] as Hook)) this.#index++
    if (this.#index < hooks.length) return hooks[this.#index++]
    return event.data !== this.#sent && this.#again(event, ran) ? this.next(event, ran) : undefined
  }

  step(): readonly Hook[] {
    const step = stepAt(this.#selection.hooks, this.#index - 1)
    this.#index += step.length - 1
    return this.#only ? step.filter((hook) => this.#only?.has(hook)) : step
  }

  /** Selects the hooks for the current data, starting after the current position. */
  #follow(data: Data): void {
    const position = this.#selection.positions[this.#index - 1] ?? -1
    if (position > this.#position) this.#position = position
    this.#seen = data
    const selection = this.#listeners.select(matcherValue(this.#kind, data))
    if (selection === this.#selection) return
    this.#selection = selection
    const next = selection.positions.findIndex((one) => one > this.#position)
    this.#index = next < 0 ? selection.positions.length : next
  }

  /** Starts another round with the hooks that have not judged the changed call. False if there are none. */
  #again(event: HookEvent, ran: readonly Ran[]): boolean {
    const judged = new Map(ran.map((one) => [one.hook, one]))
    const due = this.#selection.hooks.filter((hook) => {
      const before = judged.get(hook)
      if (before === undefined) return true
      const { status, why } = before.trace
      if (status === 'skipped') return why === 'if' && !isRefused(hook, event)
      return (
        this.#recheck === 'all' &&
        status !== 'detached' &&
        !hook.observe &&
        !sameJson(before.left, event.data)
      )
    })
    if (due.length === 0) return false
    this.unstable = ++this.#extraRounds > MAX_EXTRA_ROUNDS
    this.#only = new Set(due)
    this.#index = 0
    this.#position = -1
    return !this.unstable
  }
}
