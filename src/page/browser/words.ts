// Words that somebody searches for.

/** Whether the text has every one of them, in any order and case. */
export function areIn(words: string, text: string): boolean {
  const found = text.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => found.includes(word))
}
