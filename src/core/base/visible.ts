// Text from strangers for a person who decides about it: nothing in it is hidden, and nothing in it can look like something else.

/** Most texts are; for them no properties of characters are looked up, which takes a while the first time. */
const PLAIN = /^[ -~]*$/

/** On one line. Every character that is not plain to see is written as its number: ⟨U+001B⟩. */
export function visible(text: string): string {
  if (PLAIN.test(text)) return text
  // Controls, what has no width or changes direction, blanks that are no space (the one of braille is a symbol), halves of
  // characters, and the mark itself.
  const unseen = /(?! )[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\p{Surrogate}\u2800⟨]/gu
  return text.replace(unseen, (char) => {
    const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase()
    return `⟨U+${code.padStart(4, '0')}⟩`
  })
}

/** Line by line; a tab stays one. */
export function visibleLines(text: string): readonly string[] {
  return text.split('\n').map((line) => line.split('\t').map(visible).join('\t'))
}

/** A name in a list, where a blank at its end or two in a row must not be lost: in quotes unless it is plain. */
export function visibleName(name: string): string {
  return /^[\w@%+=:,./~#-]+$/.test(name) ? name : `"${visible(name).replace(/["\\]/g, '\\$&')}"`
}
