// Colours and widths of a terminal; everything reads as well without.

import { isTerminal } from '../terminal.js'

/** On and off, as terminals know them. */
const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const

export type Paint = Readonly<Record<keyof typeof CODES, (text: string) => string>>

/** Only on a terminal, and not for who does not want any. */
export function isColoured(fd: 1 | 2): boolean {
  const { NO_COLOR, TERM } = process.env
  return !NO_COLOR && TERM !== 'dumb' && isTerminal(fd)
}

export function painter(fd: 1 | 2): Paint {
  const isPlain = !isColoured(fd)
  const styles = Object.entries(CODES).map(([name, [on, off]]) => [
    name,
    (text: string) => (isPlain ? text : `\x1b[${on}m${text}\x1b[${off}m`),
  ])
  return Object.fromEntries(styles)
}

const NARROWEST = 40

/** Columns of the terminal. Into a pipe lines go whole: whoever searches them must find them. */
export function width(): number {
  return isTerminal(1) ? Math.max(NARROWEST, process.stdout.columns || 80) : Infinity
}
