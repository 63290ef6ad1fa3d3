// The interface for the calls behind a project's audit records. They are kept for people, and prove nothing.

import type { Json } from '../core/base/json.js'
import type { MaybePromise } from '../core/base/promise.js'
import type { AuditRecord, JudgedCall } from '../core/session/audit-record.js'

/**
 * Any number of processes may write at once, and any of them may die at any moment.
 *
 * - `append` removes secrets and cuts long texts before anything is written.
 * - Old calls are removed automatically: size and age are limited.
 * - A lost or changed call does not affect any record: records have its digest.
 */
export interface AuditCalls {
  /** Where they are kept. Shown to people. */
  readonly place: string

  /** Returns (or resolves) when the calls are written. Throws (or rejects) when they are lost. */
  append(calls: readonly JudgedCall[]): MaybePromise<void>

  /** Reads calls, newest first. Skips damaged ones. Throws if they cannot be read. */
  calls(options?: { readonly limit?: number }): AsyncIterable<KeptCall>

  /** The calls with these ids that still exist. */
  find(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, KeptCall>>
}

/** A call without its secrets. */
export interface KeptCall {
  /** `call` of the record. */
  readonly id: string
  readonly time: string
  readonly session: string
  /** The agent, such as `codex`, if it was known. */
  readonly agent?: string
  readonly event: string
  /** Where the call was made. */
  readonly cwd?: string
  /** The agent's permission mode at that time. */
  readonly mode?: string
  readonly action: AuditRecord['action']
  /** The tool and its input, or the fields of an event without a tool, as finally decided, after all changes. */
  readonly call: { readonly [key: string]: Json }
  /** True if nothing was removed or cut. Only then is `call` exactly what was judged. */
  readonly exact: boolean
  readonly changes: readonly KeptChange[]
  readonly injections: readonly { readonly source: string; readonly text: string }[]
  /** Hooks that failed, and what they printed on stderr. */
  readonly failures: readonly { readonly hook: string; readonly why: string; readonly stderr: string }[]
}

export interface KeptChange {
  readonly hook: string
  readonly path: string
  readonly before?: Json
  readonly after?: Json
}
