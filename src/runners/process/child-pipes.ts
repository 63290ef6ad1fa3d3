// The input of a process, as the connection writes to it. That it broke is for the process to tell: replies that came before are still to be read.

import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import type { Socket } from 'node:net'
import { type Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { byteLength, cutText, plainText } from '../../core/base/text.js'

/** Node destroys `stdin` when the process ends, which may be before its last reply was read. `onBroken` is called when it reads no more. */
export function inputOf({ stdin }: ChildProcessWithoutNullStreams, onBroken: () => void): Writable {
  stdin.on('error', onBroken)
  return new Writable({
    decodeStrings: false,
    write(chunk: string, encoding, done) {
      stdin.write(chunk, encoding, (error) => {
        if (!error) done()
      })
    },
    final(done) {
      stdin.end(() => done())
    },
  })
}

// ---- a process that does not read -----------------------------------------------------------------------------
/** A hook that is busy reads again; one that is stuck has lost what it was sent long before. */
const STALLED_MS = 10_000

export class Stall {
  readonly #stream: Pick<Socket, 'bytesWritten' | 'writableLength'>
  readonly #onStall: () => void
  #taken = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(stream: Pick<Socket, 'bytesWritten' | 'writableLength'>, onStall: () => void) {
    this.#stream = stream
    this.#onStall = onStall
  }

  /** To be called after something was written. */
  watch(): void {
    if (this.#timer !== undefined || this.#stream.writableLength === 0) return
    this.#taken = this.#read()
    this.#timer = setTimeout(() => this.#look(), STALLED_MS).unref()
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #look(): void {
    this.#timer = undefined
    if (this.#stream.writableLength > 0 && this.#read() === this.#taken) this.#onStall()
    else this.watch()
  }

  /** Bytes that the process has taken. */
  #read(): number {
    return this.#stream.bytesWritten - this.#stream.writableLength
  }
}

// ---- standard error -------------------------------------------------------------------------------------------
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
