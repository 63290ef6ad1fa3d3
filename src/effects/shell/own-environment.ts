// Environments that no project can influence: for the user's hooks, and for programs that Carabiner itself starts.

import { existsSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import type { SecureContext } from 'node:tls'
import { callerNow, perCaller } from '../../core/base/caller.js'
import { digest } from '../../core/base/digest.js'
import { callerEnv, callerPath } from '../../files/caller.js'
import { isFolder } from '../../files/folder.js'
import { registeredHome, userHome } from '../../files/homes.js'
import { readPlain } from '../../files/plain-file.js'
import { claudeEnvIn, type Env, namedIn, variablesOfUser } from '../../files/project-env.js'
import { foldersAround, isMarked, workingFolder } from '../../files/project-folders.js'
import { safePath, searchPath } from '../../files/search-path.js'
import { isWithin, realOf } from '../../files/within.js'
import { loadsCode } from './loading-variables.js'

/**
 * The environment for hooks that a project must not influence. It lacks the variables that the project's files set, even
 * if the host has already applied them, and variables that load code of the project. Its `$PATH` has no folders of the
 * project. A settings file that cannot be read may set any variable, so all variables that load code are dropped then.
 */
export function withoutProject(
  projectDir = workingFolder('/'),
  env: Env = callerEnv(),
  leading = leadingInto(projectDir, env),
): Readonly<Record<string, string>> {
  const own = withoutVariables(env, aroundOf(projectDir, env), leading)
  const path = own.PATH === undefined ? undefined : pathWithoutProject(own.PATH, projectDir, env)
  // Copying the environment takes longer than everything else here.
  return path === own.PATH || path === undefined ? own : { ...own, PATH: path }
}

/** The same, but keeps the user's `$PATH`, because the project's programs are reviewed together with its gates. */
export function withoutProjectVariables(
  projectDir: string,
  env: Env,
  leading = leadingInto(projectDir, env),
): Readonly<Record<string, string>> {
  return withoutVariables(env, aroundOf(projectDir, env), leading)
}

/** The environment itself if nothing in it is the project's. */
function withoutVariables(
  env: Env,
  { folders, home }: Around,
  leading: Leading,
): Readonly<Record<string, string>> {
  const found = folders.flatMap(claudeEnvIn)
  const isUnknown = found.some(({ problem }) => problem !== undefined)
  const isTaken = (name: string) =>
    found.some((one) => Object.hasOwn(one.env, name) && isMerged(env, name, one.env[name])) ||
    (isUnknown && loadsCode(name))
  const taken = found.length > 0 ? Object.keys(env).filter(isTaken) : []
  if (taken.length + leading.size === 0) return env as Readonly<Record<string, string>>
  const own = { ...env } as Record<string, string>
  const names = new Set([...leading.keys(), ...taken])
  const had: Readonly<Record<string, string | undefined>> = {
    ...Object.fromEntries([...leading].filter(([name]) => !taken.includes(name))),
    PATH: USUAL_PATH,
    HOME: registeredHome(),
    ...variablesOfUser(home, env, (name) => names.has(name)),
  }
  for (const name of names) {
    const value = had[name]
    if (value === undefined) delete own[name]
    else own[name] = value
  }
  return own
}

// ---- variables that load code of the project. A host that has read them keeps them after their file is gone ------

/** Each of these variables, with the value that remains: lists keep folders outside the project. */
export type Leading = ReadonlyMap<string, string | undefined>

/** Their names, for the user. Leaves out shell functions, which many systems export to every program. */
export function namesOf(leading: Leading): readonly string[] {
  return [...leading.keys()].filter((name) => !/^BASH_FUNC_/.test(name))
}

/** Variables that change what a shell does without naming a file. */
const CHANGES_SHELLS = /^(?:SHELLOPTS|BASHOPTS|BASH_FUNC_.*)$/s

/** Variables that say where work is done, or whose values are not files. */
const LOADS_NO_FILE =
  /^(?:PATH|PATHEXT|CDPATH|IFS|NPM_CONFIG_LOCAL_PREFIX|GIT_(?:DIR|WORK_TREE|INDEX_FILE|PREFIX|COMMON_DIR|\w*OBJECT_DIRECTOR\w+|CEILING_DIRECTORIES|TRACE.*))$/is
/** Variables that hold a list of folders, like `$PATH`. */
const FOLDERS =
  /^(?:(?:PYTHON|NODE_|CLASS|GEM_|AWK|GCONV_|LD_LIBRARY_|DYLD_\w*)PATH|PERL5LIB|PERLLIB|RUBYLIB)$/

export function leadingInto(projectDir: string, env: Env): Leading {
  const { projects } = aroundOf(projectDir, env)
  const found = new Map<string, string | undefined>()
  for (const name of projects.length > 0 ? Object.keys(env) : []) {
    const value = env[name]
    if (!value || !loadsCode(name) || LOADS_NO_FILE.test(name)) continue
    if (CHANGES_SHELLS.test(name)) found.set(name, undefined)
    else if (FOLDERS.test(name)) {
      const { folders, skipped } = searchPath(projects, value)
      const kept = folders.filter((folder) => value.split(delimiter).includes(folder))
      if (skipped.length > 0) found.set(name, kept.length > 0 ? kept.join(delimiter) : undefined)
    } else if (leads(name, value, projects)) found.set(name, undefined)
  }
  return found
}

/** Options, several files, commands: any word of the value may be a file. A shell expands the value of `ENV`. */
function leads(name: string, value: string, projects: readonly string[]): boolean {
  if (/^(?:BASH_)?ENV$/.test(name) && /[$`]/.test(value)) return true
  // Quotes may be in the middle of a path.
  const isQuoted = /["'\\]/.test(value)
  if (isQuoted && leads(name, value.replace(/["'\\]/g, ''), projects)) return true
  if (projects.some((project) => value.includes(`${project}/`) || value.endsWith(project))) return true
  const isOptions = /OPT/.test(name)
  // The option itself contains code, or hides the name of a file.
  if (isOptions && /\bdata:|%[\da-f]{2}/i.test(value)) return true
  const words = value.split(/[\s:;,=|"'()]+/).map((word) => word.replace(/^-+\w*(?=[./])/, ''))
  return words.some((word) => word !== '' && isOfProject(word, projects, isOptions))
}

/** Relative paths count too, because a hook starts in the project or in a folder of it. */
function isOfProject(word: string, projects: readonly string[], isOption: boolean): boolean {
  if (isAbsolute(word)) return projects.some((project) => isWithin(word, project))
  if (/^\.\.?(?:\/|$)/.test(word)) return true
  return projects.some((project) => {
    if (!isOption) return existsSync(join(project, word)) && !isFolder(join(project, word))
    return ['', 'node_modules'].some((folder) => existsSync(join(project, folder, word)))
  })
}

/** The folders around a project. Kept, because finding them takes time and the same project is asked about repeatedly. */
interface Around {
  readonly key: string
  readonly home: string
  /** Every folder whose settings Claude Code may have read. The user's home is not one of them. */
  readonly folders: readonly string[]
  /** Folders whose content the project controls. */
  readonly projects: readonly string[]
  /** The safe form of each `$PATH` that was asked about. */
  readonly paths: Map<string, string>
}

const lastAround = perCaller((): { around?: Around } => ({}))

function aroundOf(projectDir: string, env: Env): Around {
  const named = namedIn(env)
  const key = [projectDir, ...named, userHome()].join('\0')
  const last = lastAround()
  if (last.around?.key === key) return last.around
  const start = callerPath(projectDir)
  const home = homeBeside(start)
  const folders = foldersAround([start, ...named], [home])
  // If the project is the whole home or `/`, it was not cloned, and the user's own programs are in it.
  const projects = [...new Set([start, ...folders.filter(isMarked)])].filter(
    (folder) => !isWithin(home, folder),
  )
  last.around = { key, home, folders, projects, paths: new Map() }
  return last.around
}

/** The user's home. If the project's settings move it into the project, the home that the system knows. */
function homeBeside(projectDir: string): string {
  const home = userHome()
  const isMoved = isWithin(home, projectDir) && claudeEnvIn(projectDir).some(({ env }) => 'HOME' in env)
  return isMoved ? (registeredHome() ?? home) : home
}

/** Claude Code adds the variable for its hooks. Outside Claude Code, the file can only be the origin if the value is the same. */
function isMerged(env: Env, name: string, value: string | undefined): boolean {
  return Boolean(env.CLAUDECODE || env.CLAUDE_PROJECT_DIR) || env[name] === value
}

/** Used if the user's own is not known. Includes our Node, because most hooks need it. */
const USUAL_PATH = [
  dirname(process.execPath),
  ...['/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'],
].join(delimiter)

const MOST_PATHS = 100

/** `$PATH` without relative, empty and in-project entries. */
export function pathWithoutProject(path: string, projectDir: string, env: Env): string {
  const { paths, projects } = aroundOf(projectDir, env)
  const safe = paths.get(path) ?? safePath(projects, path)
  if (paths.size >= MOST_PATHS) paths.clear()
  paths.set(path, safe)
  return safe
}

/**
 * The environment for programs that Carabiner itself starts: also without variables that make programs load code, no
 * matter who set them. `kept` matches variables that the user needs.
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

/** TLS options of a request. */
export interface OwnTls {
  readonly rejectUnauthorized: true
  readonly secureContext?: SecureContext
  /** Means nothing to a client, but keeps connections apart that trust other authorities: agents reuse them by this name. */
  readonly sessionIdContext?: string
}

const USUAL_TLS: OwnTls = { rejectUnauthorized: true }

/**
 * TLS options for servers that act as gates. Ignores NODE_TLS_REJECT_UNAUTHORIZED, because a gate that anyone can answer
 * for is not a gate. Ignores authorities that a project has set (NODE_EXTRA_CA_CERTS), although Node has read them. For the
 * caller of a service, it adds those that Node would have read in the caller's own process.
 */
export async function ownTls(): Promise<OwnTls> {
  const { NODE_EXTRA_CA_CERTS: set } = callerEnv()
  if (!set) return USUAL_TLS
  const isOfProject = withoutProject().NODE_EXTRA_CA_CERTS !== set
  // Node has read the file of its own process.
  if (!callerNow()) return isOfProject ? tlsWith('') : USUAL_TLS
  const extra = isOfProject ? '' : authoritiesIn(set)
  return extra === '' ? USUAL_TLS : tlsWith(extra)
}

const MOST_AUTHORITIES = 16 * 1024 * 1024

/** Node ignores a file that it cannot read. */
function authoritiesIn(file: string): string {
  try {
    const read = readPlain(realOf(callerPath(file)), MOST_AUTHORITIES)
    return 'text' in read ? read.text : ''
  } catch {
    return ''
  }
}

/** By the authorities that they add. Kept, because reading the usual ones again takes longer than a hook. */
const trusts = new Map<string, OwnTls>()
const MOST_TRUSTS = 8

async function tlsWith(extra: string): Promise<OwnTls> {
  const name = digest(extra)
  const { createSecureContext, rootCertificates } = await import('node:tls')
  const tls = trusts.get(name) ?? {
    rejectUnauthorized: true,
    secureContext: createSecureContext({ ca: [...rootCertificates, extra] }),
    sessionIdContext: name.slice(0, 32),
  }
  if (trusts.size >= MOST_TRUSTS) trusts.clear()
  trusts.set(name, tls)
  return tls
}
