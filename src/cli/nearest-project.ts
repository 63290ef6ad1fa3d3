// The project of somebody who does not say which: looked for from the current folder upwards.

import { existsSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import { upFrom } from '../pack/project-dir.js'
import { isFolder } from '../runners/program/is-folder.js'
import { registeredHome, userHome } from '../state/homes.js'
import { realOf } from '../state/within.js'

interface Mark {
  readonly folder: string
  /** One of these must be in it. */
  readonly holds?: readonly string[]
}

/** Ours first: Claude Code leaves its own in every folder that it was started in. */
const MARKS: readonly Mark[] = [
  { folder: '.amplifier' },
  { folder: '.claude', holds: ['settings.json', 'settings.local.json', 'hooks'] },
]

/**
 * The nearest folder with hooks: not beyond a repository, and below the home of the user, whose hooks are for all
 * projects. Where there is none, the one to start from.
 */
export function nearestProject(start: string): string {
  const folders = around(start)
  for (const mark of MARKS) {
    const found = folders.find(
      (folder) => hasMark(folder, mark) && (folder === start || isOurs(folder, mark)),
    )
    if (found !== undefined) return found
  }
  return start
}

function around(start: string): readonly string[] {
  const homes = [userHome(), registeredHome()].flatMap((home) => (home ? [home, realOf(home)] : []))
  const folders = upFrom(start, homes)
  const repository = folders.findIndex((folder) => existsSync(join(folder, '.git')))
  return repository < 0 ? folders : folders.slice(0, repository + 1)
}

function hasMark(base: string, { folder, holds }: Mark): boolean {
  const path = join(base, folder)
  return isFolder(path) && (holds?.some((name) => existsSync(join(path, name))) ?? true)
}

/** In /tmp anybody may put one. */
function isOurs(base: string, { folder }: Mark): boolean {
  const user = process.getuid?.()
  return [base, join(base, folder)].every((path) => {
    const owner = lstatSync(path, { throwIfNoEntry: false })?.uid
    return user === undefined || owner === user || owner === 0
  })
}
