// The pack's hooks in Claude Code's settings files: finds them, reports what is wrong with them, and removes dead ones.

import { spawnSync } from 'node:child_process'
import { dirname, isAbsolute, join } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { isObject } from '../core/base/json.js'
import { readPlain } from '../files/plain-file.js'
import { realOf } from '../files/within.js'
import { isDead, isGone, type OwnCommand, ownCommand, userSettingsFolder } from '../hosts/own-command.js'
import { programEnvironment } from '../shell/own-environment.js'
import { bounded, inline } from './answer.js'
import type { PackContext, ThisProgram } from './pack-hook.js'

const MAX_BYTES = 1024 * 1024

/** A command in a settings file that starts a hook of the pack. */
interface Registration extends OwnCommand {
  readonly file: string
  /** Its program is gone. */
  readonly dead: boolean
}

/** A settings file, and how to repair or remove Carabiner's entries in it. */
interface SettingsPlace {
  readonly file: string
  readonly heal: string
  readonly remove: string
}

const SETUP = 'carabiner setup claude-code'
const BY_HAND = 'remove them from that file by hand: setup does not write to it'

/** Claude Code's files: the user's, the project's and the project's local one. The folder it was started in counts as a project. */
export function settingsFiles(
  home: string,
  projectDir: string,
  env: NodeJS.ProcessEnv,
): readonly SettingsPlace[] {
  const { CLAUDE_PROJECT_DIR: started = projectDir } = env
  const user = join(userSettingsFolder(home, env), 'settings.json')
  const places = [
    { file: user, heal: `fix it with ${SETUP}`, remove: `${SETUP} --remove` },
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
    { file: shared as string, heal: `fix it with ${there}`, remove: `${there} --remove` },
    { file: local as string, heal: BY_HAND, remove: BY_HAND },
  ]
}

/** Empty if there is no such file. Throws if it is broken. */
function registrationsIn(file: string): readonly Registration[] {
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

/** Messages for the user. Empty if all is well or nothing is registered. */
export function registrationProblems(
  places: readonly SettingsPlace[],
  program: ThisProgram,
): readonly string[] {
  const problems: string[] = []
  const having = places.filter((place) => {
    try {
      const ones = registrationsIn(place.file)
      if (ones.length > 0) problems.push(...staleIn(place, ones, program))
      return ones.length > 0
    } catch {
      problems.push(`${place.file} cannot be read or is not valid JSON, so the host runs none of its hooks`)
      return false
    }
  })
  const last = having.at(-1)
  if (last && having.length > 1) {
    const where = having.map(({ file }) => file).join(' and ')
    problems.push(
      `the pack's hooks are registered in ${where}, so each runs ${having.length} times; to remove the last registration: ${last.remove}`,
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
      problems.add(
        `${file} names ${inline(node, 400)}, which does not exist, so those hooks do not run; ${heal}`,
      )
    if (!isAbsolute(script)) continue
    if (dead)
      problems.add(
        `${file} names ${inline(script, 400)}, which does not exist, so those hooks do not run; ${heal}`,
      )
    else if (realOf(script) !== realOf(program.script)) {
      const other = versionOf(script)
      const which = other === undefined || other === program.version ? 'another copy' : `version ${other}`
      problems.add(
        `${file} runs hooks of ${which} (${inline(script, 400)}), but this is ${program.version} (${program.script}); ${heal}`,
      )
    }
  }
  return [...problems]
}

/** The version of the script's package, three folders up: `dist/bin/carabiner.js`. */
function versionOf(script: string): string | undefined {
  try {
    const text = contentOf(join(dirname(dirname(dirname(realOf(script)))), 'package.json'))
    const value: unknown = JSON.parse(text ?? 'null')
    if (!isObject(value) || value.name !== 'carabiner' || typeof value.version !== 'string') return undefined
    return bounded(value.version, 40)
  } catch {
    return undefined // Not our package: it is reported as another copy.
  }
}

// ---- removing hooks whose program is gone ----------------------------------------------------------------------

/** Milliseconds. A host gives session-start ten seconds. */
const SETUP_TIMEOUT = 5000

/**
 * Removes dead hooks from the user's settings and returns a message for the user. Puts nothing in their place: the user
 * chooses which hooks run. A project's settings are only checked: starting a session should not change a repository.
 */
export function removeDeadHooks(context: PackContext): readonly string[] {
  const { home, program, env } = context
  const file = join(userSettingsFolder(home, env), 'settings.json')
  const [dead] = deadIn(realOf(file))
  if (!program || !dead) return []
  const done = pruned(context, program.script, file)
  const which = `hooks of the pack in ${file} whose program is gone (${inline(dead.script, 400)})`
  if ('problem' in done) return [`${which} could not be removed: ${done.problem}`]
  // Another session may have been faster and reported it.
  return done.written
    ? [`${which} were removed; to register the hooks of this program, run carabiner setup claude-code`]
    : []
}

/** registrationProblems() reports an unreadable file. */
function deadIn(file: string): readonly Registration[] {
  try {
    return registrationsIn(file).filter(({ dead }) => dead)
  } catch {
    return []
  }
}

/** Runs the command itself, which keeps a backup, all other entries, and the formatting. */
function pruned(
  { home, env }: PackContext,
  script: string,
  file: string,
): { readonly written: boolean } | { readonly problem: string } {
  const args = [script, 'setup', 'claude-code', '--user', '--prune', '--json']
  const { status, stdout, error } = spawnSync(process.execPath, args, {
    cwd: home,
    // A relative path would mean another folder there.
    env: {
      ...programEnvironment(home, env),
      HOME: home,
      ...(env.CLAUDE_CONFIG_DIR && { CLAUDE_CONFIG_DIR: dirname(file) }),
    },
    encoding: 'utf8',
    timeout: SETUP_TIMEOUT,
  })
  if (error) return { problem: textOf(error) }
  const { written, error: refusal } = objectIn(stdout)
  if (status === 0 && typeof written === 'boolean') return { written }
  const problem = isObject(refusal) ? refusal.message : undefined
  return { problem: typeof problem === 'string' ? inline(problem, 600) : 'carabiner setup did not say why' }
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
