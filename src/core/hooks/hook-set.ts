// Sets of hooks: several layers in one order, indexed by event and matcher value.

import type { EventKind } from '../events/events.js'
import type { Hook } from './hook.js'
import { kindRow } from './kinds.js'

/** Hooks that match one value, with their positions in the order of the event. */
export interface Selection {
  readonly hooks: readonly Hook[]
  readonly positions: readonly number[]
}

const MAX_CACHED_VALUES = 512

/** The hooks of one event, in order. Immutable. */
export class Listeners {
  readonly interceptors: readonly Hook[]
  readonly approvers: readonly Hook[]
  readonly observers: readonly Hook[]
  readonly anyOnce: boolean
  /** At least one of them listens to this event by name. */
  readonly anyNamed: boolean
  readonly #everyone: Selection
  readonly #anyMatcher: boolean
  readonly #selections = new Map<string, Selection>()

  constructor(kind: EventKind, hooks: readonly Hook[]) {
    const ordered = inOrder(hooks)
    this.interceptors = ordered.filter((hook) => hook.role === 'intercept')
    this.approvers = ordered.filter((hook) => hook.role === 'approve')
    this.observers = ordered.filter((hook) => hook.role === 'observe')
    this.anyOnce = ordered.some((hook) => hook.once)
    this.anyNamed = ordered.some((hook) => hook.events !== 'all')
    this.#everyone = { hooks: this.interceptors, positions: this.interceptors.map((_, i) => i) }
    this.#anyMatcher = kind.matcher !== null && this.interceptors.some((hook) => hook.matcher !== null)
  }

  get size(): number {
    return this.interceptors.length + this.approvers.length + this.observers.length
  }

  /** Whether any hook here can affect the event. Observers cannot. */
  get decides(): boolean {
    return this.interceptors.length + this.approvers.length > 0
  }

  /** The interceptors whose matcher accepts this value. Cached, so that ten thousand hooks cost no more than the few that match. */
  select(value: string): Selection {
    if (!this.#anyMatcher) return this.#everyone
    const known = this.#selections.get(value)
    if (known) return known
    const positions: number[] = []
    for (const [i, hook] of this.interceptors.entries()) if (matches(hook, value)) positions.push(i)
    const selection = { hooks: positions.map((i) => this.interceptors[i] as Hook), positions }
    if (this.#selections.size >= MAX_CACHED_VALUES) this.#selections.clear()
    this.#selections.set(value, selection)
    return selection
  }
}

export function matches(hook: Hook, value: string): boolean {
  return hook.matcher === null || hook.matcher.test(value)
}

/** Layers of hooks as one set. Among equals, the earlier layer comes first. Immutable; the hooks of an event are sorted when first needed. */
export class HookSet {
  readonly #hooks: readonly Hook[]
  readonly #events = new Set<string>()
  readonly #toAll: boolean
  readonly #listeners = new Map<string, Listeners>()

  constructor(layers: readonly (readonly Hook[])[]) {
    this.#hooks = layers.flat()
    this.#toAll = this.#hooks.some((hook) => hook.events === 'all')
    for (const hook of this.#hooks)
      if (hook.events !== 'all') for (const event of hook.events) this.#events.add(event)
  }

  /** Undefined if nobody listens. */
  listeners(kind: EventKind): Listeners | undefined {
    if (!this.#toAll && !this.#events.has(kind.name)) return undefined
    const known = this.#listeners.get(kind.name)
    if (known) return known
    const hooks = this.#hooks.filter((hook) => hook.events === 'all' || hook.events.has(kind.name))
    const made = new Listeners(kind, hooks)
    if (this.#listeners.size >= MAX_CACHED_VALUES) this.#listeners.clear()
    this.#listeners.set(kind.name, made)
    return made
  }

  all(): readonly Hook[] {
    return this.#hooks
  }
}

/** Sorts by priority, then hooks that share a step last (so that they form one step), global before the rest, functions before resident hooks, and then as given. */
export function inOrder(hooks: readonly Hook[]): readonly Hook[] {
  const scope = (hook: Hook) => (hook.origin.scope === 'global' ? 0 : 1)
  const shares = (hook: Hook) => (hook.lane === null ? 0 : 1)
  const kind = (hook: Hook) => (kindRow(hook.kind).inProcess ? 0 : 1)
  return [...hooks].sort(
    (a, b) => a.priority - b.priority || shares(a) - shares(b) || scope(a) - scope(b) || kind(a) - kind(b),
  )
}
