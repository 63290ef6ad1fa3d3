// LineWriter: lines to a stream, those of one tick in one write, and a bound on what waits for a reader that does not read.

import type { Writable } from 'node:stream'

/** More than this does not wait for the end of the tick. */
const BATCH_BYTES = 65_536

export class LineWriter {
  readonly #output: Writable
  readonly #fail: (error: Error) => void
  #lines: string[] = []
  /** Of those lines, and of what the stream has and did not write yet. */
  #queuedBytes = 0
  #writingBytes = 0
  #scheduled = false
  #ended = false
  #idle: (() => void)[] = []

  /** `fail` is called once, when nothing can be written any more; not for what happens after end(). */
  constructor(output: Writable, fail: (error: Error) => void) {
    this.#output = output
    this.#fail = fail
    output.on('error', this.#onError)
    output.on('close', this.#onClose)
    if (!output.writable) queueMicrotask(this.#onClose)
  }

  /** Whether a line may wait along with what waits already. One alone always may, whatever its size. */
  hasRoom(bytes: number, bound: number): boolean {
    const waiting = this.#queuedBytes + this.#writingBytes
    return waiting === 0 || waiting + bytes <= bound
  }

  /**
   * The first of a tick at once, so that the other side is at work while this one goes on; the others of it together, since
   * a write costs more than all else about a message.
   */
  write(line: string, bytes: number): void {
    if (this.#ended) return
    this.#lines.push(line)
    this.#queuedBytes += bytes
    if (!this.#scheduled || this.#queuedBytes >= BATCH_BYTES) this.#flush()
    if (!this.#scheduled) this.#schedule()
  }

  /** Settles when everything was written, or nothing can be. */
  flushed(): Promise<void> {
    if (this.#ended || this.#queuedBytes + this.#writingBytes === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  /** What waits is left to the stream, which ends after it. */
  end(): void {
    if (this.#ended) return
    const rest = this.#lines.join('')
    this.#stop()
    if (!this.#output.writable) return
    if (rest === '') this.#output.end()
    else this.#output.end(rest)
  }

  #schedule(): void {
    this.#scheduled = true
    process.nextTick(this.#onTick)
  }

  readonly #onTick = (): void => {
    this.#scheduled = false
    this.#flush()
  }

  /** One batch at a time: while the stream is at it, the next one gathers, and nothing piles up where nobody counts. */
  #flush(): void {
    if (this.#ended || this.#writingBytes > 0 || this.#lines.length === 0) return
    const lines = this.#lines
    this.#lines = []
    this.#writingBytes = this.#queuedBytes
    this.#queuedBytes = 0
    this.#output.write(lines.length === 1 ? (lines[0] as string) : lines.join(''), this.#onWritten)
  }

  readonly #onWritten = (error?: Error | null): void => {
    if (error) {
      this.#broken(error)
      return
    }
    this.#writingBytes = 0
    if (this.#lines.length > 0) this.#flush()
    else for (const resolve of this.#idle.splice(0)) resolve()
  }

  /** Stays for good: an error that nobody listens to would end the process. */
  readonly #onError = (error: Error): void => this.#broken(error)
  readonly #onClose = (): void => this.#broken(new Error('the stream that is written to was closed'))

  #broken(error: Error): void {
    if (this.#ended) return
    this.#stop()
    this.#fail(error)
  }

  #stop(): void {
    this.#ended = true
    this.#lines = []
    this.#queuedBytes = 0
    this.#writingBytes = 0
    this.#output.off('close', this.#onClose)
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}
