// Writes the record of an event, and handles a record that cannot be written.

import { randomUUID } from 'node:crypto'
import { callDigest, digest } from '../base/digest.js'
import { type Diagnostic, textOf } from '../base/errors.js'
import { inTime, isPromise } from '../base/promise.js'
import { redacted, redactedData, withoutSecrets } from '../base/secrets.js'
import { byteLength } from '../base/text.js'
import { timestamp } from '../base/time.js'
import { endsChain, type Verdict } from '../events/actions.js'
import { type EventKind, resolveEvent } from '../events/events.js'
import type { HookResult } from '../events/result.js'
import type { HookEvent } from '../hooks/hook.js'
import type { Listeners } from '../hooks/hook-set.js'
import type { Approval, Outcome, Trace } from '../hooks/outcome.js'
import type { Ran } from '../run/trace.js'
import type { AuditedApproval, AuditedHook, AuditRecord } from './audit-record.js'
import { EMBEDDER_TIMEOUT_MS } from './engine.js'
import type { SessionContext } from './session-context.js'
import { isJudged, unguardedBy } from './unguarded.js'

export interface Written {
  readonly session: SessionContext
  readonly event: HookEvent
  readonly outcome: Outcome
  /** The hooks of the event itself, with details that the record adds to the trace. */
  readonly ran: readonly Ran[]
  /** All hooks of the event. */
  readonly listeners?: Listeners | undefined
  readonly action: Verdict | 'aborted'
  /** A time on the clock of performance.now(). */
  readonly startedAt: number
  readonly kind?: AuditRecord['kind']
}

/** A sink that throws becomes a diagnostic of this outcome. Nothing waits for a slow one. */
export function record(written: Written): Diagnostic | undefined {
  const { engine, background } = written.session
  const { audit } = engine.embedder
  if (!audit) return undefined
  try {
    const done = audit(recordOf(written))
    if (isPromise(done)) engine.inBackground(UNWRITTEN, inTime(done, EMBEDDER_TIMEOUT_MS), background)
    return undefined
  } catch (error) {
    return lost(error)
  }
}

const UNWRITTEN = 'the audit could not be written'

function lost(error: unknown): Diagnostic {
  return redacted<Diagnostic>({ code: 'host-failed', text: `${UNWRITTEN}: ${textOf(error)}` }, ['text'])
}

/** Whether the event may only go on if it is recorded. */
export function isRecordNeeded({ engine }: SessionContext, kind: EventKind, { action }: Outcome): boolean {
  return engine.settings.audit_on_failure === 'block' && kind.deny === 'block' && !endsChain(action)
}

/** Records and waits. Without a sink there is no record. */
export async function recordNow(written: Written): Promise<Diagnostic | undefined> {
  const { audit } = written.session.engine.embedder
  if (!audit) return { code: 'host-failed', text: 'there is no audit sink' }
  try {
    await inTime(Promise.resolve(audit(recordOf(written))), EMBEDDER_TIMEOUT_MS)
    return undefined
  } catch (error) {
    return lost(error)
  }
}

/** Denies, because a decision that cannot be recorded does not count. */
export function unrecorded(
  { permission: _, response: __, ...outcome }: Outcome,
  { text }: Diagnostic,
): Outcome {
  const reason = `Denied: this could not be recorded, and the settings say "audit_on_failure": "block" (${text})`
  return { ...outcome, action: 'deny', reason }
}

/** Also passes on the call if it is to be kept. The record has its id. */
function recordOf(written: Written): AuditRecord {
  const { session, event, outcome, ran, action, startedAt, kind = 'fire' } = written
  const { name, data } = event
  const { reason, approval, hooks, injections, diagnostics } = outcome
  const ranBy = new Map(ran.map((one) => [one.trace, one]))
  const time = timestamp(session.engine.now())
  const judged = { kind: resolveEvent(name), data, ran, listeners: written.listeners, action, diagnostics }
  const unguarded = kind === 'fire' ? unguardedBy(judged, session.engine.configured) : []
  const call = kind === 'fire' && (unguarded.length > 0 || isJudged(judged)) ? kept(written, time) : undefined
  return {
    kind,
    time,
    session: session.info.id,
    ...(typeof data.agent_id === 'string' && { agent: data.agent_id }),
    ...(event.session?.turnId !== undefined && { turn: event.session.turnId }),
    event: name,
    ...(typeof data.tool_name === 'string' && { tool: data.tool_name }),
    digest: callDigest(name, data),
    action,
    ...(reason !== undefined && { reason: withoutSecrets(reason) }),
    ...(outcome.modified && { modified: true }),
    hooks: hooks.map((one) => audited(one, ranBy.get(one), startedAt)),
    injections: injections.map(({ source, text }) => ({
      source,
      digest: digest(text),
      bytes: byteLength(text),
    })),
    ...(approval && { approval: redactedData(withoutCall(approval)) }),
    diagnostics: diagnostics.map((one) => redacted(one, ['text', 'todo'])),
    ...(unguarded.length > 0 && { unguarded }),
    ...(call !== undefined && { call }),
    ms: rounded(performance.now() - startedAt),
  }
}

/** The id of the call; undefined if it is not kept. A sink that throws becomes a diagnostic, and the record stands. */
function kept({ session, event, outcome, action }: Written, time: string): string | undefined {
  const { engine, info, background } = session
  const { auditCalls } = engine.embedder
  if (!auditCalls || !engine.settings.audit_calls) return undefined
  const id = randomUUID()
  const { agent } = info
  const by = { session: info.id, ...(agent !== undefined && { agent }) }
  const call = { id, time, ...by, event: event.name, data: event.data, outcome, action }
  const failed = engine.tell('auditCalls', () => auditCalls(call), background)
  if (!failed) return id
  engine.note(failed)
  return undefined
}

/** The digest says which call it was; its content is not in the record. */
function withoutCall({ question: { call: _, ...question }, ...answer }: Approval): AuditedApproval {
  return { question, ...answer }
}

/** Leaves out changes and output, which may hold things that do not belong in a log. */
function audited(one: Trace, ran: Ran | undefined, startedAt: number): AuditedHook {
  const { answer, would, changes: _, stdout: __, stderr: ___, ...trace } = one
  return {
    ...trace,
    ms: rounded(one.ms),
    ...(ran && ofHook(ran, startedAt)),
    ...(answer && verdictIn(answer)),
    ...(would && { would: verdictIn(would) }),
  }
}

function verdictIn({ action, reason }: HookResult): Pick<HookResult, 'action' | 'reason'> {
  return { action, ...(reason && { reason }) }
}

function ofHook(
  { hook, trace, endedAt }: Ran,
  startedAt: number,
): Pick<AuditedHook, 'at' | 'hash' | 'reviewer'> {
  const hash = hook.content ?? hook.origin.hash
  return {
    ...(trace.status !== 'skipped' && { at: rounded(Math.max(0, endedAt - trace.ms - startedAt)) }),
    ...(hash !== undefined && { hash }),
    ...(hook.reviewer && { reviewer: hook.reviewer.by }),
  }
}

/** Rounds to the microsecond. Further digits are noise and take space in every record. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
