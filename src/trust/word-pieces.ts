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
      return [{ text: part.text, kind: 'open' }]
    }
    default: {
      const isHere = /^(?:\$\(\s*pwd(?: -[LP])?\s*\)|`pwd`)$/.test(part.text)
      return [isHere ? { text: '.', kind: 'known' } : { text: part.text, kind: 'open' }]
    }
  }
}

/** `{a,b}/c` means two words. */
export function alternatives(pieces: readonly Piece[]): readonly (readonly Piece[])[] {
  const at = pieces.findIndex(({ kind, text }) => kind === 'open' && /^\{[^{}$`]*,[^{}$`]*\}$/.test(text))
  if (at < 0) return [pieces]
  const names = pieces[at]?.text.slice(1, -1).split(',') ?? []
  return names.map((text) => [...pieces.slice(0, at), { text, kind: 'known' }, ...pieces.slice(at + 1)])
}
