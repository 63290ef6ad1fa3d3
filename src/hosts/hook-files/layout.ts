// Finds the entries of a hook file, however they are nested: by event, in groups or flat, under names, or in a list.

import { isObject } from '../../core/base/json.js'
import { canonicalEvent } from '../../core/events/events.js'
import type { AgentSystem } from './agent-system.js'

export type Path = readonly (string | number)[]
export type Fields = Readonly<Record<string, unknown>>

export interface FoundEntry {
  /** As written. */
  readonly event: string
  readonly handler: Fields
  readonly at: Path
  /** The group around it, if it is in one. */
  readonly group?: Fields
  readonly groupAt?: Path
}

/** A value that is not an entry, or a key that the agent does not have. */
export interface Oddity {
  readonly what: 'entry' | 'key'
  readonly key: string
  readonly value: unknown
  readonly at: Path
}

export interface Found {
  readonly entries: readonly FoundEntry[]
  readonly odd: readonly Oddity[]
}

interface Search {
  readonly agent: AgentSystem
  readonly entries: FoundEntry[]
  readonly odd: Oddity[]
}

/** Keys for people, such as `_comment`. */
function isRemark(key: string): boolean {
  return /^(?:\/\/|[#_$])/.test(key) || key === 'description' || key === 'name' || key === 'comment'
}

export function foundIn(agent: AgentSystem, value: unknown): Found {
  const search: Search = { agent, entries: [], odd: [] }
  if (!isObject(value)) return search
  if (isObject(value.when) && isObject(value.then)) {
    const { type } = value.when
    const handler = { ...value, ...value.then, ...value.when, type: value.then.type }
    search.entries.push({ event: String(type), handler, at: [] })
    return search
  }
  const { hooks } = value
  if (Array.isArray(hooks)) readList(search, hooks, ['hooks'])
  else if (isObject(hooks)) readEvents(search, hooks, ['hooks'], 0)
  const isWhole = hooks === undefined
  for (const [key, one] of Object.entries(value)) {
    if (key === 'hooks' || isRemark(key) || (key === 'agent' && typeof one === 'string')) continue
    if (isWhole && isEventKey(agent, key, one)) readEvents(search, { [key]: one }, [], 0)
    else if (isWhole && agent.layout === 'named' && isObject(one)) readEvents(search, one, [key], 1)
    else if (agent.topKeys && !agent.topKeys.includes(key))
      search.odd.push({ what: 'key', key, value: one, at: [key] })
  }
  return search
}

/** At the top of a file without `hooks`, other keys may be the agent's settings. */
function isEventKey(agent: AgentSystem, key: string, value: unknown): boolean {
  const isNamed = Object.hasOwn(agent.events, key) || canonicalEvent(key) !== undefined
  if (isNamed) return Array.isArray(value) || (isObject(value) && 'hooks' in value)
  return (
    Array.isArray(value) &&
    value.some((one) => isObject(one) && (Array.isArray(one.hooks) || 'command' in one))
  )
}

/** `[{ event or trigger, … }]` */
function readList(search: Search, list: readonly unknown[], at: Path): void {
  const { entries, odd } = search
  for (const [i, one] of list.entries()) {
    const where = [...at, i]
    const event = isObject(one) ? (one.event ?? one.trigger) : undefined
    if (!isObject(one) || typeof event !== 'string') {
      odd.push({ what: 'entry', key: String(i), value: one, at: where })
      continue
    }
    if (Array.isArray(one.hooks)) {
      readItem(search, event, one, where)
      continue
    }
    const action = isObject(one.action) ? one.action : {}
    entries.push({ event, handler: { ...one, ...action }, at: where })
  }
}

/** Switches and records of the agent among its events. */
const NO_EVENTS = new Set(['state', 'enabled', 'disabled', 'notifications'])
const DEEPEST = 2

function readEvents(search: Search, events: Fields, at: Path, depth: number): void {
  for (const [event, value] of Object.entries(events)) {
    const where = [...at, event]
    const isNamed = Object.hasOwn(search.agent.events, event)
    if (!isNamed && (isRemark(event) || (NO_EVENTS.has(event) && !holdsEntries(value)))) continue
    if (Array.isArray(value))
      for (const [i, one] of value.entries()) readItem(search, event, one, [...where, i])
    else if (isObject(value) && ('hooks' in value || 'command' in value))
      readItem(search, event, value, where)
    else if (isObject(value) && depth < DEEPEST && !isNamed) readEvents(search, value, where, depth + 1)
    else search.odd.push({ what: 'entry', key: event, value, at: where })
  }
}

function holdsEntries(value: unknown): boolean {
  return Array.isArray(value) && value.some(isObject)
}

/** A group of handlers, or one handler. */
function readItem({ entries, odd }: Search, event: string, item: unknown, at: Path): void {
  if (typeof item === 'string') {
    entries.push({ event, handler: { command: item }, at })
    return
  }
  if (!isObject(item)) {
    odd.push({ what: 'entry', key: event, value: item, at })
    return
  }
  if (!Array.isArray(item.hooks)) {
    entries.push({ event, handler: item, at })
    return
  }
  for (const [i, handler] of item.hooks.entries()) {
    const where = [...at, 'hooks', i]
    if (isObject(handler)) entries.push({ event, handler, at: where, group: item, groupAt: at })
    else odd.push({ what: 'entry', key: event, value: handler, at: where })
  }
}
