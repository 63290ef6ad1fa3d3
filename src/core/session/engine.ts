// The engine: what all sessions of one createHooks() share. Registries, embedder, settings, store, background work.

import { type Diagnostic, HookError, textOf } from '../base/errors.js'
import { inTime, isPromise, type MaybePromise } from '../base/promise.js'
import { redacted } from '../base/secrets.js'
import { plainText } from '../base/text.js'
import { timestamp } from '../base/time.js'
import { openPayload, resolveEvent, unknownEvent } from '../events/events.js'
import type { Hook, RegisterOptions, SessionInfo } from '../hooks/hook.js'
import { HookSet } from '../hooks/hook-set.js'
import type { Message } from '../hooks/outcome.js'
import { type Admit, type Plan, planOf } from '../run/plan.js'
import type { Embedder, Settings } from './embedder.js'
import { HookRegistry } from './registry.js'
import { GuardedStore, hasHooks, MemoryStore, type SessionStore, type Skills } from './session-store.js'

const MAX_DIAGNOSTICS = 200

/** Hooks that change together. */
interface Layer {
  readonly version: number
  snapshot(): HookSet
}

/** A set of hooks made of several layers, made anew when one of them changed. */
export class Layers {
  readonly #layers: readonly Layer[]
  #versions: readonly number[] = []
  #set: HookSet | undefined

  constructor(layers: readonly Layer[]) {
    this.#layers = layers
  }

  /** The hooks as they are now. */
  snapshot(): HookSet {
    if (this.#set && this.#layers.every((layer, i) => layer.version === this.#versions[i])) return this.#set
    this.#versions = this.#layers.map((layer) => layer.version)
    this.#set = new HookSet(this.#layers.map((layer) => layer.snapshot().all()))
    return this.#set
  }

  /** These layers with another one on top. */
  with(layer: Layer): Layers {
    return new Layers([...this.#layers, layer])
  }
}

/** Hooks that come and go together: those of files. */
export class HookList implements Layer {
  version = 0
  /** Problems of the files they come from: every session is told once. */
  problems: readonly Diagnostic[] = []
  /** Files and folders that are not as they were trusted, and whose gates are as they were, or closed. */
  kept: readonly string[] = []
  #set = new HookSet([])

  replace(hooks: readonly Hook[], problems: readonly Diagnostic[] = [], kept: readonly string[] = []): void {
    this.#set = new HookSet([hooks])
    this.problems = problems
    this.kept = kept
    this.version++
  }

  snapshot(): HookSet {
    return this.#set
  }
}

/** The hooks that the skills of a session bring. */
export interface SkillHooks {
  readonly hooks: readonly Hook[]
  /** Problems of their entries. */
  readonly problems: readonly Diagnostic[]
}

/** Work that only `idle` waits for. */
export class Background {
  readonly #running = new Set<Promise<void>>()

  add(work: Promise<void>): void {
    this.#running.add(work)
    void work.finally(() => this.#running.delete(work))
  }

  /** Settles when nothing runs any more. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}

/** An embedder's function that has not settled by then has failed. */
export const EMBEDDER_TIMEOUT_MS = 5000
/** The latest time that a Date can hold. */
const LATEST_TIME = 8.64e15

export class Engine {
  readonly registry = new HookRegistry({ scope: 'host' })
  /** Hooks that come from files. */
  readonly configured = new HookList()
  readonly layers: Layers
  readonly embedder: Embedder
  settings: Settings
  closed = false
  /** Called when a session is closed, so that things it left outside can go. */
  sessionEnded: (id: string) => void = () => {}
  /** Called before hooks are looked up for an event, so that files that were repaired count. */
  lookAgain: () => MaybePromise<void> = () => undefined
  /** Makes the hooks that skills bring along. Only code that reads files can; the kernel alone cannot. */
  skillHooks: (state: Skills) => Promise<SkillHooks> = withoutFiles
  readonly #store: SessionStore
  readonly #globals: HookRegistry | undefined
  readonly #diagnostics: Diagnostic[] = []
  readonly #unknown = new Set<string>()
  readonly #background = new Background()
  readonly #ending = new AbortController()

  constructor(embedder: Embedder, settings: Settings, globals: HookRegistry | undefined) {
    this.embedder = embedder
    this.settings = settings
    this.#globals = globals
    this.#store = embedder.store ?? new MemoryStore()
    const own = [this.registry, this.configured]
    this.layers = new Layers(globals ? [globals, ...own] : own)
  }

  /** The store for one user of it: what it fails at is reported there. */
  openStore(): GuardedStore {
    return new GuardedStore(this.#store)
  }

  /** Whether every event is recorded, or must be. */
  get recordsAll(): boolean {
    return this.embedder.audit !== undefined || this.settings.audit_on_failure === 'block'
  }

  /** Milliseconds since 1970: the embedder's clock, or the machine's if that gives no valid time. */
  now(): number {
    try {
      const now = this.embedder.clock?.()
      return now !== undefined && Math.abs(now) <= LATEST_TIME ? now : Date.now()
    } catch (error) {
      this.note({ code: 'host-failed', text: `the clock of the host threw: ${textOf(error)}` })
      return Date.now()
    }
  }

  /** The newest problems outside any outcome. */
  get diagnostics(): readonly Diagnostic[] {
    return [...(this.#globals?.diagnostics ?? []), ...this.registry.diagnostics, ...this.#diagnostics]
  }

  note(d: Diagnostic): void {
    this.#diagnostics.push(redacted(d, ['text']))
    if (this.#diagnostics.length > MAX_DIAGNOSTICS) this.#diagnostics.shift()
  }

  /** Notes a hook on a name that is not in the catalogue. Observers may hear of things that are no events. */
  noteRegistered(event: string, { name }: { readonly name: string }, options: RegisterOptions = {}): void {
    if (event === '*' || options.custom || options.role === 'observe' || !resolveEvent(event).custom) return
    this.#noteSlip(unknownEvent(event, `${options.name ?? (name || 'a hook')} is registered on`))
  }

  /** Notes once that an event was fired under a name that neither the catalogue nor any hook has. */
  noteUnknown(event: string): void {
    if (this.#unknown.has(event) || this.#unknown.size >= MAX_DIAGNOSTICS) return
    this.#unknown.add(event)
    this.#noteSlip(unknownEvent(event, 'the host fired'))
  }

  /** A name that looks like that of a known event is shown to people too: a gate on it would never run. */
  #noteSlip(d: Diagnostic): void {
    this.note(d)
    const { display } = this.embedder
    if (d.meant === undefined || !display) return
    const message: Message = { text: plainText(d.text), level: 'warning', source: 'carabiner' }
    const failed = this.tell('display', () => display(message))
    if (failed) this.note(failed)
  }

  /** Lets work run on its own. Its failure is reported, never thrown. */
  inBackground(what: string, work: Promise<unknown>, session?: Background): void {
    const done = work.then(
      () => undefined,
      (error) => this.note({ code: 'late-failed', text: `${what}: ${textOf(error)}` }),
    )
    this.#background.add(done)
    session?.add(done)
  }

  /** The signal for hooks in the background: aborted when nobody will wait for them. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  endBackground(): void {
    this.#ending.abort(new HookError('ABORTED', 'These hooks are closed, and what ran aside was ended'))
  }

  /** Settles when no background work is left in any session. */
  idle(): Promise<void> {
    return this.#background.idle()
  }

  /** Calls a function of the embedder. Its error never reaches the agent; it becomes a diagnostic. */
  tell(what: string, call: () => MaybePromise<void>, session?: Background): Diagnostic | undefined {
    try {
      const done = call()
      if (isPromise(done))
        this.inBackground(`the ${what} of the host`, inTime(done, EMBEDDER_TIMEOUT_MS), session)
      return undefined
    } catch (error) {
      const text = `the ${what} of the host threw: ${textOf(error)}`
      return redacted<Diagnostic>({ code: 'host-failed', text }, ['text'])
    }
  }
}

async function withoutFiles({ skills }: Skills): Promise<SkillHooks> {
  const text = (name: string) =>
    `the hooks of the skill ${name} do not run: pass projectDir to createHooks(), as for those of files`
  return {
    hooks: [],
    problems: skills
      .filter(hasHooks)
      .map(({ name }) => ({ code: 'entry-unsupported', text: plainText(text(name)) })),
  }
}

/** The plan of an event among these hooks. Incomplete data is taken as it is: nothing runs. */
export function explainEvent(
  engine: Engine,
  hooks: HookSet,
  event: string,
  data: object,
  session?: { readonly info: SessionInfo; readonly base: object; readonly claimed: ReadonlySet<string> },
): Plan {
  const kind = resolveEvent(event)
  const payload = openPayload(kind, session?.base ?? {}, data, { timestamp: timestamp(engine.now()) })
  const { admit } = engine.embedder
  const unlessSpent: Admit = (hook) =>
    hook.once && session?.claimed.has(hook.id)
      ? { why: 'once', detail: 'it has run in this session, and runs once' }
      : admit
        ? admit(hook)
        : true
  return planOf(kind, { name: kind.name, data: payload, session: session?.info }, hooks, unlessSpent)
}
