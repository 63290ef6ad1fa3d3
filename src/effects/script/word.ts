// A word of a command as the guard sees it: what the shell may expand it to, as far as the command itself shows.

import { isPattern } from '../paths/path-overlap.js'

export interface Word {
  /** Without quotes. If it is not known, as it was written. */
  readonly text: string
  /** Whether this is exactly what the program gets. */
  readonly known: boolean
  /** Whether `*`, `?` and `[` in it are wildcards. */
  readonly glob: boolean
  /** Whether it is one of several alternatives for this place, next to the others in the list. */
  readonly either?: boolean
}

/** Stands for words that another program prints. */
export const ITS_INPUT = 'its input'
const OPEN = new RegExp(`[$\`]|${ITS_INPUT}`)

/** The text before the first part that only the running shell knows. Undefined if there is no such part. */
export function certainStart(text: string): string | undefined {
  const at = text.search(OPEN)
  return at < 0 ? undefined : text.slice(0, at)
}

export function isWild({ text, glob }: Word): boolean {
  return glob && isPattern(text)
}

/** The same word with another text. */
export function withText(word: Word, text: string): Word {
  return { ...word, text }
}
