// Plain JSON data: private frozen copies, shallow patches, comparison, canonical text.

import { isObject, isPlain, Showing } from './content.js'
import { HookError, isHookError, textOf } from './errors.js'

export { isObject, isPlain } from './content.js'

export type Json = null | boolean | number | string | readonly Json[] | Data
/** An object of JSON values, deep-frozen wherever the engine hands it out. */
export interface Data {
  readonly [key: string]: Json
}

const MAX_DEPTH = 500
const MAX_VALUES = 1_000_000

/**
 * A deep-frozen private copy, by the rules of JSON.stringify: `toJSON` is honoured, undefined and functions are
 * dropped, NaN becomes null. Strings are shared. A Map or an object of a class is copied by content. Throws for a value
 * that JSON cannot carry, and names its path.
 */
export function frozenCopy(value: unknown, where: string): Json {
  try {
    return copy(value, where, 0, { left: MAX_VALUES }) ?? null
  } catch (error) {
    throw unreadable(error, where)
  }
}

/** A value that throws when it is read (a getter, a toJSON, a proxy) is not data. */
function unreadable(error: unknown, where: string): HookError {
  return isHookError(error) ? error : notJson(where, `cannot be read: ${textOf(error)}`)
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
  const { toJSON } = value as { readonly toJSON?: unknown }
  if (typeof toJSON === 'function') return copy(toJSON.call(value), where, depth + 1, budget)
  if (Array.isArray(value)) {
    const list: Json[] = []
    budget.left -= value.length
    if (budget.left < 0) throw notJson(where, `holds more than ${MAX_VALUES} values`)
    for (let i = 0; i < value.length; i++) list.push(copy(value[i], where, depth + 1, budget) ?? null)
    return Object.freeze(list)
  }
  if (!isPlain(value)) return copy(new Showing().show(value), where, depth + 1, budget)
  const fields: Record<string, Json> = {}
  addFields(fields, value, where, depth, budget)
  return Object.freeze(fields)
}

/** Copies the fields of two objects, the second over the first, into one that is not frozen yet. */
export function mergedCopy(first: object, second: object, where: string): Record<string, Json> {
  const fields: Record<string, Json> = {}
  const budget = { left: MAX_VALUES }
  try {
    addFields(fields, first, where, 0, budget)
    addFields(fields, second, where, 0, budget)
  } catch (error) {
    throw unreadable(error, where)
  }
  return fields
}

/** Field by field: an object built by spreading takes several times as long to freeze. */
function addFields(
  target: Record<string, Json>,
  source: object,
  where: string,
  depth: number,
  budget: { left: number },
): void {
  const plain = Object.getPrototypeOf(source) === Object.prototype
  for (const key in source) {
    if (!plain && !Object.hasOwn(source, key)) continue
    if (budget.left-- <= 0) throw notJson(where, `holds more than ${MAX_VALUES} values`)
    const item = (source as Record<string, unknown>)[key]
    const value = typeof item === 'string' ? item : copy(item, fieldPath(where, key, item), depth + 1, budget)
    if (value === undefined) continue
    if (key === '__proto__') setOwn(target, key, value)
    else target[key] = value
  }
}

/** Most values are never refused, so they need no path. */
function fieldPath(where: string, key: string, item: unknown): string {
  return typeof item === 'object' || typeof item === 'bigint' ? `${where}.${key}` : where
}

/** Assigning `__proto__` would set the prototype. */
function setOwn(target: Record<string, Json>, key: string, value: Json): void {
  Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true })
}

function notJson(where: string, what: string): HookError {
  const path = where.length > 80 ? `${where.slice(0, 77)}…` : where
  return new HookError('PAYLOAD_INVALID', `${path} ${what}`, { hint: 'Send plain JSON data.' })
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

/**
 * Whether a value can replace another: text for text, an object with at least the same fields, a list with such items in
 * the same order. Nothing can replace a value that is not plain data.
 */
export function hasFormOf(value: Json | undefined, other: unknown): boolean {
  if (typeof other !== 'object') return JSON_TYPES.includes(typeof other) && typeof value === typeof other
  if (other === null) return value === null
  if (Array.isArray(other)) {
    // Each item is compared once: a list of lists would take for ever.
    const isLike = (item: Json, i: number) => hasFormOf(item, other[Math.min(i, other.length - 1)])
    return Array.isArray(value) && value.every(isLike)
  }
  if (!isPlain(other) || !isObject(value)) return false
  const fields = Object.entries(other).filter(([, field]) => field !== undefined)
  return fields.every(([key, field]) => hasFormOf((value as Data)[key], field))
}

const JSON_TYPES: readonly string[] = ['string', 'number', 'boolean']

/** JSON text with sorted keys, so that equal values have the same text and the same digest. */
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

// ---- where a text stops being JSON
// JSON.parse rarely says where, and its message quotes the text.

/** Whitespace, then the beginning of a string, a value of one token, or a punctuator. */
const TOKEN = /[ \t\r\n]*(?:(")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|([{}[\],:]))/y
const ESCAPE = /["\\/bfnrt]|u[\da-fA-F]{4}/y
const [QUOTE, BACKSLASH, FIRST_PRINTABLE] = [34, 92, 32]

/** The tokens that may come next. `first…` may also be the end of what was just opened. */
type Next = 'value' | 'firstValue' | 'key' | 'firstKey' | 'colon' | 'comma'

export interface JsonBreak {
  /** Position of the first invalid token; the length of the text if it is valid JSON. */
  readonly at: number
  /** `end`: the text ends too early. `after`: something follows the document. */
  readonly kind: 'end' | 'after' | 'odd'
}

export function breakOf(text: string): JsonBreak {
  const open: string[] = []
  let next: Next | undefined = 'value'
  for (let at = 0; ; ) {
    const start = at + blanksAt(text, at)
    if (start === text.length) return { at: start, kind: 'end' }
    if (next === 'comma' && open.length === 0) return { at: start, kind: 'after' }
    TOKEN.lastIndex = at
    const token = TOKEN.exec(text)
    at = token?.[1] === undefined ? TOKEN.lastIndex : stringEnd(text, TOKEN.lastIndex)
    if (at > text.length) return { at: start, kind: 'end' }
    next = token && at > start ? after(next, token, open) : undefined
    if (next === undefined) return { at: start, kind: 'odd' }
  }
}

function blanksAt(text: string, at: number): number {
  let end = at
  while (end < text.length && ' \t\r\n'.includes(text.charAt(end))) end++
  return end - at
}

/** Scans by hand, because a regular expression takes too much memory for megabytes. Past the end of the text if the string is unterminated; 0 if it is invalid. */
function stringEnd(text: string, from: number): number {
  for (let i = from; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char === QUOTE) return i + 1
    if (char < FIRST_PRINTABLE) return 0
    if (char !== BACKSLASH) continue
    ESCAPE.lastIndex = i + 1
    if (!ESCAPE.test(text)) return i + 1 === text.length ? text.length + 1 : 0
    i = ESCAPE.lastIndex - 1
  }
  return text.length + 1
}

/** Undefined if the token is not allowed there. */
function after(next: Next, [, string, word, mark]: RegExpExecArray, open: string[]): Next | undefined {
  const isKey = next === 'key' || next === 'firstKey'
  if (string !== undefined && isKey) return 'colon'
  const isValue = next === 'value' || next === 'firstValue'
  if (string !== undefined || word !== undefined) return isValue ? 'comma' : undefined
  if (mark === ':') return next === 'colon' ? 'value' : undefined
  if (mark === '{' || mark === '[') {
    if (!isValue) return undefined
    open.push(mark)
    return mark === '{' ? 'firstKey' : 'firstValue'
  }
  const inside = open.at(-1)
  if (mark === ',') {
    if (next !== 'comma' || inside === undefined) return undefined
    return inside === '{' ? 'key' : 'value'
  }
  const mayEnd = next === 'comma' || next === (mark === '}' ? 'firstKey' : 'firstValue')
  if (!mayEnd || inside !== (mark === '}' ? '{' : '[')) return undefined
  open.pop()
  return 'comma'
}

// ---- texts that parsers may read differently ------------------------------------------------------------------

export interface JsonShape {
  readonly isTooDeep: boolean
  /** A key that one object has twice. JSON.parse keeps the last, other programs the first. */
  readonly repeated?: string
}

const [COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [44, 91, 93, 123, 125] as const

/** Checks before parsing, because a parser would use all memory on a text of nothing but brackets. One pass over the text. */
export function shapeOf(text: string, deepest = Infinity): JsonShape {
  /** The keys of each object around this place; undefined for a list. */
  const around: (Keys | undefined)[] = []
  let keys: Keys | undefined
  let isKey = false
  let repeated: string | undefined
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char === QUOTE) {
      const end = closingQuote(text, i)
      if (isKey && keys?.add(keyIn(text, i, end)) === false) repeated ??= keyIn(text, i, end)
      isKey = false
      i = end
    } else if (char === COMMA) isKey = keys !== undefined
    else if (char < OPEN_LIST) continue
    else if (char === OPEN_OBJECT || char === OPEN_LIST) {
      around.push(keys)
      if (around.length > deepest) return { isTooDeep: true }
      isKey = char === OPEN_OBJECT
      keys = isKey ? new Keys() : undefined
    } else if (char === CLOSE_OBJECT || char === CLOSE_LIST) keys = around.pop()
  }
  return repeated === undefined ? { isTooDeep: false } : { isTooDeep: false, repeated }
}

/** A set is slower than a list for the few keys of most objects. */
const MANY_KEYS = 16

class Keys {
  readonly #few: string[] = []
  #many: Set<string> | undefined

  /** False if the key was already there. */
  add(key: string): boolean {
    if (this.#many?.has(key) ?? this.#few.includes(key)) return false
    if (this.#many) this.#many.add(key)
    else if (this.#few.push(key) > MANY_KEYS) this.#many = new Set(this.#few)
    return true
  }
}

/** The position of the quote that ends a string; the end of the text if there is none. */
export function closingQuote(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return end
  }
  return text.length
}

/** The key as JSON.parse reads it: letters may be escaped. */
function keyIn(text: string, from: number, end: number): string {
  const key = text.slice(from + 1, end)
  if (!key.includes('\\')) return key
  try {
    return String(JSON.parse(text.slice(from, end + 1)))
  } catch {
    return key // the text is not JSON
  }
}
