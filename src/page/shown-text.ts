// Text on its way to the page: every character is seen, and paths begin with ~ where they can.

import { visible, visibleLines } from '../core/base/text.js'
import { withTilde } from '../files/homes.js'

const LONGEST_LINE = 300

/** Several lines. */
export function block(text: string): string {
  return visibleLines(text).join('\n')
}

/** One line, cut to this length. */
export function line(text: string, longest = LONGEST_LINE): string {
  const flat = visible(text.replace(/[ \t\r\n]+/g, ' ').trim())
  return flat.length > longest ? `${flat.slice(0, longest - 1)}…` : flat
}

export function path(full: string): string {
  return visible(withTilde(full))
}

/** `~/hooks.json:3`; empty without a file. */
export function place(file: string | undefined, at: number | undefined): string {
  if (file === undefined) return ''
  return at === undefined ? path(file) : `${path(file)}:${at}`
}
