// What changed in a unit since it was trusted, as rows of a review.

import { visible, visibleLines, visibleName } from '../../core/base/text.js'
import { type Difference, inReadingOrder, type Review } from '../../trust/review.js'
import type { UnitHook } from '../../trust/unit.js'
import { lineDiff } from '../print/diff.js'
import type { Paint } from '../print/terminal.js'
import {
  type Bounds,
  commandLines,
  condensed,
  type Excerpt,
  excerpt,
  firstFitting,
  moreOf,
  type Row,
  shareOf,
  termLines,
} from './review-rows.js'

/** Empty if it was not trusted before. Hooks first, each whole; then files as they matter. */
export function changeExcerpt(
  review: Review | undefined,
  diffs: readonly FileDiff[],
  bounds: Bounds,
  paint: Paint,
): Excerpt {
  const asRow = (text: string): Row => ({ text, isQuoted: true, colour: colourOf(text, paint) })
  const hooks = (review?.differences ?? []).filter((one) => 'hook' in one)
  let left = bounds.lines
  let hidden = 0
  const hookRows = hooks.flatMap((one) => [
    { text: visible(one.text) },
    ...condensed(hookDiff(one), bounds).map(asRow),
  ])
  const fileRows = diffs.flatMap(({ one, lines }, i) => {
    if (i >= bounds.changes) {
      hidden += lines.filter(isChanged).length
      return []
    }
    const most = Math.max(2, i === diffs.length - 1 ? left : shareOf(left))
    // Unchanged lines around a change go first.
    const text = firstFitting(lines, most) < lines.length ? lines.filter(isChanged) : lines
    const part = excerpt(text, { ...bounds, lines: most }, asRow)
    left -= part.rows.length + 1
    hidden += part.hidden.filter(isChanged).length
    const remark = isWhole(one) ? '' : ' This change cannot be shown.'
    return [{ text: `${visible(one.text)}${remark}` }, ...part.rows]
  })
  return { rows: [...hookRows, ...fileRows, ...moreOf(diffs.length - bounds.changes, 'change')], hidden }
}

interface FileDiff {
  readonly one: FileDifference
  readonly lines: readonly string[]
}

export function diffsIn(review: Review | undefined): readonly FileDiff[] {
  return review ? changedFiles(review).map((one) => ({ one, lines: diffLines(one) })) : []
}

function isChanged(line: string): boolean {
  return line.startsWith('+') || line.startsWith('-')
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
  return [title, ...commandLines(hook), ...termLines(hook, [])].map((line) => `${sign}${line}`)
}

/** A difference for programs. */
export function differenceData(one: Difference) {
  return 'hook' in one
    ? { ...one, diff: hookDiff(one) }
    : { what: one.what, path: one.path, text: one.text, diff: diffLines(one) }
}

/** Empty if one side is not text, or no longer known. */
function diffLines(one: FileDifference): readonly string[] {
  const { what, before, after } = one
  if (!isWhole(one) || what === 'mode-changed' || what === 'program-moved') return []
  return lineDiff(before ?? '', after ?? '').flatMap(visibleLines)
}

function colourOf(line: string, paint: Paint): Paint['green'] {
  if (line.startsWith('+')) return paint.green
  return line.startsWith('-') ? paint.red : paint.dim
}

/** False if what was there before is not known any more, or is no text. */
export function canShowChange(review: Review | undefined): boolean {
  const differences = review?.differences ?? []
  return differences.length > 0 && differences.every((one) => 'hook' in one || isWhole(one))
}

function isWhole({ what, before, after }: FileDifference): boolean {
  if (what === 'mode-changed' || what === 'program-moved') return true
  return (what === 'file-added' || before !== undefined) && (what === 'file-removed' || after !== undefined)
}
