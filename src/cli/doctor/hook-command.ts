// The command of a hook, taken apart as trust does: which programs and files it runs, and where they are looked for.

import { delimiter, isAbsolute } from 'node:path'
import { type HookReading, readHook } from '../../trust/hook-reading.js'
import { markedText, unmarked, type Variable, variablesOf } from '../../trust/hook-text.js'
import { searchPath } from '../../trust/program-search.js'
import type { Unit, UnitHook } from '../../trust/unit.js'
import { expandedHome, workFolders } from '../../trust/work-folders.js'
import type { Written } from './facts.js'

export interface HookCommand extends Written {
  /** What the file says, without its arguments. */
  readonly line: UnitHook
  readonly unit: Unit
  readonly reading: HookReading
  /** Folders in which a name is looked for when it runs. */
  readonly path: readonly string[]
  /** Folders that it may be in while it runs; where it starts is the first. */
  readonly folders: readonly string[]
  /** A word of the reading as the path it means; undefined where only the shell can tell. */
  readonly pathOf: (word: string) => string | undefined
}

const read = new WeakMap<Written['spec'], HookCommand | undefined>()

/** Undefined for hooks that run no program, or one that is not read: PowerShell. Several checks ask. */
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
  if (spec.type === 'process') {
    const { command, dir, env } = spec.handler
    const [program = '', ...args] = command
    return {
      ...common,
      command: program,
      args,
      ...(dir !== undefined && { dir }),
      ...(env && { env }),
    }
  }
  if (spec.type !== 'command') return undefined
  const { command, args, shell } = spec.handler
  return { ...common, command, ...(args && { args }), ...(shell && { shell }) }
}

function unitOf({ spec: { hook, place } }: Written, line: UnitHook): Unit {
  const { projectDir, hooksDir } = place
  const folder = place.plugin?.root ?? place.skillDir
  const common = { name: hook.origin.source, projectDir, hooksDir, hooks: [line] }
  return folder === undefined
    ? { ...common, kind: 'file', path: hook.origin.file ?? '' }
    : { ...common, kind: 'folder', path: folder }
}

/** For what came with a project, no folder of the project counts. */
function pathFor({ spec: { hook, place } }: Written): readonly string[] {
  const { PATH = '' } = process.env
  if (hook.origin.scope !== 'user') return searchPath(place.projectDir, PATH).folders
  return PATH.split(delimiter).filter((folder) => isAbsolute(folder))
}

/** Only the running shell makes a name of it. */
const FILLED_IN = /[*?[\]{}$`]/

function pathIn(word: string, variables: readonly Variable[]): string | undefined {
  const text = expandedHome(unmarked(word, variables).text)
  return FILLED_IN.test(text) || text.includes('\0') || text.startsWith('~') ? undefined : text
}
