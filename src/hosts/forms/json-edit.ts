// Edits the text of a JSON file and leaves everything else as it is: comments, order, indentation, line ends.

import type { Spot } from '../../files/json-text.js'

/** A replacement for the text between two positions. */
export interface Edit {
  readonly at: number
  readonly end: number
  readonly text: string
}

/** The layout of a text. */
export interface Layout {
  readonly eol: '\n' | '\r\n'
  /** One step of indentation; undefined if everything is on one line. */
  readonly unit: string | undefined
}

/** Applies edits that do not overlap. Edits at the same position are applied in the given order. */
export function edited(text: string, edits: readonly Edit[]): string {
  let result = ''
  let from = 0
  for (const { at, end, text: fresh } of edits.toSorted((a, b) => a.at - b.at)) {
    result += text.slice(from, at) + fresh
    from = end
  }
  return result + text.slice(from)
}

export function layoutOf(text: string, root: Spot): Layout {
  const eol = /\r?\n/.exec(text)?.[0] === '\r\n' ? '\r\n' : '\n'
  const [first] = inOrder(root)
  if (!first) return { eol, unit: '  ' }
  return {
    eol,
    unit: ownIndent(text, first) ?? (text.slice(root.at, root.end).includes('\n') ? '  ' : undefined),
  }
}

// ---- adding ---------------------------------------------------------------------------------------------------

/** Adds items at the front of a list. */
export function prepended(
  text: string,
  list: Spot,
  items: readonly unknown[],
  layout: Layout,
): readonly Edit[] {
  const [first] = inOrder(list)
  if (!first)
    return [
      filled(
        text,
        list,
        items.map((item) => ({ item })),
        layout,
      ),
    ]
  const indent = ownIndent(text, first)
  if (indent === undefined) {
    const gap = layout.unit === undefined ? ',' : ', '
    return [inserted(startOf(first), items.map((item) => JSON.stringify(item) + gap).join(''))]
  }
  // A comment on the line where the list begins stays there.
  const remark = /^[ \t]*\/\/[^\r\n]*/.exec(text.slice(list.at + 1, first.at))?.[0] ?? ''
  const lines = items.map((item) => `${layout.eol}${indent}${written(item, indent, layout)},`)
  return [inserted(list.at + 1 + remark.length, lines.join(''))]
}

/** Adds keys at the end of an object that does not have them. */
export function appended(
  text: string,
  object: Spot,
  entries: readonly (readonly [key: string, value: unknown])[],
  layout: Layout,
): readonly Edit[] {
  return atEnd(
    text,
    object,
    entries.map(([key, item]) => ({ key, item })),
    layout,
  )
}

/** Adds items at the end of a list. */
export function pushed(text: string, list: Spot, items: readonly unknown[], layout: Layout): readonly Edit[] {
  return atEnd(
    text,
    list,
    items.map((item) => ({ item })),
    layout,
  )
}

/** A new child of an object, with its key, or of a list. */
interface Child {
  readonly key?: string
  readonly item: unknown
}

function atEnd(text: string, container: Spot, added: readonly Child[], layout: Layout): readonly Edit[] {
  const children = inOrder(container)
  const [first, last] = [children[0], children.at(-1)]
  if (!first || !last) return [filled(text, container, added, layout)]
  const indent = ownIndent(text, first)
  const trailing = last.comma !== undefined
  if (indent === undefined) {
    const comma = layout.unit === undefined ? ',' : ', '
    const joined = added.map(({ key, item }) => named(key, JSON.stringify(item), layout)).join(comma)
    return [
      inserted(
        last.comma === undefined ? last.end : last.comma + 1,
        trailing ? ` ${joined},` : comma + joined,
      ),
    ]
  }
  const spaced = { ...layout, unit: layout.unit ?? '' }
  const lines = added.map(
    ({ key, item }) => `${layout.eol}${indent}${named(key, written(item, indent, layout), spaced)}`,
  )
  // After comments on the last one.
  const behind = text.slice(0, container.end - 1).trimEnd().length
  return [
    ...(trailing ? [] : [inserted(last.end, ',')]),
    inserted(behind, lines.join(',') + (trailing ? ',' : '')),
  ]
}

function named(key: string | undefined, value: string, { unit }: Layout): string {
  return key === undefined ? value : JSON.stringify(key) + (unit === undefined ? ':' : ': ') + value
}

/** Fills an empty object or list. Comments in it stay. */
function filled(text: string, { at, end }: Spot, children: readonly Child[], layout: Layout): Edit {
  const { eol, unit } = layout
  if (unit === undefined) {
    const pairs = children.map(({ key, item }) => named(key, JSON.stringify(item), layout))
    return inserted(at + 1, pairs.join(','))
  }
  const outer = indentAt(text, at)
  const indent = outer + unit
  const lines = children.map(
    ({ key, item }) => eol + indent + named(key, written(item, indent, layout), layout),
  )
  const isBlank = text.slice(at + 1, end - 1).trim() === ''
  return { at: at + 1, end: isBlank ? end - 1 : at + 1, text: lines.join(',') + eol + outer }
}

function written(value: unknown, indent: string, { eol, unit }: Layout): string {
  return JSON.stringify(value, null, unit).replaceAll('\n', eol + indent)
}

function inserted(at: number, text: string): Edit {
  return { at, end: at, text }
}

// ---- removing -------------------------------------------------------------------------------------------------

/** Removes children of an object or list, with their commas. */
export function removed(text: string, container: Spot, gone: ReadonlySet<Spot>): readonly Edit[] {
  const children = inOrder(container)
  const stay = children.filter((child) => !gone.has(child))
  if (stay.length === 0 && isBare(text, container, children)) {
    return [{ at: container.at + 1, end: container.end - 1, text: '' }]
  }
  const edits = children.filter((child) => gone.has(child)).map((child) => without(text, child))
  // The new last child has a comma too many, unless the old one also had a trailing comma.
  const last = stay.at(-1)
  const isLast = last === children.at(-1)
  if (last?.comma === undefined || isLast || children.at(-1)?.comma !== undefined) return edits
  return [...edits, { at: last.comma, end: last.comma + 1, text: '' }]
}

/** Whether it contains nothing but these children, commas and whitespace. */
function isBare(text: string, { at, end }: Spot, children: readonly Spot[]): boolean {
  const rest = edited(text, [
    ...children.map((child) => ({ at: startOf(child), end: child.end, text: '' })),
    { at: end - 1, end: text.length, text: '' },
  ])
  return /^[\s,]*$/.test(rest.slice(at + 1))
}

function without(text: string, child: Spot): Edit {
  const start = startOf(child)
  const end = child.comma === undefined ? child.end : child.comma + 1
  const before = text.slice(0, start).trimEnd().length
  const blanks = /^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0
  const isLastOnLine = /^[\r\n]?$/.test(text.charAt(end + blanks))
  const ownLine = text.slice(before, start).includes('\n')
  const isFirst = '[{'.includes(text.charAt(before - 1))
  // Text that follows on its line must not end up after a comment on the line before.
  if ((ownLine && !isLastOnLine) || (!ownLine && isFirst)) {
    return { at: start, end: end + blanks, text: '' }
  }
  return { at: before, end, text: '' }
}

// ---- positions ------------------------------------------------------------------------------------------------

/** In the order of the text. */
function inOrder({ inside }: Spot): readonly Spot[] {
  return [...(inside?.values() ?? [])].sort((a, b) => a.at - b.at)
}

function startOf({ keyAt, at }: Spot): number {
  return keyAt ?? at
}

/** The whitespace before it, if nothing else precedes it on its line. */
function ownIndent(text: string, child: Spot): string | undefined {
  return /\n([ \t]*)$/.exec(text.slice(0, startOf(child)))?.[1]
}

/** The indentation of the line at this position. */
function indentAt(text: string, at: number): string {
  const line = text.lastIndexOf('\n', at - 1) + 1
  return /^[ \t]*/.exec(text.slice(line, at))?.[0] ?? ''
}
