// Files that the pack replaces as a whole: a reader sees the old one or the new one, and never a part.

import { renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makePrivate } from '../files/folder.js'
import { nonce } from '../files/nonce.js'

export function replaceFile(path: string, content: string): void {
  makePrivate(dirname(path))
  const draft = `${path}.${nonce()}.tmp`
  try {
    writeFileSync(draft, content, { flag: 'wx', mode: 0o600 })
    renameSync(draft, path)
  } catch (error) {
    removeFile(draft)
    throw error
  }
}

/** Answers whether it was there. */
export function removeFile(path: string): boolean {
  try {
    unlinkSync(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
