// Reads our own files as if a stranger had put them there: only regular, complete files of limited size, without waiting.

import { isUtf8 } from 'node:buffer'
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  unlinkSync,
} from 'node:fs'
import { textOf } from '../core/base/errors.js'
import { lstatIfThere } from './if-there.js'
import { nonce } from './nonce.js'

/** Follows no links, does not wait for the writer of a pipe, and never acquires a terminal. */
export const PLAIN = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

/** Errors of `open` that will not go away by themselves. */
const UNREADABLE: readonly unknown[] = ['ELOOP', 'EMLINK', 'ENXIO', 'EACCES', 'EPERM']

export type Text = { readonly text: string } | { readonly problem: string }

export type Bytes = { readonly bytes: Buffer } | { readonly problem: string }

/** Throws errors that may be temporary (no such file, too many open files, I/O). Returns others as a problem with the file. */
export function readPlain(path: string, limit: number): Text {
  const read = readPlainBytes(path, limit)
  if ('problem' in read) return read
  return isUtf8(read.bytes) ? { text: read.bytes.toString('utf8') } : { problem: 'is not UTF-8' }
}

/** The same, but never throws. Returns undefined if there is no such file. */
export function readIfThere(path: string, limit: number): Text | undefined {
  try {
    return lstatIfThere(path) && readPlain(path, limit)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    return { problem: `cannot be read: ${textOf(error)}` }
  }
}

/** Like `readPlain` for a file that need not be text. */
export function readPlainBytes(path: string, limit: number): Bytes {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | PLAIN)
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
  if (!stats.isFile()) return 'is not a regular file'
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

// ---- written by this user alone -------------------------------------------------------------------------------

const BY_OTHERS = 0o022

/** Like `readPlain`, but a file that another user could have written is also a problem. */
export function readOwn(path: string, limit: number): Text {
  const problem = strangerIn(lstatSync(path))
  return problem === undefined ? readPlain(path, limit) : { problem }
}

/** Throws if others can write to the folder. With `follow`, the folder may be a link that the user made. */
export function checkOwnFolder(folder: string, { follow = false } = {}): void {
  const stats = follow ? statSync(folder) : lstatSync(folder)
  const problem = stats.isDirectory() ? strangerIn(stats) : 'is not a folder'
  if (problem === undefined) return
  throw new Error(
    `${folder} ${problem}, so its content cannot be trusted and is not used; remove it, or set CARABINER_HOME to a folder that only you can write to`,
  )
}

/** Windows does not say who owns a file. */
function strangerIn(stats: Stats): string | undefined {
  const { uid, mode } = stats
  if (stats.isSymbolicLink()) return 'is a link'
  if (process.getuid === undefined) return undefined
  if (uid !== process.getuid()) return `belongs to another user (${uid})`
  if ((mode & BY_OTHERS) !== 0) return `is writable by others (mode ${(mode & 0o7777).toString(8)})`
  return undefined
}

// ---- names ----------------------------------------------------------------------------------------------------

/** Gives a file a second name unless that name is taken. Returns whether it did. */
export function linkUnlessThere(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Creates a file or folder under another name, then renames it: readers find the old one or the new one, never a part. */
export function placeWhole(
  path: string,
  make: (draft: string) => void,
  draft = `${path}.${nonce()}.tmp`,
): void {
  try {
    make(draft)
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    throw error
  }
}

/** Returns whether the file existed. */
export function removeIfThere(path: string): boolean {
  try {
    unlinkSync(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
