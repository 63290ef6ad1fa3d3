// What runners keep running: processes and connections that end with one createHooks(), or, in a service, serve the next event too.
// Also what was read for it, where stamps tell each time whether it still holds.

export interface Kept {
  /** Settles when everything of it has ended. */
  close(): Promise<void>
  /** Ends what nobody asked for in this many milliseconds, such as hooks of a skill that is no longer loaded. */
  endIdle?(ms: number): void
}

export interface Keeper {
  /** The one of this name, made when it is first asked for. */
  keep<T extends Kept>(name: string, make: () => T): T
  /** Whoever asked for it no longer needs it. */
  leave(kept: Kept): Promise<void>
  /** The memory of this name, made when it is first asked for. It must check by itself that the disk has not changed. */
  remember<T extends object>(name: string, make: () => T): T
  /** Whether it outlasts one createHooks(). */
  readonly isWarm: boolean
}

const COLD: Keeper = {
  keep: (_, make) => make(),
  leave: (kept) => kept.close(),
  remember: (_, make) => make(),
  isWarm: false,
}

/** Keeps them until it is closed itself. */
export class WarmKeeper implements Keeper {
  readonly isWarm = true
  readonly #kept = new Map<string, Kept>()
  readonly #memories = new Map<string, object>()

  keep<T extends Kept>(name: string, make: () => T): T {
    const kept = this.#kept.get(name) ?? make()
    this.#kept.set(name, kept)
    return kept as T
  }

  async leave(): Promise<void> {}

  remember<T extends object>(name: string, make: () => T): T {
    const memory = this.#memories.get(name) ?? make()
    this.#memories.set(name, memory)
    return memory as T
  }

  /** Whether nothing runs. */
  get isEmpty(): boolean {
    return this.#kept.size === 0
  }

  endIdle(ms: number): void {
    for (const one of this.#kept.values()) one.endIdle?.(ms)
  }

  async close(): Promise<void> {
    const all = [...this.#kept.values()]
    this.#kept.clear()
    await Promise.all(all.map((one) => one.close()))
  }
}

let keeperNow: (key: string) => Keeper | undefined = () => COLD

/** For a process that serves many callers: finds the keeper for everything that was loaded from the same places, if it outlasts the call. */
export function keepBy(find: typeof keeperNow): void {
  keeperNow = find
}

export function keeperFor(key: string): Keeper {
  return keeperNow(key) ?? COLD
}
