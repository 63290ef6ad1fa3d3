// Finds where a value in a text begins and ends, and whether it is only a reference to a secret.

import type { Span } from '../core/base/secrets.js'

export interface Value extends Span {
  readonly isQuoted: boolean
}

const PREFIX = /(?:[bfru]{1,2}(?=["']))?(\\{0,7})(["'`])/iy
/** Up to the end of a word. A backslash includes the next character. */
const BARE = /(?:\\[^\s"'`]|[^\s"'`;&|<>\\])+/y
const BLOCK = /[|>][+-]?[ \t]{0,8}\r?\n((?:[ \t][^\n]*\n?|\r?\n)+)/y

/** The value that begins here, if any. */
export function valueAt(text: string, at: number): Value | undefined {
  const opening = text[at]
  if (opening === '{' || opening === '[') return bracketed(text, at)
  const quote = matchAt(PREFIX, text, at)
  if (quote) return quoted(text, at + quote[0].length, quote[1]?.length ?? 0, quote[2] as string)
  const block = matchAt(BLOCK, text, at)
  if (block) {
    const end = at + block[0].length
    return { start: end - (block[1] as string).length, end, isQuoted: true }
  }
  const bare = matchAt(BARE, text, at)?.[0].replace(/[),\]}]{1,8}$/, '')
  return bare ? { start: at, end: at + bare.length, isQuoted: false } : undefined
}

/** Up to the closing quote, or the end of the text. `depth` is the number of backslashes before each quote in a nested text. */
function quoted(text: string, start: number, depth: number, quote: string): Value {
  for (let at = start; at < text.length; at++) {
    if (text[at] !== quote) continue
    let slashes = 0
    while (at - slashes > start && text[at - 1 - slashes] === '\\') slashes++
    if (slashes > depth || (depth === 0 && slashes % 2 === 1)) continue
    reading.characters += at - start
    return { start, end: at - slashes, isQuoted: true }
  }
  reading.characters += text.length - start
  return { start, end: text.length, isQuoted: true }
}

/** A whole list or object, or the rest of the text if it is not closed. */
function bracketed(text: string, start: number): Value | undefined {
  if (text.startsWith('{{', start)) return undefined
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const char = text[at]
    if (char === '{' || char === '[') depth++
    else if ((char === '}' || char === ']') && --depth === 0) {
      reading.characters += at - start
      const isEmpty = text.slice(start + 1, Math.min(at, start + 64)).trim() === ''
      return isEmpty ? undefined : { start, end: at + 1, isQuoted: true }
    }
  }
  reading.characters += text.length - start
  return { start, end: text.length, isQuoted: true }
}

/** Counts the characters read, for a test that the work is linear. */
export const reading = { characters: 0 }

export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  const match = pattern.exec(text)
  reading.characters += 1 + (match?.[0].length ?? 0)
  return match
}

/** References to a secret, which are not secret: `$TOKEN`, `<TOKEN>`, `process.env.TOKEN`, `~/.token`, `read(…)`, `***`. */
export const REFERENCE =
  /^(?:\$(?:[A-Z_][A-Z0-9_]*|[a-z_]+|[A-Za-z_]+:[A-Z_]+)$|\$\{|\$\(|`|<[^>]{1,64}>?$|\{\{|%\w{1,64}%$|https?:\/\/|(?:process|import\.meta|os|env|secrets|vars|config|settings|self|this)\.[A-Za-z_]|(?:~|\.{1,2})\/|\/(?:[a-z]{2,8}|Users)(?:\/[\w.@-]{1,64}){0,16}\/?$|[A-Za-z]:\\|@[\w./-]{1,64}$|(?:await )?[A-Za-z_][\w.]{0,64}\([^()]{0,200}\)|[*x.•…_-]{1,64}$)/i

/** The most characters before or after a word that are checked. */
export const BEHIND = 96
