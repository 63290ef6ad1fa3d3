// Text that all commands print in the same way: durations, paths, diagnostics, columns.

import { relative, sep } from 'node:path'
import type { Diagnostic } from '../../core/base/errors.js'
import { visible, visibleName } from '../../core/base/text.js'
import { callerPath } from '../../files/caller.js'
import { withTilde } from '../../files/homes.js'
import type { Remark } from '../../plugins/migrate/movable-hooks.js'
import type { Untrusted } from '../../trust/unit.js'
import { type Places, projectOf } from '../sources.js'
import { fitted, shownColumns } from './fit.js'
import { severityColour, severityOf } from './severity.js'
import { type Paint, width } from './terminal.js'

export function duration(ms: number): string {
  return `${ms < 10 ? ms.toFixed(2) : Math.round(ms)} ms`
}

/** `1 hook`, `2 hooks`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Without line breaks, cut to this length. */
export function oneLine(text: string, longest = Infinity): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line
}

/** `a, b, c, d, e and 3 more` */
export function some(names: readonly string[], most = 5): string {
  const more = names.length > most ? ` and ${names.length - most} more` : ''
  return `${names.slice(0, most).join(', ')}${more}`
}

export function grouped<K, T>(items: readonly T[], keyOf: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}

/** Indents every line; all but the first by two more. */
export function indented(text: string, by: number): readonly string[] {
  const [first = '', ...rest] = text.trimEnd().split('\n')
  return [`${' '.repeat(by)}${first}`, ...rest.map((line) => `${' '.repeat(by + 2)}${line}`)]
}

/** Relative to the current directory or the home, where that is shorter. */
export function shortPath(path: string): string {
  const here = fromHere(path)
  if (here !== '.' && here !== path && here !== '..' && !here.startsWith(`..${sep}`)) return here
  return withTilde(path)
}

/** Relative to the current directory, and never like an option. */
export function fromHere(path: string): string {
  try {
    const here = relative('', path) || '.'
    return here.startsWith('-') ? `.${sep}${here}` : here
  } catch {
    return path // the current directory is gone
  }
}

/** `file:line`, which most terminals open on a click; empty without a file. */
export function placeOf({ file, line }: { readonly file?: string; readonly line?: number }): string {
  if (file === undefined) return ''
  // Text that was already made visible stays as it is.
  const path = shortPath(file).split('⟨').map(visible).join('⟨')
  return line === undefined ? path : `${path}:${line}`
}

export function noticeLines(notices: readonly Diagnostic[], paint: Paint, by = 0): readonly string[] {
  return notices.flatMap((notice) => {
    const place = placeOf(notice)
    const where = place === '' ? '' : `${place} `
    const severity = severityOf(notice.code)
    return labelled(
      `${severity} ${notice.code}`,
      `${where}${notice.text}`,
      severityColour(severity, paint),
      by,
    )
  })
}

export function nextLines(next: readonly string[], paint: Paint): readonly string[] {
  return next.flatMap((todo) => todoLines('next', todo, paint))
}

/**
 * A sentence, or a command in one piece, so that it can be copied. A name with a line break must not make up a line of its
 * own.
 */
export function todoLines(label: string, todo: string, paint: Paint, by = 0): readonly string[] {
  const text = todo.replace(/\s*\n\s*/g, ' ')
  const isSentence = /^[A-Z][a-z]* /.test(text)
  return labelled(label, text, paint.dim, by, isSentence ? width() : Infinity)
}

export function labelled(
  label: string,
  text: string,
  colour: (text: string) => string,
  by = 0,
  columns = width(),
): readonly string[] {
  const [first = '', ...rest] = text.split('\n')
  const lines = [
    `${' '.repeat(by)}${colour(label)} ${first}`,
    ...rest.map((line) => `${' '.repeat(by + 2)}${line}`),
  ]
  return fitted(lines, columns, by + 2)
}

const BETWEEN = 2

/**
 * Pads cells to columns, all but the last. Colours are added afterwards. If the table is too wide, a long cell does not
 * push the other rows to the right.
 */
export function columns(rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, shownColumns(cell))
  }
  const total = widths.reduce((sum, one) => sum + one + BETWEEN, 0)
  const most = total > width() ? Math.floor(width() / widths.length) - BETWEEN : Infinity
  return rows.map((row) =>
    row.map((cell, i) => {
      const padding = Math.min(widths[i] ?? 0, most) - shownColumns(cell)
      return i === row.length - 1 ? cell : cell + ' '.repeat(Math.max(0, padding))
    }),
  )
}

/** Names the project for somebody who stands elsewhere in it. Empty if the user named it. */
export function projectLine(given: Pick<Places, 'project'>, paint: Paint): readonly string[] {
  if (given.project !== undefined) return []
  const project = projectOf(given)
  return project === callerPath('.') ? [] : labelled('project', visible(shortPath(project)), paint.dim)
}

/** A part of the project that waits for trust, and why. */
export function waitingLines({ state, name, path, why }: Untrusted, paint: Paint, by = 0): readonly string[] {
  const text = `${visibleName(name)} (${visible(shortPath(path))}): ${visible(why)}`
  return labelled(state, text, paint.yellow, by)
}

/** Remarks of a migration, each about a place in a file. */
export function remarkLines(
  label: string,
  remarks: readonly Remark[],
  colour: (text: string) => string,
): readonly string[] {
  return remarks.flatMap((remark) => {
    const what = remark.what === undefined ? '' : `${remark.what}: `
    return labelled(label, `${placeOf(remark)} ${visible(`${what}${remark.why}`)}`, colour)
  })
}
