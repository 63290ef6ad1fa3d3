// A word of a command line: what is left when the quotes are gone, and what only the running shell can fill in.

import type { Assignment, HereDoc, Word, WordPart } from 'unbash'

/** Stands for text that is not known yet. No readable command holds one itself. */
export const OPEN = '\0'

export interface ShellWord {
  /** Without its quotes; what the shell fills in stands as it was written. */
  readonly text: string
  /** The same with OPEN for what is filled in. */
  readonly shape: string
  /** Whether the shell may make several words of it, or none. */
  readonly splits: boolean
}

/** Further arguments, from elsewhere. */
export const MORE: ShellWord = { text: '', shape: OPEN, splits: true }

export function isOpen({ shape }: ShellWord): boolean {
  return shape.includes(OPEN)
}

/** No quote, no expansion, no glob: spares the parser to take the word apart. */
const PLAIN = /^[\w./:=@%+,-]+$/

/** One pair of quotes with nothing in it that means more. */
const QUOTED = /^(?:"[^"$`\\]*"|'[^']*')$/

export function isPlain(text: string): boolean {
  return PLAIN.test(text)
}

export function wordOf(word: Word): ShellWord {
  if (isPlain(word.text)) return literal(word.text)
  if (QUOTED.test(word.text)) return literal(word.text.slice(1, -1))
  const { parts, value } = word
  if (parts) return { text: value, shape: shapeOf(parts), splits: parts.some(canSplit) }
  return { text: value, shape: HOME_ALONE.test(word.text) ? OPEN : value, splits: false }
}

/** `~`, `~bob`, `~+`: a whole word from elsewhere. Behind a slash comes what is known. */
const HOME_ALONE = /^~[^/]*$/

/** An argument like `X=1`, of `export` and its kin. */
export function assignedWord({ text, name, value }: Assignment): ShellWord {
  if (value.type === 'ArrayValue') return { text, shape: `${name}=${OPEN}`, splits: false }
  const word = wordOf(value)
  return { text: `${name}=${word.text}`, shape: `${name}=${word.shape}`, splits: false }
}

/** The body as the program reads it. */
export function bodyOf({ body, delimiter, operator }: HereDoc): ShellWord {
  const flat = operator === '<<-' ? body.text.replace(/^\t+/gm, '') : body.text
  if (delimiter?.quoted) return literal(flat)
  const text = flat.replace(/\\([$`\\\n])/g, (_, char) => (char === '\n' ? '' : char))
  return { text, shape: body.parts?.some(isFilledIn) ? OPEN : text, splits: false }
}

export function literal(text: string): ShellWord {
  return { text, shape: text, splits: false }
}

export function joined(words: readonly ShellWord[]): ShellWord {
  const text = words.map((word) => word.text).join(' ')
  const shape = words.map((word) => word.shape).join(' ')
  return { text, shape, splits: words.some((word) => word.splits) }
}

/** Without its first characters, which are known. */
export function cutFront({ text, shape, splits }: ShellWord, length: number): ShellWord {
  return { text: text.slice(length), shape: shape.slice(length), splits }
}

function shapeOf(parts: readonly WordPart[]): string {
  let shape = ''
  for (const part of parts) {
    if (part.type === 'DoubleQuoted' || part.type === 'LocaleString') shape += shapeOf(part.parts)
    else shape += isFilledIn(part) ? OPEN : part.value
  }
  return shape
}

type Known = Extract<WordPart, { type: 'Literal' | 'SingleQuoted' | 'AnsiCQuoted' }>
type Quoted = Extract<WordPart, { type: 'DoubleQuoted' | 'LocaleString' }>

function isFilledIn(part: WordPart): part is Exclude<WordPart, Known | Quoted> {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
    case 'DoubleQuoted':
    case 'LocaleString':
      return false
    default:
      return true
  }
}

/** In quotes only `"$@"` and its kin are more than one word. */
function canSplit(part: WordPart): boolean {
  if (part.type !== 'DoubleQuoted' && part.type !== 'LocaleString') return isFilledIn(part)
  return part.parts.some((inner) => isFilledIn(inner) && /[@*]/.test(inner.text))
}
