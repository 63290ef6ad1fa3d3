// The object that createHooks() returns: the hooks of one embedder.

import type { MergedSettings } from './config/merged-settings.js'
import type { Configuration } from './configuration.js'
import { type Diagnostic, HookError, textOf } from './core/base/errors.js'
import type { Data } from './core/base/json.js'
import type { MaybePromise } from './core/base/promise.js'
import type { EventArgument } from './core/events/events.js'
import type { FailurePolicy, Hook, HookDef, Register } from './core/hooks/hook.js'
import type { HookRole } from './core/hooks/kinds.js'
import type { Plan } from './core/run/plan.js'
import { type Engine, explainEvent } from './core/session/engine.js'
import { Session, type SessionOptions } from './core/session/session.js'
import type { GuardedStore } from './core/session/session-store.js'
import type { Grant } from './core/verdict/approval.js'
import type { Shared } from './runners/kind.js'
import type { Expectation } from './trust/expectation.js'
import type { Untrusted } from './trust/unit.js'

/** One hook, as `list()` shows it. */
export interface ListedHook {
  readonly id: string
  readonly name: string
  readonly kind: string
  readonly role: HookRole
  readonly events: 'all' | readonly string[]
  readonly matcher: string | null
  readonly priority: number
  /** Seconds. */
  readonly timeout: number
  readonly onFailure: FailurePolicy
  readonly scope: string
  readonly source: string
  readonly file?: string
  readonly line?: number
  /** Digest of its entry in a file. */
  readonly hash?: string
  /** For a hook from another agent's file: that agent, and its own name of the event. */
  readonly writtenFor?: { readonly agent: string; readonly event: string }
  /** Digest of the files it runs, if they were reviewed. */
  readonly content?: string
  /** Who trusted these files for the whole fleet, and when (ISO-8601). */
  readonly reviewer?: NonNullable<Hook['reviewer']>
  /** The command or process it runs, or the address or model it asks. */
  readonly command?: string
  readonly state: 'ready' | 'disabled' | 'untrusted' | 'modified'
  /** Why it is not ready. */
  readonly why?: string
  /** The hook runs as it was trusted, because the project's own version was changed or is missing. */
  readonly kept?: 'modified' | 'missing'
  /** It runs, and says what it would have done, but nothing of it counts. */
  readonly mode?: 'shadow'
  /** The rules of a file that is not trusted: they can refuse a call, and nothing else. */
  readonly onlyDenies?: true
}

/** The programs that hooks from files run outside this process. */
type Running = Pick<Shared, 'programs' | 'handedOn'>

export class Hooks implements AsyncDisposable {
  readonly #engine: Engine
  readonly #settings: MergedSettings
  readonly #configuration: Configuration | undefined
  readonly #running: Running
  #reloading: Promise<void> = Promise.resolve()

  /** @internal Use createHooks(). The types here name packages that a user may not have installed. */
  constructor(engine: Engine, running: Running, settings: MergedSettings, configuration?: Configuration) {
    this.#engine = engine
    this.#settings = settings
    this.#configuration = configuration
    this.#running = running
    engine.sessionEnded = (id) => running.handedOn.end(id, (d) => engine.note(d))
    if (!configuration) return
    engine.configured.replace(configuration.hooks, configuration.problems, configuration.kept)
    engine.lookAgain = (hooks) => {
      const isOutdated = () => configuration.isOutdated(hooks)
      return isOutdated() ? this.#lookAgain(isOutdated) : undefined
    }
    engine.skillHooks = (skills) => configuration.skillHooks(skills)
  }

  /** Adds a hook to every session. Returns a function that removes it, which may be called more than once. */
  readonly register: Register = (event, handler, options) => {
    const off = this.#engine.registry.register(event, handler, options)
    this.#engine.noteRegistered(event, handler, options)
    return off
  }

  registerHooks(defs: readonly HookDef[]): () => void {
    return this.#engine.registry.registerHooks(defs)
  }

  unregister(which: string | HookDef): void {
    this.#engine.registry.unregister(which)
  }

  session(options: SessionOptions = {}): Session {
    if (this.#engine.closed) throw new HookError('SESSION_CLOSED', 'These hooks are closed')
    return new Session(this.#engine, options)
  }

  /** Every hook that could run in a new session. */
  list(): readonly ListedHook[] {
    return this.#engine.layers
      .snapshot()
      .all()
      .map((hook) => this.#listed(hook))
  }

  #listed(hook: Hook): ListedHook {
    const { id, name, kind, role, events, matcher, priority, timeoutMs, onFailure, origin, content } = hook
    const command = this.#configuration?.commandOf(hook)
    const kept = this.#configuration?.keptOf(hook)
    const admitted = this.#engine.embedder.admit?.(hook) ?? true
    const refusal = typeof admitted === 'object' ? admitted : undefined
    return {
      id,
      name,
      kind,
      role,
      events: events === 'all' ? 'all' : [...events],
      matcher: matcher?.pattern ?? null,
      priority,
      timeout: timeoutMs / 1000,
      onFailure,
      ...origin,
      ...(content !== undefined && { content }),
      ...(hook.reviewer && { reviewer: hook.reviewer }),
      ...(command !== undefined && { command }),
      state: (refusal?.why as ListedHook['state'] | undefined) ?? 'ready',
      ...(refusal && { why: refusal.detail }),
      ...((admitted === 'shadow' || hook.mode === 'shadow') && { mode: 'shadow' as const }),
      ...(kept && { kept }),
      ...(this.#configuration?.onlyDenies(hook) && { onlyDenies: true as const }),
    }
  }

  /** Everything from the project that the user has not trusted yet, or that changed since. */
  untrusted(): readonly Untrusted[] {
    return this.#configuration?.untrusted() ?? []
  }

  /** Everything that the user had trusted in this project when files were last read, and its state then. */
  expectations(): readonly Expectation[] {
    return this.#configuration?.expectations ?? []
  }

  /** Reads the configuration files again. A file that became unreadable is reported, and its last contents stay in force. */
  reload(): Promise<void> {
    return this.#afterReloads(() => this.#reload())
  }

  /** One after another, so that an older read cannot overwrite a newer one. */
  #afterReloads(work: () => MaybePromise<void>): Promise<void> {
    this.#reloading = this.#reloading.then(work, work)
    return this.#reloading
  }

  async #reload(): Promise<void> {
    const configuration = this.#configuration
    if (!configuration) return
    await configuration.reload()
    this.#engine.settings = configuration.settings
    this.#engine.configured.replace(configuration.hooks, configuration.problems, configuration.kept)
  }

  /** Many events may find the same change, but only the first of them reloads. If that fails, everything stays as it was. */
  async #lookAgain(isOutdated: () => boolean): Promise<void> {
    try {
      await this.#afterReloads(() => (isOutdated() ? this.#reload() : undefined))
    } catch (error) {
      this.#engine.note({ code: 'host-failed', text: `reload failed: ${textOf(error)}` })
    }
  }

  /** Reads the configuration files again, now and whenever one changes. */
  async watch(): Promise<void> {
    const note = (problem: Diagnostic) => this.#engine.note(problem)
    const onChange = () => this.#engine.inBackground('reload', this.reload())
    await this.#configuration?.watch(onChange, note)
    await this.reload()
  }

  /** The hooks that would run for this event in a new session, in order, and why the others would not. Runs nothing. */
  explain<const N extends string>(event: EventArgument<N>, data: object = {}): Plan {
    return explainEvent(this.#engine, this.#engine.layers.snapshot(), event, data)
  }

  /** What hooks would say about this very event, by name, as far as that can be told without running anything. */
  async foresee(event: string, data: object = {}): Promise<ReadonlyMap<string, readonly string[]>> {
    const set = this.#engine.layers.snapshot()
    const { candidates } = explainEvent(this.#engine, set, event, data)
    const matched = new Set(candidates.filter((one) => one.matched).map(({ name }) => name))
    const told = new Map<string, readonly string[]>()
    for (const { name, foresee } of set.all()) {
      const seen = matched.has(name)
        ? await foresee?.({ name: event, data: data as Data, session: undefined })
        : []
      if (seen && seen.length > 0) told.set(name, seen)
    }
    return told
  }

  /** Every "allow always" in force. */
  async grants(): Promise<readonly Grant[]> {
    return this.#withStore((store) => store.grants())
  }

  /** False if there was no such grant. */
  async revoke(grantId: string): Promise<boolean> {
    return this.#withStore((store) => store.revokeGrant(grantId))
  }

  /** The settings in force: the embedder's, the user's and the project's, merged. */
  get settings(): MergedSettings {
    return this.#configuration?.settings ?? this.#settings
  }

  /** Problems in configuration files, and the newest problems outside any outcome. */
  get diagnostics(): readonly Diagnostic[] {
    return [...(this.#configuration?.diagnostics ?? []), ...this.#engine.diagnostics]
  }

  /**
   * Interrupts calls that were begun and not finished. Waits for background work, or ends it with `abort`, and until every
   * hook process has ended. After that, sessions refuse to fire.
   */
  async close({ abort = false }: { readonly abort?: boolean } = {}): Promise<void> {
    this.#engine.closed = true
    if (abort) this.#engine.endBackground()
    this.#engine.interrupt(this.#engine.begun)
    await this.#configuration?.close()
    await this.#engine.idle()
    await this.#configuration?.closeRunners()
    await this.#running.programs.idle()
    this.#running.handedOn.close((d) => this.#engine.note(d))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #withStore<T>(use: (store: GuardedStore) => MaybePromise<T>): Promise<T> {
    const store = this.#engine.openStore()
    const result = await use(store)
    for (const failure of store.takeFailures()) this.#engine.note(failure)
    return result
  }
}
