// A word that a shell takes for what it is: sh, bash, zsh and fish alike.

/** In quotes, unless it is plain. zsh makes a path of `=ls`, fish a number of `%self`. */
export function shellQuoted(word: string): string {
  return /^(?![=%])[\w@%+=:,./-]+$/.test(word) ? word : inQuotes(word)
}

/** Also what is plain may be a word of the shell's own: `if`. In the quotes of fish a backslash escapes, so it stands outside. */
export function inQuotes(word: string): string {
  const pieces = word.split(/(['\\])/).filter((piece) => piece !== '')
  return pieces.map((piece) => (/^['\\]$/.test(piece) ? `\\${piece}` : `'${piece}'`)).join('') || "''"
}
