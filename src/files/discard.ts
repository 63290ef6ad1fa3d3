// Removing a folder at one stroke: it leaves its name whole, and is taken apart where nobody looks for it.

import { renameSync, rmSync } from 'node:fs'
import { nonce } from './nonce.js'

const DISCARDED = /\.[0-9a-f]+\.gone$/

/** Who still writes into it finds no folder and begins a new one: what was removed does not come back in parts. */
export function discard(folder: string): void {
  const gone = `${folder}.${nonce()}.gone`
  try {
    renameSync(folder, gone)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  removeDiscarded(gone)
}

/** Somebody may just be writing into it, or removing it as well: what is left is for the next sweep. */
export function removeDiscarded(gone: string): void {
  try {
    rmSync(gone, { recursive: true, force: true })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOTEMPTY' && code !== 'ENOENT') throw error
  }
}

/** What a killed `discard` left behind. */
export function isDiscarded(name: string): boolean {
  return DISCARDED.test(name)
}
