// The text of a shell script without the quoted patterns of its `case`: they look like commands, and never run.

import { readShell } from '../shell/shell-reading.js'

interface Range {
  readonly pos: number
  readonly end: number
}

/** Blanks in their place, so that lines and columns stay. */
export function withoutPatterns(text: string): string {
  const patterns: Range[] = []
  const quoted: Range[] = []
  readShell(text, (node, source) => {
    if (source !== text) return
    if (node.type === 'CaseItem') patterns.push(...node.pattern)
    if (node.type === 'SingleQuoted') quoted.push(node)
  })
  const inPattern = quoted.filter(({ pos, end }) => patterns.some((one) => one.pos <= pos && end <= one.end))
  return inPattern.reduce((left, { pos, end }) => {
    const blanks = text.slice(pos, end).replace(/[^\n]/g, ' ')
    return left.slice(0, pos) + blanks + left.slice(end)
  }, text)
}
