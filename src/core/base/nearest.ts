// What somebody most likely meant by a word that is not known.

import { visibleName } from './visible.js'

/** The nearest of the words: the same but for case and separators, or at most two letters away, or the only one that so begins. */
export function nearest(word: string, words: Iterable<string>): string | undefined {
  const wanted = folded(word)
  if (wanted.length < 2 || wanted.length > 40) return undefined
  const all = [...words]
  return nearBy(wanted, all) ?? onlyLonger(wanted, all)
}

function nearBy(wanted: string, words: readonly string[]): string | undefined {
  let best: string | undefined
  let distance = wanted.length > 5 ? 3 : 2
  for (const one of words) {
    const away = editDistance(wanted, folded(one))
    if (away >= distance) continue
    best = one
    distance = away
  }
  return best
}

function onlyLonger(wanted: string, words: readonly string[]): string | undefined {
  const longer = wanted.length < 3 ? [] : words.filter((one) => folded(one).startsWith(wanted))
  return longer.length === 1 ? longer[0] : undefined
}

/** `; did you mean …?`, or nothing. The words may be those of strangers. */
export function didYouMean(word: string, words: Iterable<string>, mark = ''): string {
  const meant = nearest(word, words)
  return meant === undefined ? '' : `; did you mean ${mark}${visibleName(meant)}?`
}

function folded(word: string): string {
  return word.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** Letters to add, drop, replace or swap with their neighbour. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next.push(
        Math.min(
          (row[j - 1] as number) + same,
          (row[j] as number) + 1,
          (next[j - 1] as number) + 1,
          swapped ? (before[j - 2] ?? Infinity) + 1 : Infinity,
        ),
      )
    }
    before = row
    row = next
  }
  return row[b.length] as number
}
