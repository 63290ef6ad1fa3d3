// What the log holds: records of events, what people decided, and what the log says about itself.

import type { AuditRecord } from '../../core/session/audit-record.js'

/** What can be written: any plain object that says what it is, and when it was. */
export interface Writable {
  readonly kind: string
  /** ISO-8601. */
  readonly time: string
}

/** A person, or a rule in their place, answered a question. */
export interface ApprovalEntry {
  readonly kind: 'approval'
  readonly time: string
  readonly session: string
  readonly event: string
  readonly tool?: string
  readonly id: string
  readonly digest: string
  readonly decision: string
  readonly by: string
  readonly reason?: string
  readonly project?: string
}

/** "Allow always" was taken back. */
export interface RevokedEntry {
  readonly kind: 'revoked'
  readonly time: string
  readonly id?: string
  readonly hook?: string
  readonly event?: string
  readonly tool?: string
  readonly session?: string
  readonly digest?: string
  readonly by?: string
  readonly reason?: string
}

/** Nothing was asked: the switch that turns everything off was on. */
export interface BypassEntry {
  readonly kind: 'bypass'
  readonly time: string
  readonly session?: string
  readonly event: string
  readonly action: 'continue'
}

/** Something was not as a writer leaves it, and was put right before this entry. */
export interface RecoveredEntry {
  readonly kind: 'recovered'
  readonly time: string
  readonly what: 'torn' | 'head'
  /** `torn`: how many bytes without an end were moved out of the log, their SHA-256, and the file that has them. */
  readonly bytes?: number
  readonly digest?: string
  readonly file?: string
  /** `head`: why head.json could not be used. */
  readonly why?: string
}

/** Records are missing here: they could not be written. */
export interface GapEntry {
  readonly kind: 'gap'
  readonly time: string
  readonly records: number
  readonly since: string
  readonly why: string
}

/** The oldest segments were removed to keep within the bound. */
export interface PrunedEntry {
  readonly kind: 'pruned'
  readonly time: string
  readonly segments: number
  readonly first: number
  readonly last: number
  /** Of the last record that was removed: what the first that is left follows. */
  readonly lastHash: string
}

export type OwnEntry = RecoveredEntry | GapEntry | PrunedEntry

export type Entry = AuditRecord | ApprovalEntry | RevokedEntry | BypassEntry | OwnEntry

/** An entry as it is read back, with its place in the chain. */
export type StoredEntry = Entry & {
  readonly seq: number
  readonly prev: string
  readonly hash: string
}
