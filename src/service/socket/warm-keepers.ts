// The warm processes of the service: kept for each set of places that hooks come from, and ended when they are not used or trust changed.

import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { callerEnv } from '../../files/caller.js'
import { readableNames } from '../../files/folder.js'
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
  /** Calls that hold it, each until it is over. */
  readonly users: Set<Promise<unknown>>
  usedAt: number
}

export class WarmKeepers {
  /** The one that was used last is last. */
  readonly #entries = new Map<string, Entry>()
  readonly #ending = new Set<Promise<void>>()

  /** For a call that holds it until `over` settles. */
  of(places: string, over: Promise<unknown>): Keeper {
    const home = dataHome(callerEnv())
    const key = JSON.stringify([home, places])
    const entry = this.#entries.get(key) ?? {
      keeper: new WarmKeeper(),
      home,
      stamp: stampOf(home),
      users: new Set(),
      usedAt: 0,
    }
    hold(entry, over)
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    for (const [oldest] of this.#entries) if (this.#entries.size > MOST) this.#retire(oldest)
    return entry.keeper
  }

  /** Ends what nobody uses, and what was decided about since. The next event starts it again, if it still may run. */
  look(): void {
    const stamps = new Map<string, string>()
    for (const { home } of this.#entries.values()) if (!stamps.has(home)) stamps.set(home, stampOf(home))
    for (const [key, { keeper, home, stamp, users, usedAt }] of this.#entries) {
      const isIdle = users.size === 0 && performance.now() - usedAt > IDLE_MS
      if (isIdle || (!keeper.isEmpty && stamps.get(home) !== stamp)) this.#retire(key)
      else keeper.endIdle(IDLE_MS)
    }
  }

  /** Settles when every process has ended. */
  async close(): Promise<void> {
    for (const key of [...this.#entries.keys()]) this.#retire(key)
    await Promise.all(this.#ending)
  }

  /** New calls get new processes. Calls that hold the old ones, or may still start some, end first. */
  #retire(key: string): void {
    const entry = this.#entries.get(key)
    this.#entries.delete(key)
    if (!entry) return
    const ended = Promise.all(entry.users).then(() => entry.keeper.close())
    this.#ending.add(ended)
    void ended.finally(() => this.#ending.delete(ended))
  }
}

function hold(entry: Entry, over: Promise<unknown>): void {
  entry.usedAt = performance.now()
  const user = over.then(() => {
    entry.users.delete(user)
    entry.usedAt = performance.now()
  })
  entry.users.add(user)
}

/** Records are in folders of their own, one for each project. */
function stampOf(home: string): string {
  const folders = DECISIONS.map((name) => join(home, name))
  const below = folders.flatMap((folder) => readableNames(folder).map((name) => join(folder, name)))
  return [...folders, ...below].map((path) => `${path} ${ifThere(() => lstatSync(path).mtimeMs)}`).join('\n')
}
