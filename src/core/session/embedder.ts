// The embedder: the functions and settings that a program gives the engine it embeds. All are optional.

import { type Check, type Checks, isFlag, isOneOf } from '../base/options.js'
import type { Counters } from '../hooks/count.js'
import type { Injection, Message } from '../hooks/outcome.js'
import type { Admit } from '../run/plan.js'
import type { Recheck } from '../run/queue.js'
import type { Approver } from '../verdict/approval.js'
import type { AuditRecord, AuditSink, CallSink } from './audit-record.js'
import type { SessionStore } from './session-store.js'

/** A durable injection and its origin, for the embedder's conversation. */
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

export interface Embedder {
  /** Asked when a hook asks. Absent: the outcome stays `ask_user`. `'deny'`: every ask is refused. */
  readonly approver?: Approver | 'deny'
  /** Shows a message to the user. */
  readonly display?: (message: Message) => void
  /**
   * Adds durable injections to the conversation. Absent: the session's next model call has them; an embedder that does not
   * call its model through the session reads outcome.injections.
   */
  readonly context?: (message: ContextMessage) => void | Promise<void>
  /** Called when an async hook with `asyncRewake` finds something that cannot wait: begin a turn with the message. Absent: the next event delivers it. */
  readonly wake?: (message: ContextMessage) => void | Promise<void>
  /** Gets one record per fire. */
  readonly audit?: AuditSink
  /**
   * Needs `audit`. Gets the record of a tool event that no hook heard, which is made when it calls the function. Absent: `audit` gets
   * it at once.
   */
  readonly auditLater?: (make: () => AuditRecord) => void
  /** Needs `audit`. Gets each call that a gate judged, unless the settings say `audit_calls: false`. It may hold secrets. */
  readonly auditCalls?: CallSink
  /** Memory by default. */
  readonly store?: SessionStore
  /** Counts for limits that all machines of a fleet share. Absent: these limits cannot be counted. */
  readonly counters?: Counters
  /** Which hooks may run. */
  readonly admit?: Admit
  /** Milliseconds since 1970. */
  readonly clock?: () => number
}

export const isApprover: Check = [
  (value) => value === 'deny' || typeof value === 'function',
  'a function or "deny"',
]

// ---- settings

export interface Settings {
  /** `block` closes every gate whose hook fails. */
  readonly on_failure: 'continue' | 'block'
  /** Bytes of UTF-8 for one injection; null is unlimited. */
  readonly injection_size_limit: number | null
  /** Tokens for one turn; null is unlimited. */
  readonly injection_budget_per_turn: number | null
  /** How often Stop may be refused in a row without a tool call. */
  readonly stop_block_cap: number
  /** How often Stop may be refused since the last prompt. */
  readonly stop_block_total: number
  /** What happens if the call changed after a gate judged it. */
  readonly recheck: Recheck
  /** Reverts hooks' changes to system messages on ModelRequest. */
  readonly protect_system_messages: boolean
  /** `block` closes every gate whose event cannot be recorded. */
  readonly audit_on_failure: 'continue' | 'block'
  /** Whether the audit keeps the calls that a gate judged, without their secrets. */
  readonly audit_calls: boolean
}

export const DEFAULT_SETTINGS: Settings = {
  on_failure: 'continue',
  injection_size_limit: 10_240,
  injection_budget_per_turn: 10_000,
  stop_block_cap: 8,
  stop_block_total: 50,
  recheck: 'final',
  protect_system_messages: true,
  audit_on_failure: 'continue',
  audit_calls: true,
}

const count = (value: unknown) => Number.isInteger(value) && (value as number) >= 0
const countOrNull = (value: unknown) => value === null || count(value)

export const SETTINGS: Checks<Settings> = {
  on_failure: isOneOf('continue', 'block'),
  injection_size_limit: [countOrNull, 'a number of bytes, or null'],
  injection_budget_per_turn: [countOrNull, 'a number of tokens, or null'],
  stop_block_cap: [count, 'a whole number'],
  stop_block_total: [count, 'a whole number'],
  recheck: isOneOf('final', 'all', 'skipped'),
  protect_system_messages: isFlag,
  audit_on_failure: isOneOf('continue', 'block'),
  audit_calls: isFlag,
}
