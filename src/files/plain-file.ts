// A file of our own, read as if a stranger had put it there: plain, whole, bounded, never waiting.

import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { textOf } from '../core/base/errors.js'

/** Follows no link, does not wait for the writer of a pipe, becomes nobody's terminal. */
const OPEN =
  constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

/** What opening says of a file that will not be readable next time either. */
const UNREADABLE: readonly unknown[] = ['ELOOP', 'EMLINK', 'ENXIO', 'EACCES', 'EPERM']

export type Text = { readonly text: string } | { readonly problem: string }

export type Bytes = { readonly bytes: Buffer } | { readonly problem: string }

/** Throws what may pass (no such file, too many open files, an I/O error); the rest is a problem of the file. */
export function readPlain(path: string, limit: number): Text {
  const read = readPlainBytes(path, limit)
  if ('problem' in read) return read
  return isUtf8(read.bytes) ? { text: read.bytes.toString('utf8') } : { problem: 'is not UTF-8' }
}

/** The same for a file of which a part may be no text. */
export function readPlainBytes(path: string, limit: number): Bytes {
  let fd: number
  try {
    fd = openSync(path, OPEN)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (!UNREADABLE.includes(code)) throw error
    const isLink = code === 'ELOOP' || code === 'EMLINK'
    return { problem: isLink ? 'is a link' : `cannot be read (${textOf(error)})` }
  }
  try {
    const stats = fstatSync(fd)
    const problem = problemOf(stats, limit)
    return problem ? { problem } : { bytes: bytesIn(fd, stats.size) }
  } finally {
    closeSync(fd)
  }
}

function problemOf(stats: Stats, limit: number): string | undefined {
  if (!stats.isFile()) return 'is no plain file'
  if (stats.size > limit) return `is larger than ${limit} bytes`
  return stats.size === 0 ? 'is empty' : undefined
}

function bytesIn(fd: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size)
  let length = 0
  for (let read = 1; read > 0 && length < size; length += read) {
    read = readSync(fd, bytes, length, size - length, null)
  }
  return bytes.subarray(0, length)
}
