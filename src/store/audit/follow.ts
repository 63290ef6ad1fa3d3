// New entries as they are written, by whichever process, from one file to the next.

import { closeSync } from 'node:fs'
import type { StoredEntry } from './entry.js'
import type { EntryFilter } from './filter.js'
import { linesFrom } from './lines.js'
import { entryOf } from './read.js'
import { firstMarkOf, openPlain, segmentPath, segmentsIn, tailOf } from './segments.js'

export interface FollowOptions {
  readonly folder: string
  readonly filter?: EntryFilter
  /** The number of the last entry that is known already; default: the newest there is. */
  readonly after?: number
  /** Ends it. */
  readonly signal?: AbortSignal
  /** How often to look; default 200. */
  readonly everyMs?: number
}

interface Place {
  /** 0: before the first. */
  readonly segment: number
  readonly offset: number
}

/** Ends when the signal is aborted, and only then: a log that is not there yet, or is gone, may come. */
export async function* followEntries(options: FollowOptions): AsyncGenerator<StoredEntry> {
  const { folder, filter, after = 0, signal, everyMs = 200 } = options
  let place = options.after === undefined ? newestPlace(folder) : placeAfter(folder, after)
  while (!signal?.aborted) {
    // Listed before it is read: where there is a next one by now, nothing more comes to this one.
    const next = segmentsIn(folder).find((number) => number > place.segment)
    for (const { entry, end } of entriesFrom(folder, place)) {
      if (signal?.aborted) return
      place = { ...place, offset: end }
      if (entry && entry.seq > after && (!filter || filter(entry))) yield entry
    }
    if (next !== undefined) place = { segment: next, offset: 0 }
    else await pause(everyMs, signal)
  }
}

function newestPlace(folder: string): Place {
  const segment = segmentsIn(folder).at(-1) ?? 0
  return { segment, offset: segment === 0 ? 0 : (tailOf(segmentPath(folder, segment))?.end ?? 0) }
}

function placeAfter(folder: string, after: number): Place {
  const numbers = segmentsIn(folder)
  const segment = numbers.findLast((number) => {
    const first = firstMarkOf(segmentPath(folder, number))
    return first !== undefined && first.seq <= after + 1
  })
  return { segment: segment ?? numbers[0] ?? 0, offset: 0 }
}

/** Up to the last newline: what stands behind it is being written. */
function* entriesFrom(
  folder: string,
  { segment, offset }: Place,
): Generator<{ readonly entry: StoredEntry | undefined; readonly end: number }> {
  const file = segment === 0 ? undefined : openPlain(segmentPath(folder, segment))
  if (!file) return
  try {
    // A batch that did not fit on the disk was taken back.
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
