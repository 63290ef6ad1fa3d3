// One session as the functions along an event's path see it, and its turns.

import type { Diagnostic } from '../base/errors.js'
import type { MaybePromise } from '../base/promise.js'
import type { SessionInfo } from '../hooks/hook.js'
import type { HookSet } from '../hooks/hook-set.js'
import type { WantedInjection } from '../hooks/outcome.js'
import type { Background, Engine } from './engine.js'
import type { GuardedStore, SessionState } from './session-store.js'

export interface SessionContext {
  readonly engine: Engine
  readonly store: GuardedStore
  /** The background work of this session. */
  readonly background: Background
  readonly info: SessionInfo
  readonly turns: Turns
  /** Key of the session's state in the store. */
  readonly key: string
  /** Fields of every payload. */
  readonly base: object
  /** Ids of hooks with `once` that have begun to run here. Two parallel calls must not both run them. */
  readonly claimed: Set<string>
  /** Keeps injections for a later event; set if the host cannot add context on this one. */
  readonly later?: ((injections: readonly WantedInjection[]) => Promise<void>) | undefined
  hooks(): HookSet
  /** Updates the hooks of skills to match the state. */
  useSkills(state: SessionState): MaybePromise<void>
  /** Problems with the hooks of files and skills that this session has not been told yet. */
  takeNews(): readonly Diagnostic[]
}

// ---- turns

export type TurnStatus = 'completed' | 'error' | 'aborted'

export class Turns {
  readonly #session: SessionInfo
  #turn = 0
  /** Model calls of the turn. */
  #calls = 0
  #announced = false
  #status: TurnStatus = 'completed'
  #info: SessionInfo | undefined

  constructor(session: SessionInfo) {
    this.#session = session
  }

  /** The embedder announces the turn itself. */
  announce(turn: number): void {
    this.#announced = true
    this.#info = undefined
    this.goTo(turn, false)
  }

  /** Takes the number from the store, because another process may have begun turns of the session. */
  goTo(turn: number, callsModel: boolean): void {
    if (turn !== this.#turn) {
      this.#turn = turn
      this.#calls = 0
      this.#status = 'completed'
      this.#info = undefined
    }
    if (!callsModel) return
    this.#calls++
    this.#info = undefined
  }

  /** The status if the turn ended now. */
  get status(): TurnStatus {
    return this.#status
  }

  /** A hook ended it, or the model failed. The first status stays. */
  fail(status: Exclude<TurnStatus, 'completed'>): void {
    if (this.#status === 'completed') this.#status = status
  }

  /** Undefined before the first. */
  get id(): string | undefined {
    return this.#turn === 0 ? undefined : idOf(this.#turn)
  }

  /** The session and its current turn. */
  get info(): SessionInfo {
    this.#info ??= Object.freeze({
      ...this.#session,
      turnId: idOf(this.#turn),
      iteration: Math.max(0, this.#calls - 1),
      ...(this.#announced && { announcesTurns: true }),
    })
    return this.#info
  }
}

/** Events before the first prompt belong to the first turn. */
function idOf(turn: number): string {
  return `turn-${Math.max(1, turn)}`
}
