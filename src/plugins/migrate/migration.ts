// Moves hooks between Carabiner and Claude Code: first a plan to show, then the change, all of it or nothing.

import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { knownEvent } from '../../config/stray-names.js'
import {
  isReadOnly,
  readSettings,
  replaceSettings,
  type SettingsFile,
  type SettingsPlace,
} from '../../hosts/settings-file.js'
import { SetupProblem } from '../../hosts/setup-problem.js'
import { SetupRecord } from '../../hosts/setup-record.js'
import { type Additions, withAdditions, withoutHandlers } from './edited-text.js'
import type { FilePair, MigrationFiles } from './migration-files.js'
import { type Fields, type HookFile, hooksIn, readHookFile } from './migration-files.js'
import {
  keysIn,
  type Movable,
  type MovableHook,
  movableIn,
  type Remark,
  withoutTimeout,
} from './movable-hooks.js'

export interface FileChange {
  readonly file: SettingsFile
  readonly after: string
}

/** A hook that is already on the other side, or will be. */
export interface Moved {
  readonly title: string
  readonly event: string
  readonly file: string
  readonly line: number
  readonly to: string
  /** False if it was already there. */
  readonly isNew: boolean
}

export interface Migration {
  readonly files: MigrationFiles
  /** Targets first, then sources: a crash in between loses nothing. */
  readonly changes: readonly FileChange[]
  readonly moved: readonly Moved[]
  /** Things that stay where they are. */
  readonly left: readonly Remark[]
  /** Things that move, but may behave differently there. */
  readonly notes: readonly Remark[]
  /** Files that were read. */
  readonly sources: readonly string[]
}

interface Loaded {
  readonly pair: FilePair
  readonly source: HookFile
  readonly movable: Movable
}

/** Only reads. Throws a SetupProblem if a file must be left alone. */
export function planMigration(files: MigrationFiles, removeSource = false): Migration {
  const loaded = files.pairs.flatMap((pair): readonly Loaded[] => {
    const source = readHookFile(pair)
    return source ? [{ pair, source, movable: movableIn(source, pair, files) }] : []
  })
  const targets = [...new Map(files.pairs.map(({ to }) => [to.path, to])).values()]
  // A hook shared with the project already runs for everybody, so a private copy of it is not needed.
  const shared = new Set<string>()
  const planned = targets.map((to) =>
    planTarget(
      to,
      loaded.filter(({ pair }) => pair.to === to),
      shared,
    ),
  )
  return {
    files,
    changes: [...planned.flatMap(({ changes }) => changes), ...(removeSource ? loaded.flatMap(emptied) : [])],
    moved: planned.flatMap(({ moved }) => moved),
    left: [...loaded.flatMap(({ movable }) => movable.left), ...planned.flatMap(({ left }) => left)],
    notes: loaded.flatMap(({ movable }) => movable.notes),
    sources: loaded.map(({ source }) => source.file.path),
  }
}

// ---- targets --------------------------------------------------------------------------------------------------

interface PlannedTarget {
  readonly changes: readonly FileChange[]
  readonly moved: readonly Moved[]
  readonly left: readonly Remark[]
}

function planTarget(to: SettingsPlace, loaded: readonly Loaded[], shared: Set<string>): PlannedTarget {
  const file = readSettings(to, false)
  const isPrivate = loaded.some(({ pair }) => pair.isPrivate)
  const there = readHookFile({ from: to, role: 'explicit' })
  const known = alreadyThere(
    loaded.flatMap(({ movable }) => movable.hooks),
    there ? keysIn(there) : [],
  )
  const moved: Moved[] = []
  const fresh: MovableHook[] = []
  for (const { source, movable } of loaded) {
    for (const hook of movable.hooks) {
      const isNew = !(known.has(hook) || (isPrivate && shared.has(hook.key)))
      if (isNew) fresh.push(hook)
      if (!isPrivate) shared.add(hook.key)
      const { title, event, entry } = hook
      const line = source.config.json.lineOf(entry.at)
      moved.push({ title, event, file: source.file.path, line, to: to.path, isNew })
    }
  }
  const { keys, left } = keysFor(there?.value ?? {}, to.path, loaded)
  const additions: Additions = { groups: groupsOf(fresh), keys }
  if (fresh.length === 0 && keys.length === 0) return { changes: [], moved, left }
  refuseReadOnly(file, 'It was not changed.')
  const after = withAdditions(file.text, additions, file.path)
  return { changes: [...ignoring(to, file, isPrivate), { file, after }], moved, left }
}

/** Each hook of the target counts once. A different timeout still counts as the same hook: the user may have changed it since. */
function alreadyThere(hooks: readonly MovableHook[], keys: readonly string[]): ReadonlySet<MovableHook> {
  const there = new Set<MovableHook>()
  const left = [...keys]
  for (const form of [String, withoutTimeout]) {
    const forms = left.map(form)
    for (const hook of hooks) {
      const at = there.has(hook) ? -1 : forms.indexOf(form(hook.key))
      if (at < 0) continue
      there.add(hook)
      left.splice(at, 1)
      forms.splice(at, 1)
    }
  }
  return there
}

/** Keeps groups together and in order. */
export function groupsOf(hooks: readonly MovableHook[]): Additions['groups'] {
  const events = new Map<string, Fields[]>()
  let last: MovableHook | undefined
  for (const hook of hooks) {
    const groups = events.get(hook.event) ?? []
    events.set(hook.event, groups)
    const open = last?.entry.group === hook.entry.group ? groups.pop() : undefined
    const handlers = open ? (open.hooks as readonly unknown[]) : []
    groups.push({ ...hook.group, hooks: [...handlers, hook.handler] })
    last = hook
  }
  return events
}

function keysFor(
  there: Fields,
  path: string,
  loaded: readonly Loaded[],
): { readonly keys: Additions['keys']; readonly left: readonly Remark[] } {
  const keys = new Map<string, unknown>()
  const left: Remark[] = []
  for (const { source, movable } of loaded) {
    for (const [key, value] of movable.keys) {
      const now = keys.get(key) ?? there[key]
      if (now === undefined) keys.set(key, value)
      else if (JSON.stringify(now) !== JSON.stringify(value)) {
        const line = source.config.json.lineOf({ parent: null, key })
        const why = `${path} already says ${JSON.stringify(now)}, which is kept`
        left.push({ what: JSON.stringify(key), why, file: source.file.path, line })
      }
    }
  }
  return { keys: [...keys], left }
}

/** A private file must not be committed by accident, so its folder gets a .gitignore. */
function ignoring(
  { path, within }: SettingsPlace,
  target: SettingsFile,
  isPrivate: boolean,
): readonly FileChange[] {
  if (!isPrivate || target.text !== undefined || !path.endsWith('hooks.json')) return []
  const file = readSettings({ path: join(path, '..', '.gitignore'), within })
  return file.text === undefined ? [{ file, after: '*\n' }] : []
}

// ---- sources --------------------------------------------------------------------------------------------------

function emptied({ pair, source, movable }: Loaded): readonly FileChange[] {
  const { file, value, contents } = source
  const gone = new Set(movable.hooks.map(({ entry }) => entry))
  if (gone.size === 0 || file.text === undefined) return []
  refuseReadOnly(file, BY_HAND)
  const after = withoutHandlers(
    file.text,
    [...gone].map(({ at }) => at),
    file.path,
  )
  const rest = hooksIn(file, after, pair.role)
  const stays = keysIn({
    ...source,
    contents: { ...contents, entries: contents.entries.filter((one) => !gone.has(one)) },
  })
  const others = Object.keys(value).filter((key) => key !== 'hooks' && !knownEvent(key))
  if (
    isDeepStrictEqual(keysIn(rest), stays) &&
    others.every((key) => isDeepStrictEqual(rest.value[key], value[key]))
  ) {
    return [{ file, after }]
  }
  throw new SetupProblem(`Removing the hooks from ${file.path} would change something else in it`, BY_HAND)
}

const BY_HAND = 'Leave out --remove-source, and remove the hooks by hand.'

function refuseReadOnly({ path, stats }: SettingsFile, hint: string): void {
  if (stats && isReadOnly(stats)) throw new SetupProblem(`${path} is read-only`, hint)
}

// ---- doing it -------------------------------------------------------------------------------------------------

/** Returns the backup of each changed file. Undefined if a file has changed since it was shown: plan again. */
export async function carryOut(
  shown: Migration,
  planAgain: () => Migration,
): Promise<ReadonlyMap<string, string> | undefined> {
  const claude = readSettings(shown.files.claude, false)
  return new SetupRecord(claude.real).alone(() => {
    const plan = planAgain()
    if (!isSame(plan, shown)) return undefined
    const backups = new Map<string, string>()
    for (const { file } of plan.changes) {
      if (file.text !== undefined) backups.set(file.path, new SetupRecord(file.real).keep(file.text))
    }
    for (const { file, after } of plan.changes) replaceSettings(file, after)
    return backups
  })
}

function isSame(a: Migration, b: Migration): boolean {
  return (
    a.changes.length === b.changes.length &&
    a.changes.every(({ file, after }, i) => {
      const other = b.changes[i]
      return other?.file.real === file.real && other.file.text === file.text && other.after === after
    })
  )
}
