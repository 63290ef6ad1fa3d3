// An answer of the gateway that is kept up to date: asked again whenever the gateway says that something changed.

import { useEffect, useState } from 'preact/hooks'
import { ask } from '../ask.js'

/** Also asked so often, for what no message announces. */
const ANYWAY_MS = 15_000
/** A request that takes longer is lost. */
const MOST_MS = 60_000

/** One stream for the whole page, while somebody looks at it. */
class Wakes {
  readonly #listeners = new Set<() => void>()
  #source: EventSource | undefined

  constructor() {
    document.addEventListener('visibilitychange', () => this.#follow())
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    this.#follow()
    return () => {
      this.#listeners.delete(listener)
      this.#follow()
    }
  }

  #follow(): void {
    const isWanted = this.#listeners.size > 0 && document.visibilityState === 'visible'
    if (isWanted && (!this.#source || this.#source.readyState === EventSource.CLOSED)) {
      this.#source = new EventSource('api/stream')
      this.#source.addEventListener('changed', () => this.#tell())
      // Whatever happened while nobody listened.
      this.#source.onopen = () => this.#tell()
    } else if (!isWanted) {
      this.#source?.close()
      this.#source = undefined
    }
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}

let wakes: Wakes | undefined

/** An answer that is kept while anything shows it: asked for once, however many parts of the page show it. */
class Kept<T> {
  value: T | undefined
  problem = ''
  readonly #path: string
  readonly #listeners = new Set<() => void>()
  #isRunning = false
  /** Whether something changed after the running request was sent. */
  #isDue = false
  #end = () => {}

  constructor(path: string) {
    this.#path = path
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    all.set(this.#path, this)
    if (this.#listeners.size === 1) this.#begin()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#end()
      this.value = undefined
      this.problem = ''
      this.#forget()
    }
  }

  /** At once, or after the running request: a gateway that is slow gets no second one. */
  readonly again = (): void => {
    this.#isDue = true
    if (!this.#isRunning) void this.#ask()
  }

  #begin(): void {
    wakes ??= new Wakes()
    const end = wakes.subscribe(this.again)
    const timer = window.setInterval(() => document.visibilityState === 'visible' && this.again(), ANYWAY_MS)
    this.#end = () => {
      end()
      window.clearInterval(timer)
    }
    this.again()
  }

  async #ask(): Promise<void> {
    this.#isRunning = true
    while (this.#isDue && this.#listeners.size > 0) {
      this.#isDue = false
      await ask<T>(this.#path, {}, AbortSignal.timeout(MOST_MS)).then(
        (value) => {
          if (this.#listeners.size > 0) this.value = value
          this.problem = ''
        },
        (error: Error) => {
          if (this.#listeners.size > 0) this.problem = error.message
        },
      )
      for (const listener of this.#listeners) listener()
    }
    this.#isRunning = false
    this.#forget()
  }

  /** A path may be that of one question. Whoever opens it again during the running request waits for that one. */
  #forget(): void {
    if (this.#listeners.size === 0 && !this.#isRunning && all.get(this.#path) === this) all.delete(this.#path)
  }
}

/** By path: those that somebody listens to, or that are being asked for. */
const all = new Map<string, Kept<unknown>>()

export function keptAt<T>(path: string): Kept<T> {
  const kept = (all.get(path) ?? new Kept(path)) as Kept<T>
  all.set(path, kept)
  return kept
}

/** `value` is old while there is a `problem`. `again` asks at once. */
export function useLive<T>(path: string): Pick<Kept<T>, 'value' | 'problem' | 'again'> {
  const kept = keptAt<T>(path)
  const [, draw] = useState(0)
  useEffect(() => kept.subscribe(() => draw((before) => before + 1)), [kept])
  return kept
}
