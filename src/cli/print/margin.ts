// The margin of a review: what strangers wrote stands behind a mark of ours, folded here, so that no part of it begins a line.

/** What has no room on its line goes on behind the second. */
const MARKS = ['  │ ', '  ┆ '] as const

export interface Row {
  readonly text: string
  /** Behind a second mark: text as it stands in a file, below a line of ours that says what it is. */
  readonly isQuoted?: boolean
  readonly colour?: (text: string) => string
}

/** Of text, however narrow the terminal is: it is to be read. */
const NARROWEST = 20

/** Rows as lines of at most so many columns. */
export function margined(rows: readonly Row[], columns: number): readonly string[] {
  return rows.flatMap(({ text, isQuoted = false, colour = (one) => one }) => {
    const [first, further] = MARKS.map((mark) => (isQuoted ? `${MARKS[0]}${mark}` : mark)) as [string, string]
    const pieces = folded(text, Math.max(NARROWEST, columns - first.length))
    return pieces.map((piece, i) => `${i === 0 ? first : further}${colour(piece)}`.trimEnd())
  })
}

/** Cut where it is full, not at blanks: a word can be as long as it likes. */
export function folded(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  let [line, used] = ['', 0]
  for (const char of text) {
    const wide = widthOf(char)
    if (used + wide > columns) {
      lines.push(line)
      line = ''
      used = 0
    }
    line += char
    used += wide
  }
  return [...lines, line]
}

/** At most: terminals disagree about what is beyond Latin, and a tab may be as wide as this. */
function widthOf(char: string): number {
  if (char === '\t') return 8
  return (char.codePointAt(0) ?? 0) < 0x300 ? 1 : 2
}
