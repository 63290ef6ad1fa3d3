// Shared counts in memory, for tests of what counts with them.

import type { Counted, Counters, SharedCounting } from '../../../src/core/hooks/count.js'

const HOUR = 60

export class MemoryCounters implements Counters {
  /** Milliseconds since 1970. */
  readonly #now: () => number
  readonly #added: { readonly key: string; minute: number; readonly n: number }[] = []
  readonly #before = new Map<string, { readonly before: number; readonly isAdded: boolean }>()
  /** Each key that was asked about. */
  readonly asked: string[] = []

  constructor(now: () => number) {
    this.#now = now
  }

  async count({ key, id, most, add }: SharedCounting): Promise<Counted> {
    this.asked.push(key)
    const minute = Math.floor(this.#now() / 60_000)
    for (const one of this.#added) one.minute = Math.min(one.minute, minute)
    const known = this.#before.get(`${key} ${id}`)
    if (known && (known.isAdded || known.before >= most)) return { isReached: known.before >= most }
    const living = this.#added.filter((one) => one.key === key && one.minute >= minute - HOUR)
    const before = living.reduce((sum, { n }) => sum + n, 0)
    const isReached = before >= most
    if (add === 0) return { isReached }
    if (!isReached) this.#added.push({ key, minute, n: add })
    this.#before.set(`${key} ${id}`, { before, isAdded: !isReached })
    return { isReached }
  }
}
