// Reads a log in files from either end, in little memory, while others write to it, and follows new entries.

import { closeSync } from 'node:fs'
import type { FollowOptions, ReadOptions, StoredEntry } from '../audit-log.js'
import { markOf } from './chain.js'
import {
  firstMarkOf,
  type Line,
  linesBefore,
  linesFrom,
  NotPlain,
  openPlain,
  segmentName,
  segmentPath,
  segmentsIn,
  tailOf,
} from './segments.js'

/** Entries are written soon after they happen, but clocks differ. A file last written before this margin has none. */
const CLOCKS_DIFFER_MS = 3_600_000
/** Reading so many takes about a millisecond. */
const STEP_ENTRIES = 100

/** Skips a segment that is removed during the reading. A folder that does not exist is an empty log. */
export function* readEntries(folder: string, options: ReadOptions = {}): Generator<StoredEntry> {
  for (const entry of entriesOrPauses(folder, options)) if (entry) yield entry
}

/** The same, where undefined is a moment at which the process can do something else. */
export function* entriesOrPauses(
  folder: string,
  options: ReadOptions = {},
): Generator<StoredEntry | undefined> {
  const { newestFirst = false, filter, limit = Infinity } = options
  const numbers = segmentsIn(folder)
  let left = limit
  let read = 0
  for (const number of newestFirst ? numbers.toReversed() : numbers) {
    for (const entry of entriesIn(folder, number, options)) {
      if (left <= 0) return
      if (++read % STEP_ENTRIES === 0) yield undefined
      if (filter && !filter(entry)) continue
      left--
      yield entry
    }
    if (left <= 0) return
  }
}

function* entriesIn(folder: string, number: number, options: ReadOptions): Generator<StoredEntry> {
  const { newestFirst = false, filter, onDamaged } = options
  const path = segmentPath(folder, number)
  const onNotPlain = () => onDamaged?.({ file: segmentName(number), offset: 0 })
  for (const line of linesOf(path, newestFirst, filter?.since, onNotPlain)) {
    if (!line.whole) continue
    const entry = entryOf(line.bytes)
    if (entry) yield entry
    else onDamaged?.({ file: segmentName(number), offset: line.offset })
  }
}

function* linesOf(
  path: string,
  newestFirst: boolean,
  since: number | undefined,
  onNotPlain: () => void,
): Generator<Line> {
  const file = plainOf(path, onNotPlain)
  if (!file) return
  const { fd, stats } = file
  try {
    if (since !== undefined && stats.mtimeMs < since - CLOCKS_DIFFER_MS) return
    yield* newestFirst ? linesBefore(fd, stats.size) : linesFrom(fd)
  } finally {
    closeSync(fd)
  }
}

function plainOf(path: string, onNotPlain: () => void): ReturnType<typeof openPlain> {
  try {
    return openPlain(path)
  } catch (error) {
    if (!(error instanceof NotPlain)) throw error
    onNotPlain()
    return undefined
  }
}

/** Undefined for a line that is not a record. */
export function entryOf(bytes: Buffer): StoredEntry | undefined {
  if (!markOf(bytes)) return undefined
  try {
    const entry = JSON.parse(bytes.toString('utf8')) as Partial<StoredEntry>
    return typeof entry.kind === 'string' && typeof entry.time === 'string'
      ? (entry as StoredEntry)
      : undefined
  } catch {
    return undefined
  }
}

// ---- following ------------------------------------------------------------------------------------------------

interface Position {
  /** 0: before the first. */
  readonly segment: number
  readonly offset: number
}

/** Keeps waiting if there is no log, because one may appear. */
export async function* followEntries(
  folder: string,
  options: FollowOptions = {},
): AsyncGenerator<StoredEntry> {
  const { filter, after = 0, signal, everyMs = 200 } = options
  let position = options.after === undefined ? newestPosition(folder) : positionAfter(folder, after)
  while (!signal?.aborted) {
    // List before reading: if there is a next segment, nothing more is added to this one.
    const next = segmentsIn(folder).find((number) => number > position.segment)
    for (const { entry, end } of entriesFrom(folder, position)) {
      if (signal?.aborted) return
      position = { ...position, offset: end }
      if (entry && entry.seq > after && (!filter || filter(entry))) yield entry
    }
    if (next !== undefined) position = { segment: next, offset: 0 }
    else await pause(everyMs, signal)
  }
}

function newestPosition(folder: string): Position {
  const segment = segmentsIn(folder).at(-1) ?? 0
  return { segment, offset: segment === 0 ? 0 : (tailOf(segmentPath(folder, segment))?.end ?? 0) }
}

function positionAfter(folder: string, after: number): Position {
  const numbers = segmentsIn(folder)
  const segment = numbers.findLast((number) => {
    const first = firstMarkOf(segmentPath(folder, number))
    return first !== undefined && first.seq <= after + 1
  })
  return { segment: segment ?? numbers[0] ?? 0, offset: 0 }
}

/** Reads up to the last newline: the rest is still being written. */
function* entriesFrom(
  folder: string,
  { segment, offset }: Position,
): Generator<{ readonly entry: StoredEntry | undefined; readonly end: number }> {
  const file = segment === 0 ? undefined : openPlain(segmentPath(folder, segment))
  if (!file) return
  try {
    // The file shrinks when a batch that did not fit on the disk is undone.
    const start = Math.min(offset, file.stats.size)
    if (start < offset) yield { entry: undefined, end: start }
    for (const { bytes, end, whole } of linesFrom(file.fd, start))
      if (whole) yield { entry: entryOf(bytes), end }
  } finally {
    closeSync(file.fd)
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
}
