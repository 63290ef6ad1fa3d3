// The calls behind the records of a project's audit, kept for people, behind one interface. Nothing is proven by them.

import type { Json } from '../core/base/json.js'
import type { MaybePromise } from '../core/base/promise.js'
import type { AuditRecord, JudgedCall } from '../core/session/audit-record.js'

/**
 * Any number of processes may write at once, and any of them may die at any moment.
 *
 * - `append` takes out secrets and cuts long texts before anything is written.
 * - Old calls go by themselves: the store is bounded by size and age.
 * - A call that is lost or changed by somebody changes no record: those have its digest.
 */
export interface AuditCalls {
  /** Where they are kept, for people. */
  readonly place: string

  /** Returns when the calls are written, at once or later. Throws (or rejects) when they are lost. */
  append(calls: readonly JudgedCall[]): MaybePromise<void>

  /** Reads calls, the newest first. It skips what is damaged, and throws if they cannot be read. */
  calls(options?: { readonly limit?: number }): AsyncIterable<KeptCall>

  /** The calls with these ids that are still there. */
  find(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, KeptCall>>
}

/** A call without its secrets. */
export interface KeptCall {
  /** `call` of the record. */
  readonly id: string
  readonly time: string
  readonly session: string
  readonly event: string
  /** Where the call was made. */
  readonly cwd?: string
  readonly action: AuditRecord['action']
  /** The tool and its input, or the fields of an event without a tool; as it was decided, after every change. */
  readonly call: { readonly [key: string]: Json }
  /** Whether `call` is exact: nothing was taken out or cut. Only then is it the call that was judged. */
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
