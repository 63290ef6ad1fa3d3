// Everything the kernel asks of the outside. All of it is optional.

import type { Injection, Message } from '../hooks/outcome.js'
import type { Admit } from '../run/plan.js'
import type { Approver } from '../verdict/approval.js'
import type { AuditSink } from './audit-record.js'
import type { SessionStore } from './session-store.js'

/** A durable injection with where it came from, for the host's conversation. */
export interface ContextMessage {
  readonly role: Injection['role']
  readonly content: string
  readonly metadata: {
    readonly source: 'hook'
    readonly hook: string
    readonly event: string
    readonly session: string
    readonly timestamp: string
  }
}

export interface Host {
  /** Who is asked when a hook asks; absent: the outcome stays `ask_user`; `'deny'`: refused. */
  readonly approver?: Approver | 'deny'
  /** Shows a message to the user. */
  readonly display?: (message: Message) => void
  /** Adds durable injections to the conversation; absent: the host reads outcome.injections itself. */
  readonly context?: (message: ContextMessage) => void | Promise<void>
  /** An async hook with `asyncRewake` found something that cannot wait: begin a turn with it. Absent: it goes out with the next event. */
  readonly wake?: (message: ContextMessage) => void | Promise<void>
  /** Gets one record per fire. */
  readonly audit?: AuditSink
  /** Memory by default. */
  readonly store?: SessionStore
  /** Which hooks may run. */
  readonly admit?: Admit
  /** Milliseconds since 1970. */
  readonly clock?: () => number
}
