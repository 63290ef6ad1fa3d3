// The end of a log: head.json, which is kept beside it, and the position where the next line goes.

import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { isObject } from '../../core/base/json.js'
import { timestamp } from '../../core/base/time.js'
import { checkFormat, FIRST_FORMAT, NewerFormat } from '../../files/format.js'
import { PLAIN, readPlain } from '../../files/plain-file.js'
import type { Link, RecoveredEntry } from '../audit-log.js'
import { START } from './chain.js'
import { checkFile } from './log-folder.js'
import { leaveNote, nextTorn } from './notes.js'
import { bytesAt, segmentPath, segmentsAmong, type Tail, tailOf, withFile } from './segments.js'

/** The last acknowledged record, and where its line ends. After a kill it may be behind the log; only a loss leaves it ahead. */
export interface Head extends Link {
  readonly segment: number
  readonly size: number
}

export const HEAD_NAME = 'head.json'
const FIRST_HEAD: Head = Object.freeze({ ...START, segment: 1, size: 0 })

/** Always the same length, so that it is overwritten in place: this works on a full disk, too. */
const LENGTH = 192
const HASH = /^[0-9a-f]{64}$/

export function headPath(folder: string): string {
  return join(folder, HEAD_NAME)
}

/** Undefined if there is none. Throws if a newer version of Carabiner wrote it: then the log is not ours to read or continue. */
export function readHead(folder: string): Head | { readonly problem: string } | undefined {
  try {
    // A reader may see a mix of two heads while one is overwritten.
    const first = headIn(folder)
    return 'problem' in first ? headIn(folder) : first
  } catch (error) {
    if (error instanceof NewerFormat) throw error
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    return { problem: textOf(error) }
  }
}

function headIn(folder: string): Head | { readonly problem: string } {
  const read = readPlain(headPath(folder), 4 * LENGTH)
  if ('problem' in read) return { problem: `it ${read.problem}` }
  const value = parsed(read.text)
  if (isObject(value)) checkFormat(value.format, headPath(folder))
  if (!isHead(value)) return { problem: 'it is no head of a log' }
  const { seq, hash, segment, size } = value
  return { seq, hash, segment, size }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isHead(value: unknown): value is Head {
  if (!isObject(value)) return false
  const { seq, hash, segment, size } = value
  return [seq, segment, size].every(isCount) && typeof hash === 'string' && HASH.test(hash)
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Opened before the log is written to, so that a problem with it is reported before anything has changed. */
export class HeadFile {
  readonly #fd: number

  constructor(folder: string, makes: boolean) {
    const path = headPath(folder)
    const make = makes ? constants.O_CREAT | constants.O_EXCL : 0
    this.#fd = openSync(path, constants.O_WRONLY | make | PLAIN, 0o600)
    try {
      const stats = fstatSync(this.#fd)
      checkFile(path, stats)
      // It is not ours: its rest after our text would make it unreadable.
      if (stats.size > LENGTH) ftruncateSync(this.#fd, 0)
    } catch (error) {
      this.close()
      throw error
    }
  }

  write({ seq, hash, segment, size }: Head): void {
    const text = `${JSON.stringify({ format: FIRST_FORMAT, seq, hash, segment, size }).padEnd(LENGTH - 1)}\n`
    writeSync(this.#fd, text, 0)
  }

  close(): void {
    closeSync(this.#fd)
  }
}

// ---- where the next line goes ---------------------------------------------------------------------------------

/** The end of the log: after `size` bytes of this segment, following this link. */
export interface Position extends Link {
  readonly segment: number
  readonly size: number
}

export interface Found {
  readonly position: Position
  /** Whether head.json must be made. */
  readonly headless: boolean
  /** Entries about the head that must be written. */
  readonly said: readonly RecoveredEntry[]
}

/** Call it with the mutex held. It repairs what a dead writer left, and may leave notes: list the folder again. */
export function findPosition(folder: string, names: readonly string[]): Found {
  const segments = segmentsAmong(names)
  const read = readHead(folder)
  const found = lastLineOf(folder, segments, names)
  const isNew = segments.length === 0 && read === undefined
  if (read === undefined || 'problem' in read) {
    const why = read?.problem ?? 'it was not there'
    return {
      position: found ?? FIRST_HEAD,
      headless: read === undefined,
      said: isNew ? [] : [{ kind: 'recovered', time: timestamp(), what: 'head', why }],
    }
  }
  return { position: positionOf(found, segments, read), headless: false, said: [] }
}

/**
 * A log that ends before its head, or differs from it, has lost something. It continues from the head, so the chain
 * itself shows for ever that something is missing.
 */
function positionOf(found: Position | undefined, segments: readonly number[], head: Head): Position {
  if (!found) {
    if (head.seq === 0) return FIRST_HEAD
    const segment = Math.max(head.segment, segments.at(-1) ?? 0) + 1
    return { segment, size: 0, seq: head.seq, hash: head.hash }
  }
  return head.seq >= found.seq ? { ...found, seq: head.seq, hash: head.hash } : found
}

/** Undefined if there is no segment. */
function lastLineOf(
  folder: string,
  segments: readonly number[],
  names: readonly string[],
): Position | undefined {
  const [segment, ...older] = segments.toReversed()
  if (segment === undefined) return undefined
  const tail = tailOf(segmentPath(folder, segment)) ?? EMPTY
  if (tail.end < tail.size) moveTorn(folder, segment, tail, nextTorn(names))
  let { mark } = tail
  for (const one of older) mark ??= tailOf(segmentPath(folder, one))?.mark
  return { segment, size: tail.end, seq: mark?.seq ?? START.seq, hash: mark?.hash ?? START.hash }
}

const EMPTY: Tail = { size: 0, end: 0, mark: undefined }

/** Moves an unfinished line out of the log, and leaves a note about it. */
function moveTorn(folder: string, segment: number, tail: Tail, number: number): void {
  const path = segmentPath(folder, segment)
  keepTorn(path, tail, join(folder, `torn.${number}`))
  leaveNote(folder, { torn: number })
  const fd = openSync(path, constants.O_WRONLY | PLAIN)
  try {
    checkFile(path, fstatSync(fd))
    ftruncateSync(fd, tail.end)
  } finally {
    closeSync(fd)
  }
}

function keepTorn(path: string, { end, size }: Tail, kept: string): void {
  const bytes = withFile(path, (fd) => bytesAt(fd, end, size - end))
  if (!bytes) return
  const fd = openSync(kept, 'wx', 0o600)
  try {
    for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
