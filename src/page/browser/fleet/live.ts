// An answer of the gateway that is kept up to date: asked again whenever the gateway says that something changed.

import { useEffect, useState } from 'preact/hooks'
import { ask } from '../ask.js'

/** Also asked so often, for what no message announces. */
const ANYWAY_MS = 15_000

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

/** `value` is old while there is a `problem`. `again` asks at once. */
export function useLive<T>(path: string): {
  readonly value: T | undefined
  readonly problem: string
  again: () => void
} {
  const [value, setValue] = useState<T>()
  const [problem, setProblem] = useState('')
  const [turn, setTurn] = useState(0)
  const again = () => setTurn((before) => before + 1)
  useEffect(() => {
    let isWanted = true
    ask<T>(path).then(
      (found) => {
        if (!isWanted) return
        setValue(found)
        setProblem('')
      },
      (error: Error) => isWanted && setProblem(error.message),
    )
    return () => {
      isWanted = false
    }
  }, [path, turn])
  useEffect(() => {
    wakes ??= new Wakes()
    const end = wakes.subscribe(again)
    const timer = window.setInterval(() => document.visibilityState === 'visible' && again(), ANYWAY_MS)
    return () => {
      end()
      window.clearInterval(timer)
    }
  }, [])
  return { value, problem, again }
}
