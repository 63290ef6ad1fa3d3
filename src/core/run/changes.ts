// What a hook changed, value by value, for the trace: within bounds, however large the data is.

import { type Data, isObject, type Json, sameJson } from '../base/json.js'

/** `before` is missing where something was added, `after` where it was removed. */
export interface Change {
  /** Keys and places from the data down: `tools/1`, `tool_input/command`. */
  readonly path: string
  readonly before?: Json
  readonly after?: Json
}

/** More tell nobody more. */
const MOST_CHANGES = 32
/** Characters of JSON; what is longer is in the answer and the data. */
const LONGEST_VALUE = 2000

/** What differs under these keys. */
export function changesBetween(before: Data, after: Data, keys: readonly string[]): readonly Change[] {
  const found: Change[] = []
  for (const key of keys) compare(key, before[key], after[key], found)
  return found
}

function compare(path: string, before: Json | undefined, after: Json | undefined, found: Change[]): void {
  if (found.length >= MOST_CHANGES || sameJson(before, after)) return
  if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      compare(`${path}/${key}`, own(before, key), own(after, key), found)
    }
  } else if (Array.isArray(before) && Array.isArray(after)) compareLists(path, before, after, found)
  else found.push({ path, ...shortly('before', before), ...shortly('after', after) })
}

/** Past what both begin and end with, place by place: one that was added in front is not everything that follows. */
function compareLists(path: string, before: readonly Json[], after: readonly Json[], found: Change[]): void {
  let start = 0
  const shorter = Math.min(before.length, after.length)
  while (start < shorter && sameJson(before[start], after[start])) start++
  let same = 0
  while (same < shorter - start && sameJson(before.at(-1 - same), after.at(-1 - same))) same++
  const ends = [before.length - same, after.length - same] as const
  for (let i = start; i < Math.max(...ends) && found.length < MOST_CHANGES; i++) {
    compare(`${path}/${i}`, i < ends[0] ? before[i] : undefined, i < ends[1] ? after[i] : undefined, found)
  }
}

function own(object: { readonly [key: string]: unknown }, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? (object[key] as Json) : undefined
}

function shortly(name: 'before' | 'after', value: Json | undefined): { before?: Json; after?: Json } {
  if (value === undefined) return {}
  const text = JSON.stringify(value)
  return { [name]: text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : value }
}
