// The environment of a hook's program, the placeholders in its arguments, and its folders.

import { realpathSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { perCaller } from '../../core/base/caller.js'
import { type Diagnostic, textOf } from '../../core/base/errors.js'
import type { HookEvent, Origin } from '../../core/hooks/hook.js'
import {
  type Leading,
  leadingInto,
  namesOf,
  pathWithoutProject,
  withoutProject,
  withoutProjectVariables,
} from '../../effects/shell/own-environment.js'
import { callerEnv } from '../../files/caller.js'
import { isFolder, makePrivate } from '../../files/folder.js'
import { registeredHome } from '../../files/homes.js'
import { checkOwned } from '../../files/root-owned.js'
import type { FileFormat, Place } from '../hook-spec.js'

/** Whose hook it is. */
interface Reader {
  readonly scope: Origin['scope']
  /** Whether the hook is a gate that the user relies on. */
  readonly isGuard?: boolean
}

/** Describes whose hook it is, and in which session it runs. */
interface Situation extends Reader {
  readonly place: Place
  readonly format?: FileFormat | undefined
  readonly sessionId: string | undefined
  /** Variables that earlier hooks of the session passed on. */
  readonly handedOn?: Readonly<Record<string, string>>
  /** The file through which this hook may pass on variables. */
  readonly envFile?: string | undefined
  readonly note: (d: Diagnostic) => void
}

/** What a hook may inherit. */
export interface Inheritance {
  readonly parent: Readonly<Record<string, string | undefined>>
  /** Variables that its file sets. */
  readonly own?: Readonly<Record<string, string>> | undefined
  /** Inherit only variables that programs need to start, and those in `passthrough`. */
  readonly minimal: boolean
  readonly passthrough?: readonly string[] | undefined
}

/** Only hooks of a plugin have these. */
const OF_PLUGINS = ['CLAUDE_PLUGIN_ROOT', 'PLUGIN_ROOT', 'CLAUDE_PLUGIN_DATA'] as const
const OF_SESSIONS = ['AMPLIFIER_SESSION_ID', 'CLAUDE_CODE_SESSION_ID'] as const
const OF_PROJECTS = ['AMPLIFIER_PROJECT_DIR', 'CLAUDE_PROJECT_DIR', 'AMPLIFIER_HOOKS_DIR'] as const

const OF_SKILLS = ['AMPLIFIER_SKILL_DIR', 'CLAUDE_SKILL_DIR'] as const

const PLACEHOLDERS: readonly string[] = [...OF_PROJECTS, ...OF_SESSIONS, ...OF_PLUGINS, ...OF_SKILLS]
const PLACEHOLDER = new RegExp(`\\$\\{(${PLACEHOLDERS.join('|')})\\}`, 'g')

/** Never inherited: inside another agent, the parent also has them, but for its own session, plugin and file. */
const NOT_INHERITED: ReadonlySet<string> = new Set([...PLACEHOLDERS, 'AMPLIFIER_ENV_FILE', 'CLAUDE_ENV_FILE'])

/** Variables that a program needs to start. None is secret. */
export const MINIMAL = /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_.*|TMPDIR|TZ|TERM)$/s

export function hookEnvironment(inheritance: Inheritance, situation: Situation): Record<string, string> {
  const { passthrough = [], own } = inheritance
  const { scope, place, handedOn } = situation
  const isCompanys = scope === 'company'
  const minimal = inheritance.minimal || isCompanys
  const parent = copied(inheritance.parent)
  const { leading, above } = parent === lastCopy ? sharedFor(situation) : aboveFor(situation, parent)
  if (leading) tellLeading(place.projectDir, leading, situation.note)
  const given = own ? { ...above, ...own } : above
  const env: Record<string, string> = Object.assign(
    inherited(given, minimal ? [...passthrough, ...Object.keys(own ?? {})] : undefined),
    handedOn,
    isCompanys ? { ...ofCompany(), ...own } : undefined,
    ourOwn(situation, parent),
  )
  if (isCompanys) return env
  if (scope !== 'project' && env.PATH !== undefined)
    env.PATH = pathWithoutProject(env.PATH, place.projectDir, parent)
  return env
}

/** In place of the user's variables, with which the user would choose the programs that judge, and what they load. */
function ofCompany(): Record<string, string> {
  const home = registeredHome()
  return { PATH: rootsPath(), PYTHONNOUSERSITE: '1', ...(home !== undefined && { HOME: home }) }
}

const SYSTEM_FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']
/** Of NixOS. */
const LINKED_FOLDERS = ['/run/current-system/sw/bin']

/** Folders with programs that only root can change. */
export function rootsPath(): string {
  roots ??= [...SYSTEM_FOLDERS, ...LINKED_FOLDERS].filter(isRoots).join(delimiter) || '/usr/bin:/bin'
  return roots
}

let roots: string | undefined

function isRoots(folder: string): boolean {
  try {
    checkOwned(realpathSync(folder))
    return true
  } catch {
    return false
  }
}

/**
 * The environment that this hook may see. Variables from a project's files are only for the project's hooks, and not for
 * its gates, because they were not reviewed together.
 */
export function parentFor(
  reader: Reader,
  projectDir: string,
  parent: Inheritance['parent'] = callerEnv(),
  leading = leadingFor(reader, projectDir, parent),
): Inheritance['parent'] {
  if (!leading) return parent
  const without = reader.scope === 'project' ? withoutProjectVariables : withoutProject
  return without(projectDir, parent, leading)
}

/** Undefined for a hook that may be led into the project, because it is a part of it. */
function leadingFor(
  { scope, isGuard }: Reader,
  projectDir: string,
  parent: Inheritance['parent'],
): Leading | undefined {
  return scope !== 'project' || isGuard ? leadingInto(projectDir, parent) : undefined
}

/** What a hook inherits, before anything is added, and the variables that were left out because they lead into the project. */
interface Above {
  readonly leading: Leading | undefined
  readonly above: Inheritance['parent']
}

function aboveFor(situation: Situation, parent: Inheritance['parent']): Above {
  const { projectDir } = situation.place
  const leading = leadingFor(situation, projectDir, parent)
  return { leading, above: parentFor(situation, projectDir, parent, leading) }
}

/** Node asks the system for each variable of `process.env` each time, and a hook needs all of them several times. */
function copied(env: Inheritance['parent']): Inheritance['parent'] {
  if (env !== process.env) return env
  const names = Object.keys(env)
  if (names.length === copiedNames && names.every((name) => env[name] === lastCopy[name])) return lastCopy
  const copy: Record<string, string | undefined> = {}
  for (const name of names) copy[name] = env[name]
  copiedNames = names.length
  lastCopy = copy
  return copy
}

/** Never changed, so that hooks can share it as long as `process.env` stays the same. */
let lastCopy: Inheritance['parent'] = {}
let copiedNames = -1

/** What hooks that start together share, because looking at the project's files takes longer than the rest. */
const together = new Map<string, Above>()
let sharedCopy = lastCopy

function sharedFor(situation: Situation): Above {
  if (sharedCopy !== lastCopy) together.clear()
  sharedCopy = lastCopy
  const { scope, isGuard = false, place } = situation
  const key = `${scope === 'project'} ${isGuard} ${place.projectDir}`
  const known = together.get(key)
  if (known) return known
  if (together.size === 0) queueMicrotask(() => together.clear())
  const above = aboveFor(situation, lastCopy)
  together.set(key, above)
  return above
}

const variablesTold = perCaller(() => new Set<string>())

/** Reports each variable once, because a host keeps it until it ends. */
function tellLeading(projectDir: string, leading: Leading, note: Situation['note']): void {
  if (leading.size === 0) return
  const told = variablesTold()
  const news = namesOf(leading).filter((name) => !told.has(`${projectDir}\0${name}`))
  if (news.length === 0) return
  for (const name of news) told.add(`${projectDir}\0${name}`)
  const text = `${news.join(', ')} could make programs run code of the project ${projectDir}, so your own hooks and all gates run without it. If it came from a settings file that no longer exists, restart your agent`
  note({ code: 'variable-dropped', text })
}

/** With `beyond`, only variables that programs need to start, and these. */
function inherited(parent: Inheritance['parent'], beyond?: readonly string[]): Record<string, string> {
  const env: Record<string, string> = {}
  for (const name of Object.keys(parent)) {
    const value = parent[name]
    if (value === undefined || NOT_INHERITED.has(name)) continue
    if (!beyond || MINIMAL.test(name) || beyond.includes(name)) env[name] = value
  }
  return env
}

function ourOwn(
  { place, format, sessionId, envFile }: Situation,
  parent: Inheritance['parent'],
): Record<string, string> {
  const { projectDir, hooksDir, plugin, skillDir, path } = place
  return {
    ...(path !== undefined && { PATH: path }),
    ...(format === 'claude' && ofClaudeCode(parent)),
    AMPLIFIER_PROJECT_DIR: projectDir,
    CLAUDE_PROJECT_DIR: projectDir,
    AMPLIFIER_HOOKS_DIR: hooksDir,
    ...(sessionId !== undefined && { AMPLIFIER_SESSION_ID: sessionId, CLAUDE_CODE_SESSION_ID: sessionId }),
    ...(envFile !== undefined && { AMPLIFIER_ENV_FILE: envFile, CLAUDE_ENV_FILE: envFile }),
    ...(plugin && {
      CLAUDE_PLUGIN_ROOT: plugin.root,
      PLUGIN_ROOT: plugin.root,
      CLAUDE_PLUGIN_DATA: plugin.dataDir,
    }),
    ...(skillDir !== undefined && { AMPLIFIER_SKILL_DIR: skillDir, CLAUDE_SKILL_DIR: skillDir }),
  }
}

/** Hooks written for Claude Code check whether they run under it. */
function ofClaudeCode(parent: Inheritance['parent']): Record<string, string> {
  const { CLAUDE_CODE_ENTRYPOINT = 'cli', CLAUDE_CODE_CHILD_SESSION = '1' } = parent
  return { CLAUDECODE: '1', CLAUDE_CODE_ENTRYPOINT, CLAUDE_CODE_CHILD_SESSION }
}

/** Without a shell: replaces each `${NAME}` that we define, once. Everything else stays. One argument stays one argument. */
export function expandArgument(argument: string, env: Readonly<Record<string, string>>): string {
  return argument.replace(PLACEHOLDER, (text, name: string) => env[name] ?? text)
}

/** PowerShell reads `${NAME}` as its own variable, so this turns it into an environment variable. No value enters the text. */
export function forPowerShell(command: string): string {
  return command.replace(PLACEHOLDER, (_, name: string) => `\${env:${name}}`)
}

/** In a skill's command, a leading `./` or `../` is relative to the skill's folder. The shell inserts the folder, so that no name becomes syntax. */
export function fromSkill(command: string, { skillDir }: Place): string {
  return skillDir !== undefined && IN_FOLDER.test(command) ? `"$AMPLIFIER_SKILL_DIR"/${command}` : command
}

/** The same for a program without a shell. */
export function fileOfSkill(file: string, { skillDir }: Place): string {
  return skillDir !== undefined && IN_FOLDER.test(file) ? join(skillDir, file) : file
}

const IN_FOLDER = /^\.\.?\//

/** Finds a placeholder for plugins or skills in a hook that belongs to none, because a shell would read `${NAME}/x` as `/x`. */
export function foreignPlaceholder(
  texts: readonly string[],
  { plugin, skillDir }: Place,
): string | undefined {
  const foreign = [...(plugin ? [] : OF_PLUGINS), ...(skillDir === undefined ? OF_SKILLS : [])]
  return foreign.find((name) => texts.some((text) => text.includes(`\${${name}}`)))
}

// ---- folders --------------------------------------------------------------------------------------------------

/** Creates the plugin's data folder. Returns false, with a note, if that fails. */
export function madeDataFolder({ plugin }: Place, note: (d: Diagnostic) => void): boolean {
  try {
    if (plugin) makePrivate(plugin.dataDir)
    return true
  } catch (error) {
    note({ code: 'host-failed', text: `its data folder cannot be created: ${textOf(error)}` })
    return false
  }
}

/** Folders to start in, best first: the event's, the session's, the project's. */
export function startFolders({ data, session }: HookEvent, { projectDir }: Place): readonly string[] {
  return [data.cwd, session?.cwd, projectDir].flatMap((folder) =>
    typeof folder === 'string' && folder !== '' ? [resolve(folder)] : [],
  )
}

/** The first folder that exists, because an agent may have removed the one it works in. */
export function startFolder(event: HookEvent, place: Place): string | undefined {
  return startFolders(event, place).find(isFolder)
}
