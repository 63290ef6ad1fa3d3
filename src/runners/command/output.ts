// What a program writes to one stream: kept up to a limit; the rest is read and dropped, so that it never blocks.

import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

/** A program that writes byte by byte must not cost a buffer a byte. */
const MOST_CHUNKS = 1024

export class Output {
  readonly #limit: number
  #chunks: Buffer[] = []
  #size = 0
  #closed = false
  #cut = false
  #ended = false

  /** `onEnd` is called once, when nobody holds the other end any more; `onMore` after each piece that was kept. */
  constructor(stream: Readable, limit: number, onEnd: () => void, onMore?: () => void) {
    this.#limit = limit
    const end = () => {
      if (this.#ended) return
      this.#ended = true
      onEnd()
    }
    stream.on('data', (chunk: Buffer) => {
      this.#keep(chunk)
      onMore?.()
    })
    stream.on('end', end)
    stream.on('error', end)
  }

  /** There was more than the limit. */
  get cut(): boolean {
    return this.#cut
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Bytes kept. */
  get size(): number {
    return this.#size
  }

  /** Keeps nothing from now on, but goes on reading. */
  close(): void {
    this.#closed = true
  }

  /** What is no UTF-8 is replaced; a cut falls between two characters. */
  text(): string {
    const bytes = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks)
    if (bytes === undefined) return ''
    return this.#cut ? new StringDecoder('utf8').write(bytes) : bytes.toString('utf8')
  }

  #keep(chunk: Buffer): void {
    if (this.#closed) return
    const room = this.#limit - this.#size
    this.#cut = chunk.length > room
    this.#closed = this.#cut
    const kept = this.#cut ? chunk.subarray(0, room) : chunk
    this.#size += kept.length
    if (this.#chunks.push(kept) === MOST_CHUNKS) this.#chunks = [Buffer.concat(this.#chunks)]
  }
}
