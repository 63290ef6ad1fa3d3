// A word that a shell takes for what it is.

/** In quotes, unless it is plain. */
export function shellQuoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : inQuotes(word)
}

/** Also what is plain may be a word of the shell's own: `if`. */
export function inQuotes(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
