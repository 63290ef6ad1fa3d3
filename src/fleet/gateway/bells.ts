// Wakes requests that wait: PostgreSQL rings when rows were added, and every waiter looks again.

import { textOf } from '../../core/base/errors.js'
import { CHANNEL } from '../database/approvals.js'
import type { Database } from '../database/connection.js'
import { MOST_WAIT_S } from '../protocol.js'

/** Each user of a machine waits once or twice. */
const MOST_OF_MACHINE = 16
const WAIT_OF_MORE_MS = 5000

export class Bells {
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #askedListeners = new Set<() => void>()
  readonly #changedListeners = new Set<() => void>()

  /** Until the signal is aborted. A connection that is lost is made again, and then everybody looks. */
  async listen(
    database: Database,
    org: number,
    signal: AbortSignal,
    onTrouble: (text: string) => void = () => {},
  ): Promise<void> {
    const onChange = (error: unknown) =>
      onTrouble(
        error === undefined
          ? 'notifications of the database arrive again'
          : `no notification of the database arrives, so answers take up to ${MOST_WAIT_S} s: ${textOf(error)}`,
      )
    await database.listen(CHANNEL, (payload) => this.#heard(payload, org), { signal, onChange })
  }

  /** Called when a question was asked, or may have been. */
  onAsked(listener: () => void): void {
    this.#askedListeners.add(listener)
  }

  /** Called when a question was asked or answered, or may have been. */
  onChanged(listener: () => void): void {
    this.#changedListeners.add(listener)
  }

  #heard(payload: string | undefined, org: number): void {
    if (payload === undefined) {
      for (const listener of [...this.#changedListeners, ...this.#askedListeners]) listener()
      for (const machine of [...this.#waiting.keys()]) this.ring(machine)
      return
    }
    const [theirOrg, what, which = ''] = payload.split(' ')
    if (Number(theirOrg) !== org) return
    for (const listener of this.#changedListeners) listener()
    if (what === 'answered') this.ring(which)
    else for (const listener of this.#askedListeners) listener()
  }

  ring(machine: string): void {
    const waiters = this.#waiting.get(machine) ?? []
    this.#waiting.delete(machine)
    for (const wake of waiters) wake()
  }

  /** Begins now, so that a ring before `rung` is not missed. */
  waiter(machine: string): { rung(ms: number, signal: AbortSignal): Promise<void>; end(): void } {
    let wake = () => {}
    const rang = new Promise<void>((resolve) => {
      wake = resolve
    })
    const waiters = this.#waiting.get(machine) ?? new Set()
    // One more waits for a while and hears no bell. Without a wait it would ask again at once.
    const isOne = waiters.size < MOST_OF_MACHINE
    if (isOne) this.#waiting.set(machine, waiters.add(wake))
    return {
      rung: async (ms, signal) => {
        const timer = setTimeout(wake, isOne ? ms : Math.min(ms, WAIT_OF_MORE_MS))
        signal.addEventListener('abort', wake, { once: true })
        await rang
        clearTimeout(timer)
        signal.removeEventListener('abort', wake)
      },
      end: () => {
        const left = this.#waiting.get(machine)
        left?.delete(wake)
        if (left?.size === 0) this.#waiting.delete(machine)
      },
    }
  }
}
