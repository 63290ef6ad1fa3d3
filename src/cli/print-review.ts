// The review screen: all that is to be known about a unit before it is trusted, and nothing that could pass for something else.

import type { Difference, ReviewedFile } from '../trust/review.js'
import type { RiskNote } from '../trust/risks.js'
import { isExecutable, type UnitHook } from '../trust/unit.js'
import { lineDiff } from './line-diff.js'
import { columns, counted, shortPath } from './lines.js'
import { type Paint, painter } from './paint.js'
import type { Shown } from './trust-units.js'
import { quoted } from './typed.js'
import { visible, visibleLines, visibleName } from './visible.js'

const MOST_FILES = 200
/** Of the differences of one file, and of all together. */
const MOST_DIFF_LINES = 200
const MOST_LINES = 1000
/** Of a difference. Commands are never cut. */
const LONGEST_LINE = 400
const MOST_RISKS = 40

export function reviewLines(shown: Shown): readonly string[] {
  const paint = painter(1)
  const { unit, passthrough, review, risks, problems } = shown
  return [
    ...head(shown, paint),
    ...section(
      'runs',
      unit.hooks.flatMap((hook, i) => hookLines(hook, passthrough[i] ?? [], paint)),
      paint,
    ),
    ...section(`files, copied when you trust them`, fileLines(review?.files ?? []), paint),
    ...section('scripts outside, not copied', fileLines(review?.scripts ?? []), paint),
    ...section(
      'files that a command names, and that are not there',
      (review?.absent ?? []).map(named),
      paint,
    ),
    ...section('programs', review ? programLines(review, paint) : [], paint),
    ...section(
      `changed since ${review?.record?.at ?? 'it was trusted'}`,
      bounded(
        (review?.differences ?? []).flatMap((one) => differenceLines(one, paint)),
        MOST_LINES,
      ),
      paint,
    ),
    ...section('look closely', bounded(risks.map(riskLine), MOST_RISKS), paint),
    ...section('cannot be trusted', problems.map(visible), paint),
    ...(review ? ['', `  digest ${review.digest}`] : []),
  ]
}

function head({ unit, state, why }: Shown, paint: Paint): readonly string[] {
  const place = visible(shortPath(unit.path))
  const what = unit.kind === 'folder' ? 'folder' : 'file'
  const colour = state === 'trusted' ? paint.green : paint.yellow
  return [
    `${paint.bold(visibleName(unit.name))}  ${colour(state)}  ${what} ${place}`,
    ...(why === undefined ? [] : [`  ${visible(why)}`]),
  ]
}

function section(title: string, lines: readonly string[], paint: Paint): readonly string[] {
  return lines.length === 0 ? [] : ['', `  ${paint.bold(title)}`, ...lines.map((line) => `    ${line}`)]
}

function named(path: string): string {
  return visibleName(path)
}

// ---- what runs ------------------------------------------------------------------------------------------------

/** Whole: what is cut off cannot be reviewed. Each line of it stands behind a bar, so that none looks like ours. */
function hookLines(hook: UnitHook, passthrough: readonly string[], paint: Paint): readonly string[] {
  const { event, matcher, line } = hook
  const filter = matcher === null || matcher === '' ? '' : ` on ${visibleName(matcher)}`
  const place = line === undefined ? '' : paint.dim(` line ${line}`)
  const gets =
    passthrough.length > 0 ? [`  gets ${passthrough.map(visibleName).join(', ')} of the environment`] : []
  return [
    `${paint.cyan(visible(event))}${filter}${wayOf(hook)}${place}`,
    ...commandLines(hook).map(barred),
    ...gets,
  ]
}

function wayOf({ type, shell, args }: UnitHook): string {
  if (type !== undefined && type !== 'command') return `, a hook of type ${visibleName(type)}`
  if (args !== undefined) return ', without a shell'
  return shell === undefined ? '' : `, by ${shell}`
}

/** Without a shell each word is one argument, which quotes make plain. */
function commandLines({ command, args }: UnitHook): readonly string[] {
  return args === undefined ? visibleLines(command) : visibleLines([command, ...args].map(quoted).join(' '))
}

function barred(line: string): string {
  return `  | ${line}`
}

// ---- files and programs ---------------------------------------------------------------------------------------

function fileLines(files: readonly ReviewedFile[]): readonly string[] {
  const cells = files
    .slice(0, MOST_FILES)
    .map((file) => [sizeOf(file).padStart(9), `${named(file.path)}${remarkOf(file)}`])
  const more = files.slice(MOST_FILES)
  const bytes = more.reduce((sum, { size }) => sum + size, 0)
  return [
    ...columns(cells).map((row) => row.join('  ')),
    ...(more.length > 0
      ? [`and ${counted(more.length, 'file')} more of ${bytes} bytes: --json lists all`]
      : []),
  ]
}

function sizeOf({ size, link }: ReviewedFile): string {
  return link === undefined ? `${size} B` : 'link'
}

function remarkOf(file: ReviewedFile): string {
  if (file.link !== undefined) return ` to ${named(file.link)}`
  return `${isExecutable(file) ? ', executable' : ''}${file.isText ? '' : ', no text'}`
}

function programLines(review: NonNullable<Shown['review']>, paint: Paint): readonly string[] {
  const found = columns(Object.entries(review.programs).map(([name, path]) => [named(name), named(path)]))
  return [
    ...found.map((row) => row.join('  ')),
    ...review.missing.map((name) => `${named(name)}  ${paint.yellow('not found')}`),
  ]
}

function riskLine({ kind, where, line, text }: RiskNote): string {
  return `${kind}: ${named(where)}${line === undefined ? '' : `:${line}`} ${visible(text)}`
}

// ---- what changed ---------------------------------------------------------------------------------------------

function differenceLines(one: Difference, paint: Paint): readonly string[] {
  if ('hook' in one) {
    const [sign, colour] = one.what === 'hook-added' ? ['+', paint.green] : ['-', paint.red]
    const lines = [hookTitle(one.hook), ...commandLines(one.hook)]
    return [visible(one.text), ...lines.map((line) => colour(`  ${sign}${line}`))]
  }
  const changed = diffLines(one).map((line) => `  ${coloured(line, paint)}`)
  return [visible(one.text), ...bounded(changed, MOST_DIFF_LINES)]
}

function hookTitle({ event, matcher }: UnitHook): string {
  return `${visible(event)}${matcher ? ` on ${visibleName(matcher)}` : ''}:`
}

/** Without what both have in common; empty where a side is no text, or not known any more. */
export function diffLines(one: Exclude<Difference, { readonly hook: UnitHook }>): readonly string[] {
  const { what, before, after } = one
  const isKnown =
    (what === 'file-added' || before !== undefined) && (what === 'file-removed' || after !== undefined)
  if (!isKnown || what === 'mode-changed') return []
  return lineDiff(before ?? '', after ?? '').flatMap((line) => {
    const [text = ''] = visibleLines(line)
    return text.length > LONGEST_LINE
      ? [`${text.slice(0, LONGEST_LINE)}… (${text.length} characters)`]
      : [text]
  })
}

function coloured(line: string, paint: Paint): string {
  if (line.startsWith('+')) return paint.green(line)
  return line.startsWith('-') ? paint.red(line) : paint.dim(line)
}

function bounded(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most) return lines
  return [...lines.slice(0, most), `and ${counted(lines.length - most, 'line')} more: --json shows all`]
}
