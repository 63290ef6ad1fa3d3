// Watches for files that the user edits, and ignores what the hooks under test write.

import { accessSync, constants, statSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import type { FSWatcher } from 'chokidar'
import { hooksDirOf } from '../../config/discovery.js'
import { textOf } from '../../core/base/errors.js'
import { ifThere } from '../../files/if-there.js'
import { isBelow } from '../../files/within.js'
import { isHooksDir, type Subject } from './find-cases.js'

/** Nobody edits these. */
const LEFT_OUT = /(?:^|[\\/])(?:node_modules|\.git|__pycache__)(?:[\\/]|$)/

/** The parent folder, if it is readable. */
function above(folder: string): string {
  try {
    accessSync(dirname(folder), constants.R_OK | constants.X_OK)
    return dirname(folder)
  } catch {
    return folder
  }
}

/** A folder or file, and a folder above it that stays when it is replaced. */
export interface Watched {
  readonly path: string
  readonly base: string
}

/** What the author of these hooks edits. `all`: also plugins that do not exist yet. */
export function watchedOf(subjects: readonly Subject[], all: boolean): readonly Watched[] {
  return subjects.flatMap(({ plugin, project, file, config }) => {
    if (config) return [config.file, file].map((path) => ({ path, base: above(dirname(path)) }))
    const inHooks = plugin !== undefined && isHooksDir(dirname(plugin))
    const hooksDir = inHooks ? dirname(plugin) : project && hooksDirOf(project)
    if (hooksDir === undefined) return [{ path: plugin ?? file, base: above(plugin ?? dirname(file)) }]
    const base = above(dirname(dirname(hooksDir)))
    const own = inHooks && !all ? plugin : hooksDir
    return [own, file].map((path) => ({ path, base }))
  })
}

/** An editor writes a file in several steps. */
const QUIET_MS = 50

export class FolderWatch {
  readonly #watcher: FSWatcher
  /** Keeps the process alive when everything it watches is gone. */
  readonly #staying = setInterval(() => undefined, 2 ** 30)
  readonly #writes = new HookWrites()
  #changed: (() => void) | undefined
  #isChanged = false
  #timer: ReturnType<typeof setTimeout> | undefined

  private constructor(watcher: FSWatcher, onTrouble: (text: string) => void) {
    this.#watcher = watcher
    watcher.on('all', (_, path) => this.#note(path))
    watcher.on('error', (error) => onTrouble(textOf(error)))
  }

  /** Resolves when the watch has begun. `onTrouble` is told about folders that cannot be watched. */
  static async open(those: readonly Watched[], onTrouble: (text: string) => void): Promise<FolderWatch> {
    const { watch } = await import('chokidar')
    const watcher = watch([...new Set(those.map(({ base }) => base))], {
      ignoreInitial: true,
      // A link may lead anywhere on the disk.
      followSymlinks: false,
      ignored: (at) =>
        !those.some(
          ({ path }) => isBelow(path, at) || (isBelow(at, path) && !LEFT_OUT.test(relative(path, at))),
        ),
    })
    const opened = new FolderWatch(watcher, onTrouble)
    await new Promise<void>((ready) => {
      watcher.once('ready', ready)
    })
    return opened
  }

  /** Changes during the run may come from a hook. */
  async during<T>(run: () => Promise<T>): Promise<T> {
    this.#writes.begin(Date.now())
    try {
      return await run()
    } finally {
      this.#writes.end(Date.now())
    }
  }

  /** Resolves at the next change, or at once if there was one; false if the signal is aborted. */
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
    clearInterval(this.#staying)
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

/** Now, for a file that is gone. */
function changedAt(path: string): number {
  try {
    return ifThere(() => statSync(path))?.mtimeMs ?? Date.now()
  } catch {
    return Date.now()
  }
}

/** A file that changes in so many runs in a row is written by a hook, and would start runs forever. */
const MOST_IN_A_ROW = 3

/** Files that people edit, and save many times. */
const SOURCE = /\.(?:sh|bash|py|rb|pl|[cm]?[jt]s)$|[\\/]hooks(?:\.test)?\.json$/
const MOST_OF_SOURCE = 20

/** Tells the hooks' own writes from edits, by their times. Times are from Date.now(). */
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

  /** A change may be reported after the run that made it. */
  isByHook(path: string, changedAt: number): boolean {
    if (changedAt < this.#began || changedAt > this.#ended) return false
    const before = this.#inRuns.get(path)
    if (before?.run !== this.#run) {
      const inARow = before?.run === this.#run - 1 ? before.inARow + 1 : 1
      this.#inRuns.set(path, { run: this.#run, inARow })
    }
    const most = SOURCE.test(path) ? MOST_OF_SOURCE : MOST_IN_A_ROW
    return (this.#inRuns.get(path)?.inARow ?? 0) >= most
  }
}
