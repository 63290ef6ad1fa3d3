// Quoting a word for sh, bash, zsh and fish.

/** Quotes a word unless it is plain. zsh turns `=ls` into a path, fish turns `%self` into a number. */
export function shellQuoted(word: string): string {
  return /^(?![=%])[\w@%+=:,./-]+$/.test(word) ? word : inQuotes(word)
}

/**
 * Always quotes: even a plain word may be a keyword, such as `if`. In fish a backslash escapes inside quotes, so it
 * goes outside.
 */
export function inQuotes(word: string): string {
  const pieces = word.split(/(['\\])/).filter((piece) => piece !== '')
  return pieces.map((piece) => (/^['\\]$/.test(piece) ? `\\${piece}` : `'${piece}'`)).join('') || "''"
}
