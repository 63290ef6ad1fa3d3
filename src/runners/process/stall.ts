// Notices a process that does not read. What waits to be written would keep our own process from ending, for ever.

import type { Socket } from 'node:net'

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
