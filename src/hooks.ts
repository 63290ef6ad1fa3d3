// What createHooks() returns: the hooks of one host.

import type { Grant } from './core/approval.js'
import { type Engine, explainEvent } from './core/engine.js'
import { type Diagnostic, HookError } from './core/errors.js'
import type { EventAlias } from './core/events.js'
import type { Handler, HookDef, RegisterOptions } from './core/hook.js'
import type { Plan } from './core/plan.js'
import type { MaybePromise } from './core/promise.js'
import { Session, type SessionOptions } from './core/session.js'
import type { GuardedStore } from './core/session-store.js'

/** One hook, as `list()` shows it. */
export interface ListedHook {
  readonly name: string
  readonly kind: string
  readonly role: string
  readonly events: 'all' | readonly string[]
  readonly matcher: string | null
  readonly priority: number
  /** Seconds. */
  readonly timeout: number
  readonly scope: string
  readonly source: string
  readonly file?: string
  readonly line?: number
}

export class Hooks implements AsyncDisposable {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** A hook of every session. Returns its unregister, which may be called any number of times. */
  register<N extends EventAlias | (string & {})>(
    event: N,
    handler: Handler<N>,
    options?: RegisterOptions,
  ): () => void {
    return this.#engine.registry.register(event, handler, options)
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
    const hooks = this.#engine.layers.snapshot().all()
    return hooks.map(({ name, kind, role, events, matcher, priority, timeoutMs, origin }) => ({
      name,
      kind,
      role,
      events: events === 'all' ? 'all' : [...events],
      matcher: matcher?.pattern ?? null,
      priority,
      timeout: timeoutMs / 1000,
      ...origin,
    }))
  }

  /** Who would run for this event in a new session, in which order, and who would not and why. Runs nothing. */
  explain<N extends EventAlias | (string & {})>(event: N, data: object = {}): Plan {
    return explainEvent(this.#engine, this.#engine.layers.snapshot(), event, data)
  }

  /** Every "allow always" that was given. */
  async grants(): Promise<readonly Grant[]> {
    return this.#withStore((store) => store.grants())
  }

  /** False if there was no such grant. */
  async revoke(grantId: string): Promise<boolean> {
    return this.#withStore((store) => store.revokeGrant(grantId))
  }

  /** The newest of what went wrong outside any outcome. */
  get diagnostics(): readonly Diagnostic[] {
    return this.#engine.diagnostics
  }

  /** Waits for what runs aside. Sessions refuse to fire afterwards. */
  async close(): Promise<void> {
    this.#engine.closed = true
    await this.#engine.idle()
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
