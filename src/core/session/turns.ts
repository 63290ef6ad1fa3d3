// The turns of one session, as its hooks see them: which one it is, and the model calls in it.

import type { SessionInfo } from '../hooks/hook.js'

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

  /** The host itself says that a turn begins. */
  announce(turn: number): void {
    this.#announced = true
    this.#info = undefined
    this.goTo(turn, false)
  }

  /** What the store says counts: another process may have begun turns of the session. */
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

  /** How it ended, if it ended now. */
  get status(): TurnStatus {
    return this.#status
  }

  /** A hook ended it, or the model failed; what comes first tells why the rest did not. */
  fail(status: Exclude<TurnStatus, 'completed'>): void {
    if (this.#status === 'completed') this.#status = status
  }

  /** Undefined before the first. */
  get id(): string | undefined {
    return this.#turn === 0 ? undefined : idOf(this.#turn)
  }

  /** The session, with where it stands now. */
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

/** What comes before the first prompt belongs to the first turn. */
function idOf(turn: number): string {
  return `turn-${Math.max(1, turn)}`
}
