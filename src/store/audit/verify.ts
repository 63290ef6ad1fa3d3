// Whether a log is as it was written: every byte of every record, in order, from where it begins to where its head says.

import { existsSync, readdirSync } from 'node:fs'
import type { Link } from './chain.js'
import { Chain, noteOf } from './chain-check.js'
import { HEAD_NAME, type Head, readHead } from './head.js'
import { linesFrom } from './lines.js'
import { notesAmong } from './notes.js'
import { segmentName, segmentPath, segmentsIn, withFile } from './segments.js'

/*
 * What this cannot prove: who may write to the folder can write a new chain, head and all, or cut the end off and put
 * the head back. Against that there is `expect`: a number and a hash that were noted elsewhere.
 */

export interface VerifyOptions {
  /** A record that must be in the log: its number and hash, kept where who writes the log cannot change them. */
  readonly expect?: Link
  /** Called for every line that is read. */
  readonly onLine?: () => void
}

export interface Problem {
  /** The number of the record that is changed, missing, or not where it belongs. */
  readonly seq?: number
  readonly file: string
  /** From 1; 0 where it is no line. */
  readonly line: number
  readonly what: string
}

export interface Verification {
  /** No problem was found. */
  readonly ok: boolean
  readonly records: number
  readonly first: Link | undefined
  readonly last: Link | undefined
  /** In the order of the log, the first hundred. */
  readonly problems: readonly Problem[]
  /** How many there are in all. */
  readonly problemCount: number
  /** Bytes after the last newline: a record that was being written, and was not acknowledged. No problem. */
  readonly torn?: { readonly file: string; readonly bytes: number }
  readonly head: Head | undefined
  /** What the log says of itself: losses it knows of, repairs, what was removed. No problems. */
  readonly notes: readonly string[]
}

const MOST_TRIES = 5

/** Reads all of it, in little memory. Others may write meanwhile. Throws where the folder cannot be read. */
export function verify(folder: string, options: VerifyOptions = {}): Verification {
  for (let tries = 1; ; tries++) {
    // First the head: then the log is at least as far.
    const head = readHead(folder)
    const chain = new Chain(options.expect, head && 'seq' in head ? head : undefined)
    const numbers = segmentsIn(folder)
    const gone = numbers.find(
      (number, i) => !checkSegment(folder, number, i === numbers.length - 1, chain, options.onLine),
    )
    // The oldest may be removed while it is read.
    if (gone !== undefined && tries < MOST_TRIES) continue
    if (numbers.length === 0 && head === undefined) {
      const what = 'there is no log here: nothing was written yet, or all of it was removed'
      chain.problem({ file: folder, line: 0, what })
    } else if (head === undefined) {
      const what = 'it is missing: whether the newest records are all there cannot be told'
      chain.problem({ file: HEAD_NAME, line: 0, what })
    } else if ('problem' in head) {
      const what = `${head.problem}: whether the newest records are all there cannot be told`
      chain.problem({ file: HEAD_NAME, line: 0, what })
    }
    const found = chain.end()
    return { ...found, notes: [...found.notes, ...waiting(folder)] }
  }
}

/** What the next who writes is going to say. */
function waiting(folder: string): readonly string[] {
  if (!existsSync(folder)) return []
  return notesAmong(folder, readdirSync(folder)).flatMap(({ entry }) => noteOf(entry) ?? [])
}

/** False where it is gone. */
function checkSegment(
  folder: string,
  number: number,
  isLast: boolean,
  chain: Chain,
  onLine: VerifyOptions['onLine'],
): boolean {
  const file = segmentName(number)
  const path = segmentPath(folder, number)
  const checked = withFile(path, (fd) => {
    chain.openSegment(number)
    let line = 0
    for (const { bytes, end, whole, offset } of linesFrom(fd)) {
      line++
      onLine?.()
      if (whole || !isLast) chain.add(bytes, { segment: number, file, line, end })
      else chain.torn = { file, bytes: end - offset }
    }
    return true
  })
  return checked ?? false
}
