// Events: names and aliases, typed payloads, and the one way in for event data: resolve, check, open.

import { type Diagnostic, HookError, isHookError, textOf } from '../base/errors.js'
import { type Data, frozenCopy, isObject, type Json, mergedCopy } from '../base/json.js'
import { isOneEditAway, nearest, shown } from '../base/text.js'
import {
  CATALOGUE,
  COMMON_FIELDS as COMMON,
  type COMMON_FIELDS,
  type EventRow,
  type FieldType,
  TWIN_FIELDS,
} from './catalogue.js'
import type { OfTool, ToolsOf } from './tool-inputs.js'

// ---- types, inferred from the catalogue -----------------------------------------------------------------------

type Catalogue = typeof CATALOGUE
/** The canonical name of a known event. */
export type EventName = keyof Catalogue

type Snake<S extends string> = S extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${Snake<Tail>}`
  : S
type Alias<E extends EventName> = Catalogue[E]['aliases'][number] | Uncapitalize<E> | Snake<Uncapitalize<E>>

/** Any name a known event goes by. */
export type EventAlias = { [E in EventName]: E | Alias<E> }[EventName]
/** The canonical event behind a name; `string` for an event of your own. */
export type Canonical<N extends string> = N extends EventName
  ? N
  : N extends EventAlias
    ? { [E in EventName]: N extends Alias<E> ? E : never }[EventName]
    : string

/**
 * The name of an event as an argument: a known one, or your own. An unknown plain word is refused, because it is most
 * likely misspelt: write `my:event`, or pass `custom: true` (`Own`). A `string` variable is checked at run time.
 */
export type EventArgument<N extends string, Own = false> = string extends N
  ? N
  : N extends EventAlias | '*' | OwnName
    ? N
    : Own extends true
      ? N
      : EventAlias
type OwnName = `${string}${':' | '.' | '/'}${string}`

interface FieldTypes {
  string: string
  number: number
  boolean: boolean
  object: Data
  list: readonly Json[]
  json: Json
}
type Required<F> = { readonly [K in keyof F]: F[K] extends FieldType ? FieldTypes[F[K]] : never }
type Optional<F> = { readonly [K in keyof F]?: (F[K] extends FieldType ? FieldTypes[F[K]] : never) | null }
type Defaulted<E extends EventName> = Catalogue[E] extends { defaults: infer D } ? keyof D : never
type Twins = {
  readonly tool_result?: Json
  readonly trigger?: string | null
  readonly user_prompt?: string | null
}
type Known<E extends EventName> = Required<Catalogue[E]['required']> &
  Required<Pick<Catalogue[E]['optional'], Defaulted<E> & keyof Catalogue[E]['optional']>> &
  Optional<Omit<Catalogue[E]['optional'], Defaulted<E>>> &
  Optional<Omit<typeof COMMON_FIELDS, keyof Catalogue[E]['required'] | keyof Catalogue[E]['optional']>> &
  Twins

/**
 * The data that a handler of event `N` with matcher `M` reads: snake_case fields, deep-frozen. An event of your own has
 * any JSON object. A matcher that lists tools gives each tool's own input; see `ToolInputs`.
 */
export type Payload<N extends string, M = undefined> =
  Canonical<N> extends EventName
    ? Canonical<N> extends ToolEvent
      ? OfTools<Canonical<N>, ToolsOf<M>>
      : Whole<Canonical<N>>
    : Data
type Whole<E extends EventName> = Flat<Known<E> & Extra>
type OfTools<E extends EventName, T extends string> = string extends T ? Whole<E> : OfTool<Whole<E>, T>
/** Events whose matcher tests the name of a tool. */
type ToolEvent = {
  [E in EventName]: Catalogue[E]['matcher'] extends 'tool_name' ? E : never
}[EventName]
/** Flattens the type, so that a compiler error shows its fields and not how they were computed. */
type Flat<T> = { [K in keyof T]: T[K] }
/** Fields beyond the catalogue pass through. */
interface Extra {
  readonly [key: string]: unknown
}

// ---- names ----------------------------------------------------------------------------------------------------

/** An event of the catalogue, or a custom one, ready for use. */
export interface EventKind extends EventRow {
  readonly name: string
  readonly custom: boolean
  /** The required fields, as a list that is made only once. */
  readonly checks: readonly FieldCheck[]
  readonly types: Readonly<Record<string, FieldType | undefined>>
  readonly twins: readonly (readonly [string, string])[]
}

interface FieldCheck {
  readonly field: string
  readonly type: FieldType
  /** The other accepted name. */
  readonly twin: string | undefined
}

const CUSTOM: Omit<EventKind, 'name'> = {
  when: 'an event of your own',
  aliases: [],
  matcher: null,
  required: {},
  optional: {},
  deny: 'none',
  denyMeans: '–',
  onFailure: 'ignore',
  custom: true,
  checks: [],
  types: Object.create(null),
  twins: [],
}

let aliased: ReadonlyMap<string, EventName> | undefined

/** Every name of every event; made when a name other than the canonical one is first used. */
function canonical(): ReadonlyMap<string, EventName> {
  aliased ??= new Map(
    Object.entries<EventRow>(CATALOGUE).flatMap(([name, { aliases }]) =>
      [name, ...aliases, ...spellings(name)].map((alias) => [alias, name as EventName] as const),
    ),
  )
  return aliased
}

function canonicalName(alias: string): EventName | undefined {
  return Object.hasOwn(CATALOGUE, alias) ? (alias as EventName) : canonical().get(alias)
}

/** Kinds by any name. Each is made when first needed, because a program that starts for every event needs only one. */
const kinds = new Map<string, EventKind>()

function kindOf(alias: string): EventKind | undefined {
  const known = kinds.get(alias)
  if (known) return known
  const name = canonicalName(alias)
  if (name === undefined) return undefined
  const row: EventRow = CATALOGUE[name]
  const kind = alias === name ? madeKind(name, row) : (kindOf(name) as EventKind)
  const implied = row.implied?.[alias]
  const made = implied
    ? {
        ...kind,
        defaults: { ...kind.defaults, ...implied },
        checks: kind.checks.filter(({ field }) => !Object.hasOwn(implied, field)),
      }
    : kind
  kinds.set(alias, made)
  return made
}

function madeKind(name: string, row: EventRow): EventKind {
  const types: Record<string, FieldType | undefined> = {
    __proto__: null,
    ...COMMON,
    ...row.optional,
    ...row.required,
  } as never
  const twins = TWIN_FIELDS.filter(([a, b]) => a in row.required || a in row.optional || b in row.optional)
  for (const [a, b] of twins) types[a] = types[b] = types[a] ?? types[b]
  const checks = Object.entries(row.required).map(([field, type]) => ({
    field,
    type,
    twin: twins.find(([a]) => a === field)?.[1],
  }))
  return { ...row, name, custom: false, checks, types, twins }
}

/** `PreToolUse` is also `preToolUse` and `pre_tool_use`. */
function spellings(name: string): string[] {
  const camel = name.charAt(0).toLowerCase() + name.slice(1)
  return [camel, camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]
}

/** The event behind any of its names. An unknown name is a custom event of the notification class. */
export function resolveEvent(name: string): EventKind {
  const known = kinds.get(name) ?? kindOf(name)
  if (known) return known
  if (typeof name !== 'string' || name === '') {
    throw new HookError('EVENT_INVALID', `An event name must be a non-empty string, got ${shown(name)}`)
  }
  return { ...CUSTOM, name }
}

/** The same for observers: some names of an event are also observations that do not fire it. */
export function resolveNotice(name: string): EventKind {
  const kind = resolveEvent(name)
  return kind.observedAs?.includes(name) ? { ...CUSTOM, name } : kind
}

/** Also made when first needed. */
let folded: ReadonlyMap<string, EventName> | undefined

function unfolded(name: string): EventName | undefined {
  folded ??= new Map([...canonical()].map(([alias, event]) => [fold(alias), event]))
  return folded.get(fold(name))
}

/** A name without case and separators. */
export function fold(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** The known event behind a name in any case and with any separators. For names that other programs send. */
export function canonicalEvent(name: string): EventName | undefined {
  return canonicalName(name) ?? unfolded(name)
}

/** Shorter names are one letter away from too many words. */
const SHORTEST_NEAR = 6
const MOST_REMEMBERED = 256
const nearMisses = new Map<string, EventName | null>()

/** The known event that an unknown name most likely means: equal except for case and separators, or one letter away. */
export function nearMissOf(name: string): EventName | undefined {
  if (canonicalName(name) !== undefined) return undefined
  const known = nearMisses.get(name)
  if (known !== undefined) return known ?? undefined
  const meant = unfolded(name) ?? nextTo(fold(name))
  if (nearMisses.size >= MOST_REMEMBERED) nearMisses.clear()
  nearMisses.set(name, meant ?? null)
  return meant
}

function nextTo(name: string): EventName | undefined {
  for (const [alias, event] of folded ?? []) {
    if (alias.length >= SHORTEST_NEAR && isOneEditAway(name, alias)) return event
  }
  return undefined
}

/** For event names in code. A gate on a misspelt event would never run, so a near miss is refused unless `custom`. */
export function intendedEvent(name: string, custom = false): EventKind {
  const kind = resolveEvent(name)
  const meant = kind.custom && !custom ? nearMissOf(name) : undefined
  if (meant === undefined) return kind
  throw new HookError('EVENT_INVALID', `there is no event ${shown(name)}; did you mean ${meant}?`, {
    hint: 'Correct the name, or pass { custom: true } for an event of your own.',
  })
}

/** Reported once for a hook or an event with a name that is not in the catalogue. */
export function unknownEvent(name: string, what: string): Diagnostic {
  const meant = nearestEvent(name)
  const guess = meant === undefined ? '.' : `; did you mean ${meant}?`
  const text = `${what} ${shown(name)}, which is not a known event${guess} It only matches hooks and events with exactly this name; if it is your own event, pass { custom: true }`
  return { code: 'custom-event', text, ...(meant !== undefined && { meant }) }
}

/** Every known event, in catalogue order. */
export function knownEvents(): readonly EventKind[] {
  return Object.keys(CATALOGUE).map(resolveEvent)
}

/** The event that was most likely meant, by any of its names. For suggestions; `nearMissOf` is stricter. */
export function nearestEvent(name: string): string | undefined {
  const names = eventNames()
  return names.get(nearest(name, names.keys()) ?? '')
}

/** Every name of an event, and the canonical one. */
export function eventNames(): ReadonlyMap<string, string> {
  return new Map(knownEvents().flatMap((kind) => [kind.name, ...kind.aliases].map((one) => [one, kind.name])))
}

// ---- payloads -------------------------------------------------------------------------------------------------

/** Refuses data that lacks a required field. Cheap, because it also runs when nobody listens. */
export function checkRequired(
  kind: EventKind,
  data: unknown,
): asserts data is { readonly [key: string]: unknown } {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    throw invalid(kind, `the data must be an object, got ${described(data)}`)
  }
  const { checks } = kind
  try {
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i] as FieldCheck
      const value = (data as Data)[check.field]
      // A quick check that nearly all values pass; the rest get a closer look.
      const right =
        typeof value === 'object' ? value !== null && !Array.isArray(value) : typeof value === 'string'
      if (right && typeof value === check.type) continue
      checkField(kind, data as Data, check)
    }
  } catch (error) {
    throw isHookError(error) ? error : invalid(kind, `a field cannot be read: ${textOf(error)}`)
  }
}

function checkField(kind: EventKind, data: Data, { field, type, twin }: FieldCheck): void {
  let value = data[field]
  if (twin !== undefined && (value === undefined || value === null)) value = data[twin]
  if (value === undefined || (value === null && type !== 'json')) {
    throw invalid(kind, `the required field ${field} is missing`)
  }
  if (!isType(value, type)) throw mistyped(kind, field, type, value)
}

/** Refuses a known field of the wrong type. Null counts as absent for an optional field. */
export function checkTypes(kind: EventKind, data: { readonly [key: string]: unknown }): void {
  for (const field in data) {
    const type = kind.types[field]
    const value = data[field]
    if (type === undefined || value === undefined || value === null) continue
    if (!isType(value, type)) throw mistyped(kind, field, type, value)
  }
}

/** Fields that belong to the engine: no host sets them, no hook changes them. */
interface Owned {
  readonly timestamp: string
  readonly session_id?: string
}

/**
 * The private, complete, deep-frozen copy of an event's data that hooks see. `data` overrides `base`, defaults are filled
 * in, twin fields appear under both names, and engine-owned fields come last.
 */
export function openPayload(kind: EventKind, base: object, data: object, owned?: Owned): Data {
  const payload = mergedCopy(base, data, kind.name)
  if (owned) {
    payload.hook_event_name = kind.name
    payload.timestamp = owned.timestamp
    if (owned.session_id !== undefined) payload.session_id = owned.session_id
  }
  for (const name in kind.names) {
    if (payload[name] === undefined) continue
    const field = kind.names[name] as string
    const isAbsent = [field, twinOf(kind, field)].every((one) => (payload[one] ?? undefined) === undefined)
    if (isAbsent) payload[field] = payload[name]
  }
  checkTypes(kind, payload)
  for (const [first, second] of kind.twins) {
    const value = payload[first] ?? payload[second]
    if (value !== undefined) payload[first] = payload[second] = value
  }
  for (const key in kind.defaults) {
    if (payload[key] !== undefined && payload[key] !== null) continue
    payload[key] = frozenCopy(kind.defaults[key], key)
    for (const twin of kind.twins) if (twin[0] === key) payload[twin[1]] = payload[key]
  }
  return Object.freeze(payload)
}

function twinOf({ twins }: EventKind, field: string): string {
  return twins.find(([first]) => first === field)?.[1] ?? field
}

/** The text that matchers of this event test. */
export function matcherValue(kind: EventKind, data: Data): string {
  if (kind.matcher === null) return ''
  const value = data[kind.matcher]
  if (typeof value !== 'string') return ''
  return kind.matcher === 'file_path' ? value.slice(value.lastIndexOf('/') + 1) : value
}

function isType(value: unknown, type: FieldType): boolean {
  if (type === 'json') return true
  if (type === 'list') return Array.isArray(value)
  if (type === 'object') return isObject(value)
  return typeof value === type
}

function article(type: FieldType): string {
  return type === 'object' ? 'an object' : `a ${type}`
}

/** The type of a value, for people. */
export function described(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function mistyped(kind: EventKind, field: string, type: FieldType, value: unknown): HookError {
  return invalid(kind, `${field} must be ${article(type)}, got ${described(value)}`)
}

function invalid(kind: EventKind, what: string): HookError {
  return new HookError('PAYLOAD_INVALID', `${kind.name}: ${what}`)
}
