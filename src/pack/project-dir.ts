// Which project an event belongs to, and the folders around it whose settings count.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { realOf } from '../files/within.js'

/** As hosts name it to their hooks. The event's `cwd` moves with the agent, and its settings would be left behind. */
export const PROJECT_VARIABLES: readonly string[] = [
  'AMPLIFIER_PROJECT_DIR',
  'CLAUDE_PROJECT_DIR',
  'GEMINI_PROJECT_DIR',
  'QWEN_PROJECT_DIR',
  'CURSOR_PROJECT_DIR',
  'FACTORY_PROJECT_DIR',
  'CODEBUDDY_PROJECT_DIR',
]

/**
 * The nearest folder with a repository or settings in it, from where the host says that the project is, or else from the
 * event's `cwd`; where there is none, that folder. So it is the same one for a host that was started in a folder of a
 * repository, and for whoever types a command there.
 */
export function projectDirOf(cwd: string | undefined, env: NodeJS.ProcessEnv, home: string): string {
  const start = resolve(namedIn(env) ?? placeOf(cwd, home))
  return marked(start, home) ?? start
}

/**
 * Every folder from the project and from the event's `cwd` up to the home of the user, which is not among them, or to the
 * root; nearest first. A repository in another does not hide what the outer one forbids, and a link to it neither.
 */
export function foldersAround(
  cwd: string | undefined,
  env: NodeJS.ProcessEnv,
  home: string,
): readonly string[] {
  const starts = [namedIn(env), placeOf(cwd, home)].flatMap((start) =>
    start === undefined ? [] : [resolve(start), realOf(resolve(start))],
  )
  const homes = [home, realOf(home)]
  return [...new Set(starts.flatMap((start) => upFrom(start, homes)))]
}

/** That folder and those above it, up to a home, which is not among them. */
export function upFrom(start: string, homes: readonly string[]): readonly string[] {
  const folders: string[] = []
  for (let folder = start; !homes.includes(folder); folder = dirname(folder)) {
    folders.push(folder)
    if (dirname(folder) === folder) break
  }
  return folders
}

/** What a host says by a variable. */
export function namedIn(env: NodeJS.ProcessEnv): string | undefined {
  return PROJECT_VARIABLES.map((name) => env[name]).find((value) => value !== undefined && isAbsolute(value))
}

function placeOf(cwd: string | undefined, home: string): string {
  return cwd !== undefined && isAbsolute(cwd) ? cwd : workingFolder(home)
}

/** A folder that was removed under us has no name. */
function workingFolder(home: string): string {
  try {
    return process.cwd()
  } catch {
    return home
  }
}

function marked(start: string, home: string): string | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    const isHome = folder === home
    if (isRepository(folder) || (!isHome && hasSettings(folder))) return folder
    if (isHome || dirname(folder) === folder) return undefined
  }
}

/** An empty file or folder of that name is none: it would end the project of all that is below it. */
export function isRepository(folder: string): boolean {
  const path = join(folder, '.git')
  if (existsSync(join(path, 'HEAD'))) return true
  try {
    const stats = statSync(path)
    return stats.isFile() && stats.size < LONGEST_LINK && readFileSync(path, 'utf8').startsWith('gitdir:')
  } catch {
    return false
  }
}

const LONGEST_LINK = 8192

/** Whether there is anything in `.amplifier` that Carabiner reads. */
export function hasSettings(folder: string): boolean {
  return READ_BY_US.some((name) => existsSync(join(folder, '.amplifier', name)))
}

const READ_BY_US = ['hooks', 'settings.json', 'pack.json', 'hooks.lock.json']
