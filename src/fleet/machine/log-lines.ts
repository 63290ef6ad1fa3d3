// The lines of a local log that the fleet does not have yet, read in little memory while others write.

import { isUtf8 } from 'node:buffer'
import { closeSync } from 'node:fs'
import { isIntact, type Mark, markOf } from '../../store/audit/chain.js'
import { readHead, usable } from '../../store/audit/head.js'
import { firstMarkOf, linesFrom, openPlain, segmentPath, segmentsIn } from '../../store/audit/segments.js'
import type { Link } from '../../store/audit-log.js'
import type { Break } from '../protocol.js'

/** A record, or a line in its place that is none. */
export type LogLine =
  | { readonly bytes: Buffer; readonly mark: Mark }
  | { readonly damaged: true; readonly seq: number }

/** The last record of the log that its writers acknowledged. Undefined if there is none, or nobody can tell. */
export function localEnd(folder: string): Link | undefined {
  const head = usable(readHead(folder))
  return head && head.seq > 0 ? { seq: head.seq, hash: head.hash } : undefined
}

/** Why the log does not go on after this record, which the fleet has last. Undefined if it does. */
export function breakAfter(folder: string, after: Link, end: Link): Break | undefined {
  const [oldest] = segmentsIn(folder)
  const first = oldest === undefined ? undefined : firstMarkOf(segmentPath(folder, oldest))
  if (end.seq < after.seq) return 'cut'
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
        // Still being written.
        if (!whole) return
        const mark = recordIn(bytes)
        if (mark && mark.seq <= seq) {
          last = mark.seq
          continue
        }
        if (!mark && last < seq) continue
        yield mark ? { bytes, mark } : { damaged: true, seq: last + 1 }
        if (mark) last = mark.seq
      }
    } finally {
      closeSync(file.fd)
    }
  }
}

/** The gateway takes nothing else. */
function recordIn(line: Buffer): Mark | undefined {
  const mark = markOf(line)
  return mark && isIntact(line, mark) && isUtf8(line) && !line.includes(0) ? mark : undefined
}
