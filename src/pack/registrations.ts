// Which hooks of the pack a host's settings files name, and whether they are those of this program.

import { dirname, isAbsolute, join } from 'node:path'
import { isObject } from '../core/json.js'
import { readPlain } from '../state/plain-file.js'
import { realOf } from '../state/within.js'
import { bounded, inline } from './fenced.js'
import { isDead, isGone, type OwnCommand, ownCommand, userSettingsFolder } from './own-command.js'
import type { ThisProgram } from './pack-hook.js'

const MAX_BYTES = 1024 * 1024

/** One command of a settings file that starts a hook of the pack. */
export interface Registration extends OwnCommand {
  readonly file: string
  /** Whether its program is not there. */
  readonly dead: boolean
}

/** Where Claude Code looks: user, project, and the project's local file. */
export function settingsFiles(home: string, projectDir: string, env: NodeJS.ProcessEnv): readonly string[] {
  const project = join(projectDir, '.claude')
  const files = [
    join(userSettingsFolder(home, env), 'settings.json'),
    join(project, 'settings.json'),
    join(project, 'settings.local.json'),
  ]
  return [...new Set(files.map(realOf))]
}

/** Of one file; none where there is none. Throws what is wrong with it. */
export function registrationsIn(file: string): readonly Registration[] {
  const text = contentOf(file)
  if (text === undefined || !text.includes('carabiner')) return []
  const settings: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
  const hooks = isObject(settings) && isObject(settings.hooks) ? settings.hooks : {}
  return Object.values(hooks)
    .flatMap(listOf)
    .flatMap((group) => (isObject(group) ? listOf(group.hooks) : []))
    .flatMap((handler) => {
      const own = ownCommand(handler)
      return own?.call === 'hook' ? [{ file, ...own, dead: isDead(handler) }] : []
    })
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function contentOf(file: string): string | undefined {
  try {
    const found = readPlain(file, MAX_BYTES)
    return 'text' in found ? found.text : undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}

// ---- what is wrong with them ----------------------------------------------------------------------------------

const HEAL = 'carabiner setup claude-code puts it right'

/** In words for the user; empty where all is well, and where nothing is registered. */
export function registrationProblems(
  files: readonly string[],
  names: readonly string[],
  program: ThisProgram,
): readonly string[] {
  const problems: string[] = []
  const found = files.flatMap((file) => {
    try {
      return registrationsIn(file)
    } catch {
      problems.push(`${file} is not valid JSON or cannot be read: its host runs none of its hooks`)
      return []
    }
  })
  const byFile = groups(found)
  for (const [file, ones] of byFile)
    problems.push(...staleIn(file, ones, program), ...missingIn(file, ones, names))
  if (byFile.size > 1) {
    const where = [...byFile.keys()].join(' and ')
    problems.push(
      `the hooks of the pack are registered in ${where}: each runs ${byFile.size} times; remove one with carabiner setup claude-code --remove`,
    )
  }
  return problems
}

function groups(all: readonly Registration[]): ReadonlyMap<string, readonly Registration[]> {
  const map = new Map<string, Registration[]>()
  for (const one of all) map.set(one.file, [...(map.get(one.file) ?? []), one])
  return map
}

function staleIn(file: string, ones: readonly Registration[], program: ThisProgram): readonly string[] {
  const problems = new Set<string>()
  for (const { script, node, dead } of ones) {
    if (node !== undefined && isAbsolute(node) && isGone(node))
      problems.add(`${file} names ${inline(node, 400)}, which is not there: those hooks do not run; ${HEAL}`)
    if (!isAbsolute(script)) continue
    if (dead)
      problems.add(
        `${file} names ${inline(script, 400)}, which is not there: those hooks do not run; ${HEAL}`,
      )
    else if (realOf(script) !== realOf(program.script)) {
      const other = versionOf(script)
      const which = other === undefined || other === program.version ? 'another copy' : `version ${other}`
      problems.add(
        `${file} runs hooks of ${which} (${inline(script, 400)}), and this is ${program.version} (${program.script}); ${HEAL}`,
      )
    }
  }
  return [...problems]
}

/** Who installed some of them is not guarded by the others. */
function missingIn(file: string, ones: readonly Registration[], names: readonly string[]): readonly string[] {
  const there = new Set(ones.map(({ name }) => name))
  const missing = names.filter((name) => !there.has(name))
  if (missing.length === 0) return []
  return [`${file} does not have the hooks ${missing.join(', ')} of the pack; ${HEAL}`]
}

/** Of the package that a script belongs to, two folders up: `dist/bin/carabiner.js`. */
function versionOf(script: string): string | undefined {
  try {
    const text = contentOf(join(dirname(dirname(dirname(realOf(script)))), 'package.json'))
    const value: unknown = JSON.parse(text ?? 'null')
    if (!isObject(value) || value.name !== 'carabiner' || typeof value.version !== 'string') return undefined
    return bounded(value.version, 40)
  } catch {
    // Not a package of ours: it is told as another copy.
    return undefined
  }
}
