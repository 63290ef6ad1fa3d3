// LineReader: lines of bounded length from a stream of bytes. A line that is too long is skipped without being kept.

import type { Readable } from 'node:stream'

export interface LineHandler {
  /** Gets a line without its line break. A carriage return before it stays. */
  line(text: string): void
  /** Called once for each line that is too long, as soon as that is known, with its beginning. */
  tooLong(beginning: string): void
  /** Called once, when there is nothing more to read, with the error if the stream broke. */
  end(error: Error | undefined): void
}

const NEWLINE = 0x0a
/** Bytes shown of a line that is too long. */
const BEGINNING_BYTES = 200
const NOTHING = Buffer.alloc(0)
/** The longest time spent on one chunk before other work gets a turn. */
const LONGEST_STRETCH_MS = 5

export class LineReader {
  readonly #input: Readable
  readonly #handler: LineHandler
  readonly #maxLineBytes: number
  /** An incomplete line, in one growing buffer: a list of one-byte chunks would be a hundred times as large. */
  #partial: Buffer = NOTHING
  #partialBytes = 0
  #skipping = false
  #stopped = false
  #held = false

  constructor(input: Readable, maxLineBytes: number, handler: LineHandler) {
    this.#input = input
    this.#maxLineBytes = maxLineBytes
    this.#handler = handler
    input.on('error', this.#onError)
    if (input.destroyed || input.readableEnded) {
      queueMicrotask(this.#onEnd)
      return
    }
    input.on('data', this.#onData)
    input.on('end', this.#onEnd)
    input.on('close', this.#onEnd)
  }

  /** Reads nothing more for now: whoever gets the lines cannot take them. */
  hold(): void {
    this.#held = true
    this.#input.pause()
  }

  release(): void {
    this.#held = false
    this.#input.resume()
  }

  /** Stops calling the handler. The stream keeps flowing, so that its writer is not blocked. */
  stop(): void {
    if (this.#stopped) return
    this.#stopped = true
    this.#release()
    this.#input.off('data', this.#onData)
    this.#input.off('end', this.#onEnd)
    this.#input.off('close', this.#onEnd)
  }

  /** Stays attached: an unhandled error event would end the process. */
  readonly #onError = (error: Error): void => this.#finish(error)
  readonly #onEnd = (): void => this.#finish(undefined)

  #finish(error: Error | undefined): void {
    if (this.#stopped) return
    if (this.#partialBytes > 0) this.#completePartial()
    if (this.#stopped) return
    this.stop()
    this.#handler.end(error)
  }

  readonly #onData = (data: Buffer | string): void => {
    const startedAt = performance.now()
    this.#take(data)
    if (performance.now() - startedAt > LONGEST_STRETCH_MS) this.#rest()
  }

  /** A full pipe delivers chunk after chunk in one turn of the event loop. Code with deadlines needs turns too. */
  #rest(): void {
    this.#input.pause()
    setImmediate(() => {
      if (!this.#held) this.#input.resume()
    })
  }

  #take(data: Buffer | string): void {
    const chunk = typeof data === 'string' ? Buffer.from(data) : data
    const first = chunk.indexOf(NEWLINE)
    if (first < 0) {
      this.#keep(chunk)
      return
    }
    let start = 0
    if (this.#partialBytes > 0 || this.#skipping) {
      this.#keep(chunk.subarray(0, first))
      this.#completePartial()
      start = first + 1
    }
    const end = chunk.lastIndexOf(NEWLINE) + 1
    if (end - start - 1 > this.#maxLineBytes) this.#oneByOne(chunk, start, end)
    else if (start < end) this.#whole(chunk, start, end)
    if (end < chunk.length) this.#keep(chunk.subarray(end))
  }

  /** Handles complete lines of one chunk. A line break is never part of another character, so they are decoded together. */
  #whole(chunk: Buffer, start: number, end: number): void {
    const text = chunk.toString('utf8', start, end)
    let from = 0
    for (let to = text.indexOf('\n'); to >= 0; to = text.indexOf('\n', from)) {
      if (this.#stopped) return
      if (to > from) this.#handler.line(text.slice(from, to))
      from = to + 1
    }
  }

  /** The same, if one of the lines may be too long. */
  #oneByOne(chunk: Buffer, start: number, end: number): void {
    let from = start
    while (from < end && !this.#stopped) {
      const to = chunk.indexOf(NEWLINE, from)
      if (to - from > this.#maxLineBytes) this.#refuse(chunk.subarray(from, to))
      else if (to > from) this.#handler.line(chunk.toString('utf8', from, to))
      from = to + 1
    }
  }

  #keep(part: Buffer): void {
    if (this.#skipping || this.#stopped || part.length === 0) return
    const bytes = this.#partialBytes + part.length
    if (bytes > this.#maxLineBytes) {
      const beginning = Buffer.concat([
        this.#partial.subarray(0, this.#partialBytes),
        part.subarray(0, BEGINNING_BYTES),
      ])
      this.#skipping = true
      this.#release()
      this.#refuse(beginning)
      return
    }
    if (bytes > this.#partial.length) this.#grow(bytes)
    part.copy(this.#partial, this.#partialBytes)
    this.#partialBytes = bytes
  }

  #grow(bytes: number): void {
    const larger = Buffer.allocUnsafe(Math.min(Math.max(bytes, this.#partial.length * 2), this.#maxLineBytes))
    this.#partial.copy(larger, 0, 0, this.#partialBytes)
    this.#partial = larger
  }

  /** The line break, or the end of the stream, has come. */
  #completePartial(): void {
    if (this.#stopped) return
    if (this.#skipping) {
      this.#skipping = false
      return
    }
    const text = this.#partial.toString('utf8', 0, this.#partialBytes)
    this.#release()
    this.#handler.line(text)
  }

  #refuse(line: Buffer): void {
    this.#handler.tooLong(line.toString('utf8', 0, BEGINNING_BYTES))
  }

  #release(): void {
    this.#partial = NOTHING
    this.#partialBytes = 0
  }
}
