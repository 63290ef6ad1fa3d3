// Carries the hooks of one agent's file over to another agent's: first a plan to show, then the change.

import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { hooksShape } from '../../config/hook-document.js'
import { knownEvent } from '../../config/stray-names.js'
import { isObject } from '../../core/base/json.js'
import { shown } from '../../core/base/text.js'
import { userHome } from '../../files/homes.js'
import { type JsonPath, JsonText, under } from '../../files/json-text.js'
import { tomlOf } from '../../files/toml-out.js'
import { jsonOfToml } from '../../files/toml-text.js'
import { type AgentHook, entryOf, fileOf, hookIn } from '../../hosts/hook-files/agent-hook.js'
import type { AgentSystem } from '../../hosts/hook-files/agent-system.js'
import { agentSaid } from '../../hosts/hook-files/hook-files.js'
import { foundIn, type Path } from '../../hosts/hook-files/layout.js'
import { carabiner, OWN_FORMATS } from '../../hosts/hook-files/own-formats.js'
import { AGENTS } from '../../hosts/hosts.js'
import { partsOf } from '../../hosts/late-parts.js'
import {
  readSettings,
  replaceSettings,
  type SettingsFile,
  type SettingsPlace,
} from '../../hosts/settings-file.js'
import { SetupProblem } from '../../hosts/setup-problem.js'
import { SetupRecord } from '../../hosts/setup-record.js'
import { carriedOver } from './agent-terms.js'
import { withAdditions } from './edited-text.js'
import type { FileChange, Moved } from './migration.js'
import type { Fields } from './migration-files.js'
import type { Remark } from './movable-hooks.js'
import { withoutTime } from './translated-command.js'

/** Sorted. */
export const FORMAT_NAMES: readonly string[] = [
  ...AGENTS.filter((agent) => partsOf(agent).hooks),
  ...OWN_FORMATS,
]
  .map(({ name }) => name)
  .sort()

export interface AgentMigrationOptions {
  readonly from: AgentSystem
  readonly to: AgentSystem
  /** Without it, the user's own files. */
  readonly projectDir: string | undefined
  /** Default: the file that the agent reads. */
  readonly source: string | undefined
  readonly target: string | undefined
}

export interface AgentMigration {
  readonly source: SettingsPlace
  readonly target: SettingsPlace
  readonly changes: readonly FileChange[]
  readonly moved: readonly Moved[]
  readonly left: readonly Remark[]
  readonly notes: readonly Remark[]
  /** Gates that do not block there. */
  readonly warnings: readonly Remark[]
  readonly sources: readonly string[]
}

/** Only reads. Throws a SetupProblem if a file must be left alone. */
export function planAgentMigration(options: AgentMigrationOptions): AgentMigration {
  const { from, to, projectDir, source: named, target: wanted } = options
  const base = projectDir ?? userHome()
  const isCopy = isCopied(from, to)
  const file = isCopy ? copyOf(from) : to.file
  const source = placeAt(named ?? join(base, from.file), named === undefined ? base : undefined)
  const target = placeAt(wanted ?? join(base, file), wanted === undefined ? base : undefined)
  const text = readSettings(source, false).text
  if (text === undefined)
    return { source, target, changes: [], moved: [], left: [], notes: [], warnings: [], sources: [] }
  const read = readText(text, source.path)
  const before = readSettings(target)
  const known = before.text?.trim() ? readText(before.text, target.path) : undefined
  if (isCopy && known && agentSaid(known.value) !== from.name) {
    throw new SetupProblem(
      `${target.path} already exists, and is not a copy of ${from.title}’s hooks`,
      'Give another file with --out .amplifier/hooks/NAME/hooks.json.',
    )
  }
  const format = isCopy ? from : to
  const there = known ? hooksIn(format, known) : []
  const moved: Moved[] = []
  const left: Remark[] = []
  const notes: Remark[] = []
  const warnings: Remark[] = []
  const fresh: AgentHook[] = []
  let translated = 0
  for (const { hook, at } of entriesIn(from, read)) {
    const line = read.json.lineOf(at)
    const what = `${hook.event}: ${shown(hook.command ?? hook.type)}`
    const remark = (why: string): Remark => ({ what, why, file: source.path, line })
    const carried = isCopy ? copied(hook, from) : carriedOver(hook, from, to)
    if ('problem' in carried) {
      left.push(remark(carried.problem))
      continue
    }
    const news = carried.hooks.filter(
      (one) => ![...there, ...fresh].some((other) => isSame(format, one, other)),
    )
    fresh.push(...news)
    if (carried.speech === 'translated' && hook.type === 'command') translated += news.length
    if (carried.warning !== undefined) warnings.push(remark(carried.warning))
    for (const { event } of carried.hooks.slice(0, 1)) {
      moved.push({ title: what, event, file: source.path, line, to: target.path, isNew: news.length > 0 })
    }
    notes.push(
      ...carried.notes.map(remark),
      ...hook.strange.map((key) => remark(`${shown(key)} was left out: ${from.title} has no such key.`)),
    )
  }
  for (const { key, at } of foundIn(from, read.value).odd) {
    left.push({
      what: shown(key),
      why: `${from.title} has no such key`,
      file: source.path,
      line: read.json.lineOf(pathOf(at)),
    })
  }
  if (translated > 0) {
    const why = `Their programs stay ${from.title}’s: in ${to.title}, "carabiner fire --run" gives them what ${from.title} sends and translates their answers. Carabiner must be installed there, or gates refuse.`
    notes.push({ what: from.title, why, file: source.path, line: 1 })
  }
  const after = () => (isCopy ? addedCopy(from, before, there, fresh) : added(to, before, fresh))
  const changes = fresh.length > 0 ? [{ file: before, after: after() }] : []
  return { source, target, changes, moved, left, notes, warnings, sources: [source.path] }
}

// ---- copies ---------------------------------------------------------------------------------------------------

/** Carabiner runs the hooks of other agents as they are, so it gets them in that agent's own format. */
function isCopied(from: AgentSystem, to: AgentSystem): boolean {
  return to.name === carabiner.name && !OWN_FORMATS.includes(from)
}

/** A folder of its own, whose hooks are named after the agent. */
export function copyOf({ name }: AgentSystem): string {
  return `.amplifier/hooks/${name}/hooks.json`
}

function copied(hook: AgentHook, from: AgentSystem): ReturnType<typeof carriedOver> {
  if (!from.events[hook.event]?.to && !knownEvent(hook.event))
    return { problem: `Carabiner has no event like ${hook.event}` }
  if (hook.isOff) return { problem: 'it is switched off' }
  if (hook.type === 'command' && hook.command === undefined) return { problem: 'it has no command' }
  return { hooks: [hook], notes: [], speech: 'own' }
}

function addedCopy(
  from: AgentSystem,
  before: SettingsFile,
  there: readonly AgentHook[],
  fresh: readonly AgentHook[],
): string {
  const isList = from.layout === 'triggers' || from.layout === 'toml'
  const isWhole = !before.text?.trim() || isList || from.layout === 'named' || from.bare
  if (!isWhole) return added(from, before, fresh)
  const file = { agent: from.name, ...fileOf(from, [...there, ...fresh]) }
  return `${JSON.stringify(file, null, 2)}\n`
}

function placeAt(path: string, base: string | undefined): SettingsPlace {
  return { path, within: [base ?? dirname(path)] }
}

// ---- reading --------------------------------------------------------------------------------------------------

interface ReadText {
  readonly json: JsonText
  readonly value: unknown
}

function readText(text: string, path: string): ReadText {
  const {
    json: converted,
    problem,
    line,
  } = path.endsWith('.toml') ? (jsonOfToml(text) ?? {}) : { json: text }
  if (converted === undefined)
    throw new SetupProblem(`${path}:${line ?? 1} ${problem ?? 'cannot be read'}`, 'Fix it first.')
  const json = new JsonText(converted)
  const parsed = json.parse()
  if ('problem' in parsed)
    throw new SetupProblem(`${path}:${parsed.line} is not valid JSON: ${parsed.problem}`, 'Fix it first.')
  const wrong = hooksShape(parsed.value)
  if (wrong) throw new SetupProblem(`${path} ${wrong.problem}`, 'Fix it first.')
  return { json, value: parsed.value }
}

function pathOf(at: Path): JsonPath {
  return at.reduce<JsonPath>((path, key) => under(path, key), null)
}

function entriesIn(
  agent: AgentSystem,
  { value }: ReadText,
): readonly { readonly hook: AgentHook; readonly at: JsonPath }[] {
  return foundIn(agent, value).entries.map((entry) => ({
    hook: hookIn(agent, entry, process.platform),
    at: pathOf(entry.at),
  }))
}

function hooksIn(agent: AgentSystem, read: ReadText): readonly AgentHook[] {
  return entriesIn(agent, read).map(({ hook }) => hook)
}

/** Running it again adds nothing twice, also if somebody has changed the timeout since. */
function isSame(agent: AgentSystem, a: AgentHook, b: AgentHook): boolean {
  const plain = ({ timeout: _, ...hook }: AgentHook) => [
    hook.event,
    hook.matcher ?? '',
    entryOf(agent, { ...hook, command: hook.command && withoutTime(hook.command) }),
  ]
  return isDeepStrictEqual(plain(a), plain(b))
}

// ---- writing --------------------------------------------------------------------------------------------------

/** The target with these hooks after those it has. Nothing else in it changes. */
function added(to: AgentSystem, { text, path }: SettingsFile, hooks: readonly AgentHook[]): string {
  const fresh = fileOf(to, hooks)
  const isEmpty = text === undefined || text.trim() === ''
  if (to.layout === 'toml') return isEmpty ? tomlOf(fresh) : `${text.replace(/\n*$/, '\n')}\n${tomlOf(fresh)}`
  if (isEmpty) return `${JSON.stringify(fresh, null, 2)}\n`
  const { hooks: events, ...head } = fresh
  if (!isObject(events)) {
    throw new SetupProblem(
      `${path} already exists, and hooks cannot be added to this kind of file`,
      'Give another file with --out FILE.',
    )
  }
  const value = new JsonText(text).parse()
  const known = 'value' in value && isObject(value.value) ? value.value : {}
  const keys = Object.entries(head).filter(([key]) => !Object.hasOwn(known, key))
  return withAdditions(
    text,
    { groups: new Map(Object.entries(events as Record<string, Fields[]>)), keys },
    path,
  )
}

/** Returns the backup of each changed file. Undefined if a file has changed since it was shown: plan again. */
export async function carryOutAgents(
  shownPlan: AgentMigration,
  planAgain: () => AgentMigration,
): Promise<ReadonlyMap<string, string> | undefined> {
  const { real } = readSettings(shownPlan.target, false)
  return new SetupRecord(real).alone(() => {
    const plan = planAgain()
    const isSamePlan =
      plan.changes.length === shownPlan.changes.length &&
      plan.changes.every(
        ({ file, after }, i) =>
          shownPlan.changes[i]?.file.text === file.text && shownPlan.changes[i]?.after === after,
      )
    if (!isSamePlan) return undefined
    const backups = new Map<string, string>()
    for (const { file } of plan.changes) {
      if (file.text !== undefined) backups.set(file.path, new SetupRecord(file.real).keep(file.text))
    }
    for (const { file, after } of plan.changes) replaceSettings(file, after)
    return backups
  })
}
