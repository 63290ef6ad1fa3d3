// The end of a log: head.json beside it, and the position of the next line.

import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { isObject } from '../../core/base/json.js'
import { timestamp } from '../../core/base/time.js'
import { checkFormat, FIRST_FORMAT, NewerFormat } from '../../files/format.js'
import { lstatIfThere } from '../../files/if-there.js'
import { PLAIN, readPlain } from '../../files/plain-file.js'
import type { Link, RecoveredEntry } from '../audit-log.js'
import { markOf, START } from './chain.js'
import { checkFile } from './log-folder.js'
import { leaveNote, nextTorn } from './notes.js'
import { OwnFile } from './own-file.js'
import {
  bytesAt,
  linesBefore,
  segmentName,
  segmentPath,
  segmentsAmong,
  type Tail,
  tailOf,
  withFile,
} from './segments.js'

/** The last acknowledged record, and where its line ends. After a kill, it may be behind the log. Only a loss leaves it ahead. */
export interface Head extends Link {
  readonly segment: number
  readonly size: number
  /** Whether the witness was also written. 0.1.0 had none. */
  readonly witness?: boolean
}

export type ReadEnd = Head | { readonly problem: string } | undefined

export const HEAD_NAME = 'head.json'
const FIRST_HEAD: Head = Object.freeze({ ...START, segment: 1, size: 0 })

/** Always the same length, so that it can be overwritten in place, even on a full disk. */
const LENGTH = 192
const HASH = /^[0-9a-f]{64}$/

export function headPath(folder: string): string {
  return join(folder, HEAD_NAME)
}

/** Undefined if there is none. Throws if a newer version of Carabiner wrote it, because we must not read or continue that log. */
export function readHead(folder: string): ReadEnd {
  return readEnd(headPath(folder))
}

/** The head, or the witness. */
export function readEnd(path: string): ReadEnd {
  try {
    // A reader may see a mix of two heads during a write, so it reads again.
    const first = endIn(path)
    return 'problem' in first ? endIn(path) : first
  } catch (error) {
    if (error instanceof NewerFormat) throw error
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    return { problem: textOf(error) }
  }
}

function endIn(path: string): Head | { readonly problem: string } {
  const read = readPlain(path, 4 * LENGTH)
  if ('problem' in read) return { problem: `it ${read.problem}` }
  const value = parsed(read.text)
  if (isObject(value)) checkFormat(value.format, path)
  if (!isHead(value)) return { problem: 'it is not the head of a log' }
  const { seq, hash, segment, size, witness } = value
  return { seq, hash, segment, size, ...(typeof witness === 'boolean' && { witness }) }
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
  readonly #file: OwnFile

  constructor(path: string, makes: boolean) {
    // A larger file is not ours, and the rest of it after our text would make the head unreadable.
    this.#file = new OwnFile(path, makes ? constants.O_CREAT | constants.O_EXCL : 0, LENGTH)
  }

  /** Whether it is still the file at its path, with a head in it. */
  get isInPlace(): boolean {
    return this.#file.size === LENGTH
  }

  write({ seq, hash, segment, size, witness }: Head): void {
    const end = { format: FIRST_FORMAT, seq, hash, segment, size, witness }
    // Written as bytes, because Deno appends text instead of writing it at the position.
    this.#file.overwrite(Buffer.from(`${JSON.stringify(end).padEnd(LENGTH - 1)}\n`))
  }

  close(): void {
    this.#file.close()
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
  /** Whether head.json must be created. */
  readonly headless: boolean
  /** Whether nothing was ever recorded here. */
  readonly isNew: boolean
  /** Entries about the head and the witness that must be written. */
  readonly said: readonly RecoveredEntry[]
}

/** Call it with the mutex held. It repairs what a dead writer left, and may leave notes, so list the folder again. */
export function findPosition(folder: string, names: readonly string[], witness: ReadEnd): Found {
  const read = readHead(folder)
  const head = usable(read)
  const seen = usable(witness)
  const end = furthest(head, seen)
  const segments = ownSegments(segmentsAmong(names), end)
  const found = lastLineOf(folder, segments, names)
  // A writer that was killed while it made the first files leaves them empty.
  const isBlank = read === undefined || lstatIfThere(headPath(folder))?.size === 0
  const isNew = found === undefined && isBlank && (seen === undefined || seen.seq === 0)
  const said = [
    ...(isNew ? [] : headTroubles(read, seen)),
    ...(head?.witness && !seen ? [recovered('witness', problemOf(witness))] : []),
    ...(found && end && found.isEmpty && found.segment > end.segment
      ? [recovered('segment', `${segmentName(found.segment)} existed and was empty`)]
      : []),
    ...(seen && isReplaced(folder, segments, seen) ? [recovered('head', OTHER_LOG)] : []),
  ]
  return { position: positionOf(found, segments, end), headless: read === undefined, isNew, said }
}

const OTHER_LOG = 'the log is not the one written last'

export function usable(read: ReadEnd): Head | undefined {
  return read && 'seq' in read ? read : undefined
}

export function problemOf(read: ReadEnd): string {
  return read && 'problem' in read ? read.problem : 'it was missing'
}

function furthest(head: Head | undefined, witness: Head | undefined): Head | undefined {
  if (!head || !witness) return head ?? witness
  return witness.seq > head.seq ? witness : head
}

function recovered(what: RecoveredEntry['what'], why: string): RecoveredEntry {
  return { kind: 'recovered', time: timestamp(), what, why }
}

function headTroubles(read: ReadEnd, seen: Head | undefined): readonly RecoveredEntry[] {
  const head = usable(read)
  if (!head) return [recovered('head', problemOf(read))]
  return seen && head.seq < seen.seq ? [recovered('head', `it was set back to record ${head.seq}`)] : []
}

/** A file far ahead was added by somebody else: writers number files one after another. */
function ownSegments(segments: readonly number[], end: Head | undefined): readonly number[] {
  if (!end) return segments
  let last = end.segment
  while (segments.includes(last + 1)) last++
  return segments.filter((number) => number <= last)
}

/** A killed writer leaves its witness at most one batch behind, so the search goes no further back. */
const FURTHEST_BACK = 2000

/** Whether the record that the witness saw has been replaced. */
function isReplaced(folder: string, segments: readonly number[], seen: Head): boolean {
  let left = FURTHEST_BACK
  for (const segment of segments.toReversed()) {
    const mark = withFile(segmentPath(folder, segment), (fd, { size }) => {
      for (const { bytes, whole } of linesBefore(fd, size)) {
        const one = whole ? markOf(bytes) : undefined
        if ((one && one.seq <= seen.seq) || left-- <= 0) return one
      }
      return undefined
    })
    if (left <= 0) return false
    if (mark) return mark.seq === seen.seq && mark.hash !== seen.hash
  }
  return false
}

/**
 * A log that ends before its head or witness, or differs from it, has lost something. It continues from the head or
 * witness, so the chain itself will always show that something is missing.
 */
function positionOf(
  found: LastLine | undefined,
  segments: readonly number[],
  end: Head | undefined,
): Position {
  if (!found) {
    if (!end || end.seq === 0) return FIRST_HEAD
    const segment = Math.max(end.segment, segments.at(-1) ?? 0) + 1
    return { segment, size: 0, seq: end.seq, hash: end.hash }
  }
  const { segment, size, seq, hash } = found
  return end && end.seq >= seq
    ? { segment, size, seq: end.seq, hash: end.hash }
    : { segment, size, seq, hash }
}

interface LastLine extends Position {
  /** Whether the newest file was empty. */
  readonly isEmpty: boolean
}

/** Undefined if there is no segment. */
function lastLineOf(
  folder: string,
  segments: readonly number[],
  names: readonly string[],
): LastLine | undefined {
  const [segment, ...older] = segments.toReversed()
  if (segment === undefined) return undefined
  const tail = tailOf(segmentPath(folder, segment)) ?? EMPTY
  if (tail.end < tail.size) moveTorn(folder, segment, tail, nextTorn(names))
  let { mark } = tail
  for (const one of older) mark ??= tailOf(segmentPath(folder, one))?.mark
  const { seq, hash } = mark ?? START
  return { segment, size: tail.end, seq, hash, isEmpty: tail.size === 0 }
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
