// Reading a log: from either end, in little memory, while others write to it.

import { closeSync } from 'node:fs'
import { markOf } from './chain.js'
import type { StoredEntry } from './entry.js'
import type { EntryFilter } from './filter.js'
import { type Line, linesBefore, linesFrom } from './lines.js'
import { openPlain, segmentName, segmentPath, segmentsIn } from './segments.js'

export interface ReadOptions {
  readonly folder: string
  readonly newestFirst?: boolean
  readonly filter?: EntryFilter
  /** At most so many. */
  readonly limit?: number
  /** Told of lines that are no records; what stands after the last newline is not among them: it is being written. */
  readonly onDamaged?: (where: { readonly file: string; readonly offset: number }) => void
}

/** Entries are written soon after they happen, by the clock of the host; a file that was last written before has none. */
const CLOCKS_DIFFER_MS = 3_600_000

/** Checks no hashes: `verify` does. A segment that is removed meanwhile is left out; no folder is an empty log. */
export function* readEntries(options: ReadOptions): Generator<StoredEntry> {
  const { folder, newestFirst = false, filter, limit = Infinity } = options
  const numbers = segmentsIn(folder)
  let left = limit
  for (const number of newestFirst ? numbers.toReversed() : numbers) {
    for (const entry of entriesIn(number, options)) {
      if (left <= 0) return
      if (filter && !filter(entry)) continue
      left--
      yield entry
    }
    if (left <= 0) return
  }
}

function* entriesIn(number: number, options: ReadOptions): Generator<StoredEntry> {
  const { folder, newestFirst = false, filter, onDamaged } = options
  const since = filter?.since
  for (const line of linesOf(segmentPath(folder, number), newestFirst, since)) {
    if (!line.whole) continue
    const entry = entryOf(line.bytes)
    if (entry) yield entry
    else onDamaged?.({ file: segmentName(number), offset: line.offset })
  }
}

function* linesOf(path: string, newestFirst: boolean, since: number | undefined): Generator<Line> {
  const file = openPlain(path)
  if (!file) return
  const { fd, stats } = file
  try {
    if (since !== undefined && stats.mtimeMs < since - CLOCKS_DIFFER_MS) return
    yield* newestFirst ? linesBefore(fd, stats.size) : linesFrom(fd)
  } finally {
    closeSync(fd)
  }
}

/** Undefined for a line that is no record. */
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
