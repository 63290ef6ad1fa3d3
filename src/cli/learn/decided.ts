// What people decided about calls that hooks asked about, as the audit has it. Every line of it may be forged, so all is checked.

import { callDigest } from '../../core/base/digest.js'
import { type Data, isObject } from '../../core/base/json.js'
import type { AuditedHook, AuditRecord } from '../../core/session/audit-record.js'
import type { KeptCall } from '../../store/audit-calls.js'

/** A call that a person allowed or denied. */
export interface Decided {
  readonly kept: KeptCall
  readonly hooks: readonly AuditedHook[]
  readonly decision: 'allow' | 'deny'
  /** `agent`: its own dialog asked, and then the tool ran. */
  readonly answered: 'carabiner' | 'agent'
}

/** Who answers in place of a person. */
const NOBODY: readonly unknown[] = ['grant', 'default', 'host']
/** In other modes, an agent may answer questions itself. */
const ASKING_MODES: readonly unknown[] = [undefined, 'default']
const AFTERWARDS = ['PostToolUse', 'PostToolUseFailure']

/** `records`: the oldest first. */
export async function decidedCalls(
  records: AsyncIterable<AuditRecord>,
  calls: readonly KeptCall[],
): Promise<readonly Decided[]> {
  const byId = new Map(calls.map((kept) => [kept.id, kept]))
  const decided: Decided[] = []
  /** Calls that the agent itself asked about, by the digests of the events that follow if they run. */
  const open = new Map<string, Decided>()
  for await (const record of records) {
    const { event, session, digest } = record
    if (AFTERWARDS.includes(event)) {
      const ran = open.get(`${session} ${digest}`)
      if (ran) decided.push(ran)
      open.delete(`${session} ${digest}`)
    }
    const kept = event === 'PreToolUse' ? byId.get(record.call ?? '') : undefined
    if (!kept || !isSame(kept, record)) continue
    const { hooks } = record
    const later = AFTERWARDS.map((name) => `${session} ${callDigest(name, kept.call as Data)}`)
    for (const key of later) open.delete(key)
    const decision = answerOf(record)
    if (decision === 'allow' || decision === 'deny')
      decided.push({ kept, hooks, decision, answered: 'carabiner' })
    else if (decision === 'open' && ASKING_MODES.includes(kept.mode))
      for (const key of later) open.set(key, { kept, hooks, decision: 'allow', answered: 'agent' })
  }
  // A call counts once, also if its record is repeated.
  return [...new Map(decided.map((one) => [one.kept.id, one])).values()]
}

/** Whether the call is exactly the one on record. */
function isSame(kept: KeptCall, record: AuditRecord): boolean {
  return (
    kept.exact &&
    typeof kept.call.tool_name === 'string' &&
    kept.session === record.session &&
    callDigest('PreToolUse', kept.call as Data) === record.digest &&
    Array.isArray(record.hooks) &&
    record.hooks.every(isObject)
  )
}

/** `open`: asked, and not answered here. Undefined if no person answered. */
function answerOf({ action, approval }: AuditRecord): 'allow' | 'deny' | 'open' | undefined {
  if (!isObject(approval)) return undefined
  const { answer } = approval as { readonly answer?: unknown }
  if (answer === undefined) return action === 'ask_user' ? 'open' : undefined
  if (!isObject(answer) || typeof answer.option !== 'string') return undefined
  if (typeof answer.by !== 'string' || NOBODY.includes(answer.by)) return undefined
  return answer.decision === 'allow' || answer.decision === 'deny' ? answer.decision : undefined
}
