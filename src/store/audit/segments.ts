// The segments of a log (00000001.jsonl and so on, each continuing the one before), and reading their lines.

import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { PLAIN } from '../../files/plain-file.js'
import { LONGEST_LINE, type Mark, markOf } from './chain.js'

const NAME = /^(\d{8,15})\.jsonl$/
const DIGITS = 8

export function segmentName(number: number): string {
  return `${String(number).padStart(DIGITS, '0')}.jsonl`
}

export function segmentPath(folder: string, number: number): string {
  return join(folder, segmentName(number))
}

/** Ascending. */
export function segmentsAmong(names: readonly string[]): readonly number[] {
  return names.flatMap((name) => numberOf(name) ?? []).sort((a, b) => a - b)
}

/** Undefined for a name that no writer uses. */
function numberOf(name: string): number | undefined {
  const number = Number(NAME.exec(name)?.[1] ?? 0)
  return number > 0 && segmentName(number) === name ? number : undefined
}

/** Files that look like part of the log but are not. */
export function strangersAmong(names: readonly string[]): readonly string[] {
  return names.filter((name) => name.endsWith('.jsonl') && numberOf(name) === undefined).sort()
}

/** Ascending. Empty if there is no folder. */
export function segmentsIn(folder: string): readonly number[] {
  try {
    return segmentsAmong(readdirSync(folder))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

interface OpenFile {
  readonly fd: number
  readonly stats: Stats
}

/** A link, a pipe or a folder: a writer of the log never leaves those. */
export class NotPlain extends Error {}

/** Undefined if there is no such file. Throws NotPlain for anything but a regular file. The caller closes it. */
export function openPlain(path: string): OpenFile | undefined {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | PLAIN)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    if (code === 'ELOOP' || code === 'EMLINK')
      throw new NotPlain(`${path} is a link; move it away`, { cause: error })
    throw error
  }
  const stats = fstatSync(fd)
  if (stats.isFile()) return { fd, stats }
  closeSync(fd)
  throw new NotPlain(`${path} is not a regular file; move it away`)
}

/** Undefined if there is no such file. */
export function withFile<T>(path: string, use: (fd: number, stats: Stats) => T): T | undefined {
  const file = openPlain(path)
  if (!file) return undefined
  try {
    return use(file.fd, file.stats)
  } finally {
    closeSync(file.fd)
  }
}

export interface Tail {
  readonly size: number
  /** The end of the last line that has the right form. */
  readonly end: number
  /** The mark of that line. */
  readonly mark: Mark | undefined
}

/** Undefined if there is no such file. */
export function tailOf(path: string): Tail | undefined {
  return withFile(path, (fd, { size }) => {
    for (const { bytes, end, whole } of linesBefore(fd, size)) {
      const mark = whole ? markOf(bytes) : undefined
      if (mark) return { size, end, mark }
    }
    return { size, end: 0, mark: undefined }
  })
}

/** The mark of the first line, if it has the right form. */
export function firstMarkOf(path: string): Mark | undefined {
  return withFile(path, (fd) => {
    for (const { bytes, whole } of linesFrom(fd)) return whole ? markOf(bytes) : undefined
    return undefined
  })
}

// ---- lines ----------------------------------------------------------------------------------------------------

export interface Line {
  /** Without the newline. Valid until the next line is read. Empty for a line that is too long. */
  readonly bytes: Buffer
  /** Where the line begins in the file. */
  readonly offset: number
  /** Where the next line begins. */
  readonly end: number
  /** False for the part after the last newline. */
  readonly whole: boolean
}

const CHUNK = 256 * 1024
const FIRST_CHUNK = 8 * 1024
const NEWLINE = 10
const NOTHING = Buffer.alloc(0)

/** Reads forward from `start`, which is the beginning of a line. */
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
      // For a line that is too long, only the length is needed.
      if (openLength <= LONGEST_LINE) open.push(Buffer.from(chunk.subarray(from, read)))
      else open.length = 0
    }
  }
  if (openLength === 0) return
  const bytes = openLength > LONGEST_LINE ? NOTHING : Buffer.concat(open)
  yield { bytes, offset, end: offset + openLength, whole: false }
}

/** Reads backward from `end`, the size of the file. The part after the last newline comes first, if there is one. */
export function* linesBefore(fd: number, end: number): Generator<Line> {
  let whole = false
  let last = end
  let tail: Buffer[] = []
  let tailLength = 0
  // Usually only the last line is wanted.
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

/** Returns fewer bytes if the file ends before. */
export function bytesAt(fd: number, position: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size)
  let length = 0
  for (let read = 1; read > 0 && length < size; length += read) {
    read = readSync(fd, bytes, length, size - length, position + length)
  }
  return bytes.subarray(0, length)
}
