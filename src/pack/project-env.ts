// What a project's Claude Code settings set in the environment of hooks, as far as it would change who decides.

import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { isObject } from '../core/base/json.js'
import { registeredHome } from '../files/homes.js'
import { readPlain } from '../files/plain-file.js'
import { realOf } from '../files/within.js'
import { foldersAround, PROJECT_VARIABLES } from './project-dir.js'

/** As large as settings may be for setup. */
const MAX_BYTES = 4 * 1024 * 1024

/** Where the decisions of the user are looked for. */
const HOMES: readonly string[] = ['HOME', 'USERPROFILE']
const STORES: readonly string[] = ['CARABINER_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME']
/** What is loaded into the program before it begins. */
const CODE: readonly string[] = ['NODE_OPTIONS', 'LD_PRELOAD', 'DYLD_INSERT_LIBRARIES']
const SWITCH = 'CARABINER_OFF'
const OTHERS: readonly string[] = [...PROJECT_VARIABLES, 'CLAUDE_CONFIG_DIR']
/** Options of Node that run what somebody names; most people set how much memory it may take. */
const LOADS = /(?:^|\s)(?:-r|--require|--import|--loader|--experimental-loader|--env-file|--openssl-config)/

/** One file of a project that sets such variables, or that cannot be read and may. */
export interface ProjectEnv {
  readonly file: string
  readonly names: readonly string[]
  readonly problem?: string
}

/** Of the place where an event happens. The user's own settings are not among them: who may set what they like. */
export function projectEnvOf(
  cwd: string | undefined,
  env: NodeJS.ProcessEnv,
  home: string,
): readonly ProjectEnv[] {
  const found = foldersAround(cwd, env, home).flatMap(envIn)
  // A project that says that it is itself the home would look like the user.
  if (env.CLAUDE_PROJECT_DIR !== home) return found
  return [...found, ...envIn(home).filter((one) => movesHome([one]))]
}

function envIn(folder: string): readonly ProjectEnv[] {
  return ['settings.json', 'settings.local.json'].flatMap((name) => envOf(join(folder, '.claude', name)))
}

function envOf(file: string): readonly ProjectEnv[] {
  try {
    // Most have none, and to be told so by an error takes longer.
    if (!lstatSync(file, { throwIfNoEntry: false })) return []
    const found = readPlain(realOf(file), MAX_BYTES)
    if ('problem' in found)
      return found.problem === 'is empty' ? [] : [{ file, names: [], problem: found.problem }]
    const names = namesIn(found.text)
    return names.length > 0 ? [{ file, names }] : []
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    return [{ file, names: [], problem: `cannot be read: ${textOf(error)}` }]
  }
}

function namesIn(text: string): readonly string[] {
  let settings: unknown
  try {
    settings = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    return [] // Claude Code takes nothing out of such a file
  }
  const env = isObject(settings) && isObject(settings.env) ? settings.env : {}
  return Object.keys(env).filter((name) => {
    if (name === 'NODE_OPTIONS') return LOADS.test(String(env[name]))
    return name === SWITCH || [...HOMES, ...STORES, ...CODE, ...OTHERS].includes(name)
  })
}

/** Which file would switch Carabiner off, or may; undefined: whoever set the switch is the user. */
export function switchedOffBy(found: readonly ProjectEnv[]): string | undefined {
  return found.find(({ names, problem }) => problem !== undefined || names.includes(SWITCH))?.file
}

/** Whether the home of the user is another one for hooks. */
export function movesHome(found: readonly ProjectEnv[]): boolean {
  return setsAny(found, HOMES)
}

/**
 * Takes back what the project set of where things are kept: the home is the one that the system knows, the rest as it is
 * without these variables. What the user had set instead, nobody can tell any more.
 */
export function takeBack(env: NodeJS.ProcessEnv, found: readonly ProjectEnv[]): void {
  const set = found.flatMap(({ names }) => names)
  for (const name of STORES) if (set.includes(name)) delete env[name]
  const home = movesHome(found) ? registeredHome() : undefined
  if (home !== undefined) for (const name of HOMES) if (set.includes(name)) env[name] = home
}

/** Whether trust, grants or settings of the user would be looked for elsewhere: nothing can be judged by them then. */
export function movesDecisions(found: readonly ProjectEnv[]): boolean {
  return setsAny(found, [...HOMES, ...STORES])
}

function setsAny(found: readonly ProjectEnv[], names: readonly string[]): boolean {
  return found.some((one) => one.names.some((name) => names.includes(name)))
}

/** In words for the user. */
export function envProblems(found: readonly ProjectEnv[]): readonly string[] {
  return found
    .filter(({ names }) => names.length > 0)
    .map((one) => `${envText(one)}: take it out of "env" there`)
}

export function envText({ file, names }: ProjectEnv): string {
  return `${file} sets ${names.join(', ')} for hooks, which is for you to decide and not for a project`
}

/** Without what only tells that it is too late: said once, when a session starts. */
export function withoutCode(found: readonly ProjectEnv[]): readonly ProjectEnv[] {
  return found.map((one) => ({ ...one, names: one.names.filter((name) => !CODE.includes(name)) }))
}
