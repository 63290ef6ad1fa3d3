// Environments that no project influences: for the hooks of the user, and for programs that Carabiner starts itself.

import { existsSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { registeredHome, userHome } from '../files/homes.js'
import { claudeEnvIn, type Env, namedIn, upFrom, variablesOfUser } from '../files/project-env.js'
import { safePath } from '../files/search-path.js'
import { isWithin, realOf } from '../files/within.js'
import { loadsCode } from './loading-variables.js'

/**
 * The environment for hooks that a project must not influence: without what its files set, even if the host has put it
 * there already, and with a `$PATH` that the project cannot fill. A settings file that cannot be read may set any variable;
 * then those that load code are left out.
 */
export function withoutProject(
  projectDir = workingFolder(),
  env: Env = process.env,
): Readonly<Record<string, string>> {
  const start = resolve(projectDir)
  const folders = foldersOf(start, env)
  const found = folders.flatMap(claudeEnvIn)
  const isUnknown = found.some(({ problem }) => problem !== undefined)
  const isTaken = (name: string) =>
    found.some((one) => Object.hasOwn(one.env, name) && isMerged(env, name, one.env[name])) ||
    (isUnknown && loadsCode(name))
  const names = Object.keys(env).filter(isTaken)
  const own = { ...env } as Record<string, string>
  if (names.length > 0) {
    const had: Readonly<Record<string, string | undefined>> = {
      PATH: USUAL_PATH,
      HOME: registeredHome(),
      ...variablesOfUser(homeBeside(start), env, (name) => names.includes(name)),
    }
    for (const name of names) {
      const value = had[name]
      if (value === undefined) delete own[name]
      else own[name] = value
    }
  }
  if (own.PATH !== undefined) own.PATH = pathWithoutProject(own.PATH, start, env)
  return own
}

/** Every folder whose settings Claude Code may have read. The user's home is not one of them. */
function foldersOf(projectDir: string, env: Env): readonly string[] {
  const home = homeBeside(projectDir)
  const starts = [projectDir, namedIn(env) ?? projectDir].flatMap((start) => [start, realOf(start)])
  return [...new Set(starts.flatMap((start) => upFrom(start, [home, realOf(home)])))]
}

/** The user's home. Where the project says that it is in the project, the one counts that the system knows. */
function homeBeside(projectDir: string): string {
  const home = userHome()
  const isMoved = isWithin(home, projectDir) && claudeEnvIn(projectDir).some(({ env }) => 'HOME' in env)
  return isMoved ? (registeredHome() ?? home) : home
}

/** Claude Code puts it there for its hooks. Without it, only the same value can come from the file. */
function isMerged(env: Env, name: string, value: string | undefined): boolean {
  return Boolean(env.CLAUDECODE || env.CLAUDE_PROJECT_DIR) || env[name] === value
}

/** Where the user's own is not known. Our Node is there, because most hooks need one. */
const USUAL_PATH = [
  dirname(process.execPath),
  ...['/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'],
].join(delimiter)

/** Following the links of each entry takes longer than everything else here, and one path is asked for again and again. */
let last: { readonly key: string; readonly path: string } | undefined

/** `$PATH` without relative, empty and in-project entries. */
export function pathWithoutProject(path: string, projectDir: string, env: Env): string {
  const key = [projectDir, namedIn(env), userHome(), path].join('\0')
  if (last?.key === key) return last.path
  const home = homeBeside(projectDir)
  const marked = foldersOf(resolve(projectDir), env).filter(isMarked)
  // A project that is the whole home, or `/`, was not cloned: the user's programs are there.
  const projects = [resolve(projectDir), ...marked].filter((folder) => !isWithin(home, folder))
  last = { key, path: safePath([...new Set(projects)], path) }
  return last.path
}

/** A project around the project: a workspace has its `node_modules/.bin` there. */
function isMarked(folder: string): boolean {
  return ['.git', '.amplifier', '.claude'].some((name) => existsSync(join(folder, name)))
}

/** A folder that was removed while we are in it has no name. */
function workingFolder(): string {
  try {
    return process.cwd()
  } catch {
    return '/'
  }
}

/**
 * The environment for programs that Carabiner starts itself: also without variables that make programs load code, whoever
 * set them. `kept` names those that the user needs.
 */
export function programEnvironment(
  projectDir?: string,
  env?: Env,
  kept?: RegExp,
): Readonly<Record<string, string>> {
  const all = Object.entries(withoutProject(projectDir, env))
  return Object.fromEntries(
    all.filter(([name]) => name === 'PATH' || !loadsCode(name) || kept?.test(name) === true),
  )
}
