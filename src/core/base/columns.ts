// Text in columns of a terminal: how wide it is at most, and lines that are full.

/** Of text, however narrow the terminal is: it is to be read. */
const NARROWEST = 20

/** What begins earlier is Latin, and takes one column. */
const FIRST_WIDE = 0x300
const TAB = 8

/**
 * At most: terminals disagree about what is beyond Latin, and a tab may be as wide as this. A line that is thought wider than it is ends
 * early; one that is thought narrower goes on at the left edge, where only our own words stand.
 */
export function columnsOf(text: string): number {
  let columns = 0
  for (const char of text) columns += widthOf(char)
  return columns
}

function widthOf(char: string): number {
  if (char === '\t') return TAB
  return (char.codePointAt(0) ?? 0) < FIRST_WIDE ? 1 : 2
}

/** Cut where it is full, not at blanks: a word can be as long as it likes. */
export function folded(text: string, columns: number): readonly string[] {
  const room = Math.max(NARROWEST, columns)
  const lines: string[] = []
  let [line, used] = ['', 0]
  for (const char of text) {
    const wide = widthOf(char)
    if (used + wide > room) {
      lines.push(line)
      line = ''
      used = 0
    }
    line += char
    used += wide
  }
  return [...lines, line]
}

/** The longest end that takes at most so many columns. */
export function endOf(text: string, columns: number): string {
  const chars = Array.from(text)
  let used = 0
  let from = chars.length
  while (from > 0 && used + widthOf(chars[from - 1] as string) <= columns)
    used += widthOf(chars[--from] as string)
  return chars.slice(from).join('')
}
