// Everything that Carabiner keeps on this machine, and moving it into a backup: settings of agents, data, state.

import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { visible } from '../core/base/text.js'
import { makePrivate, namesIn } from '../files/folder.js'
import { backupPrefix, dataHome, HOME_FOLDERS, RESTORE_SCRIPT, stateHome } from '../files/homes.js'
import {
  carryOut,
  type Plan,
  planRemove,
  recordedSettings,
  userSettings,
} from '../hosts/claude-code/setup.js'
import type { SettingsPlace } from '../hosts/settings-file.js'
import { SetupProblem } from '../hosts/setup-problem.js'
import { recordedFiles } from '../hosts/setup-record.js'
import { shellQuoted } from '../shell/shell-quoted.js'
import { agentCommands } from './doctor/agent-files.js'
import { isCode } from './output.js'
import { placeOf, shortPath } from './print/lines.js'
import { Refusal } from './refusal.js'
import { setupAgain } from './setup-choice.js'
import { projectOf } from './sources.js'
import { isOwn } from './why/first-steps.js'

export interface Settings {
  readonly place: SettingsPlace
  readonly plan: Plan
}

/** One of our folders, with the names in it that are ours. */
export interface Kept {
  readonly kind: 'data' | 'state'
  readonly folder: string
  readonly names: readonly string[]
  readonly files: number
}

export interface Found {
  readonly settings: readonly Settings[]
  readonly kept: readonly Kept[]
  /** What stays although it names Carabiner or lies in its folders. */
  readonly left: readonly string[]
}

export function isEmpty({ settings, kept }: Found): boolean {
  return settings.length + kept.length === 0
}

export function lookedAt(keepsState: boolean): Found {
  const user = userSettings()
  const others = recordedFiles().filter((path) => path !== user.path)
  const settings = [user, ...others.map(recordedSettings)].flatMap((place) => {
    const plan = planRemove(place)
    return plan.changes ? [{ place, plan }] : []
  })
  const homes = [
    { kind: 'data', folder: dataHome() },
    { kind: 'state', folder: stateHome() },
  ] as const
  return {
    settings,
    kept: keepsState ? [] : homes.flatMap(({ kind, folder }) => keptIn(kind, folder)),
    left: [
      ...byHand(settings),
      ...(keepsState ? [] : homes.flatMap(({ kind, folder }) => strangers(kind, folder))),
    ],
  }
}

function keptIn(kind: Kept['kind'], folder: string): readonly Kept[] {
  const names = HOME_FOLDERS[kind].filter((name) => existsSync(join(folder, name)))
  if (names.length === 0) return []
  const files = names.reduce((sum, name) => sum + filesIn(join(folder, name)), 0)
  return [{ kind, folder, names, files }]
}

function filesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => !one.isDirectory())
    .length
}

function strangers(kind: Kept['kind'], folder: string): readonly string[] {
  const own: readonly string[] = [...HOME_FOLDERS[kind], ...(kind === 'data' ? ['state'] : [])]
  return namesIn(folder)
    .filter((name) => !own.includes(name))
    .map((name) => `${shortPath(join(folder, name))} is not Carabiner's`)
}

/** Commands in settings files that setup did not write. */
function byHand(settings: readonly Settings[]): readonly string[] {
  const { commands } = agentCommands({ project: projectOf({ project: undefined }), home: homedir() })
  const done = new Set(settings.map(({ place }) => place.path))
  const own = commands.filter(({ command, file }) => isOwn(command) && !done.has(file))
  return [...new Map(own.map((one) => [one.file, one])).values()].map(
    (one) => `${placeOf(one)} runs Carabiner, but setup on this machine did not write it`,
  )
}

// ---- removing it ----------------------------------------------------------------------------------------------

export interface Removed extends Found {
  /** Undefined if nothing was moved. */
  readonly backup: string | undefined
  /** What brings it back, for a shell. */
  readonly restore: string
}

/** Settings first: if one of them cannot be changed, its hooks still find what they need. */
export async function removed(found: Found): Promise<Removed> {
  const before: string[] = []
  for (const { place, plan } of found.settings) {
    const done = await carryOut(plan, () => planRemove(place))
    if (!done)
      throw new SetupProblem(`${place.path} was changed by another program in the meantime`, 'Try again.')
    if (done.backup !== undefined) before.push(done.backup)
  }
  // The record of what was just taken out is new.
  const kept = found.kept.flatMap(({ kind, folder }) => keptIn(kind, folder))
  if (kept.length === 0) {
    const restore = setups(found.settings).map(typedWords).join(' && ')
    return { ...found, backup: before[0], restore }
  }
  const backup = backedUp(kept, found)
  return { ...found, kept, backup, restore: typedWords(['sh', join(backup, RESTORE_SCRIPT)]) }
}

function backedUp(kept: readonly Kept[], found: Found): string {
  const stamp = new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')
  const backup = freeName(`${backupPrefix()}${stamp}`)
  makePrivate(backup)
  writeFileSync(join(backup, RESTORE_SCRIPT), script(kept, found, backup), { mode: 0o600 })
  for (const [i, { plan }] of found.settings.entries())
    writeFileSync(join(backup, `${i + 1}-${basename(plan.file.path)}`), plan.file.text ?? '', { mode: 0o600 })
  for (const { kind, folder, names } of kept) {
    const target = join(backup, kind)
    mkdirSync(target, 0o700)
    for (const name of names) moved(join(folder, name), join(target, name))
  }
  for (const { folder } of kept.toReversed()) removeEmpty(folder)
  return backup
}

function freeName(path: string): string {
  let free = path
  for (let i = 2; existsSync(free); i++) free = `${path}-${i}`
  return free
}

function moved(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if (!isCode(error, 'EXDEV')) throw stuck(from, to, error)
    copied(from, to)
  }
}

/** To another file system. Nothing is removed before its copy is complete. */
function copied(from: string, to: string): void {
  try {
    // Without a filter, Node 22 and 24 forget the modes of folders.
    const filter = () => true
    cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, filter })
    rmSync(from, { recursive: true, force: true })
  } catch (error) {
    throw stuck(from, to, error)
  }
}

function stuck(from: string, to: string, error: unknown): Refusal {
  const backup = dirname(dirname(to))
  return new Refusal('NOT_REMOVED', `${visible(shortPath(from))} could not be moved: ${textOf(error)}`, {
    hint: `The rest is in ${visible(shortPath(backup))}, and ${RESTORE_SCRIPT} there restores it.`,
  })
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // Something of somebody else is in it.
  }
}

/** What brings it back, for a shell. It does not overwrite what came since. */
function script(kept: readonly Kept[], { settings }: Found, backup: string): string {
  const paths = kept.flatMap(({ folder, names }) => names.map((name) => join(folder, name)))
  return [
    '#!/bin/sh',
    '# Restores what `carabiner remove` removed.',
    'set -e',
    `for path in ${paths.map(shellQuoted).join(' ')}; do`,
    '  if [ -e "$path" ]; then echo "$path already exists; move it away first" >&2; exit 1; fi',
    'done',
    ...kept.flatMap(({ kind, folder }) => [
      typedWords(['mkdir', '-p', folder]),
      typedWords(['cp', '-a', `${join(backup, kind)}/.`, folder]),
    ]),
    ...setups(settings).map(typedWords),
    '',
  ].join('\n')
}

function setups(settings: readonly Settings[]): readonly (readonly string[])[] {
  return settings.flatMap(({ place, plan }) => setupAgain(place, plan.file.text))
}

function typedWords(words: readonly string[]): string {
  return words.map(shellQuoted).join(' ')
}
