// The settings file of a host, which belongs to somebody else: reads it with care, and replaces it whole or not at all.

import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmdirSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { namesIn } from '../files/folder.js'
import { ifThere } from '../files/if-there.js'
import { nonce } from '../files/nonce.js'
import { readPlain } from '../files/plain-file.js'
import { isBelow, realOf } from '../files/within.js'
import { SetupProblem } from './setup-problem.js'

/** More than any real settings file. */
const MOST_BYTES = 4 * 1024 * 1024

export interface SettingsPlace {
  readonly path: string
  /** Folders that it must be in after following links. */
  readonly within: readonly string[]
  /** For a file that is created. Absent: as the system creates files. */
  readonly mode?: number
}

export interface SettingsFile {
  /** The path as given. */
  readonly path: string
  /** The path after following links. */
  readonly real: string
  /** Undefined if there is no file. */
  readonly text: string | undefined
  readonly stats: Stats | undefined
  /** For a file that is created. */
  readonly mode?: number
}

/** Throws a SetupProblem if the file must not be touched. It may be read-only unless `isToChange`. */
export function readSettings({ path, within, mode }: SettingsPlace, isToChange = true): SettingsFile {
  const real = realPathOf(path)
  if (!within.some((folder) => isBelow(real, realOf(folder)))) {
    throw new SetupProblem(
      `${path} links to ${real}, which is outside ${within.join(' and ')}`,
      'Remove the link, or register the hooks in that file by hand.',
    )
  }
  const stats = attempt(path, () => ifThere(() => statSync(real)))
  if (!stats) return { path, real, text: undefined, stats: undefined, ...(mode !== undefined && { mode }) }
  const problem = problemOf(stats) ?? (isToChange && isReadOnly(stats) ? 'is read-only' : undefined)
  if (problem) throw new SetupProblem(`${path} ${problem}`, 'It was not changed.')
  return { path, real, text: stats.size === 0 ? '' : textIn(path, real), stats }
}

function realPathOf(path: string): string {
  const isLink = attempt(path, () => ifThere(() => lstatSync(path)))?.isSymbolicLink()
  if (!isLink) return join(realOf(dirname(path)), basename(path))
  try {
    return realpathSync.native(path)
  } catch {
    throw new SetupProblem(`${path} is a broken link`, 'Remove the link, or create its target.')
  }
}

function problemOf(stats: Stats): string | undefined {
  if (stats.isDirectory()) return 'is a folder'
  return stats.isFile() ? undefined : 'is not a regular file'
}

/** Looks at the mode alone, even if the system would let this user write: somebody did not want it changed. */
export function isReadOnly({ mode }: Stats): boolean {
  return (mode & 0o200) === 0
}

function textIn(path: string, real: string): string {
  const read = attempt(path, () => readPlain(real, MOST_BYTES))
  if ('text' in read) return read.text
  throw new SetupProblem(`${path} ${read.problem}`, 'It was not changed.')
}

function attempt<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new SetupProblem(`${path} cannot be read: ${textOf(error)}`, 'It was not changed.')
  }
}

// ---- writing --------------------------------------------------------------------------------------------------

/** Folders that are missing above a path, from the top down. */
export function missingAbove(path: string): readonly string[] {
  const folder = dirname(path)
  if (folder === path || ifThere(() => statSync(folder))) return []
  return [...missingAbove(folder), folder]
}

/** Replaces the file atomically, and keeps its mode and owner. */
export function replaceSettings({ path, real, stats, mode }: SettingsFile, text: string): void {
  const draft = join(dirname(real), `.${basename(real)}.${nonce()}.tmp`)
  try {
    for (const folder of missingAbove(real)) mkdirSync(folder)
    removeOldDrafts(real)
    writeDraft(draft, text, stats, mode)
    renameSync(draft, real)
  } catch (error) {
    removeDraft(draft)
    throw unwritten(path, error)
  }
}

function writeDraft(draft: string, text: string, stats: Stats | undefined, mode = 0o666): void {
  const fd = openSync(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, stats ? 0o600 : mode)
  try {
    writeFileSync(fd, text)
    if (stats) {
      const { uid, gid } = fstatSync(fd)
      if (uid !== stats.uid || gid !== stats.gid) fchownSync(fd, stats.uid, stats.gid)
      fchmodSync(fd, stats.mode & 0o7777)
    }
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Left by a setup that was killed. A younger one may belong to somebody who is at work. */
const DRAFT_MS = 60_000

function removeOldDrafts(real: string): void {
  const start = `.${basename(real)}.`
  for (const name of namesIn(dirname(real))) {
    if (!name.startsWith(start) || !/^[0-9a-f]{16}\.tmp$/.test(name.slice(start.length))) continue
    const draft = join(dirname(real), name)
    const stats = ifThere(() => lstatSync(draft))
    if (stats?.isFile() && Date.now() - stats.mtimeMs > DRAFT_MS) removeDraft(draft)
  }
}

function removeDraft(draft: string): void {
  try {
    unlinkSync(draft)
  } catch {
    // The file was never created, or cannot be deleted. The first error already says why nothing was written.
  }
}

/** Also deletes the folders that were created for it, if they are empty. */
export function deleteSettings({ path, real }: SettingsFile, folders: readonly string[]): void {
  try {
    unlinkSync(real)
    for (const folder of folders.toReversed()) removeEmpty(folder)
  } catch (error) {
    throw unwritten(path, error)
  }
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOENT') throw error
  }
}

function unwritten(path: string, error: unknown): SetupProblem {
  return new SetupProblem(`${path} cannot be written: ${textOf(error)}`, 'It was not changed.')
}
