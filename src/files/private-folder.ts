// A folder for this user alone.

import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** A sweep may take a folder above it, which was empty by then; where that goes on, it is no sweep. */
const MOST_TRIES = 8

/**
 * Answers the first folder that it had to make, if any. One after another: the recursive mkdir of Node goes on for ever
 * where the system says of an existing folder that it does not exist, as in /proc.
 */
export function makePrivate(folder: string, tries = MOST_TRIES): string | undefined {
  try {
    mkdirSync(folder, 0o700)
    return folder
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' || code === 'EISDIR') {
      const what = statSync(folder, { throwIfNoEntry: false })
      if (what?.isDirectory()) return undefined
      // Somebody else has removed it meanwhile.
      if (!what && tries > 0) return makePrivate(folder, tries - 1)
    }
    const above = dirname(folder)
    if (code !== 'ENOENT' || above === folder || tries === 0) throw error
    const first = makePrivate(above)
    const own = makePrivate(folder, tries - 1)
    return first ?? own
  }
}
