// The interface of a project's audit log: append-only, chained by hashes, never changed once written.

import type { MaybePromise } from '../core/base/promise.js'
import type { AuditRecord } from '../core/session/audit-record.js'

/**
 * Any number of processes may write to one log, and any of them may die at any moment.
 *
 * - `append` is atomic: all entries are in the log, one after another, or none is.
 * - Reading never blocks writing. A reader sees whole entries only.
 * - Everything but `append` may take a while, so it is asynchronous.
 */
export interface AuditLog {
  /** Where the log is kept: a folder or an address. Shown to people. */
  readonly place: string

  /**
   * Returns (or resolves) when the entries are written. Throws (or rejects) when they are lost; the next writer then
   * records the gap. The log adds `seq`, `prev` and `hash`, and removes secrets.
   */
  append(entries: readonly Writable[]): MaybePromise<void>

  /** True only if nothing was ever written here. A log that has lost everything is not empty. */
  isEmpty(): MaybePromise<boolean>

  /**
   * Reads entries in order. Checks no hashes and skips damaged lines. Throws if the log cannot be read. However few
   * entries match, other work of the process is not held up.
   */
  entries(options?: ReadOptions): AsyncIterable<StoredEntry>

  /** Yields entries as any process writes them. Ends only when the signal aborts. */
  follow(options?: FollowOptions): AsyncIterable<StoredEntry>

  /** Reads everything, checks every hash, and reports damage. Throws only if the log cannot be read. Holds nothing up, either. */
  verify(options?: VerifyOptions): Promise<Verification>
}

/** A record's place in the chain. */
export interface Link {
  readonly seq: number
  readonly hash: string
}

// ---- reading --------------------------------------------------------------------------------------------------

export interface EntryFilter {
  (entry: Entry): boolean
  /** Milliseconds since 1970. Older entries are not wanted, so the log need not look further back. */
  readonly since?: number
}

export interface ReadOptions {
  readonly newestFirst?: boolean
  readonly filter?: EntryFilter
  /** The most entries to read. */
  readonly limit?: number
  /** Called for each line that is not a record. An unfinished last line is not reported: it is being written. */
  readonly onDamaged?: (where: { readonly file: string; readonly offset: number }) => void
}

export interface FollowOptions {
  readonly filter?: EntryFilter
  /** The number of the last entry that is already known; default: the newest. */
  readonly after?: number
  readonly signal?: AbortSignal
  /** How often to look for new entries; default 200. */
  readonly everyMs?: number
}

export interface VerifyOptions {
  /** The number and hash of a record that must be in the log, noted where a writer of the log cannot change them. */
  readonly expect?: Link
  /** Checks only the newest part of a log that has more bytes than this. */
  readonly mostBytes?: number
  /** Called for every line that is read. */
  readonly onLine?: () => void
  /** Called now and then with the part that is done, from 0 to 1. */
  readonly onProgress?: (part: number) => void
  /** Rejects with its reason when it is aborted. */
  readonly signal?: AbortSignal
}

export interface Problem {
  /** The number of the record that is changed, missing or misplaced. */
  readonly seq?: number
  readonly file: string
  /** Starts at 1; 0 if the problem is not about a line. */
  readonly line: number
  readonly what: string
}

export interface Verification {
  /** No problem was found. */
  readonly ok: boolean
  readonly records: number
  readonly first: Link | undefined
  readonly last: Link | undefined
  /** The first hundred, in the order of the log. */
  readonly problems: readonly Problem[]
  readonly problemCount: number
  /** Bytes after the last newline: a record that was being written and was never acknowledged. Not a problem. */
  readonly torn?: { readonly file: string; readonly bytes: number }
  /** The last acknowledged record, as noted beside the log. */
  readonly head: Link | undefined
  /** A sentence, if the end of the log is noted nowhere else. Then a cut log goes unnoticed. */
  readonly unwitnessed?: string
  /** The log's own entries: known losses, repairs, removals. Not problems. */
  readonly notes: readonly string[]
}

// ---- entries --------------------------------------------------------------------------------------------------

/** Any plain object that says what it is and when it happened. */
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
  /** Everybody who allowed it, if several people had to. */
  readonly people?: readonly string[]
  /** How they answered. A passkey also proves who it was; the others do not. */
  readonly through?: 'terminal' | 'page' | 'passkey' | 'key'
  readonly reason?: string
  readonly project?: string
}

/** A grant ("allow always") was revoked. */
export interface RevokedEntry {
  readonly kind: 'revoked'
  readonly time: string
  readonly id?: string
  readonly hook?: string
  readonly event?: string
  readonly tool?: string
  readonly session?: string
  readonly digest?: string
  /** The beginning of the call's input, without secrets. */
  readonly about?: string
  readonly by?: string
  readonly reason?: string
}

/** A person changed on the page what guards the project. */
export interface ChangeEntry {
  readonly kind: 'change'
  readonly time: string
  readonly change: 'trusted' | 'updated' | 'switched off' | 'in shadow mode' | 'switched on'
  /** The plugin, hook file or hook. */
  readonly hook: string
  readonly by: string
  /** Their passkey signed it; absent for a change that only tightens. */
  readonly signed?: true
  /** The digest of exactly what was reviewed. */
  readonly digest?: string
  /** Absent: in all projects. */
  readonly project?: string
  /** When it ends. */
  readonly until?: string
}

/** No hook ran: CARABINER_OFF was set. */
export interface BypassEntry {
  readonly kind: 'bypass'
  readonly time: string
  readonly session?: string
  readonly event: string
  readonly action: 'continue'
}

/** The log was damaged, and was repaired before this entry. */
export interface RecoveredEntry {
  readonly kind: 'recovered'
  readonly time: string
  readonly what: 'torn' | 'head' | 'segment' | 'witness'
  /** `torn`: the size of an unfinished line that was moved out of the log, its SHA-256, and the file that has it. */
  readonly bytes?: number
  readonly digest?: string
  readonly file?: string
  /** `head`, `witness`: why it could not be used. `segment`: which file already existed. */
  readonly why?: string
}

/** Records are missing here because they could not be written. */
export interface GapEntry {
  readonly kind: 'gap'
  readonly time: string
  readonly records: number
  readonly since: string
  readonly why: string
}

/** The oldest segments were removed to save space. */
export interface PrunedEntry {
  readonly kind: 'pruned'
  readonly time: string
  readonly segments: number
  readonly first: number
  readonly last: number
  /** The hash of the last record that was removed: the first remaining record follows it. */
  readonly lastHash: string
}

export type OwnEntry = RecoveredEntry | GapEntry | PrunedEntry

export type Entry = AuditRecord | ApprovalEntry | RevokedEntry | ChangeEntry | BypassEntry | OwnEntry

/** An entry as it is read back, with its link in the chain. */
export type StoredEntry = Entry & {
  readonly seq: number
  readonly prev: string
  readonly hash: string
}
