// Wraps lines to the width of the terminal, with a hanging indent. Nothing is cut off.

import { columnsOf } from '../../core/base/text.js'
import { width } from './terminal.js'

/** Colours take no room. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what a colour begins with
const TOKENS = /\x1b\[\d*m|./gsu

/** `hang`: the indent of the following lines; default: two more than the first. */
export function fitted(lines: readonly string[], columns = width(), hang?: number): readonly string[] {
  return lines.flatMap((line) => (columns === Infinity ? [line] : wrapped(line, columns, hang)))
}

interface Token {
  readonly text: string
  readonly columns: number
}

function wrapped(line: string, columns: number, hang: number | undefined): readonly string[] {
  const tokens = (line.match(TOKENS) ?? []).map((text) => ({
    text,
    columns: isColour(text) ? 0 : columnsOf(text),
  }))
  const start = tokens.findIndex(({ text }) => text !== ' ' && !isColour(text))
  const indent = tokens.slice(0, Math.max(0, start)).filter(({ text }) => text === ' ').length
  const below = ' '.repeat(Math.min(hang ?? indent + 2, Math.floor(columns / 2)))
  const lines: string[] = []
  let [from, room] = [0, columns]
  for (
    let end = endOf(tokens, from, room, start);
    end < tokens.length;
    end = endOf(tokens, from, room, from)
  ) {
    const piece = textOf(tokens.slice(from, end)).trimEnd()
    from = end
    while (from < tokens.length && isSkipped(tokens[from] as Token)) from++
    const colours = tokens.slice(end, from).filter(({ text }) => isColour(text))
    lines.push((lines.length > 0 ? below : '') + piece + textOf(colours))
    room = columns - below.length
  }
  const rest = textOf(tokens.slice(from))
  return lines.length > 0 && rest === '' ? lines : [...lines, (lines.length > 0 ? below : '') + rest]
}

/** The end of the line that begins at `from`: at a blank, else after a slash, else where it is full. */
function endOf(tokens: readonly Token[], from: number, room: number, first: number): number {
  let [used, blank, slash] = [0, 0, 0]
  for (let i = from; i < tokens.length; i++) {
    const { text, columns } = tokens[i] as Token
    if (text === ' ' && i > first) blank = i
    used += columns
    if (used > room) return blank || slash || Math.max(i, from + 1)
    if (text === '/' && i > first) slash = i + 1
  }
  return tokens.length
}

/** Blanks at a line break are dropped. */
function isSkipped({ text }: Token): boolean {
  return text === ' ' || isColour(text)
}

function isColour(text: string): boolean {
  return text.length > 1 && text.startsWith('\x1b')
}

function textOf(tokens: readonly Token[]): string {
  return tokens.map(({ text }) => text).join('')
}

// ---- columns --------------------------------------------------------------------------------------------------

/** The width in most terminals. */
export function shownColumns(text: string): number {
  let columns = 0
  for (const char of text) columns += char < '\u0300' ? 1 : widthOf(char)
  return columns
}

function widthOf(char: string): number {
  if (/[\p{M}\p{Cf}]/u.test(char)) return 0
  const wide =
    /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]/u
  return wide.test(char) ? 2 : 1
}

/** Cuts to this width, with an ellipsis. */
export function cutTo(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text
  const chars = Array.from(text)
  let [used, at] = [2, 0]
  while (at < chars.length && used + columnsOf(chars[at] as string) <= columns)
    used += columnsOf(chars[at++] as string)
  return `${chars.slice(0, at).join('')}…`
}
