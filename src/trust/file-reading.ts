// Reads one file once: its bytes, their hash, and a stamp that later shows whether it was touched.

import { hash } from 'node:crypto'
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { textOf } from '../core/base/errors.js'
import { statIfThere } from '../files/if-there.js'
import { isSame, moment, type Stamp, stampOf } from '../files/stamp.js'

/** Does not wait for a pipe's writer and does not take over a terminal. */
const OPEN = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

interface FileReading {
  readonly mode: number
  readonly size: number
  readonly sha256: string
  readonly stamp: string
  readonly bytes: Buffer
}

export type Read = FileReading | 'untouched' | { readonly problem: string }

interface ReadingOptions {
  /** Whether to follow links. */
  readonly follow: boolean
  /** In bytes. */
  readonly limit: number
  /** A file that still has this stamp is not read. */
  readonly stamp?: Stamp | undefined
}

/** `problem` continues a sentence that begins with the file's name. */
export function readFile(path: string, { follow, limit, stamp }: ReadingOptions): Read {
  const seen = moment()
  let fd: number
  try {
    fd = openSync(path, follow ? OPEN : OPEN | (constants.O_NOFOLLOW ?? 0))
  } catch (error) {
    return { problem: openingProblem(error) }
  }
  try {
    const before = fstatSync(fd, { bigint: true })
    const problem = problemOf(before, limit)
    if (problem !== undefined) return { problem }
    if (stamp && isSame(before, stamp)) return 'untouched'
    const bytes = bytesOf(fd, Number(before.size))
    const after = fstatSync(fd, { bigint: true })
    if (bytes.length !== Number(before.size) || !isSame(before, after)) {
      return { problem: 'changed while it was read; try again' }
    }
    return {
      mode: Number(before.mode) & 0o777,
      size: bytes.length,
      sha256: hashOfBytes(bytes),
      stamp: stampOf(before, seen),
      bytes,
    }
  } catch (error) {
    return { problem: `cannot be read (${textOf(error)})` }
  } finally {
    closeSync(fd)
  }
}

export function hashOfBytes(bytes: Buffer | string): string {
  return hash('sha256', bytes)
}

function openingProblem(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ELOOP' || code === 'EMLINK') return 'became a link while it was read'
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'is gone'
  if (code === 'ENXIO') return 'is not a regular file'
  return `cannot be read (${textOf(error)})`
}

function problemOf(stats: BigIntStats, limit: number): string | undefined {
  if (!stats.isFile()) return 'is not a regular file'
  if ((stats.mode & 0o7000n) !== 0n) return 'has a setuid, setgid or sticky bit; remove it (chmod ug-s,-t)'
  if (stats.size > BigInt(limit)) return `is too large: ${stats.size} bytes, but only ${limit} are left`
  return undefined
}

/** Reads at most one byte more than expected, which shows that the file has grown. */
function bytesOf(fd: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size + 1)
  let length = 0
  for (let read = 1; read > 0 && length <= size; length += read) {
    read = readSync(fd, bytes, length, size + 1 - length, null)
  }
  return bytes.subarray(0, length)
}

/** Empty if the file cannot be read. Hashing it reports why. */
export function firstBytes(path: string): Buffer {
  const bytes = Buffer.alloc(256)
  let fd: number | undefined
  try {
    fd = openSync(path, OPEN)
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0))
  } catch {
    return bytes.subarray(0, 0)
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

// ---- paths as the kernel follows them: `..` is the folder above a link's target -------------------------------

/** Keeps every `..`, so that the path leads where the command goes even if a link on the way changes. */
export function pathAt(folder: string, path: string): string {
  return `/${tidy(path.startsWith('/') ? path : `${folder}/${path}`)}`
}

/** Removes `.`, empty names and a leading slash. */
export function tidy(path: string): string {
  return path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .join('/')
}

/** Something that cannot be examined (no permission, a loop of links) counts as existing. */
export function typeAt(path: string): 'file' | 'folder' | 'other' | undefined {
  try {
    const stats = statIfThere(path)
    if (!stats) return undefined
    if (stats.isFile()) return 'file'
    return stats.isDirectory() ? 'folder' : 'other'
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOTDIR' || code === 'ENAMETOOLONG' ? undefined : 'other'
  }
}
