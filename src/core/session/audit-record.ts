// The audit record of an event: one per fire, and another for late effects.

import type { Diagnostic } from '../base/errors.js'
import type { Data } from '../base/json.js'
import type { Action, Verdict } from '../events/actions.js'
import type { Approval, Outcome, Question, Trace } from '../hooks/outcome.js'

/** One hook's part, without the texts and data of its answer. */
export interface AuditedHook extends Omit<Trace, 'answer' | 'would' | 'changes' | 'stdout' | 'stderr'> {
  /** When it began, in milliseconds after the fire began; absent if it did not run. */
  readonly at?: number
  /** Digest of the reviewed files, or otherwise of its entry in a file. */
  readonly hash?: string
  /** Who trusted these files for the whole fleet. */
  readonly reviewer?: string
  readonly action?: Action
  readonly reason?: string
  /** In shadow mode: what would have counted. */
  readonly would?: { readonly action: Action; readonly reason?: string }
}

/** A question and its answer, without the call itself. */
export interface AuditedApproval extends Omit<Approval, 'question'> {
  readonly question: Omit<Question, 'call'>
}

/** A gate that did not judge a call, although the call went on. */
export interface Unguarded {
  /** The hook's name, or the file if one of its hooks was left out. */
  readonly hook: string
  readonly source: string
  /** Why it did not run, or did not count. */
  readonly why: NonNullable<Trace['why']>
  readonly detail?: string
}

export interface AuditRecord {
  /** `late`: an async hook's effects, after its fire was recorded. */
  readonly kind: 'fire' | 'late'
  readonly time: string
  readonly session: string
  /** The subagent's id. */
  readonly agent?: string
  readonly turn?: string
  readonly event: string
  readonly tool?: string
  /** Digest of the call as it was when it was decided. */
  readonly digest: string
  readonly action: Verdict | 'aborted'
  readonly reason?: string
  /** The data was changed, by a hook or by the person who was asked. */
  readonly modified?: true
  readonly hooks: readonly AuditedHook[]
  /** Digests only: the texts themselves stay out of the record. */
  readonly injections: readonly { readonly source: string; readonly digest: string; readonly bytes: number }[]
  readonly approval?: AuditedApproval
  readonly diagnostics: readonly Diagnostic[]
  /** Set if the call went on without a gate that was expected to judge it. */
  readonly unguarded?: readonly Unguarded[]
  /** The id of the call itself, if it is kept: see CallSink. */
  readonly call?: string
  readonly ms: number
}

export type AuditSink = (record: AuditRecord) => void | Promise<void>

/** A call that a gate judged, or should have judged, as it was decided. It may hold secrets: redact them before keeping it. */
export interface JudgedCall {
  readonly id: string
  readonly time: string
  readonly session: string
  /** The agent, such as `codex`, if it is known. */
  readonly agent?: string
  readonly event: string
  readonly data: Data
  readonly outcome: Outcome
  readonly action: AuditRecord['action']
}

/** Keeps calls for people to read, because a record only has a digest of its call. */
export type CallSink = (call: JudgedCall) => void | Promise<void>

/** A sink that keeps the newest records in memory. */
export function memoryAudit(limit = 10_000): AuditSink & { readonly records: readonly AuditRecord[] } {
  const records: AuditRecord[] = []
  const sink = (record: AuditRecord) => {
    records.push(record)
    if (records.length > limit) records.shift()
  }
  return Object.assign(sink, { records })
}
