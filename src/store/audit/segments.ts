// The files of a log: 00000001.jsonl and on, each continuing the one before.

import { closeSync, constants, fstatSync, openSync, readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { PLAIN } from '../../files/plain-file.js'
import { type Mark, markOf } from './chain.js'
import { linesBefore, linesFrom } from './lines.js'

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
  const numbers = names.flatMap((name) => NAME.exec(name)?.[1] ?? []).map(Number)
  return numbers.filter((number) => number > 0).sort((a, b) => a - b)
}

/** Ascending; none where there is no folder. */
export function segmentsIn(folder: string): readonly number[] {
  try {
    return segmentsAmong(readdirSync(folder))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

export interface OpenFile {
  readonly fd: number
  readonly stats: Stats
}

/** Undefined where there is no such file. A link, or what is no plain file, throws. Close it. */
export function openPlain(path: string): OpenFile | undefined {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | PLAIN)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    if (code === 'ELOOP' || code === 'EMLINK')
      throw new Error(`${path} is a link; move it away`, { cause: error })
    throw error
  }
  const stats = fstatSync(fd)
  if (stats.isFile()) return { fd, stats }
  closeSync(fd)
  throw new Error(`${path} is no plain file; move it away`)
}

/** Undefined where there is no such file. */
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
  /** Where the last line that has the form of one ends. What follows is none. */
  readonly end: number
  /** Of that line. */
  readonly mark: Mark | undefined
}

/** Undefined where there is no such file. */
export function tailOf(path: string): Tail | undefined {
  return withFile(path, (fd, { size }) => {
    for (const { bytes, end, whole } of linesBefore(fd, size)) {
      const mark = whole ? markOf(bytes) : undefined
      if (mark) return { size, end, mark }
    }
    return { size, end: 0, mark: undefined }
  })
}

/** Of its first line, if that has the form of one. */
export function firstMarkOf(path: string): Mark | undefined {
  return withFile(path, (fd) => {
    for (const { bytes, whole } of linesFrom(fd)) return whole ? markOf(bytes) : undefined
    return undefined
  })
}
