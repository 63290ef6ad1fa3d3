// Variables that a project must not set for hooks in its Claude Code settings: they would change who decides.

import { registeredHome, userHome } from '../files/homes.js'
import { claudeEnvIn, namedIn, OUR_PROJECT_VARIABLE, PROJECT_VARIABLES } from '../files/project-env.js'
import { foldersAround } from '../files/project-folders.js'
import { startsOf } from '../files/which-project.js'
import { realOf } from '../files/within.js'

/**
 * What a variable decides. `home`, `store`: where the user's decisions are kept. `project`: which project's gates count.
 * `trust`: what needs no review. `switch`: whether anything runs. `mark`: Carabiner set it for a program that it started.
 */
type Decides = 'home' | 'store' | 'project' | 'trust' | 'switch' | 'mark' | 'host'

/** All of Carabiner's variables except CARABINER_DEBUG, CARABINER_SERVICE and CARABINER_SPAWNER, which decide nothing. */
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
/** If a project sets one of these, the user's decisions may be read from the wrong place and cannot be relied on. */
const MOVING = deciding('home', 'store', 'project', 'trust')
/** These load code into the shell and the Node process that start us. The others only affect programs that we start. */
const CODE =
  /^(?:NODE_OPTIONS|NODE_PATH|NODE_COMPILE_CACHE|OPENSSL_(?:CONF|CONF_INCLUDE|MODULES|ENGINES)|LD_.*|DYLD_.*|BASH_ENV|SHELLOPTS|BASHOPTS|BASH_FUNC_.*)$/s
/**
 * Node options that run no code. Any others may: Node reads quotes and underscores in them, and many options name a file or
 * open a port. Most people only set a memory limit.
 */
const HARMLESS =
  /^\s*(?:--(?:max[-_](?:old|semi)[-_]space[-_]size[= ]\d+|no-warnings|no-deprecation|trace-(?:warnings|deprecation)|enable-source-maps|stack-trace-limit=\d+|dns-result-order=\w+)(?:\s+|$))*$/

/** A project's file that sets such variables, or an unreadable one that may. */
export interface ProjectEnv {
  readonly file: string
  readonly names: readonly string[]
  readonly problem?: string
}

/** Leaves out the user's own settings, because the user may set anything. */
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

/** Whether Carabiner would decide otherwise if something else set this variable for it. */
export function isDeciding(name: string, value: string): boolean {
  if (name === 'NODE_OPTIONS') return !HARMLESS.test(value)
  return CODE.test(name) || Object.hasOwn(DECIDING, name)
}

function deciding(...what: readonly Decides[]): readonly string[] {
  return Object.keys(DECIDING).filter((name) => what.includes(DECIDING[name] as Decides))
}

/** The file that switches Carabiner off, or may do so. Undefined: the user set the switch. */
export function switchedOffBy(found: readonly ProjectEnv[]): string | undefined {
  return found.find((one) => one.problem !== undefined || setsAny([one], deciding('switch')))?.file
}

/** Whether hooks may see a different home folder. */
function movesHome(found: readonly ProjectEnv[]): boolean {
  return setsAny(found, HOMES)
}

/** Whether settings may be read from another home or another project. */
export function movesSettings(found: readonly ProjectEnv[]): boolean {
  return setsAny(found, [...HOMES, ...PROJECT_VARIABLES])
}

/**
 * Undoes what the project set: the home is the one that the system knows again, and our files are in their default
 * places. Values that the user had set before are lost.
 */
export function takeBack(env: NodeJS.ProcessEnv, found: readonly ProjectEnv[]): void {
  const set = found.flatMap(({ names }) => names)
  for (const name of STORES) if (set.includes(name)) delete env[name]
  const home = movesHome(found) ? registeredHome() : undefined
  if (home !== undefined) for (const name of HOMES) if (set.includes(name)) env[name] = home
}

/** Why the user's trust, grants or settings may be read from the wrong place, so that they cannot be relied on. */
export function movedDecisions(found: readonly ProjectEnv[], env: NodeJS.ProcessEnv): readonly string[] {
  return [...(setsAny(found, MOVING) ? envProblems(found) : []), ...unreadProblems(found, env)]
}

/** The file that says, or may say, what needs no review. Undefined: the user said so. */
export function trustGivenBy(found: readonly ProjectEnv[]): string | undefined {
  const by = found.find((one) => one.problem !== undefined || setsAny([one], deciding('trust')))
  if (by?.problem === undefined) return by && envProblems([by])[0]
  return unreadText(by, deciding('trust'))
}

/** A file that cannot be read may set any of these variables. */
export function unreadProblems(found: readonly ProjectEnv[], env: NodeJS.ProcessEnv): readonly string[] {
  const unread = found.filter(({ problem }) => problem !== undefined)
  const names = unread.length > 0 ? suspects(env) : []
  if (names.length === 0) return []
  return unread.map((one) => unreadText(one, names))
}

function unreadText({ file, problem }: ProjectEnv, names: readonly string[]): string {
  return `${file} ${problem} and may set ${names.join(', ')} for hooks: fix the file`
}

/** Of the project variables, only Carabiner's: the host sets its own. */
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
    .map((one) => `${envText(one)}: remove it from "env" there`)
}

export function envText({ file, names }: ProjectEnv): string {
  return `${file} sets ${names.join(', ')} for hooks, which only you may decide, not a project`
}

/** Leaves out variables that load code: that has already happened, so they are only reported when a session starts. */
export function withoutCode(found: readonly ProjectEnv[]): readonly ProjectEnv[] {
  return found.map((one) => ({ ...one, names: one.names.filter((name) => !CODE.test(name)) }))
}
