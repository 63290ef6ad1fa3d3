// A hook's command, taken apart as trust does: its programs and files, where they are looked up, and missing quotes.

import { delimiter } from 'node:path'
import { isGuard } from '../../core/hooks/gate.js'
import { searchPath } from '../../files/search-path.js'
import { kindOf } from '../../runners/kinds.js'
import { parentFor, rootsPath } from '../../runners/program/environment.js'
import { pathAt, typeAt } from '../../trust/file-reading.js'
import { expandedHome, workFolders } from '../../trust/file-search.js'
import {
  type HookReading,
  markedText,
  readHook,
  unmarked,
  type Variable,
  variablesOf,
} from '../../trust/hook-reading.js'
import type { Unit, UnitHook } from '../../trust/unit.js'
import type { Written } from './facts.js'
import type { Finding } from './finding.js'

export interface HookCommand extends Written {
  /** The entry as written in the file. */
  readonly line: UnitHook
  readonly unit: Unit
  readonly reading: HookReading
  /** Folders searched for a program's name. */
  readonly path: readonly string[]
  /** Folders it may be in while it runs; it starts in the first. */
  readonly folders: readonly string[]
  /** The path that a word means; undefined if only the shell can tell. */
  readonly pathOf: (word: string) => string | undefined
}

const read = new WeakMap<Written['spec'], HookCommand | undefined>()

/** Undefined for hooks that run no program, and for PowerShell, which is not parsed. Cached: several checks ask. */
export function commandOf(written: Written): HookCommand | undefined {
  if (!read.has(written.spec)) read.set(written.spec, readCommand(written))
  return read.get(written.spec)
}

function readCommand(written: Written): HookCommand | undefined {
  const line = lineOf(written)
  if (!line || (line.shell === 'powershell' && line.args === undefined)) return undefined
  const unit = unitOf(written, line)
  const variables = variablesOf(unit)
  const reading = readHook(markedText(line, unit, variables))
  const { folders } = workFolders(unit.projectDir, reading, variables)
  return {
    ...written,
    line,
    unit,
    reading,
    path: pathFor(written),
    folders: folders.map(({ path }) => path),
    pathOf: (word) => pathIn(word, variables),
  }
}

function lineOf({ spec, where }: Written): UnitHook | undefined {
  const common = { name: where.hook, event: '', matcher: null, hash: '' }
  const line = kindOf(spec).program?.(spec.handler)
  return line && { ...common, ...line }
}

function unitOf({ spec: { hook, place } }: Written, line: UnitHook): Unit {
  const { projectDir, hooksDir } = place
  const folder = place.plugin?.root ?? place.skillDir
  const common = { name: hook.origin.source, projectDir, hooksDir, hooks: [line] }
  return folder === undefined
    ? { ...common, kind: 'file', path: hook.origin.file ?? '' }
    : { ...common, kind: 'folder', path: folder }
}

/** A project's hooks must not find programs in the project's own folders. */
function pathFor({ spec: { hook, place } }: Written): readonly string[] {
  const { scope } = hook.origin
  if (scope === 'company') return rootsPath().split(delimiter)
  const { PATH = '' } = parentFor({ scope, isGuard: isGuard(hook) }, place.projectDir)
  return scope === 'project' ? searchPath([place.projectDir], PATH).folders : PATH.split(delimiter)
}

/** Characters that only a running shell can expand. */
const FILLED_IN = /[*?[\]{}$`]/

function pathIn(word: string, variables: readonly Variable[]): string | undefined {
  const text = expandedHome(unmarked(word, variables).text)
  return FILLED_IN.test(text) || text.includes('\0') || text.startsWith('~') ? undefined : text
}

// ---- paths with blanks and no quotes --------------------------------------------------------------------------

/** Finds our variables outside quotes whose folder has a blank in its name. */
export function unquoted({ line, spec: { place }, where }: HookCommand): readonly Finding[] {
  if (line.args !== undefined) return []
  const { projectDir, hooksDir, plugin, skillDir } = place
  const folders: Readonly<Record<string, string | undefined>> = {
    CLAUDE_PROJECT_DIR: projectDir,
    AMPLIFIER_PROJECT_DIR: projectDir,
    AMPLIFIER_HOOKS_DIR: hooksDir,
    CLAUDE_PLUGIN_ROOT: plugin?.root,
    PLUGIN_ROOT: plugin?.root,
    AMPLIFIER_SKILL_DIR: skillDir,
    CLAUDE_SKILL_DIR: skillDir,
  }
  const bare = [...bareVariables(line.command)].filter((name) => /\s/.test(folders[name] ?? ''))
  return [...new Set(bare)].map((name) => ({
    severity: 'broken',
    code: 'unquoted-path',
    ...where,
    text: `$${name} is not quoted, and its value ${JSON.stringify(folders[name])} has a space: the shell splits it into words`,
    fix: `Put it in quotes: \\"$${name}\\" in the file.`,
  }))
}

const VARIABLE = /^\$(?:\{([A-Z_]+)[^}]*\}|([A-Z_]+))/

/** Names of variables outside quotes. An assignment does not split its value. */
function* bareVariables(command: string): Generator<string> {
  let quote = ''
  for (let at = 0; at < command.length; at++) {
    const char = command[at] as string
    if (char === '\\' && quote !== "'") at++
    else if (quote !== '') quote = char === quote ? '' : quote
    else if (char === '"' || char === "'") quote = char
    else if (char === '$' && !/(?:^|[\s;&|(])\w+=[^\s;&|]*$/.test(command.slice(0, at))) {
      const [, braced, plain] = VARIABLE.exec(command.slice(at, at + 200)) ?? []
      const name = braced ?? plain
      if (name !== undefined) yield name
    }
  }
}

const MOST_WORDS = 8

/** The file that the first words name together, if it exists. */
export function joinedPath(
  first: string,
  rest: readonly string[],
  folders: readonly string[],
): string | undefined {
  let path = first
  for (const word of rest.slice(0, MOST_WORDS)) {
    path += ` ${word}`
    if (folders.some((folder) => typeAt(pathAt(folder, path)) === 'file')) return path
  }
  return undefined
}
