// A migration: first a plan of all files that would change, which can be shown; then the change, whole or not at all.

import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { knownEvent } from '../../config/event-name.js'
import {
  isReadOnly,
  readSettings,
  replaceSettings,
  type SettingsFile,
  type SettingsPlace,
} from '../../hosts/settings-file.js'
import { SetupProblem } from '../../hosts/setup-problem.js'
import { SetupRecord } from '../../hosts/setup-record.js'
import { type Fields, type HookFile, hooksIn, readHookFile } from './hook-file.js'
import { keysIn, type Manifest, manifestOf, type Passenger, type Remark } from './leg.js'
import type { Leg, Route } from './route.js'
import { withoutHandlers } from './source-text.js'
import { type Additions, withAdditions } from './target-text.js'

export interface FileChange {
  readonly file: SettingsFile
  readonly after: string
}

/** A hook that is, or will be, on the other side. */
export interface Moved {
  readonly title: string
  readonly event: string
  readonly file: string
  readonly line: number
  readonly to: string
  /** False where it was there already. */
  readonly isNew: boolean
}

export interface Migration {
  readonly route: Route
  /** Targets, then sources: after a crash in between nothing is lost. */
  readonly changes: readonly FileChange[]
  readonly moved: readonly Moved[]
  /** What stays where it is. */
  readonly left: readonly Remark[]
  /** What goes, and may not be the same there. */
  readonly notes: readonly Remark[]
  /** Files that were read. */
  readonly sources: readonly string[]
}

interface Loaded {
  readonly leg: Leg
  readonly source: HookFile
  readonly manifest: Manifest
}

/** Reads only. Throws a SetupProblem where a file is to be left alone. */
export function planMigration(route: Route, removeSource = false): Migration {
  const loaded = route.legs.flatMap((leg): readonly Loaded[] => {
    const source = readHookFile(leg)
    return source ? [{ leg, source, manifest: manifestOf(source, leg, route) }] : []
  })
  const targets = [...new Map(route.legs.map(({ to }) => [to.path, to])).values()]
  // What is shared with the project runs for everybody, and once.
  const shared = new Set<string>()
  const planned = targets.map((to) =>
    planTarget(
      to,
      loaded.filter(({ leg }) => leg.to === to),
      shared,
    ),
  )
  return {
    route,
    changes: [...planned.flatMap(({ changes }) => changes), ...(removeSource ? loaded.flatMap(emptied) : [])],
    moved: planned.flatMap(({ moved }) => moved),
    left: [...loaded.flatMap(({ manifest }) => manifest.left), ...planned.flatMap(({ left }) => left)],
    notes: loaded.flatMap(({ manifest }) => manifest.notes),
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
  const isPrivate = loaded.some(({ leg }) => leg.isPrivate)
  const there = readHookFile({ from: to, role: 'explicit' })
  const known = new Counted([...(there ? keysIn(there) : [])])
  const moved: Moved[] = []
  const fresh: Passenger[] = []
  for (const { source, manifest } of loaded) {
    for (const passenger of manifest.passengers) {
      const isNew = !(known.takes(passenger.key) || (isPrivate && shared.has(passenger.key)))
      if (isNew) fresh.push(passenger)
      if (!isPrivate) shared.add(passenger.key)
      const { title, event, entry } = passenger
      const line = source.config.json.lineOf(entry.at)
      moved.push({ title, event, file: source.file.path, line, to: to.path, isNew })
    }
  }
  const { keys, left } = keysFor(there?.value ?? {}, to.path, loaded)
  const additions: Additions = { groups: groupsOf(fresh), keys }
  if (fresh.length === 0 && keys.length === 0) return { changes: [], moved, left }
  refuseReadOnly(file, 'It was left as it is.')
  const after = withAdditions(file.text, additions, file.path)
  return { changes: [...ignoring(to, file, isPrivate), { file, after }], moved, left }
}

/** Each of them once for each time it is there. */
class Counted {
  readonly #counts = new Map<string, number>()

  constructor(keys: readonly string[]) {
    for (const key of keys) this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
  }

  takes(key: string): boolean {
    const count = this.#counts.get(key) ?? 0
    this.#counts.set(key, count - 1)
    return count > 0
  }
}

/** As they stood: those of one group together, groups in their order. */
export function groupsOf(passengers: readonly Passenger[]): Additions['groups'] {
  const events = new Map<string, Fields[]>()
  let last: Passenger | undefined
  for (const passenger of passengers) {
    const groups = events.get(passenger.event) ?? []
    events.set(passenger.event, groups)
    const open = last?.entry.group === passenger.entry.group ? groups.pop() : undefined
    const handlers = open ? (open.hooks as readonly unknown[]) : []
    groups.push({ ...passenger.group, hooks: [...handlers, passenger.handler] })
    last = passenger
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
  for (const { source, manifest } of loaded) {
    for (const [key, value] of manifest.keys) {
      const now = keys.get(key) ?? there[key]
      if (now === undefined) keys.set(key, value)
      else if (JSON.stringify(now) !== JSON.stringify(value)) {
        const line = source.config.json.lineOf({ parent: null, key })
        const why = `${path} says ${JSON.stringify(now)}, which stays`
        left.push({ what: JSON.stringify(key), why, file: source.file.path, line })
      }
    }
  }
  return { keys: [...keys], left }
}

/** What is private must not be committed by accident: the folder brings what keeps it out. */
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

function emptied({ leg, source, manifest }: Loaded): readonly FileChange[] {
  const { file, value, contents } = source
  const gone = new Set(manifest.passengers.map(({ entry }) => entry))
  if (gone.size === 0 || file.text === undefined) return []
  refuseReadOnly(file, BY_HAND)
  const after = withoutHandlers(
    file.text,
    [...gone].map(({ at }) => at),
    file.path,
  )
  const rest = hooksIn(file, after, leg.role)
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
  throw new SetupProblem(`${file.path} would say something else without the hooks that go`, BY_HAND)
}

const BY_HAND = 'Leave out --remove-source, and take them out by hand.'

function refuseReadOnly({ path, stats }: SettingsFile, hint: string): void {
  if (stats && isReadOnly(stats)) throw new SetupProblem(`${path} is read-only`, hint)
}

// ---- doing it -------------------------------------------------------------------------------------------------

/** Where what was there is kept, by file. Undefined: something is not what it was when it was shown; plan again. */
export async function carryOut(
  shown: Migration,
  planAgain: () => Migration,
): Promise<ReadonlyMap<string, string> | undefined> {
  const claude = readSettings(shown.route.claude, false)
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
