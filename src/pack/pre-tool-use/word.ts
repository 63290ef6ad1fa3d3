// A word of a command as the guard sees it: what the shell may make of it, as far as the command itself says.

import { isPattern } from './path-overlap.js'

export interface Word {
  /** Without quotes; where it is not known, as it was written. */
  readonly text: string
  /** Whether this is what the program gets. */
  readonly known: boolean
  /** Whether `*`, `?` and `[` in it stand for names. */
  readonly glob: boolean
  /** Whether it is one of several that may stand here: then it may stand for any of its neighbours. */
  readonly either?: boolean
}

export function isWild({ text, glob }: Word): boolean {
  return glob && isPattern(text)
}

/** The same, with another text. */
export function withText(word: Word, text: string): Word {
  return { ...word, text }
}
