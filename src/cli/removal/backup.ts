// The folder that removed files are moved to, and back from if one of them cannot be moved.

import { cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { visible } from '../../core/base/text.js'
import { makePrivate, namesIn } from '../../files/folder.js'
import { backupPrefix, type HOME_FOLDERS, RESTORE_SCRIPT } from '../../files/homes.js'
import { isCode } from '../output.js'
import { shortPath } from '../print/lines.js'
import { Refusal } from '../refusal.js'
import type { Found, Kept } from './found.js'
import { changedFiles, restoreScript } from './restore-script.js'

/** The file in a backup that says that nothing was left to remove. */
export const COMPLETE = 'complete'
/** The file in a backup that says that all of it was restored. */
const RESTORED = 'restored'

/** The records of setup. */
export const RECORDS = 'setup' satisfies (typeof HOME_FOLDERS)['data'][number]

/** A backup folder with everything that is not moved. */
export function createBackup(found: Found): string {
  const { kept } = found
  const stamp = new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')
  const backup = createFolder(`${backupPrefix()}${stamp}`)
  try {
    for (const { kind } of kept) mkdirSync(join(backup, kind), 0o700)
    for (const { file, saved, left } of changedFiles(found)) {
      const mode = (file.stats?.mode ?? 0o600) & 0o777
      writeFileSync(join(backup, saved), file.text ?? '', { mode })
      for (const { name, text } of left) writeFileSync(join(backup, name), text, { mode: 0o600 })
    }
    writeFileSync(join(backup, RESTORE_SCRIPT), restoreScript(found, backup), { mode: 0o600 })
    const data = kept.find(({ kind, names }) => kind === 'data' && names.includes(RECORDS))
    if (data) copy(join(data.folder, RECORDS), join(backup, data.kind, RECORDS))
    return backup
  } catch (error) {
    discard(backup)
    throw unwritten(backup, error)
  }
}

export function moveAll(kept: readonly Kept[], backup: string, undo: (() => unknown)[]): void {
  for (const { kind, folder, names } of kept) {
    for (const name of names.filter((one) => kind !== 'data' || one !== RECORDS)) {
      const [from, to] = [join(folder, name), join(backup, kind, name)]
      undo.push(() => moveBack(to, from))
      move(from, to)
    }
  }
}

/** What failed is more important than what is left of it. */
export function discard(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // Nothing reads it.
  }
}

/** The newest backup of a removal that was cut short, and not restored since. Hooks may be missing in settings. */
export function interruptedBackup(): string | undefined {
  const has = (backup: string, name: string) => existsSync(join(backup, name))
  // Nothing is removed before the script is written.
  const begun = backups().filter((backup) => has(backup, RESTORE_SCRIPT))
  return begun.find((backup) => !has(backup, COMPLETE) && !has(backup, RESTORED))
}

/** Undefined if there is none. */
export function newestBackup(): string | undefined {
  return backups()[0]
}

/** Newest first. */
function backups(): readonly string[] {
  const [folder, begin] = [dirname(backupPrefix()), basename(backupPrefix())]
  const names = namesIn(folder).filter(
    (name) => name.startsWith(begin) && /^\d/.test(name.slice(begin.length)),
  )
  return names.sort((a, b) => b.localeCompare(a, 'en', { numeric: true })).map((name) => join(folder, name))
}

/** If it could not be moved as a whole, some of it still is where it was. */
function moveBack(from: string, to: string): void {
  if (!existsSync(from)) return
  if (existsSync(to)) copy(from, to, false)
  else move(from, to)
}

/** Created here, so that nobody else writes into it. */
function createFolder(path: string): string {
  makePrivate(dirname(path))
  for (let i = 1; ; i++) {
    const free = i === 1 ? path : `${path}-${i}`
    try {
      mkdirSync(free, 0o700)
      return free
    } catch (error) {
      if (!isCode(error, 'EEXIST')) throw unwritten(free, error)
    }
  }
}

const NOTHING_DONE = 'Nothing was removed: the hooks are registered as before.'

export function unwritten(backup: string, error: unknown): Refusal {
  const what = `The backup ${visible(shortPath(backup))} could not be written: ${textOf(error)}`
  return new Refusal('NOT_REMOVED', what, { hint: NOTHING_DONE })
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if (!isCode(error, 'EXDEV')) throw stuck(from, error)
    copyAcross(from, to)
  }
}

/** To another file system. Nothing is removed before its copy is complete. */
function copyAcross(from: string, to: string): void {
  try {
    copy(from, to)
  } catch (error) {
    discard(to)
    throw stuck(from, error)
  }
  try {
    rmSync(from, { recursive: true, force: true })
  } catch (error) {
    throw stuck(from, error)
  }
}

function copy(from: string, to: string, force = true): void {
  // Without a filter, Node 22 and 24 forget the modes of folders.
  const filter = () => true
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, filter, force })
}

function stuck(from: string, error: unknown): Refusal {
  return new Refusal('NOT_REMOVED', `${visible(shortPath(from))} could not be moved: ${textOf(error)}`, {
    hint: NOTHING_DONE,
  })
}
