// LineWriter: writes lines to a stream. Lines of one tick go out in one write, and the queue for a slow reader is limited.

/** Where lines go, such as a Writable. */
export interface LineOutput {
  readonly writable: boolean
  /** `done` is called once the text is written, or with why it cannot be. */
  write(text: string, done: (error?: Error | null) => void): unknown
  /** Nothing is written after that. */
  end(): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'close', listener: () => void): unknown
  off(event: 'close', listener: () => void): unknown
}

/** A larger batch does not wait for the end of the tick. */
const BATCH_BYTES = 65_536

export class LineWriter {
  readonly #output: LineOutput
  readonly #fail: (error: Error) => void
  #lines: string[] = []
  /** Bytes of these lines. */
  #queuedBytes = 0
  #writingBytes = 0
  #scheduled = false
  #ended = false
  #idle: (() => void)[] = []

  /** Calls `fail` once, when nothing can be written any more, but never after end(). */
  constructor(output: LineOutput, fail: (error: Error) => void) {
    this.#output = output
    this.#fail = fail
    output.on('error', this.#onError)
    output.on('close', this.#onClose)
    if (!output.writable) queueMicrotask(this.#onClose)
  }

  /** Whether a line may join the queue. An empty queue accepts a line of any size. */
  hasRoom(bytes: number, bound: number): boolean {
    const waiting = this.#queuedBytes + this.#writingBytes
    return waiting === 0 || waiting + bytes <= bound
  }

  /**
   * Writes the first line of a tick at once, so that the other side can start, and the others together: a write costs more
   * than everything else about a message.
   */
  write(line: string, bytes: number): void {
    if (this.#ended) return
    this.#lines.push(line)
    this.#queuedBytes += bytes
    if (!this.#scheduled || this.#queuedBytes >= BATCH_BYTES) this.#flush()
    if (!this.#scheduled) this.#schedule()
  }

  /** Settles when everything is written, or when nothing can be written. */
  flushed(): Promise<void> {
    if (this.#ended || this.#queuedBytes + this.#writingBytes === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  /** Passes the whole queue to the stream and ends it. */
  end(): void {
    if (this.#ended) return
    const rest = this.#lines.join('')
    this.#stop()
    if (!this.#output.writable) return
    if (rest !== '') this.#output.write(rest, () => undefined)
    this.#output.end()
  }

  #schedule(): void {
    this.#scheduled = true
    process.nextTick(this.#onTick)
  }

  readonly #onTick = (): void => {
    this.#scheduled = false
    this.#flush()
  }

  /** Writes one batch at a time. The next one gathers in the meantime, so that nothing piles up uncounted in the stream. */
  #flush(): void {
    if (this.#ended || this.#writingBytes > 0 || this.#lines.length === 0) return
    const lines = this.#lines
    this.#lines = []
    this.#writingBytes = this.#queuedBytes
    this.#queuedBytes = 0
    try {
      this.#output.write(lines.length === 1 ? (lines[0] as string) : lines.join(''), this.#onWritten)
    } catch (error) {
      this.#broken(error as Error)
    }
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

  /** Stays attached: an unhandled error event would end the process. */
  readonly #onError = (error: Error): void => this.#broken(error)
  readonly #onClose = (): void => this.#broken(new Error('the output stream was closed'))

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
