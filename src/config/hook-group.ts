// Reads groups and their handlers: turns the entries of an event into hooks, and reports those it leaves out.

import type { DiagnosticCode } from '../core/base/errors.js'
import { isObject } from '../core/base/json.js'
import { shown } from '../core/base/text.js'
import type { EventKind } from '../core/events/events.js'
import type { Matcher } from '../core/hooks/matcher.js'
import type { FileFormat } from '../runners/hook-spec.js'
import type { HandlerType } from '../runners/kinds.js'
import type { ConfigFile } from './config-file.js'
import {
  type HandlerProblem,
  isHandlerKey,
  likelyKey,
  nearestKey,
  type ReadHandler,
  readHandler,
} from './handler.js'
import { type JsonPath, under } from './json-text.js'
import type { CompiledMatcher, Matchers, Matching } from './matchers.js'
import type { Notes } from './notes.js'
import type { Names, Owner } from './owner.js'

/** Shared by the handlers of one group. */
export interface Group {
  /** The matcher as written. */
  readonly spec: unknown
  readonly matcher: Matcher | null
  readonly sequential: boolean
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

/** Shared by all files of one load. */
export interface Shared {
  readonly notes: Notes
  readonly names: Names
  readonly matchers: Matchers
}

/** One file, or part of one, while it is being read. */
export interface Reading {
  readonly shared: Shared
  readonly owner: Owner
  readonly file: ConfigFile
  readonly format: FileFormat
  matching: Matching
  priority: number
  /** Variables for the command hooks of the file. */
  env?: Readonly<Record<string, string>>
  readonly entries: Entry[]
  /** How many keys called `hooks` were read. If the text has more, there is a duplicate. */
  hooksKeys: number
}

export function say(reading: Reading, code: DiagnosticCode, text: string, at: JsonPath): void {
  reading.shared.notes.add(code, text, { file: reading.file, at })
}

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
    say(reading, 'entry-invalid', text, at)
  }
}

export function readGroup(reading: Reading, event: EventKind, group: unknown, at: JsonPath): void {
  const { owner, shared } = reading
  const read = checkGroup(reading, event, group)
  if ('problem' in read) {
    const text = `a group of ${event.name} in ${owner.source} was left out: ${read.problem}`
    say(reading, 'entry-invalid', text, read.key === undefined ? at : under(at, read.key))
    return
  }
  const { fields, handlers, compiled } = read
  for (const { code, text } of compiled.remarks) {
    say(reading, code, `${owner.source}, ${event.name}: ${text}`, under(at, 'matcher'))
  }
  for (const key of Object.keys(fields)) {
    if (isGroupKey(key, fields[key]) || isRemark(key)) continue
    const where = { file: reading.file, at: under(at, key) }
    shared.notes.once(`group ${key}`, 'unknown-key', groupKeyText(key, fields[key]), where)
  }
  const common = { spec: fields.matcher, matcher: compiled.matcher, sequential: fields.sequential === true }
  const inside = under(at, 'hooks')
  for (let i = 0; i < handlers.length; i++) readEntry(reading, event, common, handlers[i], under(inside, i))
}

type Fields = { readonly [key: string]: unknown }

interface CheckedGroup {
  readonly fields: Fields
  readonly handlers: readonly unknown[]
  readonly compiled: CompiledMatcher
}

function checkGroup(reading: Reading, event: EventKind, group: unknown): CheckedGroup | HandlerProblem {
  if (!isObject(group)) return { problem: `it must be an object with "hooks", got ${shown(group)}` }
  if (group.hooks !== undefined) reading.hooksKeys++
  if (!Array.isArray(group.hooks)) return { problem: withoutHooks(group) }
  const compiled = reading.shared.matchers.compile(group.matcher, event, reading.matching)
  if ('problem' in compiled) return { problem: compiled.problem, key: 'matcher' }
  return { fields: group, handlers: group.hooks, compiled }
}

function withoutHooks(group: Fields): string {
  if (group.hooks !== undefined) return `"hooks" must be a list of handlers, got ${shown(group.hooks)}`
  const flat = Object.keys(group).some((key) => isHandlerKey(key))
  return flat ? 'a handler must be inside the "hooks": [ … ] of a group' : 'it has no "hooks"'
}

function readEntry(reading: Reading, event: EventKind, group: Group, raw: unknown, at: JsonPath): void {
  const { owner, file, format, priority, shared } = reading
  const name = shared.names.next(owner, event.name)
  const handler = isObject(raw)
    ? readHandler(raw)
    : { problem: `a handler must be an object, got ${shown(raw)}`, key: undefined }
  if ('problem' in handler) {
    const where = handler.key === undefined ? at : under(at, handler.key)
    say(reading, 'entry-invalid', `${name} was left out: ${handler.problem}`, where)
    return
  }
  const { type, others, common, remark } = handler
  if (remark) say(reading, 'entry-invalid', `${name}: ${remark.problem}`, under(at, remark.key ?? 'type'))
  for (const key of others) {
    if (isRemark(key)) continue
    const where = { file, at: under(at, key) }
    shared.notes.once(`handler ${key}`, 'unknown-key', handlerKeyText(type, key), where)
  }
  if (common.once && owner.place.skillDir === undefined) {
    const text = '"once" has no effect in a configuration file: the hook runs every time'
    shared.notes.once('once', 'unknown-key', text, { file, at: under(at, 'once') })
  }
  const entry = { owner, file, format, at, event, name, group, priority }
  reading.entries.push({ ...entry, handler: withVariables(handler, reading.env) })
}

/** A handler's own variables override those of its file. */
function withVariables(handler: ReadHandler, env: Reading['env']): ReadHandler {
  if (!env || handler.type !== 'command') return handler
  return { ...handler, fields: { ...handler.fields, env: { ...env, ...(handler.fields.env as object) } } }
}

// ---- keys that are not part of the format ---------------------------------------------------------------------

function isGroupKey(key: string, value: unknown): boolean {
  if (key === 'matcher' || key === 'hooks' || key === 'event') return true
  return key === 'sequential' && typeof value === 'boolean'
}

const GROUP_TODO: Readonly<Record<string, string>> = {
  once: 'hooks of a configuration file run every time',
  enabled: 'remove the entry to disable it',
  priority: 'it belongs at the top of a plugin’s hooks.json',
  parallel: 'hooks of a group run in parallel unless it is "sequential"',
}

const HANDLER_TODO: Readonly<Record<string, string>> = {
  matcher: 'it belongs on the group',
  sequential: 'it belongs on the group',
  enabled: 'remove the entry to disable it',
  priority: 'it belongs at the top of a plugin’s hooks.json',
  timeoutSec: 'write "timeout", in seconds',
  timeout_ms: 'write "timeout", in seconds',
  run_in_background: 'write "async": true',
  blocking: 'a command blocks with exit code 2',
}

function groupKeyText(key: string, value: unknown): string {
  if (key === 'sequential') return `"sequential" must be true or false, got ${shown(value)}; it is ignored`
  const todo = own(GROUP_TODO, key) ?? (isHandlerKey(key) ? 'it belongs on the handler, inside "hooks"' : '')
  return `${shown(key)} is not a key of a group and is ignored${todo ? `: ${todo}` : ''}`
}

function handlerKeyText(type: HandlerType, key: string): string {
  if (isHandlerKey(key)) return `${shown(key)} has no effect on a hook of type ${type}`
  const same = likelyKey(key, type)
  const habit = same === undefined ? own(HANDLER_TODO, key) : undefined
  const meant = same ?? (habit === undefined ? nearestKey(key, type) : undefined)
  const todo = meant === undefined ? habit : `did you mean "${meant}"?`
  return `${shown(key)} is not a key of a hook and is ignored${todo ? `: ${todo}` : ''}`
}

function own(table: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined
}
