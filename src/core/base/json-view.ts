// Values that JSON cannot carry: what hooks see of them, and how the originals reach the tool or the model.

import { HookError, isHookError, textOf } from './errors.js'
import { type Data, frozenCopy, isObject, isPlain, type Json, sameJson } from './json.js'

/** A value as the caller gave it, and as hooks see it. */
export interface Viewed {
  /** A frozen copy of its plain objects and lists. Everything else in it is the caller's own. */
  readonly original: unknown
  /** What JSON can carry. */
  readonly view: unknown
}

const MAX_DEPTH = 500
const MAX_VALUES = 1_000_000

/** Undefined for plain JSON, which hooks see as it is. The copy is made now: what is judged is what runs. */
export function viewed(value: unknown): Viewed | undefined {
  try {
    if (isPlainJson(value, 0, { left: MAX_VALUES })) return undefined
    return new Viewing().of(value, 0)
  } catch (error) {
    if (isHookError(error)) throw error
    throw new HookError('PAYLOAD_INVALID', `a value cannot be read: ${textOf(error)}`)
  }
}

function isPlainJson(value: unknown, depth: number, budget: { left: number }): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || depth > MAX_DEPTH || budget.left-- <= 0) return false
  if (!Array.isArray(value) && (!isPlain(value) || rendersItself(value))) return false
  return Object.values(value).every((item) => isPlainJson(item, depth + 1, budget))
}

function rendersItself(value: object): boolean {
  return typeof (value as { readonly toJSON?: unknown }).toJSON === 'function'
}

class Viewing {
  #left = MAX_VALUES
  /** The objects around the one that is looked at. */
  readonly #around = new Set<object>()

  of(value: unknown, depth: number): Viewed {
    if (typeof value === 'bigint') return { original: value, view: value.toString() }
    if (typeof value !== 'object' || value === null) return { original: value, view: value }
    if (this.#around.has(value) || depth > MAX_DEPTH || this.#left-- <= 0) throw unbounded()
    this.#around.add(value)
    try {
      if (Array.isArray(value)) return this.#list(value, depth + 1)
      if (isPlain(value) && !rendersItself(value)) return this.#fields(value, depth + 1)
      // Plain data that cannot be rendered is a mistake; an object of a class need not be made for it.
      const view = isPlain(value) ? this.#shown(value, depth + 1) : this.#opaque(value, depth + 1)
      return { original: value, view }
    } finally {
      this.#around.delete(value)
    }
  }

  #list(list: readonly unknown[], depth: number): Viewed {
    const items = list.map((item) => this.of(item, depth))
    return { original: Object.freeze(items.map(originalOf)), view: items.map(viewOf) }
  }

  /** Entries make a key named __proto__ a key like any other. */
  #fields(object: object, depth: number): Viewed {
    const entries = Object.entries(object).map(([key, item]) => [key, this.of(item, depth)] as const)
    const made = (part: (one: Viewed) => unknown) =>
      Object.fromEntries(entries.map(([key, one]) => [key, part(one)]))
    return { original: Object.freeze(made(originalOf)), view: made(viewOf) }
  }

  /** A guard would let an empty object pass, so that whatever shows nothing of itself is shown as a text. */
  #opaque(value: object, depth: number): unknown {
    try {
      const shown = this.#shown(value, depth)
      return isObject(shown) && Object.keys(shown).length === 0 ? textForm(value) : shown
    } catch {
      return textForm(value)
    }
  }

  #shown(value: object, depth: number): unknown {
    const { toJSON } = value as { readonly toJSON?: unknown }
    if (typeof toJSON === 'function') return this.of(toJSON.call(value), depth).view
    if (value instanceof Map) return this.#map(value, depth)
    if (value instanceof Set) return this.#list([...value], depth).view
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return base64(value)
    if (value instanceof Error) return `${value.name}: ${value.message}`
    return this.#fields(value, depth).view
  }

  #map(map: ReadonlyMap<unknown, unknown>, depth: number): unknown {
    const entries = [...map]
    const isObjectLike = entries.every(([key]) => typeof key === 'string')
    const given: object = isObjectLike ? Object.fromEntries(entries) : entries
    return this.of(given, depth).view
  }
}

const originalOf = ({ original }: Viewed) => original
const viewOf = ({ view }: Viewed) => view

function unbounded(): HookError {
  return new HookError('PAYLOAD_INVALID', 'a value is nested too deeply, contains itself or is too large', {
    hint: 'Send plain data.',
  })
}

/** As many arguments as every engine takes. */
const CHUNK = 8192

function base64(bytes: ArrayBufferView | ArrayBuffer): string {
  const view = ArrayBuffer.isView(bytes)
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes)
  let text = ''
  for (let i = 0; i < view.length; i += CHUNK) text += String.fromCharCode(...view.subarray(i, i + CHUNK))
  return btoa(text)
}

function textForm(value: object): string {
  try {
    const text = String(value)
    return text === '[object Object]' ? `[object ${value.constructor?.name ?? 'Object'}]` : text
  } catch {
    return 'a value that has no text form'
  }
}

// ---- the way back

/** The final value, in which everything that looks to hooks as it did before is the original again. */
export function restored(final: Json | undefined, { original, view }: Viewed): unknown {
  return givenBack(final, frozenCopy(view, 'the value'), original)
}

/** One field of a viewed object. */
export function fieldOf({ original, view }: Viewed, key: string): Viewed {
  return { original: (original as Data)[key], view: (view as Data)[key] }
}

function givenBack(final: Json | undefined, before: Json | undefined, original: unknown): unknown {
  if (sameJson(final, before)) return original
  if (Array.isArray(final) && Array.isArray(before) && Array.isArray(original)) {
    return Object.freeze(listBack(final, before, original))
  }
  if (!isObject(final) || !isObject(before) || !isObject(original) || !isPlain(original)) return final
  const entries = Object.entries(final as Data).map(([key, item]) => {
    const had = Object.hasOwn(before, key)
    return [key, had ? givenBack(item, (before as Data)[key], original[key]) : item]
  })
  return Object.freeze(Object.fromEntries(entries))
}

/** Items that both lists begin or end with are the same items, also where some were added or removed between them. */
function listBack(
  final: readonly Json[],
  before: readonly Json[],
  original: readonly unknown[],
): readonly unknown[] {
  const shorter = Math.min(final.length, before.length)
  let start = 0
  while (start < shorter && sameJson(final[start], before[start])) start++
  let end = 0
  while (end < shorter - start && sameJson(final.at(-1 - end), before.at(-1 - end))) end++
  return final.map((item, i) => {
    if (i < start) return original[i]
    if (i >= final.length - end) return original[i - final.length + original.length]
    return final.length === before.length ? givenBack(item, before[i], original[i]) : item
  })
}
