// The project of somebody who does not say which: looked for from the current folder upwards.

import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isFolder } from '../files/folder.js'
import { registeredHome, userHome } from '../files/homes.js'
import { realOf } from '../files/within.js'
import { hasSettings, isRepository, upFrom } from '../pack/project-dir.js'

interface Mark {
  readonly folder: string
  readonly isIn: (base: string) => boolean
}

const OURS: Mark = {
  folder: '.amplifier',
  isIn: (base) => isFolder(join(base, '.amplifier')) && hasSettings(base),
}

/** Claude Code leaves its own in every folder that it was started in. */
const CLAUDE: Mark = {
  folder: '.claude',
  isIn: (base) =>
    ['settings.json', 'settings.local.json', 'hooks'].some((name) => existsSync(join(base, '.claude', name))),
}

/**
 * The nearest folder with hooks: not beyond a repository, and below the home of the user, whose hooks are for all
 * projects. Where there is none, the one to start from.
 */
export function nearestProject(start: string): string {
  const folders = belowHome(start)
  const repository = folders.findIndex(isRepository)
  const around = repository < 0 ? folders : folders.slice(0, repository + 1)
  for (const mark of [OURS, CLAUDE]) {
    const found = around.find((folder) => mark.isIn(folder) && (folder === start || isOurs(folder, mark)))
    if (found !== undefined) return found
  }
  return start
}

/** The next one above a project that has hooks or settings, too: they do not count. */
export function outerProject(project: string): string | undefined {
  const above = belowHome(project).slice(1)
  return above.find((folder) => hasHooks(folder) && isOurs(folder, OURS))
}

function hasHooks(base: string): boolean {
  if (existsSync(join(base, '.amplifier', 'settings.json'))) return true
  try {
    return readdirSync(join(base, '.amplifier', 'hooks')).length > 0
  } catch {
    return false
  }
}

function belowHome(start: string): readonly string[] {
  const homes = [userHome(), registeredHome()].flatMap((home) => (home ? [home, realOf(home)] : []))
  return upFrom(start, homes)
}

/** In /tmp anybody may put one. */
function isOurs(base: string, { folder }: Mark): boolean {
  const user = process.getuid?.()
  return [base, join(base, folder)].every((path) => {
    const owner = lstatSync(path, { throwIfNoEntry: false })?.uid
    return user === undefined || owner === user || owner === 0
  })
}
