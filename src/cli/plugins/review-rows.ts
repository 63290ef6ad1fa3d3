// Rows of a review: as much text of files as fits a screen, prefixed with a mark that third-party text cannot imitate.

import { behind, MARK } from '../../asking/question-text.js'
import { folded, visible, visibleLines, visibleName } from '../../core/base/text.js'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import type { UnitHook } from '../../trust/unit.js'
import { width } from '../print/terminal.js'

export interface Row {
  readonly text: string
  /** Text of a file stands behind a second mark, below a line of ours that says what it is. */
  readonly isQuoted?: boolean
  readonly colour?: (text: string) => string
}

/** How much is shown; the rest is counted. Commands are never cut. */
export interface Bounds {
  readonly files: number
  /** Changed files. */
  readonly changes: number
  /** Lines of the screen for all files together. */
  readonly lines: number
  /** Characters of a line of a file. */
  readonly line: number
  /** Places at which one thing was found. */
  readonly places: number
}

/** Rows of text, and how many lines of it are missing or cut. */
export interface Excerpt {
  readonly rows: readonly Row[]
  readonly hidden: number
}

export function asQuoted(text: string): Row {
  return { text, isQuoted: true }
}

export function commandLines({ command, args }: UnitHook): readonly string[] {
  return args === undefined
    ? visibleLines(command)
    : visibleLines([command, ...args].map(shellQuoted).join(' '))
}

/** What else a hook is: how its program starts. */
export function wayOf({ type, shell, args }: UnitHook): string {
  if (type !== undefined && type !== 'command') return `, a hook of type ${visibleName(type)}`
  if (args !== undefined) return ', without a shell'
  return shell === undefined ? '' : `, by ${shell}`
}

/** What else a hook is: its options, its folder, and the variables that it gets. */
export function termLines(
  { terms = [], dir, env = {} }: UnitHook,
  passthrough: readonly string[],
): readonly string[] {
  const gets = passthrough.map(visibleName).join(', ')
  return [
    ...terms.map((term) => `with ${visible(term)}`),
    ...(dir === undefined ? [] : [`starts in ${visibleName(dir)}`]),
    ...Object.entries(env).map(([key, value]) => `sets ${visibleName(key)} to ${visibleName(value)}`),
    ...(gets === '' ? [] : [`gets ${gets} from the environment`]),
  ]
}

export function moreOf(count: number, noun: string, nouns = `${noun}s`): readonly Row[] {
  if (count <= 0) return []
  return [{ text: `and ${count} more ${count === 1 ? noun : nouns}: --full shows all` }]
}

/** A long file must not take the whole room. */
export function shareOf(lines: number): number {
  return Math.ceil(lines * 0.6)
}

export function textLines(text: string): readonly string[] {
  const lines = visibleLines(text)
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

/** The beginning and the end, and between them how many lines are left out: whoever hides something counts on a cut. */
export function excerpt(lines: readonly string[], bounds: Bounds, asRow: (text: string) => Row): Cut {
  const whole = condensed(lines, bounds)
  const texts = whole.map((line) => cutLine(line, bounds.line))
  const isCut = (line: string, i: number) => line !== texts[i]
  const first = firstFitting(texts, bounds.lines)
  if (first === texts.length) return { rows: texts.map(asRow), hidden: whole.filter(isCut) }
  const start = firstFitting(texts, Math.max(1, bounds.lines * 0.6))
  const end = texts.length - firstFitting(texts.slice(start).reverse(), Math.max(1, bounds.lines * 0.4))
  return {
    rows: [
      ...texts.slice(0, start).map(asRow),
      ...moreOf(end - start, 'line'),
      ...texts.slice(end).map(asRow),
    ],
    hidden: whole.filter((line, i) => (i >= start && i < end) || isCut(line, i)),
  }
}

interface Cut {
  readonly rows: readonly Row[]
  /** Lines that are not shown, or not whole. */
  readonly hidden: readonly string[]
}

/** How many of them take at most so many lines of the screen, and at least one. */
export function firstFitting(texts: readonly string[], most: number): number {
  if (most === Infinity) return texts.length
  let used = 0
  const at = texts.findIndex((text, i) => {
    used += folded(text, screenWidth() - 2 * MARK.length).length
    return i > 0 && used > most
  })
  return at < 0 ? texts.length : at
}

function cutLine(line: string, longest: number): string {
  if (line.length <= longest) return line
  const half = Math.floor(longest / 2)
  return `${line.slice(0, half)}… (${line.length} characters) …${line.slice(-half)}`
}

/** Blanks and empty lines that push text out of sight are counted instead. Third-party text cannot contain the mark. */
export function condensed(lines: readonly string[], { line }: Bounds): readonly string[] {
  if (line === Infinity) return lines
  const shown: string[] = []
  for (let i = 0; i < lines.length; i++) {
    const empty = emptyFrom(lines, i)
    if (empty < MANY_EMPTY) shown.push((lines[i] ?? '').replace(MANY_BLANKS, asCount))
    else {
      shown.push(`${lines[i]?.trimEnd()}⟨${empty} empty lines⟩`)
      i += empty - 1
    }
  }
  return shown
}

const MANY_BLANKS = /[ \t]{80,}/g
const MANY_EMPTY = 5

function asCount(blanks: string): string {
  return ` ⟨${blanks.length} blanks⟩ `
}

/** A line of a difference begins with its sign. */
function emptyFrom(lines: readonly string[], from: number): number {
  const sign = lines[from]?.trimEnd() ?? ''
  if (!/^[+-]?$/.test(sign)) return 0
  let to = from
  while (to < lines.length && lines[to]?.trimEnd() === sign) to++
  return to - from
}

// ---- the margin ------------------------------------------------------------------------------------------------

/** Also the width in a pipe: a pager would fold longer lines, and third-party text would begin a line. */
const PIPE_COLUMNS = 100

export function screenWidth(): number {
  const columns = width()
  return columns === Infinity ? PIPE_COLUMNS : columns
}

export function rowLines(rows: readonly Row[]): readonly string[] {
  const short = rows.map((row) => ({ ...row, text: row.text.replace(MANY_BLANKS, asCount) }))
  return margined(short, screenWidth())
}

/** Rows as lines of at most so many columns: third-party text never begins a line. */
export function margined(rows: readonly Row[], columns: number): readonly string[] {
  return rows.flatMap(({ text, isQuoted = false, colour = String }) => {
    const mark = isQuoted ? MARK + MARK : MARK
    const lines = behind(mark, text, columns)
    return lines.map((line, i) => {
      const painted = `${line.slice(0, mark.length)}${colour(line.slice(mark.length))}`
      // A blank at which a line is folded stays, so that the lines joined are the text.
      return i === lines.length - 1 ? painted.trimEnd() : painted
    })
  })
}
