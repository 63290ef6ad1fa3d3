// What somebody types, key by key, as a terminal in raw mode hands it out.

import { StringDecoder } from 'node:string_decoder'

/** What has come of some keys: a line, less of one, more than one at a stroke, or somebody who leaves. */
export type Typed = 'part' | 'line' | 'lines' | 'left'

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
  /** Of a key that sends several characters: how far it is. */
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
      // Nobody types a line and more between two looks at the keyboard: it was pasted, and is no answer.
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

  /** Arrows and kin: `ESC [ … letter`, `ESC O letter`, `ESC letter`; none of them means anything here. */
  #isInKey(char: string): boolean {
    if (char === CTRL_C || char === CTRL_D) return false
    const before = this.#escape
    if (char === ESCAPE) this.#escape = 'begun'
    else if (before === 'begun') this.#escape = char === '[' || char === 'O' ? 'sequence' : 'none'
    else if (before === 'sequence' && /[@-~]/.test(char)) this.#escape = 'none'
    return before !== 'none' || char === ESCAPE
  }
}
