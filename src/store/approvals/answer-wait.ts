// Waiting for an answer that another process gives: told by the file system where it can, looked for in any case.

import { type FSWatcher, watch } from 'node:fs'
import { onAbort } from '../../core/base/promise.js'

export interface WaitOptions {
  /** Nobody waits any more: then nothing is taken either. */
  readonly signal?: AbortSignal
  /** On the clock of `performance.now()`. */
  readonly until: number
  /** Asked now and then; false ends it. */
  readonly isWorthwhile?: () => boolean
}

const LOOK_EVERY_MS = 500

export async function waitForAnswer<T>(
  take: () => T | undefined,
  folder: string | undefined,
  { signal, until, isWorthwhile = () => true }: WaitOptions,
): Promise<T | undefined> {
  const bell = new Bell()
  const watcher = folder === undefined ? undefined : watched(folder, bell)
  const stopListening = signal ? onAbort(signal, () => bell.ring()) : () => {}
  try {
    // An answer that is taken for nobody would be lost.
    while (!signal?.aborted) {
      const taken = take()
      if (taken !== undefined) return taken
      const left = until - performance.now()
      if (left <= 0 || !isWorthwhile()) return undefined
      await bell.rung(Math.min(left, LOOK_EVERY_MS))
    }
    return undefined
  } finally {
    stopListening()
    watcher?.close()
  }
}

/** Undefined where it cannot be watched: too many watch already, or it is gone. */
function watched(folder: string, bell: Bell): FSWatcher | undefined {
  try {
    const watcher = watch(folder, () => bell.ring())
    return watcher.on('error', () => watcher.close())
  } catch {
    return undefined
  }
}

/** Rung while nobody listens, it is heard by the next who does. */
class Bell {
  #isRung = false
  #listener = () => {}

  ring(): void {
    this.#isRung = true
    this.#listener()
  }

  async rung(ms: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined
    await new Promise<void>((resolve) => {
      this.#listener = resolve
      timer = setTimeout(resolve, ms)
      if (this.#isRung) resolve()
    })
    clearTimeout(timer)
    this.#isRung = false
  }
}
