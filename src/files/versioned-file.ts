// One JSON value in a folder, changed by compare-and-swap. There is no mutex, so no process can die with it.

import { existsSync } from 'node:fs'
import { textOf } from '../core/base/errors.js'
import { isObject } from '../core/base/json.js'
import { makePrivate } from './folder.js'
import { checkFormat, FIRST_FORMAT, NewerFormat } from './format.js'
import { ifThere } from './if-there.js'
import { readPlain } from './plain-file.js'
import { Draft, removeOlder, setAside, versionPath, versionsIn } from './versions.js'

export interface VersionedFileOptions<T> {
  /** Created on demand. It may hold other files: versions are `<number>.json`, drafts `*.tmp`. */
  readonly folder: string
  /** The name of the value in messages. */
  readonly what: string
  /** The value before the first write. */
  readonly fresh: T
  /** Checks a value that was read. Throws an Error that names the problem. */
  readonly check: (value: unknown) => T
  /** Returns the value to use for an unreadable file. By default, loading throws once, and then the value is fresh. */
  readonly damaged?: (problem: string) => T
  /** Whether it must survive a power cut. Default false: it only survives the end of the process, however that happens. */
  readonly durable?: boolean
  readonly makeFolder?: (folder: string) => void
  /** The most bytes to write. Default 1 MiB. */
  readonly maxBytes?: number
}

type Found<T> =
  | { readonly version: number; readonly value: T; readonly problem?: string }
  | { readonly version: number; readonly problem: string }

const MAX_BYTES = 1024 * 1024
/** Reads larger files than it writes, because a later version may write more. */
const READ_FACTOR = 4
const MAX_TRIES = 1000

export class VersionedFile<T> {
  readonly #options: VersionedFileOptions<T>

  constructor(options: VersionedFileOptions<T>) {
    this.#options = options
  }

  get folder(): string {
    return this.#options.folder
  }

  /** The file of the current value, unless there is none or another process changes it now. */
  newest(): string | undefined {
    const version = this.#attempt('read', () => versionsIn(this.folder))?.numbers.at(-1)
    return version === undefined ? undefined : versionPath(this.folder, version)
  }

  /** Creates no folder. Moves an unreadable file aside and throws once; after that, the value is fresh. See also `damaged`. */
  load(): T {
    const found = this.#found()
    if ('value' in found) return found.value
    try {
      this.update((value) => value)
    } catch (error) {
      // Report what was found, even if the folder is read-only and the file stays.
      throw error instanceof BrokenFile ? error : new BrokenFile(`${found.problem}. ${textOf(error)}`)
    }
    return this.load()
  }

  /** Like `load`, but leaves an unreadable file in place and throws each time. */
  read(): T {
    const found = this.#found()
    if ('value' in found) return found.value
    throw new BrokenFile(found.problem)
  }

  /** Replaces the current value. Moves an unreadable file aside. */
  replace(value: T): void {
    try {
      this.update(() => value)
    } catch (error) {
      if (!(error instanceof BrokenFile)) throw error
      this.update(() => value)
    }
  }

  /** Atomic. `change` runs again if another process was faster. If it returns the same object, nothing is written. */
  update(change: (value: T) => T): void {
    const { folder, fresh } = this.#options
    if (!existsSync(folder) && change(fresh) === fresh) return
    let problem: string | undefined
    const made = this.#swap((found) => {
      problem = found.problem
      if (!('value' in found)) return fresh
      const next = change(found.value)
      return next === found.value ? undefined : next
    })
    if (made === undefined) return
    const told = problem && this.#setAside(made - 1, problem)
    removeOlder(folder, made)
    if (told && !this.#options.damaged) throw new BrokenFile(told)
  }

  /** Returns the number of the version it created, if any. */
  #swap(nextOf: (found: Found<T>) => T | undefined): number | undefined {
    const { folder, what, durable = false } = this.#options
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const draft = this.#begin()
      if (!draft) continue
      try {
        const found = this.#found()
        const next = nextOf(found)
        if (next === undefined) return undefined
        const text = this.#written(next)
        const version = found.version + 1
        if (this.#attempt('written', () => draft.publish(text, version, durable))) return version
      } finally {
        draft.end()
      }
    }
    const times = `${MAX_TRIES} times during this change`
    throw new Error(`${what} in ${folder} was changed by other processes ${times}; try again`)
  }

  /** Returns undefined if there was no folder, which it then creates. */
  #begin(): Draft | undefined {
    const { folder, makeFolder = makePrivate } = this.#options
    return this.#attempt('written', () => {
      try {
        return new Draft(folder)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
        makeFolder(folder)
        return undefined
      }
    })
  }

  #found(): Found<T> {
    const { folder, what, fresh } = this.#options
    for (let tries = 0, empty = 0; tries < MAX_TRIES; tries++) {
      const versions = this.#attempt('read', () => versionsIn(folder))
      const version = versions?.numbers.at(-1)
      if (version !== undefined) {
        const found = this.#read(version)
        if (found) return found
        continue
      }
      // Listing is not always atomic: it can miss a version that appears while another one goes. So look twice.
      if (!versions || ++empty > 1) return { version: 0, value: fresh }
    }
    throw new Error(
      `${what} in ${folder} was changed by other processes during every attempt to read it; try again`,
    )
  }

  /** Undefined if the version is gone because there is a newer one. */
  #read(version: number): Found<T> | undefined {
    const path = versionPath(this.#options.folder, version)
    const text = this.#attempt('read', () => {
      return ifThere(() => readPlain(path, READ_FACTOR * (this.#options.maxBytes ?? MAX_BYTES)))
    })
    if (!text) return undefined
    if ('problem' in text) return this.#broken(version, `${path} ${text.problem}`)
    try {
      return { version, value: this.#parsed(text.text, path) }
    } catch (error) {
      if (error instanceof NewerFormat) throw error
      return this.#broken(version, `${path} ${textOf(error)}`)
    }
  }

  #broken(version: number, problem: string): Found<T> {
    const { damaged } = this.#options
    return damaged ? { version, value: damaged(problem), problem } : { version, problem }
  }

  #parsed(text: string, path: string): T {
    let file: unknown
    try {
      file = JSON.parse(text)
    } catch {
      throw new Error('is not valid JSON')
    }
    if (!isObject(file) || file.format === undefined) throw new Error('is not in a Carabiner format')
    checkFormat(file.format, path)
    return this.#options.check(file.value)
  }

  #written(value: T): string {
    const { folder, what, maxBytes = MAX_BYTES } = this.#options
    const text = JSON.stringify({ format: FIRST_FORMAT, value })
    const bytes = Buffer.byteLength(text)
    if (bytes <= maxBytes) return text
    throw new Error(
      `${what} in ${folder} would take ${bytes} bytes, more than ${maxBytes}; it was not changed`,
    )
  }

  /** Returns a sentence about the outcome. */
  #setAside(version: number, problem: string): string {
    const { folder, what } = this.#options
    try {
      return `${problem}; it was moved to ${setAside(folder, version)}, and ${what} starts fresh`
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return `${problem}; ${what} starts fresh`
      return `${problem}; ${what} starts fresh, but the file could not be moved: ${textOf(error)}`
    }
  }

  #attempt<R>(done: 'read' | 'written', work: () => R): R {
    try {
      return work()
    } catch (error) {
      const { folder, what } = this.#options
      const { code } = error as NodeJS.ErrnoException
      const todo = adviceOn(code, done)
      throw new Error(`${what} in ${folder} cannot be ${done}: ${textOf(error)}${todo && `; ${todo}`}`, {
        cause: error,
      })
    }
  }
}

/** The file exists but cannot be read. */
export class BrokenFile extends Error {}

const ELSEWHERE = 'set CARABINER_HOME to a folder'

/** What to do about a file system error. Empty if there is no advice. */
export function adviceOn(code: string | undefined, done: 'read' | 'written'): string {
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return `free some space, or ${ELSEWHERE} that has space`
    case 'EACCES':
    case 'EROFS':
      return `let this user ${done === 'read' ? 'read' : 'write'} there, or ${ELSEWHERE} that allows it`
    case 'ENOTDIR':
    case 'EEXIST':
    case 'ELOOP':
      return 'remove the file that is in the way of a folder'
    // No fallback for file systems without hard links: it would hardly ever run, and would hide mistakes.
    case 'EPERM':
    case 'ENOTSUP':
    case 'EOPNOTSUPP':
    case 'ENOSYS':
    case 'EMLINK':
      return `${ELSEWHERE} on a file system that has hard links`
    default:
      return ''
  }
}
