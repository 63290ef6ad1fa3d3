// Waits for an answer from another process, and tells whether a person is watching the questions.

import { type FSWatcher, renameSync, watch, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { type MaybePromise, onAbort } from '../../core/base/promise.js'
import { makePrivate, namesIn } from '../../files/folder.js'
import { checkFormat, FIRST_FORMAT } from '../../files/format.js'
import { nonce } from '../../files/nonce.js'
import { readOwn, removeIfThere } from '../../files/plain-file.js'
import { startOf } from '../../files/process.js'
import type { WaitOptions, Watching } from '../approvals.js'
import { parsed } from './stored-question.js'

const LOOK_EVERY_MS = 500

/** Looks every half second, and at once when the file system reports a change. */
export async function waitForAnswer<T>(
  take: () => MaybePromise<T | undefined>,
  folder: string | undefined,
  { signal, until, isWorthwhile = () => true }: WaitOptions,
): Promise<T | undefined> {
  const bell = new Bell()
  const watcher = folder === undefined ? undefined : watched(folder, bell)
  const stopListening = signal ? onAbort(signal, () => bell.ring()) : () => {}
  try {
    // After an abort, a taken answer would be lost.
    while (!signal?.aborted) {
      const taken = await take()
      if (taken !== undefined) return taken
      const left = until - performance.now()
      if (left <= 0 || !(await isWorthwhile())) return undefined
      await bell.rung(Math.min(left, LOOK_EVERY_MS))
    }
    return undefined
  } finally {
    stopListening()
    watcher?.close()
  }
}

/** Undefined if the folder cannot be watched: there are too many watchers, or it is gone. */
function watched(folder: string, bell: Bell): FSWatcher | undefined {
  try {
    const watcher = watch(folder, () => bell.ring())
    return watcher.on('error', () => watcher.close())
  } catch {
    return undefined
  }
}

/** Remembers a ring that came while nobody listened, for the next listener. */
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

// ---- people who watch ----------------------------------------------------------------------------------------

const NAME = /^\d+-[0-9a-f]+\.json$/
const MAX_BYTES = 4096

/** Leaves a file that counts as long as this process lives. */
export function beginWatching(folder: string): Watching {
  makePrivate(folder)
  const { pid } = process
  const path = join(folder, `${pid}-${nonce()}.json`)
  const content = JSON.stringify({ format: FIRST_FORMAT, pid, start: startOf(pid) ?? null, host: hostname() })
  // The file must be complete from the beginning: half a file counts as a dead process's.
  const draft = `${path}.tmp`
  writeFileSync(draft, content, { flag: 'wx', mode: 0o600 })
  renameSync(draft, path)
  return { end: () => void removeIfThere(path) }
}

/** Removes the files of dead processes on the way. */
export function isAnybodyWatching(folder: string): boolean {
  for (const name of namesIn(folder).filter((name) => NAME.test(name))) {
    const path = join(folder, name)
    try {
      if (isAlive(path)) return true
      removeIfThere(path)
    } catch {
      // It is gone by now, cannot be read at the moment, or belongs to a newer version, which removes it itself.
    }
  }
  return false
}

/** A process on another machine cannot be checked, so it does not count. */
function isAlive(path: string): boolean {
  const read = readOwn(path, MAX_BYTES)
  if ('problem' in read) return false
  const { format, pid, start, host } = parsed(read.text)
  checkFormat(format, path)
  return host === hostname() && typeof start === 'string' && startOf(Number(pid)) === start
}
