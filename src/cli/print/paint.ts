// Colours and widths of a terminal; everything reads as well without.

import picocolors from 'picocolors'
import { isTerminal } from '../terminal.js'

export type Paint = ReturnType<typeof picocolors.createColors>

/** Only on a terminal, and not for who does not want any. */
export function painter(fd: 1 | 2): Paint {
  const { NO_COLOR, TERM } = process.env
  return picocolors.createColors(!NO_COLOR && TERM !== 'dumb' && isTerminal(fd))
}

const NARROWEST = 40

/** Columns of the terminal. Into a pipe lines go whole: whoever searches them must find them. */
export function width(): number {
  return isTerminal(1) ? Math.max(NARROWEST, process.stdout.columns || 80) : Infinity
}
