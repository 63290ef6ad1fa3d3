// Everything that Carabiner keeps on this machine, and moving it into a backup: settings of agents, data, state.

import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { textOf } from '../core/base/errors.js'
import { visible } from '../core/base/text.js'
import { makePrivate, namesIn } from '../files/folder.js'
import { backupPrefix, dataHome, HOME_FOLDERS, RESTORE_SCRIPT, stateHome } from '../files/homes.js'
import { Mutex } from '../files/mutex.js'
import {
  carryOut,
  type Plan,
  planRemove,
  recordedSettings,
  userSettings,
} from '../hosts/claude-code/setup.js'
import { readSettings, type SettingsPlace } from '../hosts/settings-file.js'
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
  if (!lstatSync(folder).isDirectory()) return 1 // somebody put a file or a link there
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

/** Two at once would move parts of the same folders into two backups, so the second one waits, and looks again. */
export async function removedAlone(found: Found, keepsState: boolean): Promise<Removed | 'already'> {
  const end = await taken(`${backupPrefix()}lock`)
  try {
    const now = lookedAt(keepsState)
    if (isEmpty(now)) return 'already'
    if (shapeOf(now) === shapeOf(found)) return await removed(now)
    throw new Refusal('NOT_REMOVED', 'Something else is to be removed now than a moment ago', {
      hint: 'Nothing was removed. Run the same command again, and look at it.',
    })
  } finally {
    end()
  }
}

function shapeOf({ settings, kept }: Found): string {
  const plans = settings.map(({ plan }) => [plan.file.path, plan.file.text])
  return JSON.stringify([plans, kept.map(({ folder, names }) => [folder, names])])
}

const LONGEST_WAIT_MS = 30_000
const LOOK_MS = 50

/** Takes the mutex in a folder of its own, and returns what gives it back. */
async function taken(folder: string): Promise<() => void> {
  const mutex = new Mutex(folder)
  for (const until = performance.now() + LONGEST_WAIT_MS; ; await sleep(LOOK_MS)) {
    try {
      makePrivate(folder)
      if (mutex.tryTake()) break
    } catch (error) {
      if (!isCode(error, 'ENOENT')) throw unwritten(folder, error)
      continue // the one before has just removed it
    }
    if (performance.now() > until) {
      const hint = 'Nothing was removed. Try again when the other one has finished.'
      throw new Refusal('NOT_REMOVED', `Another carabiner remove is at work: ${mutex.holder}`, { hint })
    }
  }
  return () => {
    // With the folder the mutex goes in one step, so that nobody can take it in between.
    const aside = `${folder}.${process.pid}`
    renameSync(folder, aside)
    rmSync(aside, { recursive: true, force: true })
  }
}

/** Settings first: if one of them cannot be changed, its hooks still find what they need. All of it is done, or none. */
async function removed(found: Found): Promise<Removed> {
  const { settings, kept } = found
  const backup = kept.length === 0 ? undefined : prepared(found)
  const undo: (() => unknown)[] = []
  const before: string[] = []
  try {
    for (const one of settings) {
      const done = await carryOut(one.plan, () => planRemove(one.place))
      if (!done)
        throw new SetupProblem(
          `${one.place.path} was changed by another program in the meantime`,
          'Try again.',
        )
      undo.push(() => putBack(one))
      if (done.backup !== undefined) before.push(done.backup)
    }
    if (backup !== undefined) moveAll(kept, backup, undo)
  } catch (error) {
    throw await undone(error, undo, found, backup)
  }
  if (backup === undefined)
    return { ...found, backup: before[0], restore: setups(settings).map(typedWords).join(' && ') }
  // The backup has the records as they were before the hooks were taken out.
  rmSync(join(dataHome(), RECORDS), { recursive: true, force: true })
  for (const { folder } of kept.toReversed()) removeEmpty(folder)
  return { ...found, backup, restore: typedWords(['sh', join(backup, RESTORE_SCRIPT)]) }
}

const RECORDS = 'setup' satisfies (typeof HOME_FOLDERS)['data'][number]

/** A backup folder with everything that is not moved. */
function prepared({ settings, kept }: Found): string {
  const stamp = new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')
  const backup = newFolder(`${backupPrefix()}${stamp}`)
  try {
    for (const { kind } of kept) mkdirSync(join(backup, kind), 0o700)
    for (const [i, { plan }] of settings.entries()) {
      const { file, after } = plan
      const { saved, left } = savedNames(i, plan)
      const mode = (file.stats?.mode ?? 0o600) & 0o777
      writeFileSync(join(backup, saved), file.text ?? '', { mode })
      if (left !== '') writeFileSync(join(backup, left), after ?? '', { mode: 0o600 })
    }
    writeFileSync(join(backup, RESTORE_SCRIPT), restoreScript({ settings, kept }, backup), { mode: 0o600 })
    const data = kept.find(({ kind, names }) => kind === 'data' && names.includes(RECORDS))
    if (data) copy(join(data.folder, RECORDS), join(backup, data.kind, RECORDS))
    return backup
  } catch (error) {
    rmSync(backup, { recursive: true, force: true })
    throw unwritten(backup, error)
  }
}

/** `left`: the text that remains, or nothing if the file goes. */
function savedNames(i: number, { file, after }: Plan): { readonly saved: string; readonly left: string } {
  const saved = `${i + 1}-${basename(file.path)}`
  return { saved, left: after === undefined ? '' : `${saved}.left` }
}

function moveAll(kept: readonly Kept[], backup: string, undo: (() => unknown)[]): void {
  for (const { kind, folder, names } of kept) {
    for (const name of names.filter((one) => kind !== 'data' || one !== RECORDS)) {
      const [from, to] = [join(folder, name), join(backup, kind, name)]
      undo.push(() => moveBack(to, from))
      moved(from, to)
    }
  }
}

// ---- undoing it -----------------------------------------------------------------------------------------------

const NOTHING_DONE = 'Nothing was removed: the hooks are registered as before.'

async function undone(
  error: unknown,
  undo: readonly (() => unknown)[],
  { settings }: Found,
  backup: string | undefined,
): Promise<unknown> {
  const problems: unknown[] = []
  for (const step of undo.toReversed()) {
    try {
      await step()
    } catch (problem) {
      problems.push(problem)
    }
  }
  if (problems.length === 0) {
    if (backup !== undefined) rmSync(backup, { recursive: true, force: true })
    return error
  }
  const files = settings.map(({ place }) => visible(shortPath(place.path))).join(', ')
  const rest =
    backup === undefined ? '' : ` To restore the rest: ${typedWords(['sh', join(backup, RESTORE_SCRIPT)])}`
  return new Refusal('NOT_REMOVED', `${textOf(error)}. This could not be undone: ${textOf(problems[0])}`, {
    hint: `Hooks may be missing in ${files}: nothing is guarded without them.${rest}`,
  })
}

/** With its record, so that it can be removed again. */
async function putBack({ place, plan }: Settings): Promise<void> {
  const back: Plan = { ...plan, file: readSettings(place), after: plan.file.text }
  await carryOut(back, () => back)
}

/** If it could not be moved as a whole, some of it still is where it was. */
function moveBack(from: string, to: string): void {
  if (!existsSync(from)) return
  if (existsSync(to)) copy(from, to, false)
  else moved(from, to)
}

/** Created here, so that nobody else writes into it. */
function newFolder(path: string): string {
  makePrivate(dirname(path))
  for (let i = 1; ; i++) {
    const free = i === 1 ? path : `${path}-${i}`
    try {
      mkdirSync(free, 0o700)
      return free
    } catch (error) {
      if (!isCode(error, 'EEXIST')) throw unwritten(free, error)
    }
  }
}

function unwritten(backup: string, error: unknown): Refusal {
  const what = `The backup ${visible(shortPath(backup))} could not be written: ${textOf(error)}`
  return new Refusal('NOT_REMOVED', what, { hint: NOTHING_DONE })
}

function moved(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if (!isCode(error, 'EXDEV')) throw stuck(from, error)
    copied(from, to)
  }
}

/** To another file system. Nothing is removed before its copy is complete. */
function copied(from: string, to: string): void {
  try {
    copy(from, to)
  } catch (error) {
    rmSync(to, { recursive: true, force: true })
    throw stuck(from, error)
  }
  try {
    rmSync(from, { recursive: true, force: true })
  } catch (error) {
    throw stuck(from, error)
  }
}

function copy(from: string, to: string, force = true): void {
  // Without a filter, Node 22 and 24 forget the modes of folders.
  const filter = () => true
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, filter, force })
}

function stuck(from: string, error: unknown): Refusal {
  return new Refusal('NOT_REMOVED', `${visible(shortPath(from))} could not be moved: ${textOf(error)}`, {
    hint: NOTHING_DONE,
  })
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // Something of somebody else is in it.
  }
}

// ---- bringing it back -----------------------------------------------------------------------------------------

/** For a shell. Each step marks what it did, so that the script can be run again. */
const RESTORING = `failed=0
missed() { echo "not restored: $1" >&2; failed=1; }
# NAME PATH
check() {
  if [ ! -e "$backup/$1.restored" ] && [ -e "$2" ]; then missed "$2 already exists; move it away, then run this again"; fi
}
kept() {
  if [ -e "$backup/$1.restored" ]; then return; fi
  if (umask 077 && mkdir -p "\${2%/*}") && rm -rf "$2.restoring" && cp -a "$backup/$1" "$2.restoring" && mv "$2.restoring" "$2"
  then : > "$backup/$1.restored"; echo "restored $2"
  else missed "$2"; fi
}
# FILE, the text it had, the text it was left with, the folder it is in, what registers the hooks
settings() {
  if [ ! -d "$4" ]; then missed "$1, because $4 is gone"; return; fi
  if cmp -s "$backup/$2" "$1"; then return; fi
  if [ -n "$3" ] && cmp -s "$backup/$3" "$1"; then cp -p "$1" "$1.restoring" && cat "$backup/$2" > "$1.restoring"
  elif [ -z "$3" ] && [ ! -e "$1" ]; then mkdir -p "\${1%/*}" && cp -p "$backup/$2" "$1.restoring"
  else missed "$1, because it has changed since. To register its hooks: $5"; return; fi
  if [ $? = 0 ] && mv -f "$1.restoring" "$1"; then echo "restored $1"; else missed "$1"; fi
}`

function restoreScript({ settings, kept }: Pick<Found, 'settings' | 'kept'>, backup: string): string {
  const names = kept.flatMap(({ kind, folder, names }) =>
    names.map((name) => [`${kind}/${name}`, join(folder, name)]),
  )
  return [
    '#!/bin/sh',
    '# Restores what `carabiner remove` removed. It overwrites nothing that came since, and can be run again.',
    `backup=${shellQuoted(backup)}`,
    RESTORING,
    ...names.map((words) => typedWords(['check', ...words])),
    'if [ $failed = 1 ]; then exit 1; fi',
    ...names.map((words) => typedWords(['kept', ...words])),
    ...settings.map((one, i) => {
      const { saved, left } = savedNames(i, one.plan)
      const again = setups([one]).map(typedWords).join(' && ')
      return typedWords(['settings', one.plan.file.real, saved, left, folderOf(one.plan), again])
    }),
    'exit $failed',
    '',
  ].join('\n')
}

/** The folder that the removal leaves. */
function folderOf({ file, after, installed }: Plan): string {
  const [created] = after === undefined ? (installed?.folders ?? []) : []
  return dirname(created ?? file.real)
}

function setups(settings: readonly Settings[]): readonly (readonly string[])[] {
  return settings.flatMap(({ place, plan }) => setupAgain(place, plan.file.text))
}

function typedWords(words: readonly string[]): string {
  return words.map(shellQuoted).join(' ')
}
