// A file of the log that stays open between writes, and notices when its path no longer leads to it.

import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  type Stats,
  writeSync,
} from 'node:fs'
import { lstatIfThere } from '../../files/if-there.js'
import { PLAIN } from '../../files/plain-file.js'
import { checkFile, isUnchanged } from './log-folder.js'

export class OwnFile {
  readonly #path: string
  readonly #fd: number
  readonly #stats: Stats

  /** `flags` are added to O_WRONLY. Throws if it is not a regular file of this user. Empties a file larger than `most`. */
  constructor(path: string, flags: number, most = Number.POSITIVE_INFINITY) {
    this.#path = path
    this.#fd = openSync(path, constants.O_WRONLY | flags | PLAIN, 0o600)
    try {
      this.#stats = fstatSync(this.#fd)
      checkFile(path, this.#stats)
      if (this.#stats.size > most) ftruncateSync(this.#fd, 0)
    } catch (error) {
      this.close()
      throw error
    }
  }

  get sizeWhenOpened(): number {
    return this.#stats.size
  }

  /** Undefined if the path names another file now, or if this one has another owner, mode or number of names. */
  get size(): number | undefined {
    const now = lstatIfThere(this.#path)
    return now && isUnchanged(now, this.#stats) && now.nlink === 1 ? now.size : undefined
  }

  /** Writes all or nothing at the end: no line may follow half a line. `size` is where the end is. */
  append(bytes: Buffer, size: number): void {
    try {
      for (let written = 0; written < bytes.length; ) written += writeSync(this.#fd, bytes, written)
    } catch (error) {
      this.#cut(size)
      throw error
    }
  }

  /** Replaces the beginning of the file. */
  overwrite(bytes: Buffer): void {
    writeSync(this.#fd, bytes, 0, bytes.length, 0)
  }

  sync(): void {
    fdatasyncSync(this.#fd)
  }

  close(): void {
    closeSync(this.#fd)
  }

  #cut(size: number): void {
    try {
      ftruncateSync(this.#fd, size)
    } catch {
      // The next writer moves the partial line out of the log. The error of the write is the one to report.
    }
  }
}
