// Link: the way to one server, a process or an address, as the client of the library and whoever supervises it see it.

import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'

export interface Link extends Transport {
  /** It can be asked no more. */
  readonly isOver: boolean
  /** We ended it, in order. */
  readonly isDismissed: boolean
  /** Settles when nothing of it is left: no process, no socket. */
  readonly gone: Promise<void>
  /** Why it is over, with the last lines that a process wrote to standard error. */
  how(): Promise<string>
  /** The text, with those lines. */
  withLastWords(text: string): string
  /** What a process wrote to standard error since this was asked last. */
  newStderr(): string
  /** In order, as the protocol has it. */
  end(why: string): void
  /** At once. */
  terminate(why: string): void
}

export interface LinkEvents {
  readonly over: () => void
  /** Something that is no answer. */
  readonly noise: (text: string) => void
}

/** Bytes of one message. Lists of tools are long; what a hook may answer is bounded further. */
export const MOST_MESSAGE_BYTES = 4 * 1024 * 1024

/** What the protocol gives an error that is the transport's own. */
export const TRANSPORT_ERROR = -32000
