// Applies one hook's `data` to the event: a shallow patch that keeps the payload valid and the engine's fields the engine's.

import { type DiagnosticSink, HookError } from '../base/errors.js'
import { type Data, isObject, type Json, sameJson } from '../base/json.js'
import { OWNED_FIELDS } from './catalogue.js'
import { checkRequired, checkTypes, type EventKind } from './events.js'

export interface Patched {
  readonly data: Data
  /** Keys whose value is another one now; a twin is not listed twice. */
  readonly changed: readonly string[]
}

export interface PatchRules {
  /** Reverts changes to system messages on ModelRequest. */
  readonly protectSystemMessages: boolean
}

/** `patch` is a frozen copy already. Throws ANSWER_INVALID when the changed payload would not be a valid one. */
export function applyPatch(
  kind: EventKind,
  data: Data,
  given: Data,
  rules: PatchRules,
  diagnostics: DiagnosticSink,
): Patched {
  const patch = underOwnNames(kind, given)
  const wanted: [string, Json][] = []
  for (const key of Object.keys(patch)) {
    refuseSlip(kind, key, data)
    for (const twin of twinsOf(kind, key)) {
      const both = Object.hasOwn(patch, twin) && !sameJson(patch[twin], patch[key])
      if (both && !sameJson(patch[twin], data[twin]) && !sameJson(patch[key], data[key])) {
        throw new HookError('ANSWER_INVALID', `${key} and ${twin} are one field, and were given two values`)
      }
    }
    const value = guarded(kind, key, data, patch[key] as Json, rules, diagnostics)
    if (value === undefined || sameJson(data[key], value)) continue
    if (OWNED_FIELDS.has(key)) {
      diagnostics.push({ code: 'owned-field', text: `${key} belongs to the engine; the change is ignored` })
      continue
    }
    wanted.push([key, value])
  }
  const changed = wanted.map(([key]) => key)
  if (changed.length === 0) return { data, changed }
  const next = patchedData(kind, data, Object.fromEntries(wanted))
  try {
    checkRequired(kind, next)
    checkTypes(kind, next)
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    throw new HookError('ANSWER_INVALID', `the change to ${changed.join(', ')} is refused: ${problem}`)
  }
  return { data: next, changed }
}

/** Adds the field that another system's name for it means. */
function underOwnNames({ names }: EventKind, patch: Data): Data {
  const others = names ? Object.keys(names).filter((name) => Object.hasOwn(patch, name)) : []
  if (!names || others.length === 0) return patch
  return { ...Object.fromEntries(others.map((name) => [names[name], patch[name]])), ...patch }
}

/** `whole` replaces the data. A field that the event or the engine needs must be in it. Throws as applyPatch does. */
export function applyWhole(
  kind: EventKind,
  data: Data,
  whole: Data,
  rules: PatchRules,
  diagnostics: DiagnosticSink,
): Patched {
  const isHere = (key: string) => [key, ...twinsOf(kind, key)].some((name) => Object.hasOwn(whole, name))
  const dropped = Object.keys(data).filter((key) => !isHere(key))
  const needed = dropped.filter((key) => isNeeded(kind, key))
  if (needed.length > 0) {
    const text = `the context lacks ${needed.join(', ')}; return all of it, as in ['ok', { ...context, key: value }]`
    throw new HookError('ANSWER_INVALID', text)
  }
  const protects = kind.callsModel && rules.protectSystemMessages
  const emptied = dropped.filter((key) => protects && (key === 'system' || key === 'options'))
  const patch = { ...whole, ...Object.fromEntries(emptied.map((key) => [key, EMPTIED[key] as Json])) }
  const patched = applyPatch(kind, data, patch, rules, diagnostics)
  const gone = new Set(dropped.filter((key) => !emptied.includes(key)))
  if (gone.size === 0) return patched
  const left = Object.entries(patched.data).filter(([key]) => !gone.has(key))
  const removed = new Set([...gone].map((key) => firstName(kind, key)))
  return {
    data: Object.freeze(Object.fromEntries(left)),
    changed: [...patched.changed, ...removed],
  }
}

/** What stands for a field that instructs the model and was dropped: the part that is protected comes back. */
const EMPTIED: Readonly<Record<string, Json>> = { system: null, options: {} }

function isNeeded({ checks }: EventKind, key: string): boolean {
  return OWNED_FIELDS.has(key) || checks.some(({ field, twin }) => field === key || twin === key)
}

/** The data with these keys replaced, each under all its names. */
export function patchedData(kind: EventKind, data: Data, patch: Data): Data {
  // Entries and spread make a key named __proto__ a key like any other.
  const twins = Object.keys(patch).flatMap((key) =>
    twinsOf(kind, key).map((twin) => [twin, patch[key] as Json]),
  )
  return Object.freeze({ ...data, ...patch, ...Object.fromEntries(twins) })
}

/** `toolInput` beside `tool_input` would be a change that nobody sees. */
function refuseSlip(kind: EventKind, key: string, data: Data): void {
  const snake = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  if (snake === key || key in data || kind.types[snake] === undefined) return
  throw new HookError('ANSWER_INVALID', `there is no field ${key}; did you mean ${snake}?`)
}

/** A field under two names goes by the first of them. */
export function firstName(kind: EventKind, key: string): string {
  return kind.twins.find(([, second]) => second === key)?.[0] ?? key
}

function twinsOf(kind: EventKind, key: string): readonly string[] {
  const pair = kind.twins.find(([a, b]) => a === key || b === key)
  return pair ? pair.filter((name) => name !== key) : []
}

/** The value that may be set, undefined for none: on ModelRequest what instructs the model as system stays as it was. */
function guarded(
  kind: EventKind,
  key: string,
  data: Data,
  value: Json,
  rules: PatchRules,
  diagnostics: DiagnosticSink,
): Json | undefined {
  if (!kind.callsModel || !rules.protectSystemMessages) return value
  const kept = withoutSystemChange(key, data[key], value)
  if (kept === value) return value
  const text = `a change of system messages (${key}) was reverted; the rest of the change counts`
  diagnostics.push({ code: 'system-message-reverted', text })
  return kept
}

function withoutSystemChange(key: string, before: Json | undefined, after: Json): Json | undefined {
  if (key === 'system') return sameJson(before, after) ? after : before
  if (
    key === 'options' &&
    isObject(after) &&
    !sameJson(isObject(before) ? (before as Data).system : undefined, (after as Data).system)
  ) {
    const { system: _, ...rest } = after as Data
    const system = isObject(before) ? (before as Data).system : undefined
    return Object.freeze(system === undefined ? rest : { ...rest, system })
  }
  if (key !== 'messages' || !Array.isArray(before) || !Array.isArray(after)) return after
  const system = before.filter(isSystem)
  if (sameJson(system, after.filter(isSystem))) return after
  return Object.freeze([...system, ...after.filter((message) => !isSystem(message))])
}

function isSystem(message: Json): boolean {
  return isObject(message) && (message.role === 'system' || message.role === 'developer')
}
