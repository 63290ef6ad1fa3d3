// How far the log goes, beside the log: after a kill it may be behind, and only a loss leaves it ahead.

import { closeSync, constants, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { isObject } from '../../core/base/json.js'
import { PLAIN, readPlain } from '../../files/plain-file.js'
import { type Link, START } from './chain.js'
import { checkFile } from './log-folder.js'

/** The last record that was acknowledged, and where its line ends. */
export interface Head extends Link {
  readonly segment: number
  readonly size: number
}

export const HEAD_NAME = 'head.json'
export const FIRST_HEAD: Head = Object.freeze({ ...START, segment: 1, size: 0 })

/** Always as long, so that it is overwritten in place: no file is made, and a full disk does not matter. */
const LENGTH = 192
const HASH = /^[0-9a-f]{64}$/

export function headPath(folder: string): string {
  return join(folder, HEAD_NAME)
}

/** Undefined where there is none. */
export function readHead(folder: string): Head | { readonly problem: string } | undefined {
  try {
    // Who reads while it is overwritten may see a part of both.
    const first = headIn(folder)
    return 'problem' in first ? headIn(folder) : first
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    return { problem: textOf(error) }
  }
}

function headIn(folder: string): Head | { readonly problem: string } {
  const read = readPlain(headPath(folder), 4 * LENGTH)
  if ('problem' in read) return { problem: `it ${read.problem}` }
  try {
    const value: unknown = JSON.parse(read.text)
    if (isHead(value)) return value
  } catch {}
  return { problem: 'it is no head of a log' }
}

function isHead(value: unknown): value is Head {
  if (!isObject(value)) return false
  const { seq, hash, segment, size } = value
  return [seq, segment, size].every(isCount) && typeof hash === 'string' && HASH.test(hash)
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Opened before the log is written to: what is wrong with it is told while nothing has happened. */
export class HeadFile {
  readonly #fd: number

  constructor(folder: string, makes: boolean) {
    const path = headPath(folder)
    const make = makes ? constants.O_CREAT | constants.O_EXCL : 0
    this.#fd = openSync(path, constants.O_WRONLY | make | PLAIN, 0o600)
    try {
      const stats = fstatSync(this.#fd)
      checkFile(path, stats)
      // Not one of ours: what stands behind ours would make it unreadable.
      if (stats.size > LENGTH) ftruncateSync(this.#fd, 0)
    } catch (error) {
      this.close()
      throw error
    }
  }

  write({ seq, hash, segment, size }: Head): void {
    const text = `${JSON.stringify({ seq, hash, segment, size }).padEnd(LENGTH - 1)}\n`
    writeSync(this.#fd, text, 0)
  }

  close(): void {
    closeSync(this.#fd)
  }
}
