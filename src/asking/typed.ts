// A person's typing: keys of a terminal in raw mode become a line, and a line becomes an answer.

import { StringDecoder } from 'node:string_decoder'
import type { Question } from '../core/hooks/outcome.js'
import { effectOf } from '../core/verdict/approval.js'

type TypedAnswer =
  | { readonly option: string; readonly reason?: string }
  | { readonly problem: string }
  | undefined

/** Takes a number or the beginning of an option; a reason may follow a deny. Undefined for an empty line. An ambiguous line chooses nothing. */
export function typedAnswer(question: Question, line: string): TypedAnswer {
  const typed = line.trim()
  if (typed === '') return undefined
  const whole = optionsLike(question, typed)
  if (whole.length === 1) return { option: whole[0] as string }
  if (whole.length > 1) return { problem: 'that fits several answers; type the number of one' }
  const { word, rest } = firstWord(typed)
  const [option, ...others] = optionsLike(question, word)
  if (option === undefined || others.length > 0)
    return { problem: 'that is not one of the answers; type the number of one' }
  // Text after an allow may mean that the person wants to take it back.
  if (effectOf(question, option) !== 'deny')
    return { problem: 'nothing can be added to that answer; type it alone' }
  return { option, reason: rest }
}

function firstWord(typed: string): { readonly word: string; readonly rest: string } {
  const [, word = typed, rest = ''] = /^(\S+)\s+(.+)$/s.exec(typed) ?? []
  return { word, rest }
}

/** The option with this number, or with exactly this text, or all that begin with it. */
function optionsLike({ options }: Question, typed: string): readonly string[] {
  if (/^\d+$/.test(typed))
    return options.slice(Number(typed) - 1, Number(typed)).filter(() => Number(typed) > 0)
  const wanted = typed.toLowerCase()
  const same = options.find((option) => option.toLowerCase() === wanted)
  return same === undefined ? options.filter((option) => option.toLowerCase().startsWith(wanted)) : [same]
}

// ---- the keys -------------------------------------------------------------------------------------------------------

/** The result of some keys: part of a line, a line, several lines at once, or the person has left. */
type Typed = 'part' | 'line' | 'lines' | 'left'

const CTRL_C = '\u0003'
const CTRL_D = '\u0004'
const ERASE: readonly string[] = ['\u0008', '\u007f']
const ERASE_WORD = '\u0017'
const ERASE_LINE = '\u0015'
const ESCAPE = '\u001b'

const LONGEST = 2000

export class TypedLine {
  readonly #decoder = new StringDecoder('utf8')
  #chars: string[] = []
  /** How much of a multi-character key has arrived. */
  #escape: 'none' | 'begun' | 'sequence' = 'none'

  get text(): string {
    return this.#chars.join('')
  }

  clear(): void {
    this.#chars = []
  }

  feed(bytes: Buffer): Typed {
    const chars = Array.from(this.#decoder.write(bytes).replaceAll('\r\n', '\n'))
    for (const [i, char] of chars.entries()) {
      if (this.#isInKey(char)) continue
      if (char === CTRL_C || char === CTRL_D) return 'left'
      // Nobody types more than a line between two reads, so this was pasted and does not count.
      if (char === '\r' || char === '\n') return i === chars.length - 1 ? 'line' : 'lines'
      this.#edit(char)
    }
    return 'part'
  }

  #edit(char: string): void {
    if (ERASE.includes(char)) this.#chars.pop()
    else if (char === ERASE_LINE) this.#chars = []
    else if (char === ERASE_WORD) this.#chars = Array.from(this.text.replace(/\S*\s*$/, ''))
    else if (!/\p{Cc}/u.test(char) && this.#chars.length < LONGEST) this.#chars.push(char)
  }

  /** Arrow keys and the like (`ESC [ … letter`, `ESC O letter`, `ESC letter`) mean nothing here. */
  #isInKey(char: string): boolean {
    if (char === CTRL_C || char === CTRL_D) return false
    const before = this.#escape
    if (char === ESCAPE) this.#escape = 'begun'
    else if (before === 'begun') this.#escape = char === '[' || char === 'O' ? 'sequence' : 'none'
    else if (before === 'sequence' && /[@-~]/.test(char)) this.#escape = 'none'
    return before !== 'none' || char === ESCAPE
  }
}
