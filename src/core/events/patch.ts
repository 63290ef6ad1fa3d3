// Applies one hook's `data` to the event: a shallow patch that keeps the payload valid and leaves the engine's own fields alone.

import { type DiagnosticSink, HookError } from '../base/errors.js'
import { type Data, isObject, type Json, sameJson } from '../base/json.js'
import { OWNED_FIELDS } from './catalogue.js'
import { checkRequired, checkTypes, type EventKind } from './events.js'

export interface Patched {
  readonly data: Data
  /** Keys whose value changed. A field with two names is listed once. */
  readonly changed: readonly string[]
}

export interface PatchRules {
  /** Reverts changes to system messages on ModelRequest. */
  readonly protectSystemMessages: boolean
}

/** `patch` is already a frozen copy. Throws ANSWER_INVALID if the changed payload would not be valid. */
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
        throw new HookError(
          'ANSWER_INVALID',
          `${key} and ${twin} are the same field, but have different values`,
        )
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
    throw new HookError('ANSWER_INVALID', `the change to ${changed.join(', ')} was refused: ${problem}`)
  }
  return { data: next, changed }
}

/** Translates other systems' field names. */
function underOwnNames({ names }: EventKind, patch: Data): Data {
  const others = names ? Object.keys(names).filter((name) => Object.hasOwn(patch, name)) : []
  if (!names || others.length === 0) return patch
  return { ...Object.fromEntries(others.map((name) => [names[name], patch[name]])), ...patch }
}

/** `whole` replaces the data, and must contain every field that the event or the engine needs. Throws like applyPatch. */
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

/** Replaces a dropped field that instructs the model, so that its protected part is restored. */
const EMPTIED: Readonly<Record<string, Json>> = { system: null, options: {} }

function isNeeded({ checks }: EventKind, key: string): boolean {
  return OWNED_FIELDS.has(key) || checks.some(({ field, twin }) => field === key || twin === key)
}

/** The data with these keys replaced, each under all its names. */
export function patchedData(kind: EventKind, data: Data, patch: Data): Data {
  // Uses entries and spread, so that a key named __proto__ is a key like any other.
  const twins = Object.keys(patch).flatMap((key) =>
    twinsOf(kind, key).map((twin) => [twin, patch[key] as Json]),
  )
  return Object.freeze({ ...data, ...patch, ...Object.fromEntries(twins) })
}

/** `toolInput` beside `tool_input` would be a change without effect. */
function refuseSlip(kind: EventKind, key: string, data: Data): void {
  const snake = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  if (snake === key || key in data || kind.types[snake] === undefined) return
  throw new HookError('ANSWER_INVALID', `there is no field ${key}; did you mean ${snake}?`)
}

/** The first name of a field that has two. */
export function firstName(kind: EventKind, key: string): string {
  return kind.twins.find(([, second]) => second === key)?.[0] ?? key
}

function twinsOf(kind: EventKind, key: string): readonly string[] {
  const pair = kind.twins.find(([a, b]) => a === key || b === key)
  return pair ? pair.filter((name) => name !== key) : []
}

/** The value to set, or undefined for none. On ModelRequest, system instructions stay as they were. */
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
