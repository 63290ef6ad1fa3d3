// Where the next line goes, as the log and its head say; what a dead writer left half done is put right first.

import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { timestamp } from '../../core/base/timestamp.js'
import { PLAIN } from '../../files/plain-file.js'
import { type Link, START } from './chain.js'
import type { RecoveredEntry } from './entry.js'
import { FIRST_HEAD, type Head, readHead } from './head.js'
import { bytesAt } from './lines.js'
import { checkFile } from './log-folder.js'
import { leaveNote, nextTorn } from './notes.js'
import { segmentPath, segmentsAmong, type Tail, tailOf, withFile } from './segments.js'

/** The end of the log: `size` bytes of this segment, after this link. */
export interface Position extends Link {
  readonly segment: number
  readonly size: number
}

export interface Found {
  readonly position: Position
  /** Whether head.json must be made. */
  readonly headless: boolean
  /** What has to be said about the head. */
  readonly said: readonly RecoveredEntry[]
}

/** With the lock held. May leave notes, so list the folder again. */
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
 * A log that ends before its head, or otherwise than its head says, has lost something. It goes on from the head: then
 * the chain itself shows what is missing, to everybody, for ever.
 */
function positionOf(found: Position | undefined, segments: readonly number[], head: Head): Position {
  if (!found) {
    if (head.seq === 0) return FIRST_HEAD
    const segment = Math.max(head.segment, segments.at(-1) ?? 0) + 1
    return { segment, size: 0, seq: head.seq, hash: head.hash }
  }
  return head.seq >= found.seq ? { ...found, seq: head.seq, hash: head.hash } : found
}

/** Undefined where there is no segment. */
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

/** What follows the last line is moved out of the log, and a note says so. */
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
