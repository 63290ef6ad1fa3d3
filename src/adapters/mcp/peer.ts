// The two sides of the proxy: the client, and the server wherever it runs.

import type { Json } from '../../core/base/json.js'

/** Gets a message without a line break, in order. Must not throw. */
export interface Peer {
  send(line: string): void
}

export interface Server extends Peer {
  /** Settles when there is room for more. Undefined if there is room now. */
  full(): Promise<void> | undefined
  /** Reads nothing more of the server until the promise settles. */
  wait(until: Promise<void>): void
  /** Called with its answer to `initialize`. */
  initialized(answer: Json): void
  /** Ends it, and settles when nothing of it is left. */
  end(): Promise<void>
}

export interface ServerEvents {
  readonly line: (line: string) => void
  /** A reply was lost, and nobody knows which. */
  readonly lost: (why: string) => void
  /** It can no longer be used. Called once; `why` begins with a verb. */
  readonly gone: (why: string) => void
}

/** Rejects with an error whose message says why it cannot be started. */
export type StartServer = (events: ServerEvents) => Promise<Server>
