// A shell word in pieces: known text, wildcards, and parts that only the running shell knows.

import type { Word, WordPart } from 'unbash'

/** A part of a word. */
export interface Piece {
  readonly text: string
  /** `open`: only the running shell knows the text. */
  readonly kind: 'known' | 'glob' | 'open'
}

/** Variables that the command itself sets. */
type Values = ReadonlyMap<string, string>

/** Variables with a known value are filled in. */
export function piecesOf({ value, text, parts }: Word, values: Values): readonly Piece[] {
  if (!parts) return [{ text: value, kind: /^~/.test(text) ? 'open' : 'known' }]
  return parts.flatMap((part) => pieceOf(part, values))
}

function pieceOf(part: WordPart, values: Values): readonly Piece[] {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [{ text: part.value, kind: 'known' }]
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts.flatMap((inner) => pieceOf(inner, values))
    case 'Glob':
    case 'ExtendedGlob':
      return [{ text: part.text, kind: 'glob' }]
    case 'SimpleExpansion':
    case 'ParameterExpansion': {
      const name = part.type === 'SimpleExpansion' ? part.text.slice(1) : part.parameter
      const hasMore = part.type === 'ParameterExpansion' && (part.operation ?? part.prefix ?? part.index)
      const known = name === 'PWD' ? '.' : values.get(name)
      if (known !== undefined && !hasMore) return [{ text: known, kind: 'known' }]
      // `${DIR:-.}/x` is a path from here if nobody sets DIR.
      const fallback = part.type === 'ParameterExpansion' && fallbackOf(part)
      if (fallback) return known === undefined ? piecesOf(fallback, values) : [{ text: known, kind: 'known' }]
      return [{ text: part.text, kind: 'open' }]
    }
    default: {
      const isHere = /^(?:\$\(\s*pwd(?: -[LP])?\s*\)|`pwd`)$/.test(part.text)
      return [isHere ? { text: '.', kind: 'known' } : { text: part.text, kind: 'open' }]
    }
  }
}

function fallbackOf({ operation }: Extract<WordPart, { type: 'ParameterExpansion' }>): Word | undefined {
  return operation?.type === 'Default' && /^:?[-=]$/.test(operation.operator) ? operation.operand : undefined
}

/** More words than anybody writes in braces. */
const MOST_WORDS = 64

/** `{a,b}/c` means two words. Braces that mean too many words count as wildcards. */
export function alternatives(pieces: readonly Piece[]): readonly (readonly Piece[])[] {
  let words = [pieces]
  while (words.some((word) => word.some(isBraces))) {
    const next = words.flatMap(expanded)
    if (next.length > MOST_WORDS) return words.map((word) => word.map(asWildcard))
    words = next
  }
  return words
}

function asWildcard(piece: Piece): Piece {
  return isBraces(piece) ? { text: '*', kind: 'glob' } : piece
}

function isBraces({ kind, text }: Piece): boolean {
  return kind === 'open' && text.startsWith('{') && text.endsWith('}')
}

/** The words that it means, with its first braces replaced by each of their choices. */
function expanded(pieces: readonly Piece[]): readonly (readonly Piece[])[] {
  const at = pieces.findIndex(isBraces)
  if (at < 0) return [pieces]
  const choices = choicesIn(pieces[at]?.text.slice(1, -1) ?? '')
  return choices.map((choice) => [...pieces.slice(0, at), ...choice, ...pieces.slice(at + 1)])
}

/** Text in braces, split at the commas outside inner braces. A range such as `1..9` counts as a wildcard. */
function choicesIn(text: string): readonly (readonly Piece[])[] {
  const choices: Piece[][] = [[]]
  for (const [part] of text.matchAll(PART)) {
    const last = choices.at(-1) as Piece[]
    if (part === ',') choices.push([])
    else if (/^[{$`]/.test(part)) last.push({ text: part, kind: 'open' })
    else last.push({ text: part, kind: /^[*?[]/.test(part) ? 'glob' : 'known' })
  }
  return choices.length > 1 ? choices : [[{ text: '*', kind: 'glob' }]]
}

/** Inner braces up to two levels deep, a variable, a wildcard, a comma, or plain text. */
const PART =
  /\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|\$\{[^}]*\}|[$`][^,{}]*|[*?]|\[[^\]]*\]|,|[^,{}$`*?[]+|./gs
