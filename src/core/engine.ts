// What all sessions of one createHooks() share: registries, host, settings, store, and the work nobody waits for.

import { type Diagnostic, textOf } from './errors.js'
import { openPayload, resolveEvent } from './events.js'
import type { SessionInfo } from './hook.js'
import { HookSet } from './hook-set.js'
import type { Host } from './host.js'
import { type Plan, planOf } from './plan.js'
import { isPromise, type MaybePromise } from './promise.js'
import { HookRegistry } from './registry.js'
import { GuardedStore, MemoryStore } from './session-store.js'
import type { Settings } from './settings.js'
import { timestamp } from './timestamp.js'

const MAX_DIAGNOSTICS = 200

/** A set of hooks made of several registries, made anew when one of them changed. */
export class Layers {
  readonly #registries: readonly HookRegistry[]
  #versions: readonly number[] = []
  #set: HookSet | undefined

  constructor(registries: readonly HookRegistry[]) {
    this.#registries = registries
  }

  /** The hooks as they are now. */
  snapshot(): HookSet {
    if (this.#set && this.#registries.every((registry, i) => registry.version === this.#versions[i]))
      return this.#set
    this.#versions = this.#registries.map((registry) => registry.version)
    this.#set = new HookSet(this.#registries.map((registry) => registry.snapshot().all()))
    return this.#set
  }

  /** The same with another registry on top. */
  with(registry: HookRegistry): Layers {
    return new Layers([...this.#registries, registry])
  }
}

export class Engine {
  readonly registry = new HookRegistry({ scope: 'host' })
  readonly layers: Layers
  readonly host: Host
  readonly settings: Settings
  readonly store: GuardedStore
  readonly clock: () => number
  closed = false
  readonly #diagnostics: Diagnostic[] = []
  readonly #aside = new Set<Promise<unknown>>()

  constructor(host: Host, settings: Settings, globals: HookRegistry | undefined) {
    this.host = host
    this.settings = settings
    this.store = new GuardedStore(host.store ?? new MemoryStore())
    this.clock = host.clock ?? Date.now
    this.layers = new Layers(globals ? [globals, this.registry] : [this.registry])
  }

  /** What went wrong outside any outcome: the newest. */
  get diagnostics(): readonly Diagnostic[] {
    return this.#diagnostics
  }

  /** What the store failed at outside any fire. */
  noteStoreFailures(): void {
    for (const failure of this.store.takeFailures()) this.note(failure)
  }

  note(d: Diagnostic): void {
    this.#diagnostics.push(d)
    if (this.#diagnostics.length > MAX_DIAGNOSTICS) this.#diagnostics.shift()
  }

  /** Work that nobody waits for but `idle`. Its failure is reported, never thrown. */
  aside(what: string, work: Promise<unknown>): void {
    const done = work
      .catch((error) => this.note({ code: 'late-failed', text: `${what}: ${textOf(error)}` }))
      .finally(() => this.#aside.delete(done))
    this.#aside.add(done)
  }

  /** Settles when nothing runs aside any more. */
  async idle(): Promise<void> {
    while (this.#aside.size > 0) await Promise.all(this.#aside)
  }

  /** Calls a function of the host. What it throws never reaches the agent; it becomes a diagnostic. */
  tell(what: string, call: () => MaybePromise<void>): Diagnostic | undefined {
    try {
      const done = call()
      if (isPromise(done)) this.aside(`the ${what} of the host`, Promise.resolve(done))
      return undefined
    } catch (error) {
      return { code: 'host-failed', text: `the ${what} of the host threw: ${textOf(error)}` }
    }
  }
}

/** The plan of an event among these hooks. Data that is not complete yet is taken as it is: nothing runs. */
export function explainEvent(
  { host, clock }: Engine,
  hooks: HookSet,
  event: string,
  data: object,
  session?: { readonly info: SessionInfo; readonly base: object },
): Plan {
  const kind = resolveEvent(event)
  const owned = { hook_event_name: kind.name, timestamp: timestamp(clock()) }
  const payload = openPayload(kind, session?.base ?? {}, data, owned)
  return planOf(kind, { name: kind.name, data: payload, session: session?.info }, hooks, host.admit)
}
