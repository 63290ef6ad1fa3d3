// The engine, which all sessions of one createHooks() share: registries, embedder, settings, store, background work.

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

/** A set of hooks made of several layers, rebuilt when one of them changes. */
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

/** Hooks that are replaced together, such as those from files. */
export class HookList implements Layer {
  version = 0
  /** Problems with their files. Every session is told once. */
  problems: readonly Diagnostic[] = []
  /** Files and folders that changed since they were trusted. Their gates run as trusted, or are closed. */
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

/** The hooks of a session's skills. */
export interface SkillHooks {
  readonly hooks: readonly Hook[]
  /** Problems with their entries. */
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

/** Ends a begun call that the host did not end. */
export type Interrupt = (why: string) => Promise<void>

/** After this time, an embedder's function counts as failed. */
export const EMBEDDER_TIMEOUT_MS = 5000
const SESSION_GONE = 'The session was closed before the call was finished'
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
  /** Called when a session is closed, so that whatever it left outside can be removed. */
  sessionEnded: (id: string) => void = () => {}
  /** Called before the hooks of an event are used, so that changed files and new trust count. `hooks` returns those hooks. */
  lookAgain: (hooks: () => readonly Hook[]) => MaybePromise<void> = () => undefined
  /** Makes the hooks of skills. This needs code that reads files, which the kernel does not have. */
  skillHooks: (state: Skills) => Promise<SkillHooks> = withoutFiles
  /** Calls of any session that were begun and have not ended. */
  readonly begun = new Set<Interrupt>()
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

  /** Opens the store for one user, who gets its failures. */
  openStore(): GuardedStore {
    return new GuardedStore(this.#store)
  }

  /** Whether every event is recorded, or has to be. */
  get recordsAll(): boolean {
    return this.embedder.audit !== undefined || this.settings.audit_on_failure === 'block'
  }

  /** Milliseconds since 1970, by the embedder's clock, or the machine's if that one gives no valid time. */
  now(): number {
    try {
      const now = this.embedder.clock?.()
      return now !== undefined && Math.abs(now) <= LATEST_TIME ? now : Date.now()
    } catch (error) {
      this.note({ code: 'host-failed', text: `the host's clock threw: ${textOf(error)}` })
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

  /** Reports a hook on a name that is not in the catalogue. Observers may also be told of things that are not events. */
  noteRegistered(event: string, { name }: { readonly name: string }, options: RegisterOptions = {}): void {
    if (event === '*' || options.custom || options.role === 'observe' || !resolveEvent(event).custom) return
    this.#noteSlip(unknownEvent(event, `${options.name ?? (name || 'a hook')} is registered on`))
  }

  /** Reports once that an event was fired whose name neither the catalogue nor any hook has. */
  noteUnknown(event: string): void {
    if (this.#unknown.has(event) || this.#unknown.size >= MAX_DIAGNOSTICS) return
    this.#unknown.add(event)
    this.#noteSlip(unknownEvent(event, 'the host fired'))
  }

  /** A name that resembles a known event is shown to people too, because a gate on it would never run. */
  #noteSlip(d: Diagnostic): void {
    this.note(d)
    const { display } = this.embedder
    if (d.meant === undefined || !display) return
    const message: Message = { text: plainText(d.text), level: 'warning', source: 'carabiner' }
    const failed = this.tell('display', () => display(message))
    if (failed) this.note(failed)
  }

  /** Runs work in the background. A failure is reported, never thrown. */
  inBackground(what: string, work: Promise<unknown>, session?: Background): void {
    const done = work.then(
      () => undefined,
      (error) => this.note({ code: 'late-failed', text: `${what}: ${textOf(error)}` }),
    )
    this.#background.add(done)
    session?.add(done)
  }

  /** The session of these calls is closed. */
  interrupt(begun: ReadonlySet<Interrupt>, session?: Background): void {
    for (const interrupt of begun) this.inBackground('an unfinished call', interrupt(SESSION_GONE), session)
  }

  /** The signal for background hooks, aborted when nothing will wait for them any more. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  endBackground(): void {
    this.#ending.abort(
      new HookError('ABORTED', 'These hooks are closed, and their background work was ended'),
    )
  }

  /** Settles when no background work is left in any session. */
  idle(): Promise<void> {
    return this.#background.idle()
  }

  /** Calls a function of the embedder. Its error never reaches the agent; it becomes a diagnostic. */
  tell(what: string, call: () => MaybePromise<void>, session?: Background): Diagnostic | undefined {
    try {
      const done = call()
      if (isPromise(done)) this.inBackground(`the host's ${what}`, inTime(done, EMBEDDER_TIMEOUT_MS), session)
      return undefined
    } catch (error) {
      const text = `the host's ${what} threw: ${textOf(error)}`
      return redacted<Diagnostic>({ code: 'host-failed', text }, ['text'])
    }
  }
}

async function withoutFiles({ skills }: Skills): Promise<SkillHooks> {
  const text = (name: string) =>
    `the hooks of the skill ${name} do not run; pass projectDir to createHooks() to run them`
  return {
    hooks: [],
    problems: skills
      .filter(hasHooks)
      .map(({ name }) => ({ code: 'entry-unsupported', text: plainText(text(name)) })),
  }
}

/** The plan of an event for these hooks. Incomplete data is accepted, because nothing runs. */
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
      ? { why: 'once', detail: 'it runs once per session, and has already run' }
      : admit
        ? admit(hook)
        : true
  return planOf(kind, { name: kind.name, data: payload, session: session?.info }, hooks, unlessSpent)
}
