// The stamp of a file, made from its stat. Equal stamps prove that a file is untouched, without reading it.

import type { BigIntStats } from 'node:fs'

/*
 * Why a stamp is no weaker than a hash: every change to a file (its bytes, its mode, the names in a folder) sets its ctime
 * to the clock, and no call can set it to anything else. So a file with the old ctime can only have changed in the same
 * tick of the clock, and a tick is below two seconds on every file system in use. A stamp therefore counts only if its
 * ctime was clearly older than the moment when the file was read (git calls the others "racily clean"). Otherwise it is
 * empty, and the file is hashed each time until it is old enough.
 *
 * The remaining risk: somebody who can set the machine's clock or write below the file system can forge a ctime, and a
 * network file system's clock may be wrong. Because the copy runs, they can make a changed folder look unchanged, but
 * cannot make anything run.
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

/** The current time in nanoseconds, from the clock that sets ctimes. Take it before reading a file. */
export function moment(): bigint {
  return BigInt(Date.now()) * 1_000_000n
}

/** `seen` is the moment before the file was read. */
export function stampOf(stats: BigIntStats, seen: bigint): string {
  if (stats.ctimeNs > seen - OF_AGE_NS) return ''
  return `${stats.dev} ${stats.ino} ${stats.size} ${stats.mode} ${stats.mtimeNs} ${stats.ctimeNs}`
}

const STAMP = /^\d{1,20}(?: -?\d{1,20}){5}$/

export function isStamp(text: string): boolean {
  return text === '' || STAMP.test(text)
}

/** Undefined for a stamp that cannot be relied on. */
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
