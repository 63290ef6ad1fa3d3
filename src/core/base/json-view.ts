// Values that JSON cannot carry: the view that hooks get, and how the originals reach the tool or the model.

import { isObject, isPlain, rendersItself, Showing, unshown } from './content.js'
import { HookError, isHookError, textOf } from './errors.js'
import { type Data, frozenCopy, type Json, sameJson } from './json.js'

/** A value as the caller gave it, and as hooks see it. */
export interface Viewed {
  /** A frozen copy of its plain objects and lists. Everything else in it is the caller's own. */
  readonly original: unknown
  /** Plain JSON. */
  readonly view: unknown
}

const MAX_DEPTH = 500
const MAX_VALUES = 1_000_000

/** Undefined for plain JSON, which hooks see as it is. The copy is made now, so that hooks judge exactly what runs. */
export function viewed(value: unknown): Viewed | undefined {
  return readable(() => {
    if (isPlainJson(value, 0, { left: MAX_VALUES })) return undefined
    return new Viewing().of(value, 0)
  })
}

/** Whether hooks would see something else now, because a value that cannot be copied changed while they judged it. */
export function hasChanged({ original, view }: Viewed): boolean {
  const now = readable(() => new Viewing().of(original, 0).view)
  return !sameJson(frozenCopy(now, 'the value'), frozenCopy(view, 'the value'))
}

/** The view of a value that can no longer be refused. */
export function shownAnyway(value: unknown): Json {
  try {
    const isPlainData = isPlainJson(value, 0, { left: MAX_VALUES })
    return frozenCopy(isPlainData ? value : new Showing(true).show(value), 'the value')
  } catch {
    return isObject(value) ? unshown(value) : '[a value that cannot be shown]'
  }
}

function readable<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (isHookError(error)) throw error
    throw new HookError('PAYLOAD_INVALID', `a value cannot be read: ${textOf(error)}`)
  }
}

function isPlainJson(value: unknown, depth: number, budget: { left: number }): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || depth > MAX_DEPTH || budget.left-- <= 0) return false
  if (Array.isArray(value) ? Object.keys(value).length !== value.length : !isPlain(value)) return false
  if (rendersItself(value)) return false
  return Object.values(value).every((item) => isPlainJson(item, depth + 1, budget))
}

class Viewing {
  #left = MAX_VALUES
  /** The ancestors of the current object. */
  readonly #around = new Set<object>()
  readonly #showing = new Showing()

  /** Plain data and lists are copied, so they must be finite. Everything else is shown. */
  of(value: unknown, depth: number): Viewed {
    if (!isCopied(value)) return { original: value, view: this.#showing.show(value) }
    if (this.#around.has(value) || depth > MAX_DEPTH || this.#left-- <= 0) throw unbounded()
    this.#around.add(value)
    try {
      return Array.isArray(value) ? this.#list(value, depth + 1) : this.#fields(value, depth + 1)
    } finally {
      this.#around.delete(value)
    }
  }

  #list(list: readonly unknown[], depth: number): Viewed {
    const items = Array.from(list, (item) => this.of(item, depth))
    return { original: Object.freeze(items.map(originalOf)), view: items.map(viewOf) }
  }

  /** Uses entries, so that a key named __proto__ is a key like any other. */
  #fields(object: object, depth: number): Viewed {
    const entries = Object.entries(object).map(([key, item]) => [key, this.of(item, depth)] as const)
    const made = (part: (one: Viewed) => unknown) =>
      Object.fromEntries(entries.map(([key, one]) => [key, part(one)]))
    return { original: Object.freeze(made(originalOf)), view: made(viewOf) }
  }
}

function isCopied(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || rendersItself(value)) return false
  return Array.isArray(value) || isPlain(value)
}

const originalOf = ({ original }: Viewed) => original
const viewOf = ({ view }: Viewed) => view

function unbounded(): HookError {
  return new HookError('PAYLOAD_INVALID', 'a value is nested too deeply, contains itself or is too large', {
    hint: 'Send plain data.',
  })
}

// ---- the way back

/** The final value. Every part that hooks left unchanged is the caller's original again. */
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

/** Items that both lists begin or end with are the same items, even if others were added or removed between them. */
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
