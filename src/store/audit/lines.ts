// The lines of a file, from either end, in pieces: a log of any size is read in little memory.

import { readSync } from 'node:fs'
import { LONGEST_LINE } from './chain.js'

export interface Line {
  /** Without the newline. Valid until the next line is asked for; of one that is too long, nothing. */
  readonly bytes: Buffer
  /** Where it begins in the file. */
  readonly offset: number
  /** Where the next one begins. */
  readonly end: number
  /** False for what follows the last newline. */
  readonly whole: boolean
}

const CHUNK = 256 * 1024
const FIRST_CHUNK = 8 * 1024
const NEWLINE = 10
const NOTHING = Buffer.alloc(0)

/** From `start`, which is the beginning of a line. */
export function* linesFrom(fd: number, start = 0): Generator<Line> {
  const chunk = Buffer.allocUnsafe(CHUNK)
  const open: Buffer[] = []
  let openLength = 0
  let offset = start
  for (let position = start; ; ) {
    const read = readSync(fd, chunk, 0, CHUNK, position)
    if (read === 0) break
    position += read
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at >= 0 && at < read; at = chunk.indexOf(NEWLINE, from)) {
      const piece = chunk.subarray(from, at)
      const length = openLength + piece.length
      const bytes = length > LONGEST_LINE ? NOTHING : openLength > 0 ? Buffer.concat([...open, piece]) : piece
      yield { bytes, offset, end: offset + length + 1, whole: true }
      offset += length + 1
      open.length = 0
      openLength = 0
      from = at + 1
    }
    if (from < read) {
      openLength += read - from
      // Of a line that is too long only the length is of use.
      if (openLength <= LONGEST_LINE) open.push(Buffer.from(chunk.subarray(from, read)))
      else open.length = 0
    }
  }
  if (openLength === 0) return
  const bytes = openLength > LONGEST_LINE ? NOTHING : Buffer.concat(open)
  yield { bytes, offset, end: offset + openLength, whole: false }
}

/** From `end`, the size of the file, back to its beginning. First what follows the last newline, if anything does. */
export function* linesBefore(fd: number, end: number): Generator<Line> {
  let whole = false
  let last = end
  let tail: Buffer[] = []
  let tailLength = 0
  // The last line is mostly all that is wanted.
  for (let position = end, most = FIRST_CHUNK; position > 0; most = CHUNK) {
    const size = Math.min(most, position)
    position -= size
    const chunk = bytesAt(fd, position, size)
    let to = chunk.length
    for (let at = lastNewline(chunk, to); at >= 0; at = lastNewline(chunk, to)) {
      const offset = position + at + 1
      if (whole || offset < last)
        yield lineOf(chunk.subarray(at + 1, to), tail, tailLength, offset, last, whole)
      whole = true
      last = offset
      tail = []
      tailLength = 0
      to = at
    }
    if (to > 0) {
      tailLength += to
      if (tailLength <= LONGEST_LINE) tail.unshift(chunk.subarray(0, to))
      else tail = []
    }
  }
  if (last > 0) yield lineOf(NOTHING, tail, tailLength, 0, last, whole)
}

function lineOf(
  first: Buffer,
  tail: Buffer[],
  tailLength: number,
  offset: number,
  end: number,
  whole: boolean,
): Line {
  const length = first.length + tailLength
  const bytes = length > LONGEST_LINE ? NOTHING : tailLength > 0 ? Buffer.concat([first, ...tail]) : first
  return { bytes, offset, end, whole }
}

function lastNewline(chunk: Buffer, to: number): number {
  return to === 0 ? -1 : chunk.lastIndexOf(NEWLINE, to - 1)
}

/** Fewer where the file ends before. */
export function bytesAt(fd: number, position: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size)
  let length = 0
  for (let read = 1; read > 0 && length < size; length += read) {
    read = readSync(fd, bytes, length, size - length, position + length)
  }
  return bytes.subarray(0, length)
}
