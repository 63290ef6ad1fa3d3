// How much is kept: where a new segment begins, the oldest go, and the log says which.

import { lstatSync, unlinkSync } from 'node:fs'
import { timestamp } from '../../core/base/timestamp.js'
import type { PrunedEntry } from './entry.js'
import type { Position } from './position.js'
import { firstMarkOf, segmentPath } from './segments.js'

export interface Pruning {
  readonly entry: PrunedEntry
  /** To be removed once the entry is written. */
  readonly paths: readonly string[]
}

/** What has to go so that so many bytes more stay within the bound. `end` is where the log ends before them. */
export function pruningFor(
  folder: string,
  segments: readonly number[],
  end: Position,
  more: number,
  maxBytes: number,
): Pruning | undefined {
  const sized = segments.map((segment) => {
    const path = segmentPath(folder, segment)
    return { path, size: lstatSync(path, { throwIfNoEntry: false })?.size ?? 0 }
  })
  let total = sized.reduce((sum, { size }) => sum + size, more)
  let count = 0
  for (; count < sized.length && total > maxBytes; count++) total -= sized[count]?.size ?? 0
  const [oldest] = sized
  if (count === 0 || !oldest) return undefined
  const next = sized[count]
  const after = next ? firstMarkOf(next.path) : { seq: end.seq + 1, prev: end.hash }
  // Without it nobody could tell where the log begins from now on: better too much than that.
  if (!after) return undefined
  const first = firstMarkOf(oldest.path)?.seq ?? 0
  return {
    entry: {
      kind: 'pruned',
      time: timestamp(),
      segments: count,
      first,
      last: after.seq - 1,
      lastHash: after.prev,
    },
    paths: sized.slice(0, count).map(({ path }) => path),
  }
}

/** Oldest first, so that what is left has no hole. One that stays is tried again with the next segment. */
export function prune({ paths }: Pruning): void {
  for (const path of paths) {
    try {
      unlinkSync(path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return
    }
  }
}
