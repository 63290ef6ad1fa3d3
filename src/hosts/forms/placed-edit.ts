// Changes an object in the text of a file, in any syntax: only the values that differ, and only as much of a list as differs.

import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../core/base/json.js'
import type { Placed } from '../../files/placed.js'
import type { Edit } from './json-edit.js'

export interface Syntax {
  /** A value on one line. */
  readonly value: (value: unknown) => string
  readonly pair: (key: string, value: string) => string
}

/** The text does not say the values in a way that can be changed in place. */
export class Unchangeable extends Error {}

export function editsFor(
  text: string,
  old: Placed,
  fresh: Readonly<Record<string, unknown>>,
  syntax: Syntax,
): readonly Edit[] {
  const pairs = old.pairs ?? new Map<string, Placed>()
  const kept = [...pairs].filter(([key]) => Object.hasOwn(fresh, key))
  const gone = [...pairs.keys()].filter((key) => !Object.hasOwn(fresh, key))
  const added = Object.entries(fresh)
    .filter(([key]) => !pairs.has(key))
    .map(([key, value]) => syntax.pair(key, syntax.value(value)))
  const edits = kept.flatMap(([key, one]) => valueEdits(text, one, fresh[key], syntax))
  // What takes the place of another stands there too.
  const [first, ...others] = gone
  if (added.length > 0 && first !== undefined) {
    const { startAt, end, ...one } = changeable(pairs.get(first))
    const line = joined(text, old.isBlock, prefixed(text, { ...one, startAt, end }, added), startAt)
    return [...edits, { at: startAt, end, text: line }, ...removals(text, old, new Set(others))]
  }
  if (added.length > 0) return [...edits, addition(text, old, added)]
  return [...edits, ...removals(text, old, new Set(gone))]
}

function valueEdits(text: string, old: Placed, fresh: unknown, syntax: Syntax): readonly Edit[] {
  if (isDeepStrictEqual(old.value, fresh)) return []
  if (old.pairs && isObject(fresh)) return editsFor(text, old, fresh, syntax)
  if (old.items && Array.isArray(fresh) && Array.isArray(old.value)) {
    const more = fresh.length - old.value.length
    const [longer, shorter] = more > 0 ? [fresh, old.value] : [old.value, fresh]
    if (shorter.length > 0 && isDeepStrictEqual(longer.slice(Math.abs(more)), shorter))
      return [more > 0 ? before(text, old, fresh.slice(0, more), syntax) : without(old, -more)]
  }
  const { at, end } = changeable(old)
  return [{ at, end, text: syntax.value(fresh) }]
}

function changeable(one: Placed | undefined): Placed & { readonly startAt: number } {
  if (one?.startAt === undefined) throw new Unchangeable()
  return one as Placed & { readonly startAt: number }
}

// ---- lists ----------------------------------------------------------------------------------------------------

function before(
  text: string,
  { items = [], isBlock }: Placed,
  fresh: readonly unknown[],
  syntax: Syntax,
): Edit {
  const { startAt } = changeable(items[0])
  const gap = isBlock ? eolOf(text) + indentAt(text, startAt) : ', '
  const words = fresh.map((one) => `${isBlock ? '- ' : ''}${syntax.value(one)}${gap}`)
  return { at: startAt, end: startAt, text: words.join('') }
}

/** Leaves out the first ones. There are more. */
function without({ items = [] }: Placed, count: number): Edit {
  return { at: changeable(items[0]).startAt, end: changeable(items[count]).startAt, text: '' }
}

// ---- pairs ----------------------------------------------------------------------------------------------------

/** After `command`, which its arguments belong to, or else after the last one. */
function addition(text: string, { pairs, isBlock, at }: Placed, added: readonly string[]): Edit {
  const anchor = pairs?.get('command') ?? [...(pairs?.values() ?? [])].at(-1)
  if (!anchor) {
    if (isBlock || at < 0) throw new Unchangeable()
    return { at: at + 1, end: at + 1, text: added.join(', ') }
  }
  const { startAt, end } = changeable(anchor)
  const lines = prefixed(text, anchor, added)
  const fresh = gapOf(text, isBlock, startAt) + joined(text, isBlock, lines, startAt)
  const place = isBlock ? lineEnd(text, end) : end
  return { at: place, end: place, text: fresh }
}

/** With the dotted names before the last key: `servers.files.command` is followed by `servers.files.args`. */
function prefixed(text: string, { startAt, lastKeyAt }: Placed, added: readonly string[]): readonly string[] {
  if (startAt === undefined || lastKeyAt === undefined) return added
  return added.map((one) => text.slice(startAt, lastKeyAt) + one)
}

function joined(text: string, isBlock: boolean, pairs: readonly string[], startAt: number): string {
  return pairs.join(gapOf(text, isBlock, startAt))
}

/** Between two pairs, as the one at this position is written. */
function gapOf(text: string, isBlock: boolean, startAt: number): string {
  if (isBlock) return eolOf(text) + indentAt(text, startAt)
  return isFirstOnLine(text, startAt) ? `,${eolOf(text)}${indentAt(text, startAt)}` : ', '
}

function removals(text: string, { pairs, isBlock }: Placed, gone: ReadonlySet<string>): readonly Edit[] {
  const all = [...(pairs ?? [])].sort(([, a], [, b]) => a.at - b.at)
  const lastKept = all.findLastIndex(([key]) => !gone.has(key))
  const edits = all.flatMap(([key, one], i): readonly Edit[] => {
    if (!gone.has(key)) return []
    const { startAt, end } = changeable(one)
    if (isBlock && isFirstOnLine(text, startAt)) return [wholeLine(text, startAt, end)]
    if (i > lastKept && !isBlock) return []
    const next = changeable(all[i + 1]?.[1]).startAt
    // A comment between them is the user's.
    if (hasComment(text.slice(end, next))) throw new Unchangeable()
    return [{ at: startAt, end: next, text: '' }]
  })
  if (isBlock || lastKept === all.length - 1) return edits
  const from = lastKept < 0 ? changeable(all[0]?.[1]).startAt : (all[lastKept]?.[1].end ?? 0)
  const to = all.at(-1)?.[1].end ?? 0
  if (lastKept < 0 && hasComment(text.slice(from, to))) throw new Unchangeable()
  return [...edits, { at: from, end: to, text: '' }]
}

function hasComment(text: string): boolean {
  return /#|\/[/*]/.test(text)
}

/** A comment after it stays. */
function wholeLine(text: string, startAt: number, end: number): Edit {
  const until = lineEnd(text, end)
  const rest = text.slice(end, until)
  if (rest.trim() !== '') return { at: startAt, end: end + rest.search(/\S/), text: '' }
  const next = text.indexOf('\n', end)
  return { at: startAt - indentAt(text, startAt).length, end: next < 0 ? text.length : next + 1, text: '' }
}

// ---- lines ----------------------------------------------------------------------------------------------------

function eolOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n'
}

function lineEnd(text: string, at: number): number {
  const next = text.indexOf('\n', at)
  const end = next < 0 ? text.length : next
  return text[end - 1] === '\r' && end > at ? end - 1 : end
}

function lineBefore(text: string, at: number): string {
  return text.slice(text.lastIndexOf('\n', at - 1) + 1, at).replace(/^\uFEFF/, '')
}

function isFirstOnLine(text: string, at: number): boolean {
  return lineBefore(text, at).trim() === ''
}

/** Dashes before it count as blanks. */
function indentAt(text: string, at: number): string {
  return isFirstOnLine(text, at) ? lineBefore(text, at) : lineBefore(text, at).replace(/[^\t]/g, ' ')
}
