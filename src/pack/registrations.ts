// Which hooks of the pack a host's settings files name, and whether they are those of this program.

import { dirname, isAbsolute, join } from 'node:path'
import { isObject } from '../core/base/json.js'
import { readPlain } from '../files/plain-file.js'
import { realOf } from '../files/within.js'
import { isDead, isGone, type OwnCommand, ownCommand, userSettingsFolder } from '../hosts/own-command.js'
import { bounded, inline } from './fenced.js'
import type { ThisProgram } from './pack-hook.js'

const MAX_BYTES = 1024 * 1024

/** One command of a settings file that starts a hook of the pack. */
export interface Registration extends OwnCommand {
  readonly file: string
  /** Whether its program is not there. */
  readonly dead: boolean
}

/** A settings file, and what puts right or takes out what Carabiner has in it. */
export interface SettingsPlace {
  readonly file: string
  readonly heal: string
  readonly remove: string
}

const SETUP = 'carabiner setup claude-code'
const BY_HAND = 'take them out of that file by hand: setup does not write it'

/** Where Claude Code looks: user, project, and the project's local file. A project is also where it was started. */
export function settingsFiles(
  home: string,
  projectDir: string,
  env: NodeJS.ProcessEnv,
): readonly SettingsPlace[] {
  const { CLAUDE_PROJECT_DIR: started = projectDir } = env
  const user = join(userSettingsFolder(home, env), 'settings.json')
  const places = [
    { file: user, heal: `${SETUP} puts it right`, remove: `${SETUP} --remove` },
    ...[...new Set([projectDir, started])].flatMap(placesIn),
  ].map((place) => ({ ...place, file: realOf(place.file) }))
  return places.filter(({ file }, i) => places.findIndex((one) => one.file === file) === i)
}

function placesIn(folder: string): readonly SettingsPlace[] {
  const there = `cd ${inline(folder, 400)} && ${SETUP} --project`
  const [shared, local] = ['settings.json', 'settings.local.json'].map((name) =>
    join(folder, '.claude', name),
  )
  return [
    { file: shared as string, heal: `${there} puts it right`, remove: `${there} --remove` },
    { file: local as string, heal: BY_HAND, remove: BY_HAND },
  ]
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

/** In words for the user; empty where all is well, and where nothing is registered. */
export function registrationProblems(
  places: readonly SettingsPlace[],
  names: readonly string[],
  program: ThisProgram,
): readonly string[] {
  const problems: string[] = []
  const having = places.filter((place) => {
    try {
      const ones = registrationsIn(place.file)
      if (ones.length > 0) problems.push(...staleIn(place, ones, program), ...missingIn(place, ones, names))
      return ones.length > 0
    } catch {
      problems.push(`${place.file} is not valid JSON or cannot be read: its host runs none of its hooks`)
      return false
    }
  })
  const last = having.at(-1)
  if (last && having.length > 1) {
    const where = having.map(({ file }) => file).join(' and ')
    problems.push(
      `the hooks of the pack are registered in ${where}: each runs ${having.length} times; for the last of these: ${last.remove}`,
    )
  }
  return problems
}

function staleIn(
  { file, heal }: SettingsPlace,
  ones: readonly Registration[],
  program: ThisProgram,
): readonly string[] {
  const problems = new Set<string>()
  for (const { script, node, dead } of ones) {
    if (node !== undefined && isAbsolute(node) && isGone(node))
      problems.add(`${file} names ${inline(node, 400)}, which is not there: those hooks do not run; ${heal}`)
    if (!isAbsolute(script)) continue
    if (dead)
      problems.add(
        `${file} names ${inline(script, 400)}, which is not there: those hooks do not run; ${heal}`,
      )
    else if (realOf(script) !== realOf(program.script)) {
      const other = versionOf(script)
      const which = other === undefined || other === program.version ? 'another copy' : `version ${other}`
      problems.add(
        `${file} runs hooks of ${which} (${inline(script, 400)}), and this is ${program.version} (${program.script}); ${heal}`,
      )
    }
  }
  return [...problems]
}

/** Who installed some of them is not guarded by the others. */
function missingIn(
  { file, heal }: SettingsPlace,
  ones: readonly Registration[],
  names: readonly string[],
): readonly string[] {
  const there = new Set(ones.map(({ name }) => name))
  const missing = names.filter((name) => !there.has(name))
  if (missing.length === 0) return []
  return [`${file} does not have the hooks ${missing.join(', ')} of the pack; ${heal}`]
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
