// The pack's hooks in Claude Code's settings files: finds them, reports what is wrong with them, and removes dead ones.

import { spawnSync } from 'node:child_process'
import { dirname, isAbsolute, join } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { isObject } from '../core/base/json.js'
import { programEnvironment } from '../effects/shell/own-environment.js'
import { readPlain } from '../files/plain-file.js'
import { realOf } from '../files/within.js'
import { userSettingsFolder } from '../hosts/claude-code/user-folder.js'
import { filesOf, isDead, isGone, type OwnCommand, ownCommand } from '../hosts/own-command.js'
import { bounded, inline } from './answer.js'
import type { PackContext, ThisProgram } from './pack-hook.js'

const MAX_BYTES = 1024 * 1024

/** A command of Carabiner in a settings file. */
interface Registration extends OwnCommand {
  readonly command: string
  readonly event: string
  /** It is a standard hook, and its program is gone. */
  readonly dead: boolean
  /** Claude Code blocks the call if the hook cannot start. */
  readonly blocks: boolean
}

/** A settings file, and how to repair or remove Carabiner's entries in it. */
interface SettingsPlace {
  readonly file: string
  readonly heal: string
  readonly remove: string
}

export interface RegistrationProblem {
  readonly file: string
  /** The entry that it is about, if there is one. */
  readonly command?: string
  /** Claude Code cannot run a hook that is registered. */
  readonly isBroken: boolean
  /** One sentence, without the file. */
  readonly text: string
  /** A command to type, or what to do by hand. */
  readonly fix: string
}

const SETUP = 'carabiner setup claude-code'
const BY_HAND = 'Remove them from that file by hand: setup does not write to it'

/** Claude Code's files: the user's, the project's and the project's local one. The folder it was started in counts as a project. */
export function settingsFiles(
  home: string,
  projectDir: string,
  env: NodeJS.ProcessEnv,
): readonly SettingsPlace[] {
  const { CLAUDE_PROJECT_DIR: started = projectDir } = env
  const user = join(userSettingsFolder(home, env), 'settings.json')
  const places = [
    { file: user, heal: SETUP, remove: `${SETUP} --remove` },
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
    { file: shared as string, heal: there, remove: `${there} --remove` },
    { file: local as string, heal: BY_HAND, remove: BY_HAND },
  ]
}

/** Empty if there is no such file. Throws if it is broken. */
function registrationsIn(file: string): readonly Registration[] {
  const text = contentOf(file)
  if (text === undefined || !text.includes('carabiner')) return []
  const settings: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
  const hooks = isObject(settings) && isObject(settings.hooks) ? settings.hooks : {}
  return Object.entries(hooks).flatMap(([event, groups]) =>
    listOf(groups)
      .flatMap((group) => (isObject(group) ? listOf(group.hooks) : []))
      .flatMap((handler) => {
        const own = ownCommand(handler)
        if (!own || !isObject(handler)) return []
        const { command, onFailure } = handler
        return [
          { ...own, command: String(command), event, dead: isDead(handler), blocks: onFailure === 'block' },
        ]
      }),
  )
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

/** Empty if all is well or nothing is registered. */
export function registrationProblems(
  places: readonly SettingsPlace[],
  program: ThisProgram,
): readonly RegistrationProblem[] {
  const problems: RegistrationProblem[] = []
  /** Spellings of each hook. Claude Code runs a command once, in however many files it is. */
  const spelled = new Map<string, Set<string>>()
  const having = places.filter((place) => {
    try {
      const ones = registrationsIn(place.file)
      problems.push(...staleIn(place, ones, program))
      const hooks = ones.filter(({ call }) => call === 'hook')
      for (const { event, name, command } of hooks) {
        const key = `${event} ${name}`
        spelled.set(key, (spelled.get(key) ?? new Set()).add(command))
      }
      return hooks.length > 0
    } catch {
      const text = 'it cannot be read or is not valid JSON, so Claude Code runs none of its hooks'
      problems.push({ file: place.file, isBroken: true, text, fix: 'Correct the file.' })
      return false
    }
  })
  const last = having.at(-1)
  const times = Math.max(0, ...[...spelled.values()].map(({ size }) => size))
  if (last && having.length > 1 && times > 1) {
    const others = having.slice(0, -1).map(({ file }) => file)
    problems.push({
      file: last.file,
      isBroken: false,
      text: `the pack's hooks are registered here and in ${others.join(' and ')} with different commands, so one event runs a hook ${times} times`,
      fix: last.remove,
    })
  }
  return problems
}

function staleIn(
  { file, heal }: SettingsPlace,
  ones: readonly Registration[],
  program: ThisProgram,
): readonly RegistrationProblem[] {
  const problems = new Map<string, RegistrationProblem>()
  const add = (isBroken: boolean, text: string, { command, call }: Registration) => {
    const fix = call === 'fire' && heal !== BY_HAND ? `${heal} --engine` : heal
    if (!problems.has(text)) problems.set(text, { file, command, isBroken, text, fix })
  }
  const blocked = new Set(
    ones.filter(({ blocks, event }) => blocks && event === 'PreToolUse').flatMap(filesOf),
  )
  for (const one of ones) {
    const { script, call } = one
    const gone = filesOf(one).find(isGone)
    if (gone !== undefined) {
      const effect = blocked.has(gone)
        ? 'Claude Code blocks every tool call until it is fixed'
        : 'Claude Code goes on without those hooks'
      add(true, `it names ${inline(gone, 400)}, which does not exist, so ${effect}`, one)
    } else if (call === 'hook' && isAbsolute(script) && realOf(script) !== realOf(program.script)) {
      const other = versionOf(script)
      const which = other === undefined || other === program.version ? 'another copy' : `version ${other}`
      add(
        false,
        `it runs hooks of ${which} (${inline(script, 400)}), but this is ${program.version} (${program.script})`,
        one,
      )
    }
  }
  return [...problems.values()]
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
