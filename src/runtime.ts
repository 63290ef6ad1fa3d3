// createHooks(): puts the engine together with what the host gives it.

import type { Grant } from './core/approval.js'
import { Engine, explainEvent } from './core/engine.js'
import { type Diagnostic, HookError } from './core/errors.js'
import type { EventAlias } from './core/events.js'
import type { Handler, HookDef, RegisterOptions } from './core/hook.js'
import type { Host } from './core/host.js'
import { anything, type Checks, checkOptions, isFunction } from './core/options.js'
import type { Plan } from './core/plan.js'
import type { MaybePromise } from './core/promise.js'
import { globalHooks, HookRegistry } from './core/registry.js'
import { Session, type SessionOptions } from './core/session.js'
import type { GuardedStore, SessionStore } from './core/session-store.js'
import { readSettings, type Settings } from './core/settings.js'

export interface HooksOptions extends Host {
  /** Under the names of a settings file. */
  readonly settings?: Partial<Settings>
  /** The process-wide hooks; false isolates from them, another registry replaces them. */
  readonly globals?: boolean | HookRegistry
}

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

const STORE_METHODS = ['load', 'update', 'release', 'keep', 'grants', 'addGrant', 'revokeGrant'] as const

const OPTIONS: Checks<HooksOptions> = {
  approver: [(value) => value === 'deny' || typeof value === 'function', 'a function or "deny"'],
  display: isFunction,
  context: isFunction,
  audit: isFunction,
  admit: isFunction,
  clock: isFunction,
  store: [isStore, `a SessionStore with ${STORE_METHODS.join(', ')}`],
  settings: anything, // readSettings says more about them
  globals: [
    (value) => typeof value === 'boolean' || isGlobal(value),
    "true, false, or a new HookRegistry({ scope: 'global' })",
  ],
}

function isStore(value: unknown): boolean {
  return STORE_METHODS.every((method) => typeof (value as SessionStore | null)?.[method] === 'function')
}

function isGlobal(value: unknown): boolean {
  return value instanceof HookRegistry && value.scope === 'global'
}

/** All options are optional. An unknown one is refused: a misspelt `approver` would otherwise never be asked. */
export async function createHooks(options: HooksOptions = {}): Promise<Hooks> {
  checkOptions('createHooks', options, OPTIONS)
  const { settings, globals = true, ...host } = options
  const registry = typeof globals === 'boolean' ? (globals ? globalHooks : undefined) : globals
  return new Hooks(new Engine(host, readSettings(settings), registry))
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
