// The terminal, if there is one: colours and width. Everything reads as well without.

import { fstatSync } from 'node:fs'
import { callerEnv } from '../../files/caller.js'

/** Looks before it loads node:tty, which brings the network along and takes longer than all of `fire`. */
export function isTerminal(fd: 0 | 1 | 2): boolean {
  return isDevice(fd) && process.getBuiltinModule('node:tty').isatty(fd)
}

function isDevice(fd: number): boolean {
  try {
    return fstatSync(fd).isCharacterDevice()
  } catch {
    return false // closed
  }
}

/** The codes that switch a style on and off. */
const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const

export type Paint = Readonly<Record<keyof typeof CODES, (text: string) => string>>

export function isColoured(fd: 1 | 2): boolean {
  const { NO_COLOR, TERM } = callerEnv()
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

/** Columns of the terminal. Lines go into a pipe whole, so that a search finds them. */
export function width(): number {
  return isTerminal(1) ? Math.max(NARROWEST, process.stdout.columns || 80) : Infinity
}
