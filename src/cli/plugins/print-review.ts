// The review screen: everything to know about a unit before it is trusted, and nothing that could pass for something else.

import { visible, visibleName } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import { inReadingOrder, type Review, type ReviewedFile } from '../../trust/review.js'
import type { RiskNote } from '../../trust/risks.js'
import { isExecutable, type Unit, type UnitHook } from '../../trust/unit.js'
import { unseenCode } from '../../trust/unseen-code.js'
import { cutTo, fitted } from '../print/fit.js'
import { columns, counted, grouped, shortPath } from '../print/lines.js'
import { type Paint, painter, width } from '../print/terminal.js'
import { changeExcerpt, diffsIn } from './review-changes.js'
import {
  asQuoted,
  type Bounds,
  commandLines,
  condensed,
  type Excerpt,
  excerpt,
  moreOf,
  type Row,
  rowLines,
  screenWidth,
  shareOf,
  termLines,
  textLines,
  wayOf,
} from './review-rows.js'

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

/** Fits a screen, however much a plugin holds. */
const USUAL: Bounds = { files: 6, changes: 8, lines: 0, line: 300, places: 3 }
/** Up to so many lines, the text is shown whole and a pager shows what the screen cannot. */
const WHOLE_LINES = 200
const WHOLE: Bounds = { ...USUAL, changes: Infinity, lines: Infinity, line: 2000 }
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

/** A review as it is printed. */
export interface Screen {
  readonly lines: readonly string[]
  /** What it left out of changes and of files that run, for the question: "212 changed lines are not shown". */
  readonly leftOut: string | undefined
}

/**
 * The hooks come first, then what is not checked, problems, risks, changes, text and files, and last a summary, right
 * above the question. Changes and short scripts are whole, unless they are too long to be read. Then they get the lines
 * that are left on the screen.
 */
export function reviewScreen(shown: Shown, isFull = false): Screen {
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
  const after = (files: Bounds): Sections => ({
    'files, copied when you trust them': fileRows(review, review?.files ?? [], files),
    'scripts outside, not copied': fileRows(review, review?.scripts ?? [], files),
    'scripts that a command names, but that do not exist': (review?.lacking ?? []).map(named),
    programs: review ? programRows(review, isFull) : [],
  })
  const start = [...head(shown, paint), ...sectionLines(before, paint)]
  const end = sectionLines(after(bounds), paint)
  // Two titles with a blank line each, the digest, the summary and the question.
  const left = Math.max(LEAST_LINES, screenHeight() - start.length - end.length - 8)
  const diffs = diffsIn(review)
  const changes = fullOrCut((most) => changeExcerpt(review, diffs, most, paint), bounds, left)
  const content = fullOrCut((most) => contentExcerpt(review, isFull, most), bounds, left)
  const middle = sectionLines(
    {
      [`changed since ${visible(localTime(review?.record?.at ?? ''))}`]: changes.rows,
      'contents of the files that run': content.rows,
    },
    paint,
  )
  // The list of files gives way to changed lines.
  const isTight = !isFull && changes.rows.length > 0 && middle.length > left + 3
  const leftOut = leftOutText(changes.hidden, content.hidden)
  const lines = [
    ...start,
    ...middle,
    ...(isTight ? sectionLines(after({ ...bounds, files: 0 }), paint) : end),
    '',
    ...fitted([
      ...(review ? [`  digest ${review.digest}`] : []),
      `  ${paint.bold(summaryOf(shown, leftOut))}`,
    ]),
  ]
  return { lines, leftOut }
}

/** All of it if that can be read, otherwise what fits into `left` lines: a flood must not hide what matters. */
function fullOrCut(excerptOf: (bounds: Bounds) => Excerpt, bounds: Bounds, left: number): Excerpt {
  if (bounds === FULL) return excerptOf(FULL)
  const whole = excerptOf(WHOLE)
  const isShort = whole.rows.length <= WHOLE_LINES && rowLines(whole.rows).length <= WHOLE_LINES
  return isShort ? whole : excerptOf({ ...bounds, lines: left })
}

function leftOutText(changed: number, content: number): string | undefined {
  const parts = [
    ...(changed > 0 ? [counted(changed, 'changed line')] : []),
    ...(content > 0 ? [`${counted(content, 'line')} of files that run`] : []),
  ]
  if (parts.length === 0) return undefined
  return `${parts.join(' and ')} ${changed + content === 1 ? 'is' : 'are'} not shown`
}

type Sections = Readonly<Record<string, readonly Row[]>>

function sectionLines(sections: Sections, paint: Paint): readonly string[] {
  return Object.entries(sections).flatMap(([title, rows]) =>
    rows.length === 0 ? [] : ['', ...fitted([`  ${paint.bold(title)}`]), ...rowLines(rows)],
  )
}

function screenHeight(): number {
  return width() === Infinity ? PIPE_ROWS : process.stdout.rows || PIPE_ROWS
}

/** Only what changed, with the remarks on it. */
export function changeScreen(shown: Shown): Screen {
  const paint = painter(1)
  const { unit, state, review, risks } = shown
  const changed = new Set(review?.differences.map((one) => ('hook' in one ? one.hook.name : one.path)))
  const remarks = risks.filter(({ where }) => changed.has(where))
  const diffs = diffsIn(review)
  const { rows, hidden } = fullOrCut((most) => changeExcerpt(review, diffs, most, paint), USUAL, PIPE_ROWS)
  if (rows.length === 0) return { lines: [], leftOut: undefined }
  const leftOut = leftOutText(hidden, 0)
  const lines = [
    '',
    ...head({ unit, state, why: undefined }, paint),
    ...rowLines(rows),
    ...sectionLines({ 'look closely': riskRows(remarks, USUAL) }, paint),
    '',
    ...fitted([`  ${paint.bold(summaryOf({ ...shown, risks: remarks }, leftOut))}`]),
  ]
  return { lines, leftOut }
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
function summaryOf({ unit, review, risks, problems }: Shown, leftOut: string | undefined): string {
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
    ...(leftOut === undefined ? [] : [`${leftOut}: --full shows all`]),
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
  const { event, matcher, line, name } = hook
  const filter = matcher === null || matcher === '' ? '' : ` on ${visibleName(matcher)}`
  const place = line === undefined ? '' : `, line ${line}`
  return [
    { text: `${visible(event)}${filter}${wayOf(hook)}: ${visibleName(name)}${place}`, colour: paint.cyan },
    ...condensed(commandLines(hook), bounds).map(asQuoted),
    ...termLines(hook, passthrough).map((text) => ({ text })),
  ]
}

/** Without a shell each word is one argument, so it is quoted. */
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
function contentExcerpt(review: Review | undefined, isFull: boolean, bounds: Bounds): Excerpt {
  const isNew = !review?.record || review.differences.some(({ what }) => what === 'hook-added')
  if (!review || (!isNew && !isFull)) return { rows: [], hidden: 0 }
  const read = inReadingOrder(review).filter(
    ({ file, part }) => file.text !== undefined && (isFull || part === 'named'),
  )
  let left = bounds.lines
  let unseen = read.length
  let hidden = 0
  const rows = read.flatMap(({ file }): readonly Row[] => {
    const lines = textLines(file.text ?? '')
    if (left <= 0) {
      hidden += lines.length
      return []
    }
    const isLast = unseen === 1
    const part = excerpt(lines, { ...bounds, lines: isLast ? left - 2 : shareOf(left) - 2 }, asQuoted)
    left -= part.rows.length + 2
    unseen -= 1
    hidden += part.hidden.length
    const title = `${visibleName(file.path)}, ${counted(lines.length, 'line')}${remarkOf(file)}`
    return [{ text: title }, ...part.rows]
  })
  return { rows: [...rows, ...moreOf(unseen, 'file that runs', 'files that run')], hidden }
}

/** The most important first. */
function fileRows(
  review: Review | undefined,
  files: readonly ReviewedFile[],
  bounds: Bounds,
): readonly Row[] {
  if (!review || files.length === 0) return []
  if (bounds.files === 0) return [{ text: `${counted(files.length, 'file')}: --full shows all` }]
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

function sizeOf({ size, link }: ReviewedFile): string {
  return link === undefined ? `${size} B` : 'link'
}

function remarkOf(file: ReviewedFile): string {
  if (file.link !== undefined) return ` to ${visibleName(file.link)}`
  return `${isExecutable(file) ? ', executable' : ''}${file.isText ? '' : ', not text'}`
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
