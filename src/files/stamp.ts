// The stamp of a file: what a stat says of it. Equal stamps mean an untouched file, without reading it.

import type { BigIntStats } from 'node:fs'

/*
 * Why that is no weaker than hashing: every change of a file (its bytes, its mode, what is in a folder) sets its ctime to
 * the clock, and no call sets it to anything else. So a file with the old ctime was changed, if at all, in the same tick
 * of the clock as before, and a tick is below two seconds on every file system in use. Therefore a stamp counts only if
 * its ctime was clearly older than the moment when the file was read ("racily clean" is git's word for the others);
 * otherwise it is empty, and the file is hashed each time until it has come of age.
 *
 * What is left: who may set the clock of the machine or write to the disk below the file system may forge a ctime, and
 * the clock of a network file system may be wrong. As the copy is what runs, they could make a changed folder look
 * unchanged, but not make anything run.
 */

export interface Stamp {
  readonly dev: bigint
  readonly ino: bigint
  readonly size: bigint
  readonly mode: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

const OF_AGE_NS = 2_000_000_000n

/** By the clock that also makes ctimes, in nanoseconds. Take it before a file is read. */
export function moment(): bigint {
  return BigInt(Date.now()) * 1_000_000n
}

/** `seen`: the moment before the file was read. */
export function stampOf(stats: BigIntStats, seen: bigint): string {
  if (stats.ctimeNs > seen - OF_AGE_NS) return ''
  return `${stats.dev} ${stats.ino} ${stats.size} ${stats.mode} ${stats.mtimeNs} ${stats.ctimeNs}`
}

const STAMP = /^\d{1,20}(?: -?\d{1,20}){5}$/

export function isStamp(text: string): boolean {
  return text === '' || STAMP.test(text)
}

/** Undefined for one that is not to be relied on. */
export function parseStamp(text: string): Stamp | undefined {
  if (!STAMP.test(text)) return undefined
  const [dev, ino, size, mode, mtimeNs, ctimeNs] = text.split(' ').map(BigInt)
  return { dev, ino, size, mode, mtimeNs, ctimeNs } as Stamp
}

export function isSame(a: Stamp, b: Stamp): boolean {
  return (
    a.ctimeNs === b.ctimeNs &&
    a.ino === b.ino &&
    a.size === b.size &&
    a.mode === b.mode &&
    a.mtimeNs === b.mtimeNs &&
    a.dev === b.dev
  )
}
