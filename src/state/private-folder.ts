// A folder for this user alone.

import { mkdirSync } from 'node:fs'

/** Answers the first folder that it had to make, if any. */
export function makePrivate(folder: string): string | undefined {
  try {
    return mkdirSync(folder, PRIVATE)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    // A sweep took a folder above it, which was empty by then.
    return mkdirSync(folder, PRIVATE)
  }
}

const PRIVATE = { recursive: true, mode: 0o700 } as const
