// What a process writes to standard error: the last lines, fit for people; the rest is read and dropped.

import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { byteLength, cutText, plainText } from '../../core/base/text.js'

const MOST_LINES = 64
/** Of all lines together. */
const MOST_BYTES = 4096
/** Of a line, so that one without an end does not push out the others. */
const LONGEST_LINE = 1024
/** Characters of one piece that are looked at: whoever floods is known by the end of it. */
const LONGEST_PIECE = 8192

export class StderrLines {
  readonly #decoder = new StringDecoder('utf8')
  readonly #lines: string[] = []
  #bytes = 0
  /** Lines that came so far, those that are gone among them. */
  #count = 0
  #taken = 0
  /** The beginning of a line whose end has not come. */
  #begun = ''

  constructor(stream: Readable) {
    stream.on('data', (chunk: Buffer) => this.#read(this.#decoder.write(chunk)))
    stream.on('end', () => this.#read(this.#begun === '' ? '' : '\n'))
    stream.on('error', () => undefined) // the process is gone, and the connection or its exit tells why
  }

  /** What came since this was asked last, as far as it is kept: what comes after an answer is with the next one. */
  takeNew(): string {
    const lines = this.#count - this.#taken
    this.#taken = this.#count
    return lines > 0 ? this.last(lines).join('\n') : ''
  }

  /** At most so many of the last lines. */
  last(lines: number): readonly string[] {
    return this.#lines.slice(-lines)
  }

  #read(text: string): void {
    const recent = text.length > LONGEST_PIECE ? text.slice(-LONGEST_PIECE) : text
    const [first = '', ...more] = recent.split('\n')
    this.#begun = begun(this.#begun + first)
    for (const line of more) {
      this.#keep(this.#begun)
      this.#begun = begun(line)
    }
  }

  #keep(written: string): void {
    const plain = plainText(written).trimEnd()
    if (plain === '') return
    const line = byteLength(plain) > LONGEST_LINE ? cutText(plain, LONGEST_LINE, '…') : plain
    this.#count++
    this.#bytes += byteLength(line)
    this.#lines.push(line)
    while (this.#lines.length > MOST_LINES || this.#bytes > MOST_BYTES) {
      this.#bytes -= byteLength(this.#lines.shift() ?? '')
    }
  }
}

function begun(line: string): string {
  return line.slice(0, LONGEST_LINE + 1)
}
