// Plain JSON data: private frozen copies, shallow patches, comparison, canonical text.

import { HookError, isHookError, textOf } from './errors.js'

export type Json = null | boolean | number | string | readonly Json[] | Data
/** An object of JSON values, deep-frozen wherever the engine hands it out. */
export interface Data {
  readonly [key: string]: Json
}

const MAX_DEPTH = 500
const MAX_VALUES = 1_000_000

/**
 * A deep-frozen private copy, by the rules of JSON.stringify: `toJSON` is honoured, undefined and functions are
 * dropped, NaN becomes null. Strings are shared. What JSON cannot carry is refused with the path to it.
 */
export function frozenCopy(value: unknown, where: string): Json {
  const copied = readable(where, () => copy(value, where, 0, { left: MAX_VALUES }))
  return copied === undefined ? null : copied
}

/** What throws when it is looked at (a getter, a toJSON, a proxy) is no data. */
function readable<T>(where: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw isHookError(error) ? error : notJson(where, `cannot be read: ${textOf(error)}`)
  }
}

export function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function copy(value: unknown, where: string, depth: number, budget: { left: number }): Json | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value : null
    case 'object':
      return value === null ? null : copyObject(value, where, depth, budget)
    case 'bigint':
      throw notJson(where, 'is a bigint, which JSON cannot carry')
    default:
      return undefined
  }
}

function copyObject(value: object, where: string, depth: number, budget: { left: number }): Json | undefined {
  if (depth > MAX_DEPTH) throw notJson(where, `is nested deeper than ${MAX_DEPTH} levels, or contains itself`)
  if (budget.left-- <= 0) throw notJson(where, `holds more than ${MAX_VALUES} values`)
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return copy(value.toJSON(), where, depth + 1, budget)
  }
  if (Array.isArray(value)) {
    const list: Json[] = []
    for (let i = 0; i < value.length; i++) list.push(copy(value[i], where, depth + 1, budget) ?? null)
    return Object.freeze(list)
  }
  const fields = isOdd(value) ? ownFields(value) : Object.assign({} as Record<string, unknown>, value)
  return Object.freeze(copyValues(fields, where, depth, budget))
}

/**
 * Copies the fields of three objects, later ones over earlier ones, into one that is not frozen yet; only the second
 * may come from a stranger. Built with Object.assign: an object built by spreading takes several times as long to freeze.
 */
export function mergedCopy(
  first: object,
  second: object,
  third: object,
  where: string,
): Record<string, Json> {
  return readable(where, () => {
    const fields = isOdd(second)
      ? ownFields(first, second, third)
      : Object.assign({} as Record<string, unknown>, first, second, third)
    return copyValues(fields, where, 0, { left: MAX_VALUES })
  })
}

/** Replaces every value of a fresh object by its copy. */
function copyValues(
  fields: Record<string, unknown>,
  where: string,
  depth: number,
  budget: { left: number },
): Record<string, Json> {
  let dropped = false
  for (const key in fields) {
    const item = fields[key]
    if (typeof item === 'string' || typeof item === 'boolean') continue
    const plain = copy(item, typeof item === 'number' ? where : `${where}.${key}`, depth + 1, budget)
    if (plain === undefined) dropped = true
    if (plain !== item) fields[key] = plain
  }
  if (dropped) for (const key of Object.keys(fields)) if (fields[key] === undefined) delete fields[key]
  return fields as Record<string, Json>
}

/** Without symbols, and with the key that assignment would take for the prototype. */
function ownFields(...sources: readonly object[]): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const source of sources) {
    for (const [key, value] of Object.entries(source)) {
      Object.defineProperty(fields, key, { value, enumerable: true, writable: true, configurable: true })
    }
  }
  return fields
}

/** Object.assign would set the prototype, or take symbols along. */
function isOdd(value: object): boolean {
  return Object.hasOwn(value, '__proto__') || Object.getOwnPropertySymbols(value).length > 0
}

function notJson(where: string, what: string): HookError {
  return new HookError('PAYLOAD_INVALID', `${where} ${what}`, { hint: 'Send plain JSON data.' })
}

/** Equality of two JSON values, whatever the order of keys. */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, i) => sameJson(item, b[i]))
    )
  }
  const left = a as Data
  const right = b as Data
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]))
  )
}

/** JSON text with sorted keys: two equal values have one text, so that one digest means one value. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (isObject(value)) {
    const entries = Object.keys(value)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonicalJson((value as Data)[key] as Json)}`)
    return `{${entries.join(',')}}`
  }
  return JSON.stringify(value)
}
