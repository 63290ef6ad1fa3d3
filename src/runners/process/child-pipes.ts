// The pipes of a resident process: input that may break or stall, and the last lines of standard error.

import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { byteLength, cutText, plainText } from '../../core/base/text.js'
import type { LineOutput } from '../../rpc/writer.js'

/** The streams of a process. */
export interface Pipes {
  /** It reads messages from this. */
  readonly input: Socket
  /** It writes messages to this. */
  readonly output: Readable
  /** What it prints for people. */
  readonly printed: readonly Readable[]
}

/** A process with a channel of its own prints to both of its standard streams. */
export function pipesOf({ stdin, stdout, stderr, stdio }: ChildProcess): Pipes {
  const channel = stdio[CHANNEL] as Socket | null | undefined
  const out = stdout as Readable
  return channel
    ? { input: channel, output: channel, printed: [out, stderr as Readable] }
    : { input: stdin as Socket, output: out, printed: [stderr as Readable] }
}

const CHANNEL = 3

/**
 * An output that outlives `stdin`, which Node destroys when the process ends, perhaps before its last reply was read.
 * Calls `onBroken` when the process no longer reads.
 */
export function inputOf(stdin: Pipes['input'], onBroken: () => void): LineOutput {
  stdin.on('error', onBroken)
  const output: LineOutput = {
    writable: true,
    write: (text, done) =>
      stdin.write(text, (error) => {
        if (!error) done()
      }),
    end: () => stdin.end(),
    // It neither breaks nor closes.
    on: () => output,
    off: () => output,
  }
  return output
}

// ---- a process that does not read -----------------------------------------------------------------------------

/** A busy hook reads again within this time. Data that waits for a stuck hook would keep our own process from ending. */
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

  /** Must be called after a write. */
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

  /** Bytes that the process has read. */
  #read(): number {
    return this.#stream.bytesWritten - this.#stream.writableLength
  }
}

// ---- standard error -------------------------------------------------------------------------------------------

const MOST_LINES = 64
/** Bytes of all lines together. */
const MOST_BYTES = 4096
/** Bytes of one line, so that an endless line does not push out the others. */
const LONGEST_LINE = 1024
/** Characters of one chunk that are processed, because only the end of a flood matters. */
const LONGEST_PIECE = 8192

export class StderrLines {
  readonly #lines: string[] = []
  #bytes = 0
  /** The number of lines so far, including dropped ones. */
  #count = 0
  #taken = 0

  constructor(...streams: readonly Readable[]) {
    for (const stream of streams) this.#follow(stream)
  }

  #follow(stream: Readable): void {
    const decoder = new StringDecoder('utf8')
    /** The beginning of an incomplete line. */
    let begun = ''
    stream.on('data', (chunk: Buffer) => {
      begun = this.#read(begun, decoder.write(chunk))
    })
    stream.on('end', () => {
      begun = this.#read(begun, begun === '' ? '' : '\n')
    })
    stream.on('error', () => undefined) // The connection or its exit says why it is gone.
  }

  /** Lines since the last call, as far as they are kept. Lines after an answer belong to the next one. */
  takeNew(): string {
    const lines = this.#count - this.#taken
    this.#taken = this.#count
    return lines > 0 ? this.last(lines).join('\n') : ''
  }

  /** What it printed for one caller is no other's business. */
  forget(): void {
    this.#lines.length = 0
    this.#bytes = 0
    this.#taken = this.#count
  }

  last(lines: number): readonly string[] {
    return this.#lines.slice(-lines)
  }

  /** Keeps complete lines, and returns the beginning of the next one. */
  #read(begun: string, text: string): string {
    const recent = text.length > LONGEST_PIECE ? text.slice(-LONGEST_PIECE) : text
    const [first = '', ...more] = recent.split('\n')
    let line = beginningOf(begun + first)
    for (const next of more) {
      this.#keep(line)
      line = beginningOf(next)
    }
    return line
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

function beginningOf(line: string): string {
  return line.slice(0, LONGEST_LINE + 1)
}
