// Words that are not what they look like: Latin letters among Cyrillic or Greek ones that are drawn the same.

import { visible } from '../core/base/text.js'

const WORD = /[\p{L}\p{M}\p{N}_]+/gu
const LATIN = /\p{Script=Latin}/u
const OTHER = /[\p{Script=Cyrillic}\p{Script=Greek}]/u

/** Letters that have a Latin twin: a word of these alone is suspicious where Latin ones stand beside it. */
const TWINS = /^[абеһіјӏорԛсѕухѵԝАВЕЅІЈКМНОРСТУХҮԌΑΒΕΖΗΙΚΜΝΟΡΤΥΧονρτυιακ]+$/u

/** More than anybody reads. */
const MOST_SHOWN = 5
/** Texts are looked at no further. */
const LONGEST_TEXT = 1_000_000

/** Each such word once, with its foreign letters as numbers. */
export function lookalikes(texts: Iterable<string>): readonly string[] {
  const found = new Set<string>()
  for (const text of texts) {
    for (const token of text.slice(0, LONGEST_TEXT).split(/\s+/)) {
      if (!OTHER.test(token) || !LATIN.test(token)) continue
      for (const [word] of token.matchAll(WORD)) {
        if (OTHER.test(word) && (LATIN.test(word) || (word.length > 1 && TWINS.test(word)))) found.add(word)
      }
    }
    if (found.size > MOST_SHOWN) break
  }
  return [...found].slice(0, MOST_SHOWN).map(spelt)
}

function spelt(word: string): string {
  const letters = Array.from(word.slice(0, 60), (char) => (OTHER.test(char) ? numbered(char) : visible(char)))
  return letters.join('')
}

function numbered(char: string): string {
  return `⟨U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`
}
