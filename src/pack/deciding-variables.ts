// Variables that a project must not set for hooks in its Claude Code settings: they would change who decides.

import { registeredHome, userHome } from '../files/homes.js'
import { claudeEnvIn, namedIn, OUR_PROJECT_VARIABLE, PROJECT_VARIABLES } from '../files/project-env.js'
import { foldersAround } from '../files/project-folders.js'
import { startsOf } from '../files/which-project.js'
import { realOf } from '../files/within.js'

/**
 * What the variable decides. `home`, `store`: where the user's decisions are. `project`: whose gates count. `trust`: what
 * needs no review. `switch`: whether anything runs. `mark`: a program of ours set it for those that it starts.
 */
type Decides = 'home' | 'store' | 'project' | 'trust' | 'switch' | 'mark' | 'host'

/** All of ours are here, but for CARABINER_DEBUG, which decides nothing. */
const DECIDING: Readonly<Record<string, Decides>> = {
  HOME: 'home',
  USERPROFILE: 'home',
  CARABINER_HOME: 'store',
  XDG_DATA_HOME: 'store',
  XDG_STATE_HOME: 'store',
  ...Object.fromEntries(PROJECT_VARIABLES.map((name) => [name, 'project'])),
  CARABINER_PRE_TRUSTED: 'trust',
  CARABINER_OFF: 'switch',
  CARABINER_REFLECTING: 'mark',
  CARABINER_WITHIN_MODEL: 'mark',
  CARABINER_WORKFLOW: 'mark',
  CLAUDE_CONFIG_DIR: 'host',
}
const HOMES = deciding('home')
const STORES = deciding('store')
/** If one of these is not the user's, what they decided cannot be used to judge. */
const MOVING = deciding('home', 'store', 'project', 'trust')
/** These load code into the shell and the Node that start us. All others only reach programs that we start. */
const CODE = /^(?:NODE_OPTIONS|LD_.*|DYLD_.*|BASH_ENV|SHELLOPTS|BASHOPTS|BASH_FUNC_.*)$/s
/** Node's options that run code; most people only set how much memory it may take. */
const LOADS = /(?:^|\s)(?:-r|--require|--import|--loader|--experimental-loader|--env-file|--openssl-config)/

/** A project's file that sets such variables, or an unreadable one that may. */
export interface ProjectEnv {
  readonly file: string
  readonly names: readonly string[]
  readonly problem?: string
}

/** Without the user's own settings: the user may set anything. */
export function projectEnvOf(
  cwd: string | undefined,
  env: NodeJS.ProcessEnv,
  home: string,
): readonly ProjectEnv[] {
  const found = foldersAround(startsOf(cwd, env, home), [home]).flatMap(envIn)
  // A project that declares itself to be the home would look like the user.
  if (!namedIn(env).some((folder) => realOf(folder) === realOf(home))) return found
  return [...found, ...envIn(home).filter((one) => movesHome([one]))]
}

function envIn(folder: string): readonly ProjectEnv[] {
  return claudeEnvIn(folder).flatMap(({ file, env, problem }) => {
    const names = Object.keys(env).filter((name) => isDeciding(name, env[name] ?? ''))
    if (problem !== undefined) return [{ file, names, problem }]
    return names.length > 0 ? [{ file, names }] : []
  })
}

function isDeciding(name: string, value: string): boolean {
  if (name === 'NODE_OPTIONS') return LOADS.test(value)
  return CODE.test(name) || Object.hasOwn(DECIDING, name)
}

function deciding(...what: readonly Decides[]): readonly string[] {
  return Object.keys(DECIDING).filter((name) => what.includes(DECIDING[name] as Decides))
}

/** The file that switches Carabiner off, or may; if undefined, the user set the switch. */
export function switchedOffBy(found: readonly ProjectEnv[]): string | undefined {
  return found.find((one) => one.problem !== undefined || setsAny([one], deciding('switch')))?.file
}

/** Whether hooks see another home of the user. */
function movesHome(found: readonly ProjectEnv[]): boolean {
  return setsAny(found, HOMES)
}

/** Whether settings may be read from another home or another project. */
export function movesSettings(found: readonly ProjectEnv[]): boolean {
  return setsAny(found, [...HOMES, ...PROJECT_VARIABLES])
}

/**
 * Undoes what the project set: the home becomes the one that the system knows, and the places of our files their
 * defaults. The values that the user had set before are lost.
 */
export function takeBack(env: NodeJS.ProcessEnv, found: readonly ProjectEnv[]): void {
  const set = found.flatMap(({ names }) => names)
  for (const name of STORES) if (set.includes(name)) delete env[name]
  const home = movesHome(found) ? registeredHome() : undefined
  if (home !== undefined) for (const name of HOMES) if (set.includes(name)) env[name] = home
}

/** Says why the user's trust, grants or settings may be read from elsewhere: then they cannot be used to judge. */
export function movedDecisions(found: readonly ProjectEnv[], env: NodeJS.ProcessEnv): readonly string[] {
  return [...(setsAny(found, MOVING) ? envProblems(found) : []), ...unreadProblems(found, env)]
}

/** Says which file names, or may name, what needs no review; if undefined, the user does. */
export function trustGivenBy(found: readonly ProjectEnv[]): string | undefined {
  const by = found.find((one) => one.problem !== undefined || setsAny([one], deciding('trust')))
  if (by?.problem === undefined) return by && envProblems([by])[0]
  return unreadText(by, deciding('trust'))
}

/** A file that cannot be read may have set what decides here. */
export function unreadProblems(found: readonly ProjectEnv[], env: NodeJS.ProcessEnv): readonly string[] {
  const unread = found.filter(({ problem }) => problem !== undefined)
  const names = unread.length > 0 ? suspects(env) : []
  if (names.length === 0) return []
  return unread.map((one) => unreadText(one, names))
}

function unreadText({ file, problem }: ProjectEnv, names: readonly string[]): string {
  return `${file} ${problem}, and may set ${names.join(', ')} for hooks: repair the file`
}

/** Of the projects only ours: the host sets its own itself. */
function suspects(env: NodeJS.ProcessEnv): readonly string[] {
  const home = registeredHome()
  const isMoved = home === undefined || realOf(home) !== realOf(userHome())
  const others = [...STORES, OUR_PROJECT_VARIABLE, ...deciding('trust')]
  return [...(isMoved ? ['HOME'] : []), ...others.filter((name) => env[name])]
}

function setsAny(found: readonly ProjectEnv[], names: readonly string[]): boolean {
  return found.some((one) => one.names.some((name) => names.includes(name)))
}

/** For the user. */
export function envProblems(found: readonly ProjectEnv[]): readonly string[] {
  return found
    .filter(({ names }) => names.length > 0)
    .map((one) => `${envText(one)}: take it out of "env" there`)
}

export function envText({ file, names }: ProjectEnv): string {
  return `${file} sets ${names.join(', ')} for hooks, which is for you to decide and not for a project`
}

/** Without variables that load code: it is too late for those, so they are reported only when a session starts. */
export function withoutCode(found: readonly ProjectEnv[]): readonly ProjectEnv[] {
  return found.map((one) => ({ ...one, names: one.names.filter((name) => !CODE.test(name)) }))
}
