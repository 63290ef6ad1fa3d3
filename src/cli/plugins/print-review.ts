// The review screen: everything to know about a unit before it is trusted, and nothing that could pass for something else.

import { behind, MARK } from '../../asking/question-text.js'
import { columnsOf, visible, visibleLines, visibleName } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import { shellQuoted } from '../../shell/shell-quoted.js'
import { type Difference, inReadingOrder, type Review, type ReviewedFile } from '../../trust/review.js'
import type { RiskNote } from '../../trust/risks.js'
import { isExecutable, type Unit, type UnitHook } from '../../trust/unit.js'
import { unseenCode } from '../../trust/unseen-code.js'
import { lineDiff } from '../print/diff.js'
import { cutTo, fitted } from '../print/fit.js'
import { columns, counted, grouped, shortPath } from '../print/lines.js'
import { type Paint, painter, width } from '../print/terminal.js'

/** A unit, as the screen shows it. */
export interface Shown {
  readonly unit: Unit
  /** For each hook: variables that it gets in addition to the minimal environment. */
  readonly passthrough: readonly (readonly string[])[]
  readonly state: 'trusted' | 'untrusted' | 'modified'
  /** A sentence, unless it is trusted. */
  readonly why: string | undefined
  /** Undefined if the store cannot be read; `problems` says why. */
  readonly review: Review | undefined
  readonly risks: readonly RiskNote[]
  /** Sentences that say what prevents trust. */
  readonly problems: readonly string[]
}

/** How much is shown; the rest is counted. Commands are never cut. */
interface Bounds {
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

const USUAL: Bounds = { files: 6, changes: 8, lines: 0, line: 300, places: 3 }
const FULL: Bounds = {
  files: Infinity,
  changes: Infinity,
  lines: Infinity,
  line: Infinity,
  places: Infinity,
}

/** The height in a pipe, and the least that text of files gets on a screen that is full already. */
const PIPE_ROWS = 40
const LEAST_LINES = 5

/** Also the width in a pipe: a pager would fold longer lines, and third-party text would begin a line. */
const PIPE_COLUMNS = 100

/**
 * The hooks come first, then what is not checked, problems, risks, changes, text and files, and last a summary, right
 * above the question. Unless it is full, the text of files gets the lines that are left on the screen.
 */
export function reviewLines(shown: Shown, isFull = false): readonly string[] {
  const paint = painter(1)
  const { unit, passthrough, review, risks, problems } = shown
  const bounds = isFull ? FULL : USUAL
  const unchecked = review && unseenCode(review)
  const before: Sections = {
    runs: unit.hooks.flatMap((hook, i) => hookRows(hook, passthrough[i] ?? [], bounds, paint)),
    'not checked': unchecked === undefined ? [] : [{ text: visible(unchecked), colour: paint.yellow }],
    'cannot be trusted': problems.map((text) => ({ text: visible(text), colour: paint.red })),
    'look closely': riskRows(risks, bounds),
  }
  const after: Sections = {
    'files, copied when you trust them': fileRows(review, review?.files ?? [], bounds),
    'scripts outside, not copied': fileRows(review, review?.scripts ?? [], bounds),
    'scripts that a command names, and that are not there': (review?.lacking ?? []).map(named),
    programs: review ? programRows(review, isFull) : [],
  }
  const start = [...head(shown, paint), ...sectionLines(before, paint)]
  const end = [
    ...sectionLines(after, paint),
    '',
    ...fitted([...(review ? [`  digest ${review.digest}`] : []), `  ${paint.bold(summaryOf(shown))}`]),
  ]
  // Two titles with a blank line each, and the question.
  const left = Math.max(LEAST_LINES, screenHeight() - start.length - end.length - 5)
  const text = isFull ? bounds : { ...bounds, lines: left }
  const middle: Sections = {
    [`changed since ${visible(localTime(review?.record?.at ?? ''))}`]: changeRows(review, text, paint),
    'what is in the files that run': review ? contentRows(review, isFull, text) : [],
  }
  return [...start, ...sectionLines(middle, paint), ...end]
}

type Sections = Readonly<Record<string, readonly Row[]>>

function sectionLines(sections: Sections, paint: Paint): readonly string[] {
  return Object.entries(sections).flatMap(([title, rows]) =>
    rows.length === 0 ? [] : ['', ...fitted([`  ${paint.bold(title)}`]), ...rowLines(rows)],
  )
}

function rowLines(rows: readonly Row[]): readonly string[] {
  const short = rows.map((row) => ({ ...row, text: row.text.replace(MANY_BLANKS, asCount) }))
  return margined(short, screenWidth())
}

function screenHeight(): number {
  return width() === Infinity ? PIPE_ROWS : process.stdout.rows || PIPE_ROWS
}

/** Only what changed, with the remarks on it. */
export function changeLines(shown: Shown): readonly string[] {
  const paint = painter(1)
  const { unit, state, review, risks } = shown
  const changed = new Set(review?.differences.map((one) => ('hook' in one ? one.hook.name : one.path)))
  const remarks = risks.filter(({ where }) => changed.has(where))
  const rows = changeRows(review, { ...USUAL, lines: PIPE_ROWS }, paint)
  if (rows.length === 0) return []
  return [
    '',
    ...head({ unit, state, why: undefined }, paint),
    ...rowLines(rows),
    ...sectionLines({ 'look closely': riskRows(remarks, USUAL) }, paint),
    '',
    ...fitted([`  ${paint.bold(summaryOf({ ...shown, risks: remarks }))}`]),
  ]
}

/** False if what was there before is not known any more, or is no text. */
export function canShowChange({ review }: Shown): boolean {
  const differences = review?.differences ?? []
  return differences.length > 0 && differences.every((one) => 'hook' in one || isWhole(one))
}

function isWhole(one: FileDifference): boolean {
  return one.what === 'mode-changed' || one.what === 'program-moved' || diffLines(one).length > 0
}

function screenWidth(): number {
  const columns = width()
  return columns === Infinity ? PIPE_COLUMNS : columns
}

function head({ unit, state, why }: Pick<Shown, 'unit' | 'state' | 'why'>, paint: Paint): readonly string[] {
  const place = `${unit.kind} ${visible(shortPath(unit.path))}`
  const colour = state === 'trusted' ? paint.green : paint.yellow
  const rows = [{ text: place }, ...(why === undefined ? [] : [{ text: visible(why) }])]
  return [`${paint.bold(shortName(unit.name))}  ${colour(state)}`, ...rowLines(rows)]
}

const LONGEST_NAME = 60
/** Columns for the rest of the line, beside a shortened name. */
const BESIDE_NAME = 32

/** A name must not fold: its second line could pass for one of ours. */
function shortName(name: string): string {
  const text = visibleName(name)
  const short = cutTo(text, Math.min(LONGEST_NAME, screenWidth() - BESIDE_NAME))
  return short === text ? text : `${short} (${name.length} characters)`
}

/** For somebody who reads only the last line. */
function summaryOf({ unit, review, risks, problems }: Shown): string {
  const kinds = [...grouped(risks, ({ kind }) => kind)].map(([kind, notes]) => {
    const files = new Set(notes.map(({ where }) => where)).size
    return files === 1 ? kind : `${kind} in ${files}`
  })
  const files = (review?.files.length ?? 0) + (review?.scripts.length ?? 0)
  const changes = review?.differences.length ?? 0
  return [
    `${shortName(unit.name)}: ${counted(unit.hooks.length, 'hook')}, ${counted(files, 'file')}`,
    ...(changes > 0 ? [counted(changes, 'change')] : []),
    ...(kinds.length > 0 ? [`look closely at ${kinds.join(', ')}`] : []),
    ...(problems.length > 0 ? ['cannot be trusted'] : []),
  ].join('; ')
}

function named(path: string): Row {
  return { text: visibleName(path) }
}

// ---- what runs ------------------------------------------------------------------------------------------------

/** Shown in full: a command that is cut off cannot be reviewed. */
function hookRows(
  hook: UnitHook,
  passthrough: readonly string[],
  bounds: Bounds,
  paint: Paint,
): readonly Row[] {
  const { event, matcher, line, name, terms = [], dir, env = {} } = hook
  const filter = matcher === null || matcher === '' ? '' : ` on ${visibleName(matcher)}`
  const place = line === undefined ? '' : `, line ${line}`
  const gets = passthrough.map(visibleName).join(', ')
  return [
    { text: `${visible(event)}${filter}${wayOf(hook)}: ${visibleName(name)}${place}`, colour: paint.cyan },
    ...condensed(commandLines(hook), bounds).map(asQuoted),
    ...terms.map((term) => ({ text: `with ${visible(term)}` })),
    ...(dir === undefined ? [] : [{ text: `starts in ${visibleName(dir)}` }]),
    ...Object.entries(env).map(([key, value]) => ({
      text: `sets ${visibleName(key)} to ${visibleName(value)}`,
    })),
    ...(gets === '' ? [] : [{ text: `gets ${gets} of the environment` }]),
  ]
}

function wayOf({ type, shell, args }: UnitHook): string {
  if (type !== undefined && type !== 'command') return `, a hook of type ${visibleName(type)}`
  if (args !== undefined) return ', without a shell'
  return shell === undefined ? '' : `, by ${shell}`
}

/** Without a shell each word is one argument, so it is quoted. */
function commandLines({ command, args }: UnitHook): readonly string[] {
  return args === undefined
    ? visibleLines(command)
    : visibleLines([command, ...args].map(shellQuoted).join(' '))
}

function asQuoted(text: string): Row {
  return { text, isQuoted: true }
}

/** One row for each thing that was found, with where. */
function riskRows(risks: readonly RiskNote[], { places }: Bounds): readonly Row[] {
  return [...grouped(risks, ({ kind, text }) => `${kind}: ${visible(text)}`)].map(([meaning, notes]) => {
    const where = notes
      .slice(0, places)
      .map(({ where: file, line }) => `${visibleName(file)}${line === undefined ? '' : `:${line}`}`)
    const more = notes.length > places ? ` and ${counted(notes.length - places, 'more place')}` : ''
    return { text: `${meaning} ${where.join(', ')}${more}` }
  })
}

// ---- files and programs ---------------------------------------------------------------------------------------

/** The files that a command names, directly or through other files. For an update the changes are enough. */
function contentRows(review: Review, isFull: boolean, bounds: Bounds): readonly Row[] {
  const isNew = !review.record || review.differences.some(({ what }) => what === 'hook-added')
  if (!isNew && !isFull) return []
  const read = inReadingOrder(review).filter(
    ({ file, part }) => file.text !== undefined && (isFull || part === 'named'),
  )
  let left = bounds.lines
  let unseen = read.length
  const rows = read.flatMap(({ file }): readonly Row[] => {
    const lines = textLines(file.text ?? '')
    if (left <= 0) return []
    const isLast = unseen === 1
    const part = excerpt(lines, { ...bounds, lines: isLast ? left - 2 : shareOf(left) - 2 }, asQuoted)
    left -= part.length + 2
    unseen -= 1
    return [{ text: `${visibleName(file.path)}, ${counted(lines.length, 'line')}${remarkOf(file)}` }, ...part]
  })
  return [...rows, ...moreOf(unseen, 'file that runs', 'files that run')]
}

/** A long file must not take the whole room. */
function shareOf(lines: number): number {
  return Math.ceil(lines * 0.6)
}

function textLines(text: string): readonly string[] {
  const lines = visibleLines(text)
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

/** The beginning and the end, and between them how many lines are left out: whoever hides something counts on a cut. */
function excerpt(lines: readonly string[], bounds: Bounds, asRow: (text: string) => Row): readonly Row[] {
  const texts = condensed(lines, bounds).map((line) => cutLine(line, bounds.line))
  const first = firstFitting(texts, bounds.lines)
  if (first === texts.length) return texts.map(asRow)
  const start = firstFitting(texts, Math.max(1, bounds.lines * 0.6))
  const end = firstFitting(texts.slice(start).reverse(), Math.max(1, bounds.lines * 0.4))
  return [
    ...texts.slice(0, start).map(asRow),
    ...moreOf(texts.length - start - end, 'line'),
    ...texts.slice(texts.length - end).map(asRow),
  ]
}

/** How many of them take at most so many lines of the screen, and at least one. */
function firstFitting(texts: readonly string[], most: number): number {
  let used = 0
  const at = texts.findIndex((text, i) => {
    used += Math.ceil((columnsOf(text) + 2 * MARK.length) / screenWidth()) || 1
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
function condensed(lines: readonly string[], { line }: Bounds): readonly string[] {
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

/** The most important first. */
function fileRows(
  review: Review | undefined,
  files: readonly ReviewedFile[],
  bounds: Bounds,
): readonly Row[] {
  if (!review) return []
  const own = new Set(files)
  const ordered = inReadingOrder(review)
    .map(({ file }) => file)
    .filter((file) => own.has(file))
  const cells = ordered
    .slice(0, bounds.files)
    .map((file) => [sizeOf(file).padStart(9), `${visibleName(file.path)}${remarkOf(file)}`])
  return [
    ...columns(cells).map((row) => ({ text: row.join('  ') })),
    ...moreOf(files.length - bounds.files, 'file'),
  ]
}

function moreOf(count: number, noun: string, nouns = `${noun}s`): readonly Row[] {
  if (count <= 0) return []
  return [{ text: `and ${count} more ${count === 1 ? noun : nouns}: --full shows all` }]
}

function sizeOf({ size, link }: ReviewedFile): string {
  return link === undefined ? `${size} B` : 'link'
}

function remarkOf(file: ReviewedFile): string {
  if (file.link !== undefined) return ` to ${visibleName(file.link)}`
  return `${isExecutable(file) ? ', executable' : ''}${file.isText ? '' : ', no text'}`
}

function programRows({ programs, missing }: Review, isFull: boolean): readonly Row[] {
  if (!isFull) {
    const names = Object.keys(programs).map(visibleName).join(', ')
    const gone = missing.map(visibleName).join(', ')
    return [
      ...(names === '' ? [] : [{ text: names }]),
      ...(gone === '' ? [] : [{ text: `not found: ${gone}` }]),
    ]
  }
  const found = Object.entries(programs).map(([name, path]) => [visibleName(name), visibleName(path)])
  const rows = columns([...found, ...missing.map((name) => [visibleName(name), 'not found'])])
  return rows.map((row) => ({ text: row.join('  ') }))
}

// ---- what changed ---------------------------------------------------------------------------------------------

/** Empty if it was not trusted before. Hooks first, each whole; then files as they matter. */
function changeRows(review: Review | undefined, bounds: Bounds, paint: Paint): readonly Row[] {
  if (!review) return []
  const asRow = (text: string): Row => ({ text, isQuoted: true, colour: colourOf(text, paint) })
  const hooks = review.differences.filter((one) => 'hook' in one)
  const files = changedFiles(review)
  let left = bounds.lines
  return [
    ...hooks.flatMap((one) => [{ text: visible(one.text) }, ...condensed(hookDiff(one), bounds).map(asRow)]),
    ...files.slice(0, bounds.changes).flatMap((one, i) => {
      const most = Math.max(2, i === files.length - 1 ? left : shareOf(left))
      const part = excerpt(diffLines(one), { ...bounds, lines: most }, asRow)
      left -= part.length + 1
      return [{ text: visible(one.text) }, ...part]
    }),
    ...moreOf(files.length - bounds.changes, 'change'),
  ]
}

/** Those that run first, then files that are gone, scripts, programs, and the rest. */
function changedFiles(review: Review): readonly FileDifference[] {
  const order = inReadingOrder(review)
  const place = new Map(order.map(({ file }, i) => [file.path, i]))
  const isOther = new Set(order.filter(({ part }) => part === 'other').map(({ file }) => file.path))
  const namedCount = order.filter(({ part }) => part === 'named').length
  const rank = ({ path }: FileDifference) => {
    const at = place.get(path)
    return at === undefined ? namedCount - 0.5 : isOther.has(path) ? order.length + at : at
  }
  return review.differences
    .filter((one): one is FileDifference => !('hook' in one))
    .sort((a, b) => rank(a) - rank(b))
}

type FileDifference = Exclude<Difference, { readonly hook: UnitHook }>

function hookDiff({ what, hook }: Extract<Difference, { readonly hook: UnitHook }>): readonly string[] {
  const sign = what === 'hook-added' ? '+' : '-'
  const title = `${visible(hook.event)}${hook.matcher ? ` on ${visibleName(hook.matcher)}` : ''}:`
  const terms = (hook.terms ?? []).map((term) => `with ${visible(term)}`)
  return [title, ...commandLines(hook), ...terms].map((line) => `${sign}${line}`)
}

/** A difference for programs. */
export function differenceData(one: Difference) {
  return 'hook' in one ? one : { what: one.what, path: one.path, text: one.text, diff: diffLines(one) }
}

/** Empty if one side is not text, or no longer known. */
function diffLines(one: FileDifference): readonly string[] {
  const { what, before, after } = one
  const isKnown =
    (what === 'file-added' || before !== undefined) && (what === 'file-removed' || after !== undefined)
  if (!isKnown || what === 'mode-changed' || what === 'program-moved') return []
  return lineDiff(before ?? '', after ?? '').flatMap(visibleLines)
}

function colourOf(line: string, paint: Paint): Paint['green'] {
  if (line.startsWith('+')) return paint.green
  return line.startsWith('-') ? paint.red : paint.dim
}

// ---- the margin ------------------------------------------------------------------------------------------------

interface Row {
  readonly text: string
  /** Text of a file stands behind a second mark, below a line of ours that says what it is. */
  readonly isQuoted?: boolean
  readonly colour?: (text: string) => string
}

/** Rows as lines of at most so many columns: third-party text never begins a line. */
export function margined(rows: readonly Row[], columns: number): readonly string[] {
  return rows.flatMap(({ text, isQuoted = false, colour = String }) => {
    const mark = isQuoted ? MARK + MARK : MARK
    return behind(mark, text, columns).map((line) =>
      `${line.slice(0, mark.length)}${colour(line.slice(mark.length))}`.trimEnd(),
    )
  })
}
