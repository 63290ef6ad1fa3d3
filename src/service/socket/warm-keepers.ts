// The warm processes of the service: kept for each set of places that hooks come from, and ended when they are not used or trust changed.

import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { callerEnv } from '../../files/caller.js'
import { dataHome } from '../../files/homes.js'
import { ifThere } from '../../files/if-there.js'
import { type Keeper, WarmKeeper } from '../../runners/keeper.js'

const IDLE_MS = 5 * 60_000
const MOST = 16
/** Folders of the data home that change when somebody trusts, distrusts or switches something. */
const DECISIONS = ['trust', 'listed', 'switches'] as const

interface Entry {
  readonly keeper: WarmKeeper
  readonly home: string
  /** Of the decisions when it was made. */
  readonly stamp: string
  usedAt: number
}

export class WarmKeepers {
  /** The one that was used last is last. */
  readonly #entries = new Map<string, Entry>()
  readonly #ending = new Set<Promise<void>>()
  readonly #callsNow: () => Promise<unknown>

  /** `callsNow` settles when the calls that run now are over. */
  constructor(callsNow: () => Promise<unknown>) {
    this.#callsNow = callsNow
  }

  /** How many have anything to keep. */
  get size(): number {
    return [...this.#entries.values()].filter(({ keeper }) => !keeper.isEmpty).length
  }

  of(places: string): Keeper {
    const home = dataHome(callerEnv())
    const key = JSON.stringify([home, places])
    const entry = this.#entries.get(key) ?? {
      keeper: new WarmKeeper(),
      home,
      stamp: stampOf(home),
      usedAt: 0,
    }
    entry.usedAt = performance.now()
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    for (const [oldest] of this.#entries) if (this.#entries.size > MOST) this.#retire(oldest)
    return entry.keeper
  }

  /** Ends what nobody uses, and what was decided about since. The next event starts it again, if it still may run. */
  look(): void {
    for (const [key, { keeper, home, stamp, usedAt }] of this.#entries) {
      const isIdle = performance.now() - usedAt > IDLE_MS
      if (isIdle || (!keeper.isEmpty && stampOf(home) !== stamp)) this.#retire(key)
    }
  }

  /** Settles when every process has ended. */
  async close(): Promise<void> {
    for (const key of [...this.#entries.keys()]) this.#retire(key)
    await Promise.all(this.#ending)
  }

  /** New calls get new processes. Calls that use the old ones get their answers first. */
  #retire(key: string): void {
    const entry = this.#entries.get(key)
    this.#entries.delete(key)
    if (!entry || entry.keeper.isEmpty) return
    const ended = this.#callsNow().then(() => entry.keeper.close())
    this.#ending.add(ended)
    void ended.finally(() => this.#ending.delete(ended))
  }
}

function stampOf(home: string): string {
  return DECISIONS.map((name) => ifThere(() => lstatSync(join(home, name)).mtimeMs)).join(' ')
}
