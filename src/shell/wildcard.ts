// Patterns with `*` over text, in time that no pattern makes explode: no backtracking.

import { OPEN } from './shell-word.js'

/** A pattern cut at its stars; `\*` is a star itself, `\\` a backslash. */
export type Pieces = readonly string[]

export function piecesOf(pattern: string): Pieces {
  const pieces = ['']
  for (let i = 0; i < pattern.length; i++) {
    const escaped = pattern[i] === '\\' && (pattern[i + 1] === '*' || pattern[i + 1] === '\\')
    if (escaped) i++
    if (!escaped && pattern[i] === '*') pieces.push('')
    else pieces[pieces.length - 1] += pattern[i] as string
  }
  return pieces
}

/** The first and last piece have their places; of those between, the leftmost place is as good as any. */
export function fits(pieces: Pieces, text: string): boolean {
  const first = pieces[0] as string
  if (pieces.length === 1) return text === first
  const last = pieces[pieces.length - 1] as string
  const end = text.length - last.length
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (let i = 1; i < pieces.length - 1; i++) {
    const piece = pieces[i] as string
    const found = text.indexOf(piece, at)
    if (found < 0 || found + piece.length > end) return false
    at = found + piece.length
  }
  return true
}

/** Pairs of characters; beyond that it may fit. */
const MOST_STEPS = 1_000_000

/** Whether some text that `shape` can become fits: both sides have gaps. One step for each pair of characters. */
export function mayFit(pieces: Pieces, shape: string): boolean {
  const pattern = pieces.join(OPEN)
  if (pattern.length * shape.length > MOST_STEPS) return true
  /** Which beginnings of the pattern can go with the beginning of the shape that was read. */
  let reached = new Uint8Array(pattern.length + 1)
  reached[0] = 1
  spread(reached, pattern)
  for (let i = 0; i < shape.length; i++) {
    const next = new Uint8Array(pattern.length + 1)
    const open = shape[i] === OPEN
    for (let j = 0; j <= pattern.length; j++) {
      if (!reached[j]) continue
      if (open) {
        next.fill(1, j)
        break
      }
      if (pattern[j] === OPEN) next[j] = 1
      else if (pattern[j] === shape[i]) next[j + 1] = 1
    }
    spread(next, pattern)
    reached = next
  }
  return reached[pattern.length] === 1
}

/** A star may be nothing. */
function spread(reached: Uint8Array, pattern: string): void {
  for (let j = 0; j < pattern.length; j++) if (reached[j] && pattern[j] === OPEN) reached[j + 1] = 1
}
