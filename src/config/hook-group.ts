// Reads groups and their handlers: turns the entries of an event into hooks, and reports those it leaves out.

import type { DiagnosticCode } from '../core/base/errors.js'
import { isObject } from '../core/base/json.js'
import { shown } from '../core/base/text.js'
import type { EventKind } from '../core/events/events.js'
import type { Hook } from '../core/hooks/hook.js'
import { isExactList, type Matcher } from '../core/hooks/matcher.js'
import { type JsonPath, under } from '../files/json-text.js'
import type { AgentTerms } from '../hosts/hook-files/agent-call.js'
import type { FileFormat } from '../runners/hook-spec.js'
import { type HandlerType, kindOf } from '../runners/kinds.js'
import type { ConfigFile } from './config-file.js'
import {
  type HandlerProblem,
  isHandlerKey,
  likelyKey,
  nearestKey,
  type ReadHandler,
  readHandler,
} from './handler.js'
import { type CompiledMatcher, type Matchers, type Matching, MOST_PATTERNS, matchingAll } from './matchers.js'
import { type Advice, changeOf, type Notes } from './notes.js'
import type { Names, Owner } from './owner.js'

/** Shared by the handlers of one group. */
export interface Group {
  /** The matcher as written. */
  readonly spec: unknown
  readonly matcher: Matcher | null
  /** How the file reads its matchers. */
  readonly matching: Matching
  readonly sequential: boolean
  /** The group whose handlers run in sequence, if that is another object. */
  readonly lane?: object
  /** For an entry of another agent's file. */
  readonly agent?: OfAgent
}

/** What only an entry of another agent's file has. */
export interface OfAgent {
  readonly terms: AgentTerms
  readonly condition?: NonNullable<Hook['condition']>
  /** Seconds, if the entry names none. */
  readonly usualTimeout: number
  /** It is switched off in its file. */
  readonly isOff: boolean
}

/** A valid handler, and where it was found. */
export interface Entry {
  readonly owner: Owner
  readonly file: ConfigFile
  readonly format: FileFormat
  readonly at: JsonPath
  readonly event: EventKind
  /** For people: `bash-validator:PreToolUse#1`. */
  readonly name: string
  readonly group: Group
  readonly priority: number
  readonly handler: ReadHandler
}

/** Reads a file if it is another agent's; false if it is not. */
export type AgentFileReader = (reading: Reading, role: string) => boolean

/** Shared by all files of one load. */
export interface Shared {
  readonly notes: Notes
  readonly names: Names
  readonly matchers: Matchers
  /** Present if a file may be another agent's. */
  readonly readAgentFile?: AgentFileReader | undefined
}

/** One file, or part of one, while it is being read. */
export interface Reading {
  readonly shared: Shared
  readonly owner: Owner
  readonly file: ConfigFile
  readonly format: FileFormat
  matching: Matching
  priority: number
  /** The folder that its entries name files from. May begin with a placeholder. */
  readonly folder: string
  /** Variables for the command hooks of the file. */
  env?: Readonly<Record<string, string>>
  readonly entries: Entry[]
  /** The patterns of the file so far, without exact lists. */
  readonly patterns: Set<string>
  patternsLength: number
  /** How many keys called `hooks` were read. If the text has more, there is a duplicate. */
  hooksKeys: number
}

export function say(
  reading: Reading,
  code: DiagnosticCode,
  text: string,
  at: JsonPath,
  advice?: Advice,
): void {
  reading.shared.notes.add(code, text, { file: reading.file, at }, advice)
}

const HANDLER = '{"type": "command", "command": "…"}'

/** True for keys that are only for people. */
export function isRemark(key: string): boolean {
  return /^(?:\/\/|[#_$])/.test(key) || REMARKS.has(key)
}

const REMARKS = new Set(['description', 'name', 'comment', 'comments', 'statusMessage'])

/** Reads the value of an event. A single group counts as a list of one, as in Amplifier's bridge. */
export function readGroups(reading: Reading, event: EventKind, value: unknown, at: JsonPath): void {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) readGroup(reading, event, value[i], under(at, i))
  } else if (isObject(value)) readGroup(reading, event, value, at)
  else {
    const text = `the hooks of ${event.name} were left out: they must be a list of groups, got ${shown(value)}`
    const todo = `Write [{"hooks": [${HANDLER}]}] in place of ${shown(value)}.`
    say(reading, 'entry-invalid', text, at, { todo })
  }
}

export function readGroup(reading: Reading, event: EventKind, group: unknown, at: JsonPath): void {
  const { owner, shared } = reading
  const read = checkGroup(reading, event, group)
  if ('problem' in read) {
    const text = `a group of ${event.name} in ${owner.source} was left out: ${read.problem}`
    say(reading, 'entry-invalid', text, read.key === undefined ? at : under(at, read.key), read)
    return
  }
  const { fields, handlers, compiled } = read
  for (const key of Object.keys(fields)) {
    if (isGroupKey(key, fields[key]) || isRemark(key)) continue
    const where = { file: reading.file, at: under(at, key) }
    const { text, todo } = oddGroupKey(key, fields[key])
    shared.notes.once(`group ${key}`, 'unknown-key', text, where, { todo })
  }
  const common = {
    spec: fields.matcher,
    matcher: compiled.matcher,
    matching: reading.matching,
    sequential: fields.sequential === true,
  }
  const inside = under(at, 'hooks')
  const first = reading.entries.length
  for (let i = 0; i < handlers.length; i++) readEntry(reading, event, common, handlers[i], under(inside, i))
  for (const { code, text, todo } of compiled.remarks) {
    const advice = { todo, hook: reading.entries[first]?.name }
    say(reading, code, `${owner.source}, ${event.name}: ${text}`, under(at, 'matcher'), advice)
  }
}

type Fields = { readonly [key: string]: unknown }

interface CheckedGroup {
  readonly fields: Fields
  readonly handlers: readonly unknown[]
  readonly compiled: CompiledMatcher
}

function checkGroup(reading: Reading, event: EventKind, group: unknown): CheckedGroup | HandlerProblem {
  if (!isObject(group))
    return { problem: `it must be an object with "hooks", got ${shown(group)}`, todo: groupFor(group) }
  if (group.hooks !== undefined) reading.hooksKeys++
  if (!Array.isArray(group.hooks)) return withoutHooks(group)
  const compiled = compile(reading, group.matcher, event)
  if ('problem' in compiled) return { ...compiled, key: 'matcher' }
  return { fields: group, handlers: group.hooks, compiled }
}

/** A file with too many patterns is slow in every event, so the rest of them match everything: more often, never less. */
function compile(reading: Reading, spec: unknown, event: EventKind): ReturnType<Matchers['compile']> {
  const { shared, matching, patterns } = reading
  if (typeof spec !== 'string' || isExactList(spec)) return shared.matchers.compile(spec, event, matching)
  if (!patterns.has(spec)) {
    patterns.add(spec)
    reading.patternsLength += spec.length
  }
  if (reading.patternsLength <= MOST_PATTERNS) return shared.matchers.compile(spec, event, matching)
  const text = `the patterns of this file have more than ${MOST_PATTERNS} characters together, so from here on every hook with a pattern runs for every value`
  const todo = 'Write lists of names such as "Write|Edit" in place of patterns, or fewer of them.'
  const where = { path: reading.file.path, line: 1 }
  shared.notes.once('patterns', 'matcher-unsafe', text, where, { todo })
  return { matcher: matchingAll(spec), remarks: [] }
}

/** What to write in place of a value that is no group. */
export function groupFor(value: unknown, event = ''): string {
  return `Write {${event}"matcher": "Bash", "hooks": [${HANDLER}]} in place of ${shown(value)}, or remove it.`
}

function withoutHooks({ hooks, ...group }: Fields): HandlerProblem {
  if (hooks !== undefined) {
    const problem = `"hooks" must be a list of handlers, got ${shown(hooks)}`
    return { problem, ...changeOf('hooks', hooks, `a list such as [${HANDLER}]`) }
  }
  if (Object.keys(group).some((key) => isHandlerKey(key))) {
    const problem = 'a handler must be inside the "hooks": [ … ] of a group'
    return { problem, todo: 'Write {"hooks": [ … ]} around it.' }
  }
  return { problem: 'it has no "hooks"', todo: `Add "hooks": [${HANDLER}] to it, or remove it.` }
}

/** One handler of an event, or for `*` one that names its events itself. */
export function readEntry(
  reading: Reading,
  event: EventKind,
  group: Group,
  raw: unknown,
  at: JsonPath,
): void {
  const { owner, file, format, priority, shared } = reading
  const name = shared.names.next(owner, event.name === '*' ? 'modules' : event.name)
  const handler = isObject(raw) ? readHandler(raw) : noHandler(raw)
  if ('problem' in handler) {
    const where = handler.key === undefined ? at : under(at, handler.key)
    say(reading, 'entry-invalid', `${name} was left out: ${handler.problem}`, where, handler)
    return
  }
  const { type, others, common, remarks } = handler
  for (const remark of remarks)
    say(reading, 'entry-invalid', `${name}: ${remark.problem}`, under(at, remark.key ?? 'type'), remark)
  for (const key of others) {
    if (isRemark(key)) continue
    const where = { file, at: under(at, key) }
    const { text, todo } = oddHandlerKey(type, key)
    shared.notes.once(`handler ${key}`, 'unknown-key', text, where, { todo })
  }
  if (common.once && owner.place.skillDir === undefined) {
    const text = '"once" has no effect in a configuration file: the hook runs every time'
    const todo = 'Remove "once".'
    shared.notes.once('once', 'unknown-key', text, { file, at: under(at, 'once') }, { todo })
  }
  const entry = { owner, file, format, at, event, name, group, priority }
  reading.entries.push({ ...entry, handler: located(withVariables(handler, reading.env), reading.folder) })
}

function noHandler(raw: unknown): HandlerProblem {
  return {
    problem: `a handler must be an object, got ${shown(raw)}`,
    todo: `Write ${HANDLER} in place of ${shown(raw)}, or remove it.`,
  }
}

/** A handler's own variables override those of its file. */
function withVariables(handler: ReadHandler, env: Reading['env']): ReadHandler {
  if (!env || handler.type !== 'command') return handler
  return { ...handler, fields: { ...handler.fields, env: { ...env, ...(handler.fields.env as object) } } }
}

function located(handler: ReadHandler, folder: string): ReadHandler {
  const { located } = kindOf(handler)
  return located ? { ...handler, fields: located(handler.fields, folder) as ReadHandler['fields'] } : handler
}

// ---- keys that are not part of the format ---------------------------------------------------------------------

function isGroupKey(key: string, value: unknown): boolean {
  if (key === 'matcher' || key === 'hooks' || key === 'event') return true
  return key === 'sequential' && typeof value === 'boolean'
}

/** Why the key is not needed, and what to do: to remove it, unless something else is said. */
type Habits = Readonly<Record<string, readonly [why: string, todo?: string]>>

const TOP_OF_PLUGIN = 'it belongs at the top of a plugin’s hooks.json'
const PRIORITY = [
  TOP_OF_PLUGIN,
  'Move "priority" to the top of a plugin’s hooks.json, or remove it.',
] as const
const ENABLED = [
  'remove the entry to disable it',
  'Remove the entry to disable it, or else "enabled".',
] as const

const GROUP_HABITS: Habits = {
  once: ['hooks of a configuration file run every time'],
  enabled: ENABLED,
  priority: PRIORITY,
  parallel: ['hooks of a group run in parallel unless it is "sequential"'],
}

const HANDLER_HABITS: Habits = {
  matcher: ['it belongs on the group', 'Move "matcher" to the group around the hook.'],
  sequential: ['it belongs on the group', 'Move "sequential" to the group around the hook.'],
  enabled: ENABLED,
  priority: PRIORITY,
  timeoutSec: ['write "timeout", in seconds', 'Write "timeout", in seconds, in place of "timeoutSec".'],
  timeout_ms: ['write "timeout", in seconds', 'Write "timeout", in seconds, in place of "timeout_ms".'],
  run_in_background: ['write "async": true', 'Write "async": true in place of "run_in_background".'],
  blocking: ['a command blocks with exit code 2'],
}

interface OddKey extends Advice {
  readonly text: string
}

function oddGroupKey(key: string, value: unknown): OddKey {
  if (key === 'sequential') {
    const text = `"sequential" must be true or false, got ${shown(value)}; it is ignored`
    return { text, ...changeOf('sequential', value, 'true or false') }
  }
  const text = `${shown(key)} is not a key of a group and is ignored`
  const habit = own(GROUP_HABITS, key)
  if (habit) return { text: `${text}: ${habit[0]}`, todo: habit[1] ?? removalOf(key) }
  if (!isHandlerKey(key)) return { text, todo: removalOf(key) }
  const todo = `Move ${shown(key)} to the handler, inside "hooks".`
  return { text: `${text}: it belongs on the handler, inside "hooks"`, todo }
}

function oddHandlerKey(type: HandlerType, key: string): OddKey {
  if (isHandlerKey(key))
    return { text: `${shown(key)} has no effect on a hook of type ${type}`, todo: removalOf(key) }
  const text = `${shown(key)} is not a key of a hook and is ignored`
  const same = likelyKey(key, type)
  const habit = same === undefined ? own(HANDLER_HABITS, key) : undefined
  if (habit) return { text: `${text}: ${habit[0]}`, todo: habit[1] ?? removalOf(key) }
  const meant = same ?? nearestKey(key, type)
  if (meant === undefined) return { text, todo: removalOf(key) }
  return { text: `${text}: did you mean "${meant}"?`, todo: `Write "${meant}" in place of ${shown(key)}.` }
}

export function removalOf(key: string): string {
  return `Remove ${shown(key)}.`
}

function own(table: Habits, key: string): Habits[string] | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined
}
