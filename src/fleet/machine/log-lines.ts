// The lines of a local log that the fleet does not have yet, read in little memory while others write.

import { isUtf8 } from 'node:buffer'
import { closeSync } from 'node:fs'
import { isIntact, type Mark, markOf } from '../../store/audit/chain.js'
import { readHead, usable } from '../../store/audit/head.js'
import { entryOf } from '../../store/audit/read.js'
import {
  firstMarkOf,
  linesFrom,
  openPlain,
  segmentPath,
  segmentsIn,
  tailOf,
} from '../../store/audit/segments.js'
import type { Link } from '../../store/audit-log.js'
import type { Break } from '../protocol.js'

/** A record, or a line in its place that is none. */
export type LogLine =
  | { readonly bytes: Buffer; readonly mark: Mark }
  | { readonly damaged: true; readonly seq: number }

/** The last record of the log that its writers acknowledged; if they no longer say, the last one. Undefined if there is none. */
export function localEnd(folder: string): Link | undefined {
  const { seq, hash } = usable(readHead(folder)) ?? lastMarkIn(folder) ?? { seq: 0, hash: '' }
  return seq > 0 ? { seq, hash } : undefined
}

function lastMarkIn(folder: string): Mark | undefined {
  for (const number of segmentsIn(folder).toReversed()) {
    const mark = tailOf(segmentPath(folder, number))?.mark
    if (mark) return mark
  }
  return undefined
}

/** Why the log does not go on after this record, which the fleet has last. Undefined if it does. */
export function breakAfter(folder: string, after: Link, end: Link): Break | undefined {
  if (end.seq < after.seq) return 'cut'
  if (end.seq === after.seq) return end.hash === after.hash ? undefined : 'fork'
  const [oldest] = segmentsIn(folder)
  const first = oldest === undefined ? undefined : firstMarkOf(segmentPath(folder, oldest))
  if (!first || first.seq > after.seq + 1) return 'gap'
  if (first.seq === after.seq + 1) return first.prev === after.hash ? undefined : 'fork'
  for (const line of linesAfter(folder, after.seq - 1)) {
    if ('damaged' in line) continue
    if (line.mark.seq >= after.seq) return line.mark.hash === after.hash ? undefined : 'fork'
  }
  return 'fork'
}

/** Whole lines after this number, in order. The bytes are valid until the next one is read. */
export function* linesAfter(folder: string, seq: number): Generator<LogLine> {
  const numbers = segmentsIn(folder)
  const newest = numbers.at(-1)
  const start = numbers.findLastIndex((number) => {
    const first = firstMarkOf(segmentPath(folder, number))
    return first !== undefined && first.seq <= seq + 1
  })
  let last = 0
  for (const number of numbers.slice(Math.max(start, 0))) {
    const file = openPlain(segmentPath(folder, number))
    if (!file) continue
    try {
      for (const { bytes, whole } of linesFrom(file.fd)) {
        // Only a line at the very end can still be being written.
        if (!whole && number === newest) return
        const mark = whole ? markOf(bytes) : undefined
        if (mark && mark.seq <= seq) {
          last = mark.seq
          continue
        }
        const isRecord = mark !== undefined && isSendable(bytes, mark)
        if (!isRecord && last < seq) continue
        yield isRecord ? { bytes, mark } : { damaged: true, seq: last + 1 }
        if (isRecord) last = mark.seq
      }
    } finally {
      closeSync(file.fd)
    }
  }
}

/** The gateway takes nothing else. */
function isSendable(line: Buffer, mark: Mark): boolean {
  return isIntact(line, mark) && isUtf8(line) && !line.includes(0)
}

/** Whether the log itself says that the records before its first one were removed to save space. */
export function isPrunedBefore(folder: string, first: Mark): boolean {
  for (const line of linesAfter(folder, 0)) {
    if ('damaged' in line || !line.bytes.includes('"kind":"pruned"')) continue
    const entry = entryOf(line.bytes)
    if (entry?.kind === 'pruned' && prunes(entry, { seq: first.seq - 1, hash: first.prev })) return true
  }
  return false
}

interface Pruned {
  readonly first: number
  readonly last: number
  readonly lastHash: string
}

/** Whether everything up to this record was removed. The removal may have been interrupted. */
export function prunes({ first, last, lastHash }: Pruned, upTo: Link): boolean {
  return (last === upTo.seq && lastHash === upTo.hash) || (last > upTo.seq && first <= upTo.seq + 1)
}
