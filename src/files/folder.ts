// What a folder holds, and that it still does after a power cut.

import { closeSync, fsyncSync, openSync, readdirSync } from 'node:fs'

/** None where there is no such folder. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw error
  }
}

/** A name outlives a power cut only once its folder was written. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
