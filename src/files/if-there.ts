// Looks at a path that may not exist.

import { type BigIntStats, lstatSync, type Stats, statSync } from 'node:fs'

/** Returns undefined if nothing is there. Throws for everything else, such as a file in place of a folder (ENOTDIR). */
export function ifThere<T>(look: () => T): T | undefined {
  // Most of the time a missing path takes goes into a stack trace that nobody reads.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return look()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

// ---- without an error, which takes five times as long as the look ---------------------------------------------

const QUIET = { throwIfNoEntry: false } as const
const QUIET_EXACT = { throwIfNoEntry: false, bigint: true } as const
const EXACT = { bigint: true } as const

export function lstatIfThere(path: string): Stats | undefined {
  return lstatSync(path, QUIET) ?? (isQuietExact() ? undefined : ifThere(() => lstatSync(path)))
}

export function statIfThere(path: string): Stats | undefined {
  return statSync(path, QUIET) ?? (isQuietExact() ? undefined : ifThere(() => statSync(path)))
}

/** Times in nanoseconds, for stamps. */
export function exactLstatIfThere(path: string): BigIntStats | undefined {
  return lstatSync(path, QUIET_EXACT) ?? (isQuietExact() ? undefined : ifThere(() => lstatSync(path, EXACT)))
}

export function exactStatIfThere(path: string): BigIntStats | undefined {
  return statSync(path, QUIET_EXACT) ?? (isQuietExact() ? undefined : ifThere(() => statSync(path, EXACT)))
}

let isExact: boolean | undefined

/** Some versions of Node return undefined for ENOTDIR, too, in one of the functions. Those are asked a second time. */
function isQuietExact(): boolean {
  if (isExact !== undefined) return isExact
  const path = `${process.execPath}/nothing`
  isExact = throws(() => lstatSync(path, QUIET)) && throws(() => statSync(path, QUIET))
  return isExact
}

function throws(look: () => unknown): boolean {
  try {
    look()
    return false
  } catch {
    return true
  }
}
