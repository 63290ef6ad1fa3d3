// Which project an event or a command belongs to.

import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { digest } from '../core/base/digest.js'
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
 * The project of an event: the one around the folder that the host names, else around the event's `cwd`, else around the
 * folder that we were started in. Only these variables count, the first one most.
 */
export function projectDirOf(
  cwd: string | undefined,
  env: NodeJS.ProcessEnv,
  home: string,
  variables?: readonly string[],
): string {
  const [named] = namedIn(env, variables)
  const starts = named === undefined ? startsOf(cwd, {}, home) : [named]
  const found = starts.map((start) => markedFrom(start, home)).find((folder) => folder !== undefined)
  return found ?? realOf(resolve(starts[0] as string))
}

/**
 * The project around a folder, for agents and people alike. It is the nearest folder upwards that has hooks or settings of
 * ours, or that the user trusts something in: a project does not end because its files do. Else it is the nearest with
 * settings of Claude Code, else the repository, else the folder itself. Looks no further than the repository, and not in
 * the user's home, whose hooks are for all projects.
 */
export function projectAround(start: string): string {
  return markedFrom(start, userHome()) ?? realOf(resolve(start))
}

function markedFrom(start: string, home: string): string | undefined {
  const folders = foldersAround([start], homesOf(home))
  const repository = folders.findIndex(isRepository)
  const around = repository < 0 ? folders : folders.slice(0, repository + 1)
  const isUsers = (folder: string, name: string) => folder === start || isOwn(folder, name)
  const found =
    around.find((one) => hasRecords(one) || (hasSettings(one) && isUsers(one, '.amplifier'))) ??
    around.find((one) => hasClaudeSettings(one) && isUsers(one, '.claude')) ??
    folders[repository]
  return found && realOf(found)
}

/** The folders that say where an event happens: those that variables name, its `cwd`, and the one we were started in. */
export function startsOf(
  cwd: unknown,
  env: NodeJS.ProcessEnv,
  home: string,
  variables?: readonly string[],
): readonly string[] {
  return [...namedIn(env, variables), ...(isPath(cwd) ? [cwd] : []), workingFolder(home)]
}

// ---- folders that the user trusts something in ----------------------------------------------------------------

const INDEXES = ['trust-projects', 'listed-projects']

/** Whether anything is trusted in this folder. Takes the same time however many records there are. */
function hasRecords(projectDir: string): boolean {
  return INDEXES.some((name) => existsSync(indexFolder(join(dataHome(), name), projectDir)))
}

/** The folder in an index of trust records that is there if a project has any. */
export function indexFolder(index: string, projectDir: string): string {
  return join(index, digest(projectDir).slice(0, 32))
}
