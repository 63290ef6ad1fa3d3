// One side of the relay over two streams, one message a line. A side that does not read slows the other side down.

import type { Readable, Writable } from 'node:stream'
import { LineReader } from '../../rpc/reader.js'
import { LineWriter } from '../../rpc/writer.js'
import type { Peer } from './peer.js'

export interface LinePeerEvents {
  readonly line: (line: string) => void
  /** A line that was too long to be read. */
  readonly tooLong: (beginning: string) => void
  /** Called once. `reads`: it may still read what is sent to it. */
  readonly gone: (how: { readonly reads: boolean }) => void
}

/** A result with a large picture fits. */
export const MAX_LINE_BYTES = 64 * 1_048_576
/** More than this is not read ahead for a side that does not read. */
const MOST_QUEUED_BYTES = 1_048_576

export class LinePeer implements Peer {
  readonly #reader: LineReader
  readonly #writer: LineWriter
  #isGone = false

  constructor(input: Readable, output: Writable, events: LinePeerEvents) {
    const gone = (reads: boolean) => {
      if (this.#isGone) return
      this.#isGone = true
      events.gone({ reads })
    }
    this.#writer = new LineWriter(output, () => gone(false))
    this.#reader = new LineReader(input, MAX_LINE_BYTES, {
      line: events.line,
      tooLong: events.tooLong,
      end: () => gone(true),
    })
  }

  send(line: string): void {
    this.#writer.write(`${line}\n`, Buffer.byteLength(line) + 1)
  }

  /** Settles when there is room for more. Undefined if there is room now. */
  full(): Promise<void> | undefined {
    return this.#writer.hasRoom(0, MOST_QUEUED_BYTES) ? undefined : this.#writer.flushed()
  }

  /** Nothing is read until the promise settles. */
  wait(until: Promise<void>): void {
    this.#reader.hold()
    void until.then(() => this.#reader.release())
  }

  flushed(): Promise<void> {
    return this.#writer.flushed()
  }

  /** Ends its input. */
  end(): void {
    this.#isGone = true
    this.#writer.end()
  }
}
