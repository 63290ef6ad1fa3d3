// Decides which project an event or a command belongs to.

import { existsSync } from 'node:fs'
import { join, sep } from 'node:path'
import { digest } from '../core/base/digest.js'
import { callerPath } from './caller.js'
import { dataHome, userHome } from './homes.js'
import { namedIn } from './project-env.js'
import {
  foldersAround,
  hasClaudeSettings,
  hasSettings,
  homesOf,
  isOwn,
  isPath,
  isRepository,
  workingFolder,
} from './project-folders.js'
import { realOf } from './within.js'

/**
 * The project of an event: the one around the folder that the host names, else around the event's `cwd`, else around our
 * own working folder. Only these variables count, in this order.
 */
export function projectDirOf(
  cwd: string | undefined,
  env: NodeJS.ProcessEnv,
  home: string,
  variables?: readonly string[],
): string {
  const [named] = namedIn(env, variables)
  const starts = named === undefined ? startsOf(cwd, {}, home) : [named]
  // Most events happen in our own working folder, and a search looks at many paths.
  for (const start of new Set(starts)) {
    const found = markedFrom(start, home)
    if (found !== undefined) return found
  }
  return realOf(callerPath(starts[0] as string))
}

/**
 * The project around a folder, for agents and people alike. It is the nearest folder upwards with our hooks or settings,
 * or with anything that the user trusts there, because a project exists even after its files are gone. Otherwise it is
 * the nearest folder with Claude Code's settings, then the repository, then the folder itself. The search ends at the
 * repository, and leaves out the user's home, whose hooks are for all projects.
 */
export function projectAround(start: string): string {
  return markedFrom(start, userHome()) ?? realOf(callerPath(start))
}

function markedFrom(start: string, home: string): string | undefined {
  const folders = foldersAround([start], homesOf(home))
  const repository = folders.findIndex(isRepository)
  const around = repository < 0 ? folders : folders.slice(0, repository + 1)
  const isUsers = (folder: string, name: string) => folder === start || isOwn(folder, name)
  const indexes = INDEXES.map((index) => join(dataHome(), index))
  const found =
    around.find((one) => hasRecords(one, indexes) || (hasSettings(one) && isUsers(one, '.amplifier'))) ??
    around.find((one) => hasClaudeSettings(one) && isUsers(one, '.claude')) ??
    folders[repository]
  return found && realOf(found)
}

/** The folders that tell where an event happens: those that variables name, its `cwd`, and our own working folder. */
export function startsOf(
  cwd: unknown,
  env: NodeJS.ProcessEnv,
  home: string,
  variables?: readonly string[],
): readonly string[] {
  return [...namedIn(env, variables), ...(isPath(cwd) ? [cwd] : []), workingFolder(home)]
}

// ---- folders with trusted units -------------------------------------------------------------------------------

const INDEXES = ['trust-projects', 'listed-projects']

/** Whether anything is trusted in this folder. Takes constant time, however many records there are. */
function hasRecords(projectDir: string, indexes: readonly string[]): boolean {
  const name = indexName(projectDir)
  return indexes.some((index) => existsSync(index + sep + name))
}

/** The folder in the index of trust records that exists if a project has any. */
export function indexFolder(index: string, projectDir: string): string {
  return join(index, indexName(projectDir))
}

function indexName(projectDir: string): string {
  return digest(projectDir).slice(0, 32)
}
