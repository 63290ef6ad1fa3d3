// Watches folders for somebody who edits files in them, and not for what the hooks under test write there.

import { statSync } from 'node:fs'
import type { FSWatcher } from 'chokidar'

/** Nobody edits these. */
const LEFT_OUT = /(?:^|[\\/])(?:node_modules|\.git|__pycache__)(?:[\\/]|$)/

/** An editor writes a file in several steps. */
const QUIET_MS = 50

export class FolderWatch {
  readonly #watcher: FSWatcher
  readonly #writes = new HookWrites()
  #changed: (() => void) | undefined
  #isChanged = false
  #timer: ReturnType<typeof setTimeout> | undefined

  private constructor(watcher: FSWatcher) {
    this.#watcher = watcher
    watcher.on('all', (_, path) => this.#note(path))
  }

  /** Fulfilled when changes are seen from then on. */
  static async open(folders: readonly string[]): Promise<FolderWatch> {
    const { watch } = await import('chokidar')
    const watcher = watch([...folders], {
      ignoreInitial: true,
      ignored: (path) => folders.every((folder) => path !== folder) && LEFT_OUT.test(path),
    })
    const opened = new FolderWatch(watcher)
    await new Promise<void>((ready, failed) => {
      watcher.once('ready', ready)
      watcher.once('error', failed)
    })
    return opened
  }

  /** What changes meanwhile may be the work of a hook. */
  async during<T>(run: () => Promise<T>): Promise<T> {
    this.#writes.begin(Date.now())
    try {
      return await run()
    } finally {
      this.#writes.end(Date.now())
    }
  }

  /** Fulfilled at the next change, or at once if there was one since; false when the signal is aborted. */
  async next(signal: AbortSignal): Promise<boolean> {
    if (!this.#isChanged && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    }
    this.#changed = undefined
    this.#isChanged = false
    return !signal.aborted
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#watcher.close()
  }

  #note(path: string): void {
    if (this.#writes.isByHook(path, changedAt(path))) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#isChanged = true
      this.#changed?.()
    }, QUIET_MS)
  }
}

/** Of what is gone: now. */
function changedAt(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
  } catch {
    return Date.now()
  }
}

/** A file that changes in so many runs in a row is written by a hook: to run again for it would never end. */
const MOST_IN_A_ROW = 3

/** Tells by when they were made which changes are the work of the hooks. Times are of Date.now(). */
export class HookWrites {
  readonly #inRuns = new Map<string, { readonly run: number; readonly inARow: number }>()
  #run = 0
  #began = Infinity
  #ended = -Infinity

  begin(now: number): void {
    this.#run++
    this.#began = now
    this.#ended = Infinity
  }

  end(now: number): void {
    this.#ended = now
  }

  /** News of a change may come after the run in which it was made. */
  isByHook(path: string, changedAt: number): boolean {
    if (changedAt < this.#began || changedAt > this.#ended) return false
    const before = this.#inRuns.get(path)
    if (before?.run !== this.#run) {
      const inARow = before?.run === this.#run - 1 ? before.inARow + 1 : 1
      this.#inRuns.set(path, { run: this.#run, inARow })
    }
    return (this.#inRuns.get(path)?.inARow ?? 0) >= MOST_IN_A_ROW
  }
}
