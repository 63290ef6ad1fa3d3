// Reads one configuration file: its events and the keys beside them. One reader serves hooks.json, settings.json and plugin.json.

import { dirname, join, sep } from 'node:path'
import { isObject } from '../core/base/json.js'
import { nearest, shown } from '../core/base/text.js'
import { type EventKind, resolveEvent } from '../core/events/events.js'
import { type JsonPath, under } from '../files/json-text.js'
import { noteContent, noteFailure } from '../files/looks.js'
import type { FileFormat } from '../runners/hook-spec.js'
import { isVariable } from '../runners/kind.js'
import { readFile } from '../trust/file-reading.js'
import type { ConfigFile, Shape } from './config-file.js'
import {
  type Entry,
  groupFor,
  isRemark,
  type Reading,
  readEntry,
  readGroup,
  readGroups,
  removalOf,
  type Shared,
  say,
} from './hook-group.js'
import type { Matching } from './matchers.js'
import { DEFAULT_MERGED, type GivenSetting, isSetting, SESSION_SETTINGS } from './merged-settings.js'
import { changeOf } from './notes.js'
import type { Owner } from './owner.js'
import { type ProcessEntry, readProcesses } from './process-entry.js'
import { CLAUDE_KEYS } from './reach-settings.js'
import {
  holdsGroups,
  knownEvent,
  noteStrayEvents,
  noteStraySettings,
  type UnknownName,
  unknownEvent,
  unknownName,
  unknownSetting,
} from './stray-names.js'

/** A place that may hold hooks: a whole file, or a part of plugin.json. */
export interface HookDocument {
  readonly owner: Owner
  /** `root`: .amplifier/hooks/hooks.json; `explicit` may be a hooks.json or a settings.json; `rules` is a rules.json. */
  readonly role: 'root' | 'settings' | 'explicit' | 'plugin' | 'skill' | 'rules'
  readonly file: ConfigFile
  readonly at: JsonPath
  /** Default: Amplifier's. */
  readonly format?: FileFormat
  /** For a plugin: the folder of its file, from the plugin's folder. Default: the plugin's folder itself. */
  readonly inside?: string
  /** Present if it belongs to a project around this one. */
  readonly isOuter?: true
}

/** The format of a file, judged by its path alone. */
export function formatOfPath(path: string): FileFormat {
  return path.split(sep).some((part) => part === '.claude' || part === '.claude-plugin')
    ? 'claude'
    : 'amplifier'
}

export interface Contents {
  readonly entries: readonly Entry[]
  readonly processes: readonly ProcessEntry[]
  readonly settings: readonly GivenSetting[]
}

interface DocumentReading extends Reading {
  readonly role: HookDocument['role']
  readonly processes: ProcessEntry[]
  readonly settings: GivenSetting[]
}

type Fields = { readonly [key: string]: unknown }

const DEFAULT_PRIORITY = 20

/** The minimum shape of a hooks file: without it, nothing is read. */
export const hooksShape: Shape = (value) => {
  if (!isObject(value)) return { problem: `must be a JSON object, got ${shown(value)}`, todo: WHOLE }
  const { hooks } = value
  if (!Object.hasOwn(value, 'hooks') || isObject(hooks) || Array.isArray(hooks)) return undefined
  return { problem: `must have an object as "hooks", got ${shown(hooks)}`, key: 'hooks', todo: WHOLE }
}

const WHOLE = 'Write {"hooks": { … }}, with events in it.'

export function readDocument(document: HookDocument, shared: Shared): Contents {
  const { owner, role, file, at, format = 'amplifier' } = document
  const fields = valueAt(file.value, at) as Fields
  const reading: DocumentReading = {
    shared,
    owner,
    role,
    file,
    format,
    matching: 'search',
    priority: DEFAULT_PRIORITY,
    entries: [],
    folder: folderOf(document),
    patterns: new Set(),
    patternsLength: 0,
    processes: [],
    settings: [],
    hooksKeys: 0,
  }
  if (at === null && shared.readAgentFile?.(reading, role)) {
    noteDoubleKeys(reading)
    return reading
  }
  reading.matching = matchingOf(reading, fields.matching, at)
  reading.priority = priorityOf(reading, fields.priority, at)
  const env = variablesOf(reading, fields.env, at)
  if (env) reading.env = env
  readSwitches(reading, fields, at)
  readSession(reading, fields, at)
  readAllProcesses(reading, fields, at)
  readModules(reading, fields, at)
  if (fields.hooks !== undefined) {
    readHooks(reading, fields.hooks, under(at, 'hooks'), 0)
    noteStrayEvents(reading, fields, at)
  } else readEvents(reading, fields, at, at === null ? BARE : 0)
  noteDoubleKeys(reading)
  return reading
}

/** A placeholder, because a trusted plugin runs from a copy, and a digest must be the same on every machine. */
function folderOf({ owner: { place }, file, inside = '' }: HookDocument): string {
  if (place.skillDir !== undefined) return `\${CLAUDE_SKILL_DIR}`
  if (place.plugin) return `\${CLAUDE_PLUGIN_ROOT}${inside && `/${inside}`}`
  const folder = dirname(file.path)
  if (folder === place.hooksDir) return `\${AMPLIFIER_HOOKS_DIR}`
  const isOfProject = folder.startsWith(`${place.projectDir}/`)
  return isOfProject ? `\${CLAUDE_PROJECT_DIR}${folder.slice(place.projectDir.length)}` : folder
}

function valueAt(value: unknown, at: JsonPath): unknown {
  return at === null ? value : (valueAt(value, at.parent) as Record<string | number, unknown>)[at.key]
}

// ---- keys beside the events -----------------------------------------------------------------------------------

function matchingOf(reading: Reading, matching: unknown, at: JsonPath): Matching {
  if (matching === undefined || matching === 'search' || matching === 'fullmatch') return matching ?? 'search'
  const text = `"matching" must be "search" or "fullmatch", got ${shown(matching)}; "search" is in force`
  say(
    reading,
    'setting-invalid',
    text,
    under(at, 'matching'),
    changeOf('matching', matching, '"search" or "fullmatch"'),
  )
  return 'search'
}

function priorityOf(reading: DocumentReading, priority: unknown, at: JsonPath): number {
  if (priority === undefined || reading.role === 'settings') return DEFAULT_PRIORITY
  if (reading.role !== 'plugin') {
    const text = '"priority" works only in a plugin’s hooks.json; it is ignored here'
    say(reading, 'unknown-key', text, under(at, 'priority'), { todo: removalOf('priority') })
    return DEFAULT_PRIORITY
  }
  if (typeof priority === 'number' && Number.isFinite(priority)) return priority
  const text = `"priority" must be a number, got ${shown(priority)}; ${DEFAULT_PRIORITY} is in force`
  say(reading, 'setting-invalid', text, under(at, 'priority'), changeOf('priority', priority, 'a number'))
  return DEFAULT_PRIORITY
}

/** Like `env` in Claude Code's settings. Ignored in settings.json, where another agent may own the key, and in skills. */
function variablesOf(reading: DocumentReading, env: unknown, at: JsonPath): DocumentReading['env'] {
  const { role } = reading
  if (env === undefined || at !== null || role === 'settings' || role === 'skill') return undefined
  const where = under(at, 'env')
  if (!isObject(env)) {
    say(
      reading,
      'entry-invalid',
      `"env" was left out: it must be an object of strings, got ${shown(env)}`,
      where,
      changeOf('env', env, 'an object of strings'),
    )
    return undefined
  }
  const found: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
    if (typeof text === 'string' && isVariable(name, text)) found[name] = text
    else {
      const what = `the variable ${shown(name)} of "env" was left out: its value must be a string, got ${shown(value)}`
      say(reading, 'entry-invalid', what, under(where, name), changeOf(name, value, 'a string'))
    }
  }
  return Object.keys(found).length > 0 ? found : undefined
}

/** Amplifier keeps these settings under `session`, nested or with a dot. The rest of `session` is not for us. */
function readSession(reading: DocumentReading, fields: Fields, at: JsonPath): void {
  if (reading.role !== 'settings' && reading.role !== 'explicit') return
  const { session, hooks } = fields
  for (const key of SESSION_SETTINGS) {
    const dotted = `session.${key}`
    if (fields[dotted] !== undefined) give(reading, key, fields[dotted], under(at, dotted))
    if (!isObject(session) || session[key] === undefined) continue
    give(reading, key, session[key], under(under(at, 'session'), key))
  }
  if (isObject(hooks)) readSession(reading, hooks, under(at, 'hooks'))
}

function isOfSession(name: string, value: unknown): boolean {
  return (name === 'session' && isObject(value)) || SESSION_SETTINGS.some((key) => name === `session.${key}`)
}

const ABOUT_TRUST = /^(?:pre[-_]?)?trust(?:ed|s|[-_]?all|[-_]?level)?$/i

function readSwitches(reading: DocumentReading, fields: Fields, at: JsonPath): void {
  const { role } = reading
  if (fields.disableAllHooks !== undefined) {
    if (role === 'plugin') {
      const text = '"disableAllHooks" has no effect in a plugin: it may not silence others'
      say(reading, 'unknown-key', text, under(at, 'disableAllHooks'), { todo: removalOf('disableAllHooks') })
    } else give(reading, 'disableAllHooks', fields.disableAllHooks, under(at, 'disableAllHooks'))
  }
  if (role !== 'plugin') {
    for (const [name, key] of Object.entries(CLAUDE_KEYS)) {
      if (fields[name] !== undefined) give(reading, key, fields[name], under(at, name))
    }
  }
  for (const key of Object.keys(fields).filter((name) => ABOUT_TRUST.test(name))) {
    const text = `"${key}" is ignored: a file cannot decide whether it is trusted; use carabiner trust`
    say(reading, 'setting-ignored', text, under(at, key), { todo: removalOf(key) })
  }
  // Other agents' settings files may use the same keys.
  if (role === 'settings') {
    noteStraySettings(reading, fields, at)
    return
  }
  const isOurs = (key: string) => key === 'enabled' || (role !== 'explicit' && isSetting(key))
  for (const key of Object.keys(fields).filter(isOurs)) {
    const text = `"${key}" is not a key of a hooks file and is ignored; set it under "hooks" in settings.json`
    const todo = `Move "${key}" to settings.json, under "hooks".`
    say(reading, 'unknown-key', text, under(at, key), { todo })
  }
}

/** Processes are beside `hooks`, or under it as in PicoClaw's own file, together with timeouts for all processes. */
function readAllProcesses(reading: DocumentReading, fields: Fields, at: JsonPath): void {
  const { processes, hooks } = fields
  for (const key of Object.keys(fields).filter(
    (name) => /^process(?:es)?$/i.test(name) && name !== 'processes',
  )) {
    if (reading.role === 'settings' || !isObject(fields[key])) continue
    const text = `${shown(key)} was left out; did you mean "processes"?`
    const todo = `Write "processes" in place of ${shown(key)}.`
    say(reading, 'entry-invalid', text, under(at, key), { todo })
  }
  if (processes !== undefined && reading.role !== 'settings') {
    readProcesses(reading, processes, under(at, 'processes'), undefined)
  }
  if (!isObject(hooks)) return
  const inside = under(at, 'hooks')
  if (isObject(hooks.processes)) {
    readProcesses(reading, hooks.processes, under(inside, 'processes'), hooks.defaults)
  }
  for (const name of isObject(hooks.builtins) ? Object.keys(hooks.builtins) : []) {
    const text = `the built-in hook ${shown(name)} was left out: it is part of PicoClaw; register a function instead`
    say(reading, 'entry-unsupported', text, under(under(inside, 'builtins'), name), { todo: removalOf(name) })
  }
}

/** Modules whose exports name their events. Elsewhere the key may belong to another program. */
function readModules(reading: DocumentReading, { modules }: Fields, at: JsonPath): void {
  const { role } = reading
  if (modules === undefined || role === 'settings' || role === 'skill') return
  const where = under(at, 'modules')
  if (!Array.isArray(modules)) {
    if (role === 'explicit') return
    const text = `"modules" must be a list of files, got ${shown(modules)}`
    say(reading, 'entry-invalid', text, where, changeOf('modules', modules, 'a list such as ["./hooks.mjs"]'))
    return
  }
  const any: EventKind = resolveEvent('*')
  const group = { spec: undefined, matcher: null, matching: reading.matching, sequential: false }
  for (const [i, one] of modules.entries()) {
    const entry: unknown = typeof one === 'string' ? { type: 'module', module: one } : withType(one)
    if (isMod(one, reading.file.path)) {
      const text = `${shown(one)} was left out: it exports register(), so it is a mod, and only Claude Code can run it`
      const todo = 'Export functions named after their events, such as PreToolUse, to run it here too.'
      say(reading, 'entry-unsupported', text, under(where, i), { todo })
      continue
    }
    readEntry(reading, any, group, entry, under(where, i))
  }
}

const REGISTERS = /\bexport\s+(?:(?:const|let|var|(?:async\s+)?function)\s+register\b|\{[^}]*\bregister\b)/
const HANDLES = /\bexport\s+(?:default\b|(?:const|let|var|(?:async\s+)?function)\s+(?:hooks\b|[A-Z]))/

/** A mod of Claude Code calls an interface that no other program has. The check does not run the file. */
function isMod(one: unknown, file: string): boolean {
  if (typeof one !== 'string' || !one.startsWith('.')) return false
  const path = join(dirname(file), one)
  noteContent(path)
  const read = readFile(path, { follow: true, limit: LONGEST_MOD })
  if (read === 'untouched') return false
  if ('problem' in read) {
    noteFailure(read)
    return false
  }
  const text = read.bytes.toString('utf8')
  return REGISTERS.test(text) && !HANDLES.test(text)
}

const LONGEST_MOD = 1024 * 1024

function withType(one: unknown): unknown {
  return isObject(one) ? { ...one, type: 'module' } : one
}

function give(reading: DocumentReading, key: GivenSetting['key'], value: unknown, at: JsonPath): void {
  reading.settings.push({ key, value, scope: reading.owner.scope, file: reading.file, at })
}

// ---- events ---------------------------------------------------------------------------------------------------

/** The deepest accepted nesting of `hooks`. Some plugins nest it twice; no format nests it more. */
const DEEPEST_WRAPPER = 3
/** The top level of a file without `hooks`, where other keys may have nothing to do with us. */
const BARE = -1

/** The value of `hooks`: events by name, or a list of `{ event, … }`. */
function readHooks(reading: DocumentReading, value: unknown, at: JsonPath, depth: number): void {
  reading.hooksKeys++
  if (Array.isArray(value)) readList(reading, value, at)
  else if (isObject(value)) readEvents(reading, value, at, depth)
  else {
    const text = `"hooks" must be an object of events, got ${shown(value)}`
    say(reading, 'entry-invalid', text, at, changeOf('hooks', value, 'an object of events'))
  }
}

function readList(reading: DocumentReading, list: readonly unknown[], at: JsonPath): void {
  const written = new Set(list.map((group) => (isObject(group) ? group.event : undefined)))
  for (const [i, group] of list.entries()) {
    const where = under(at, i)
    const name = isObject(group) ? group.event : undefined
    if (typeof name !== 'string') {
      const text = `an entry was left out: it must be an object with "event" and "hooks", got ${shown(group)}`
      say(reading, 'entry-invalid', text, where, { todo: groupFor(group, '"event": "PreToolUse", ') })
      continue
    }
    const event = knownEvent(name)
    if (!event) sayUnknown(reading, unknownEvent(name), where)
    else if (name !== event.name && written.has(event.name)) sayTwice(reading, name, event.name, where)
    else readGroup(reading, event, group, where)
  }
}

function readEvents(reading: DocumentReading, events: Fields, at: JsonPath, depth: number): void {
  for (const name of Object.keys(events)) {
    const value = events[name]
    const where = under(at, name)
    const event = knownEvent(name)
    if (!event)
      depth === BARE
        ? readOther(reading, { name, value, events }, where)
        : readNoEvent(reading, { name, value, events }, where, depth)
    else if (name === event.name || !Object.hasOwn(events, event.name)) {
      // In another agent's file, `stop` or `setup` may mean anything.
      if (depth === BARE && name !== event.name && !Array.isArray(value)) continue
      readGroups(reading, event, value, where)
    } else sayTwice(reading, name, event.name, where)
  }
}

function sayTwice(reading: Reading, name: string, event: string, at: JsonPath): void {
  const text = `${name} was left out: it is another name for ${event}, which this file also has; it is probably meant for another agent, and its hooks would run twice`
  say(reading, 'unknown-event', text, at, { todo: `Move its hooks to ${event}, or remove them.` })
}

/** A key cannot stand twice, so the hooks move if the right event is there already. */
function sayUnknown(reading: Reading, unknown: UnknownName, at: JsonPath, events?: Fields): void {
  const { text, meant } = unknown
  const isThere = meant !== undefined && events !== undefined && Object.hasOwn(events, meant)
  const line = isThere ? reading.file.json.lineOf(under(at?.parent ?? null, meant)) : 0
  const advice = isThere ? { meant, todo: `Move its hooks into ${meant} of line ${line}.` } : unknown
  say(reading, 'unknown-event', text, at, advice)
}

/** A key among the events that is not one of them. */
interface Other {
  readonly name: string
  readonly value: unknown
  readonly events: Fields
}

/** Handles keys under `hooks` that are not events: remarks, settings, a nested wrapper, and typos. */
function readNoEvent(
  reading: DocumentReading,
  { name, value, events }: Other,
  at: JsonPath,
  depth: number,
): void {
  const takesSettings = reading.role === 'settings' || reading.role === 'explicit'
  if (isRemark(name) && !holdsGroups(value)) return
  if (OF_PROCESSES.has(name) && isObject(value)) return // read above
  if (takesSettings && isOfSession(name, value)) return // read above
  if (name === 'hooks' && depth < DEEPEST_WRAPPER) readHooks(reading, value, at, depth + 1)
  else if (isSetting(name)) {
    if (takesSettings) give(reading, name, value, at)
    else
      say(
        reading,
        'unknown-key',
        `${shown(name)} is a setting: it belongs in settings.json, under "hooks"`,
        at,
        { todo: `Move ${shown(name)} to settings.json, under "hooks".` },
      )
  } else if (takesSettings && (typeof value !== 'object' || value === null)) {
    const meant = nearest(name, SETTING_NAMES)
    const { text, todo } = unknownSetting(name, meant)
    say(reading, 'setting-invalid', meant === undefined ? `${text}; it is ignored` : text, at, { todo })
  } else sayUnknown(reading, unknownName(name, SETTING_NAMES, holdsGroups(value)), at, events)
}

const SETTING_NAMES = Object.keys(DEFAULT_MERGED)

/** Handles the top level of a file without `hooks`. Reports only keys that look like lost hooks. */
function readOther(reading: DocumentReading, { name, value, events }: Other, at: JsonPath): void {
  if ((isRemark(name) && !holdsGroups(value)) || OTHER_KEYS.has(name) || /^process(?:es)?$/i.test(name))
    return
  const ours = reading.role === 'root' || reading.role === 'plugin'
  if (holdsGroups(value)) sayUnknown(reading, unknownEvent(name), at, events)
  else if (/^hooks?$/i.test(name)) {
    const todo = `Write "hooks" in place of ${shown(name)}.`
    say(reading, 'unknown-key', `${shown(name)} is ignored; did you mean "hooks"?`, at, { todo })
  } else if (ours && typeof value === 'object' && value !== null) {
    const text = `${shown(name)} is not an event and is ignored; events go under "hooks"`
    say(reading, 'unknown-key', text, at, { todo: removalOf(name) })
  }
}

const OF_PROCESSES = new Set(['processes', 'defaults', 'builtins'])
const OTHER_KEYS = new Set([
  'matching',
  'priority',
  'processes',
  'modules',
  'disableAllHooks',
  'enabled',
  'env',
])

// ---- duplicate keys -------------------------------------------------------------------------------------------

/**
 * JSON.parse silently drops all but the last of equal keys, so duplicates are reported. There may be hundreds of
 * plugins, so their text is searched only if it has more such keys than were read.
 */
function noteDoubleKeys({ file, hooksKeys, entries, role, shared }: DocumentReading): void {
  const { text } = file.json
  const suspicious =
    text.includes('\\u') || // which can spell any key in another way
    has(text, '"hooks"', hooksKeys + 1) ||
    has(text, '"matcher"', hooksKeys) ||
    has(text, '"command"', 2 * entries.length + 1) // each entry has it as a type and as a key
  if (role === 'plugin' && !suspicious) return
  for (const { key, line } of file.json.doubleKeys()) {
    const lost = `the key ${shown(key)} appears twice in one object: this value is lost, and the last one counts`
    const todo = `Move the content of ${shown(key)} into the later one, and remove this one.`
    shared.notes.once(`double ${key} ${line}`, 'entry-invalid', lost, { path: file.path, line }, { todo })
  }
}

function has(text: string, part: string, times: number): boolean {
  let at = -1
  for (let i = 0; i < times; i++) {
    at = text.indexOf(part, at + 1)
    if (at < 0) return false
  }
  return true
}
