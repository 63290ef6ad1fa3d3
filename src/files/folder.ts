// Our own folders: created for this user alone, listed, synced, and removed in one step.

import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { statIfThere } from './if-there.js'
import { noteContent, noteFailure } from './looks.js'
import { nonce } from './nonce.js'

/** Follows links. */
export function isFolder(path: string): boolean {
  try {
    return statIfThere(path)?.isDirectory() === true
  } catch {
    return false // a NUL, no permission, a file on the way
  }
}

/** Sorted. Returns an empty list if it is not a folder, or not readable. */
export function readableNames(folder: string): readonly string[] {
  noteContent(folder)
  try {
    return readdirSync(folder).sort()
  } catch (error) {
    noteFailure(error)
    return []
  }
}

/** Returns an empty list if there is no such folder. */
export function namesIn(folder: string): readonly string[] {
  try {
    return statIfThere(folder) ? readdirSync(folder) : []
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw error
  }
}

/** A new name survives a power cut only after its folder has been synced. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

// ---- making ---------------------------------------------------------------------------------------------------

/** A sweep may remove an empty parent while its child is being created. If that keeps happening, something else is wrong. */
const MOST_TRIES = 8

/**
 * Creates a folder that only this user can enter, and returns the first folder that it had to create, if any. It creates
 * them one by one: Node's recursive mkdir never ends if the system denies that an existing folder exists (/proc).
 */
export function makePrivate(folder: string, tries = MOST_TRIES): string | undefined {
  try {
    mkdirSync(folder, 0o700)
    return folder
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' || code === 'EISDIR') {
      const what = statIfThere(folder)
      if (what?.isDirectory()) return undefined
      // Another process has removed it in the meantime.
      if (!what && tries > 0) return makePrivate(folder, tries - 1)
    }
    const above = dirname(folder)
    if (code !== 'ENOENT' || above === folder || tries === 0) throw error
    const first = makePrivate(above)
    const own = makePrivate(folder, tries - 1)
    return first ?? own
  }
}

// ---- removing -------------------------------------------------------------------------------------------------

const DISCARDED = /\.[0-9a-f]+\.gone$/

/**
 * Renames the folder, then removes it. A process that still writes there finds no folder and starts a new one, so parts
 * of the removed one never come back.
 */
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

/** Another process may also be writing to it or removing it. The next sweep removes what is left. */
export function removeDiscarded(gone: string): void {
  try {
    rmSync(gone, { recursive: true, force: true })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOTEMPTY' && code !== 'ENOENT') throw error
  }
}

/** Recognises what a killed `discard` left behind. */
export function isDiscarded(name: string): boolean {
  return DISCARDED.test(name)
}
