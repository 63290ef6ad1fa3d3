// A word of a command line: what is left when the quotes are gone, and what only the running shell can fill in.

import type { Assignment, HereDoc, Word, WordPart } from 'unbash'

/** Stands for text that is not known yet. No readable command holds one itself. */
export const OPEN = '\0'

export interface ShellWord {
  /** Without its quotes; what the shell fills in stands as it was written. */
  readonly text: string
  /** The same with OPEN for what is filled in. Equal to `text` for a word that is always the same. */
  readonly shape: string
}

/** Further arguments, from elsewhere. */
export const MORE: ShellWord = { text: '', shape: OPEN }

export function isOpen({ text, shape }: ShellWord): boolean {
  return text !== shape
}

/** No quote, no expansion, no glob: spares the parser to take the word apart. */
const PLAIN = /^[\w./:=@%+,-]+$/

export function isPlain({ text }: Word): boolean {
  return PLAIN.test(text)
}

export function wordOf(word: Word): ShellWord {
  if (isPlain(word)) return literal(word.text)
  const { parts } = word
  const text = word.value
  return { text, shape: parts ? shapeOf(parts) : text }
}

/** An argument like `X=1`, of `export` and its kin. */
export function assignedWord({ text, name, value }: Assignment): ShellWord {
  if (value.type === 'ArrayValue') return { text, shape: `${name}=${OPEN}` }
  const word = wordOf(value)
  return { text: `${name}=${word.text}`, shape: `${name}=${word.shape}` }
}

/** The body as the program reads it. */
export function bodyOf({ body, delimiter, operator }: HereDoc): ShellWord {
  const flat = (text: string) => (operator === '<<-' ? text.replace(/^\t+/gm, '') : text)
  if (delimiter?.quoted) return literal(flat(body.text))
  const unescaped = (text: string) => flat(text).replace(/\\([$`\\\n])/g, (_, c) => (c === '\n' ? '' : c))
  if (!body.parts) return literal(unescaped(body.text))
  return { text: unescaped(body.text), shape: shapeOf(body.parts) }
}

export function literal(text: string): ShellWord {
  return { text, shape: text }
}

export function joined(words: readonly ShellWord[]): ShellWord {
  return { text: words.map(({ text }) => text).join(' '), shape: words.map(({ shape }) => shape).join(' ') }
}

function shapeOf(parts: readonly WordPart[]): string {
  let shape = ''
  for (const part of parts) {
    switch (part.type) {
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        shape += part.value
        break
      case 'DoubleQuoted':
      case 'LocaleString':
        shape += shapeOf(part.parts)
        break
      default:
        shape += OPEN
    }
  }
  return shape
}
