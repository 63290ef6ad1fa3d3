// The margin of a review: what strangers wrote stands behind a mark of ours, folded here, so that no part of it begins a line.

import { folded } from '../../core/base/text.js'

/** What has no room on its line goes on behind the second. */
const MARKS = ['  │ ', '  ┆ '] as const

export interface Row {
  readonly text: string
  /** Behind a second mark: text as it stands in a file, below a line of ours that says what it is. */
  readonly isQuoted?: boolean
  readonly colour?: (text: string) => string
}

/** Rows as lines of at most so many columns. */
export function margined(rows: readonly Row[], columns: number): readonly string[] {
  return rows.flatMap(({ text, isQuoted = false, colour = (one) => one }) => {
    const [first, further] = MARKS.map((mark) => (isQuoted ? `${MARKS[0]}${mark}` : mark)) as [string, string]
    const pieces = folded(text, columns - first.length)
    return pieces.map((piece, i) => `${i === 0 ? first : further}${colour(piece)}`.trimEnd())
  })
}
