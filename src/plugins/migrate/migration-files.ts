// The files that a migration reads and writes: which file becomes which, and the hooks in each.

import { basename, dirname, join } from 'node:path'
import type { ConfigFile } from '../../config/config-file.js'
import { type Contents, type HookDocument, hooksShape, readDocument } from '../../config/hook-document.js'
import type { Entry } from '../../config/hook-group.js'
import { Matchers } from '../../config/matchers.js'
import { Notes } from '../../config/notes.js'
import type { Owner } from '../../config/owner.js'
import { Names } from '../../config/owner.js'
import { type Diagnostic, textOf } from '../../core/base/errors.js'
import { frozenCopy, isObject } from '../../core/base/json.js'
import { plainText } from '../../core/base/text.js'
import { userHome } from '../../files/homes.js'
import { type JsonPath, JsonText } from '../../files/json-text.js'
import { projectSettings, userSettings } from '../../hosts/claude-code/settings.js'
import { readSettings, type SettingsFile, type SettingsPlace } from '../../hosts/settings-file.js'
import { SetupProblem } from '../../hosts/setup-problem.js'

export const DIRECTIONS = ['carabiner', 'claude-code'] as const

/** The side that hooks go to. */
export type Direction = (typeof DIRECTIONS)[number]

/** A file, and the file that takes its hooks. */
export interface FilePair {
  readonly from: SettingsPlace
  readonly role: HookDocument['role']
  readonly to: SettingsPlace
  /** It belongs to one person in this project, and is not shared with the others. */
  readonly isPrivate: boolean
}

export interface MigrationFiles {
  readonly direction: Direction
  readonly pairs: readonly FilePair[]
  /** Claude Code's settings. Whoever changes one of these files must hold its mutex. */
  readonly claude: SettingsPlace
  /** The folder with `.amplifier` in it. */
  readonly base: string
  /** The hooks folder, as commands that Claude Code runs refer to it. */
  readonly hooksDir: string
}

/** The files in which each side keeps the same hooks. Private hooks become a plugin of the project with its own .gitignore. */
const PAIRS: readonly {
  readonly ours: readonly string[]
  readonly role: HookDocument['role']
  readonly isPrivate: boolean
  /** Claude Code's hooks do not go there. */
  readonly isOnlySource?: true
}[] = [
  { ours: ['hooks', 'hooks.json'], role: 'root', isPrivate: false },
  { ours: ['settings.json'], role: 'settings', isPrivate: false, isOnlySource: true },
  { ours: ['hooks', 'local', 'hooks.json'], role: 'plugin', isPrivate: true },
]

/** Without a project, the user's own files. */
export function migrationFiles(direction: Direction, projectDir: string | undefined): MigrationFiles {
  const base = projectDir ?? userHome()
  const at = (...names: string[]): SettingsPlace => ({ path: join(base, ...names), within: [base] })
  const claude = projectDir === undefined ? userSettings() : projectSettings(projectDir)
  const claudePrivate = at('.claude', 'settings.local.json')
  const pairs = PAIRS.flatMap(({ ours, role, isPrivate, isOnlySource }): FilePair[] => {
    if (isPrivate && projectDir === undefined) return []
    const [own, theirs] = [at('.amplifier', ...ours), isPrivate ? claudePrivate : claude]
    if (direction === 'claude-code') return [{ from: own, role, to: theirs, isPrivate }]
    return isOnlySource ? [] : [{ from: theirs, role: 'explicit', to: own, isPrivate }]
  })
  const hooksDir = `\${${projectDir === undefined ? 'HOME' : 'CLAUDE_PROJECT_DIR'}}/.amplifier/hooks`
  return { direction, pairs, claude, base, hooksDir }
}

// ---- the hooks in a file --------------------------------------------------------------------------------------

export type Fields = { readonly [key: string]: unknown }

export interface HookFile {
  readonly file: SettingsFile
  readonly config: ConfigFile
  readonly value: Fields
  readonly contents: Contents
  /** Remarks on entries that are not hooks, and on hooks. */
  readonly diagnostics: readonly Diagnostic[]
}

/** Undefined if there is no file or it is empty. Throws a SetupProblem if it cannot be read. */
export function readHookFile({ from, role }: Pick<FilePair, 'from' | 'role'>): HookFile | undefined {
  const file = readSettings(from, false)
  const isEmpty = file.text === undefined || file.text.replace('\uFEFF', '').trim() === ''
  return isEmpty ? undefined : hooksIn(file, file.text ?? '', role)
}

/** Reads another text as if it were the file's. */
export function hooksIn(file: SettingsFile, text: string, role: FilePair['role']): HookFile {
  const config = parsed(file.path, text)
  const notes = new Notes()
  const shared = { notes, names: new Names(), matchers: new Matchers() }
  const folder = dirname(file.path)
  const owner: Owner = {
    scope: 'named',
    source: basename(file.path),
    realm: 'settings',
    place: { projectDir: folder, hooksDir: folder },
  }
  const contents = attempt(file.path, () => readDocument({ owner, role, file: config, at: null }, shared))
  return { file, config, value: config.value as Fields, contents, diagnostics: notes.all() }
}

function parsed(path: string, text: string): ConfigFile {
  const json = new JsonText(text)
  const read = json.parse()
  if ('problem' in read) {
    throw new SetupProblem(`${path}:${read.line} is not valid JSON: ${read.problem}`, 'Fix it first.')
  }
  const value = attempt(path, () => frozenCopy(read.value, path))
  const wrong = hooksShape(value)
  if (wrong) throw new SetupProblem(`${path} ${wrong.problem}`, 'Fix it first.')
  return { path, json, value }
}

function attempt<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new SetupProblem(`${path} cannot be understood: ${textOf(error)}`, 'It was not changed.')
  }
}

/** The value as it is written. */
export function valueAt(value: unknown, at: JsonPath): unknown {
  return at === null ? value : (valueAt(value, at.parent) as Record<string | number, unknown>)[at.key]
}

export function groupAt({ at }: Pick<Entry, 'at'>): JsonPath {
  return at?.parent?.parent ?? null
}

/** A hook in one line, for people: `PreToolUse Bash: ./check.sh`. */
export function titleOf({ event, group, handler: { type, fields } }: Entry): string {
  const pattern = isObject(group.spec) ? group.spec.tool_name : group.spec
  const matcher = typeof pattern === 'string' && pattern !== '' ? ` ${pattern}` : ''
  const { command, args, url, prompt, server, tool } = fields
  const words = Array.isArray(args) ? [command, ...args].join(' ') : (command ?? url ?? prompt)
  const what = words === undefined ? `${server} ${tool}` : String(words)
  return `${event.name}${matcher}: ${type === 'command' ? '' : `${type} `}${shortened(what)}`
}

const LONGEST_TITLE = 200

function shortened(text: string): string {
  const line = plainText(text).replace(/\s+/g, ' ').trim()
  return line.length > LONGEST_TITLE ? `${line.slice(0, LONGEST_TITLE - 1)}…` : line
}
