// The resident processes of one createHooks(): one for each entry, however often the entry is read; ended together.

import { setImmediate } from 'node:timers/promises'
import { stopListeningIfIdle } from '../program/process-group.js'
import type { Life } from './life.js'
import { CLOSED, type Registry, Resident, type ResidentOptions } from './resident.js'

export class Residents {
  readonly #residents = new Map<string, Resident>()
  /** Those of the renewal before, which the next one may end. */
  #renewed: ReadonlySet<string> = new Set()
  /** Those of the renewal under way. */
  #wanted: Set<string> | undefined
  readonly #lives = new Set<Life>()
  readonly #registry: Registry
  #closed = false

  constructor() {
    const isClosed = () => this.#closed
    this.#registry = {
      get closed() {
        return isClosed()
      },
      add: (life) => this.#watch(life),
    }
  }

  /** The one with this key, which names all that matters about it; made if there is none. */
  of(key: string, options: ResidentOptions): Resident {
    const known = this.#residents.get(key)
    const resident = known ?? new Resident(options, this.#registry)
    if (known) known.renew(options)
    else this.#residents.set(key, resident)
    this.#wanted?.add(key)
    return resident
  }

  /**
   * For a configuration that is read: `make` makes all its hooks. What the renewal before used and this one does not is
   * ended, after the calls under way; the others live on. If `make` throws, everything stays as it is.
   */
  renew<T>(make: () => T): T {
    const wanted = new Set<string>()
    this.#wanted = wanted
    try {
      const made = make()
      for (const key of this.#renewed) if (!wanted.has(key)) this.#retire(key)
      this.#renewed = wanted
      return made
    } finally {
      this.#wanted = undefined
    }
  }

  /** Settles when every process is gone: end of input, half a second, TERM, half a second, KILL. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#residents.values()].map((resident) => resident.close()))
    await setImmediate() // what was being started is there by now
    while (this.#lives.size > 0) {
      for (const life of this.#lives) life.end(CLOSED)
      await Promise.all([...this.#lives].map((life) => life.gone))
      await setImmediate()
    }
    stopListeningIfIdle()
  }

  #retire(key: string): void {
    this.#residents.get(key)?.retire()
    this.#residents.delete(key)
  }

  #watch(life: Life): void {
    this.#lives.add(life)
    void life.gone.then(() => this.#lives.delete(life))
  }
}
