// Events of a tool call that no hook hears. They only leave a record, so they need no promise, no payload and no verdict.

import { callDigest } from '../base/digest.js'
import type { Data } from '../base/json.js'
import { isPromise } from '../base/promise.js'
import { timestamp } from '../base/time.js'
import { resolveEvent } from '../events/events.js'
import type { Hook } from '../hooks/hook.js'
import type { AuditRecord } from './audit-record.js'
import type { SessionContext } from './session-context.js'
import { hasPending } from './session-store.js'

/** The parts of a tool call that its record needs. */
export interface ToolData {
  readonly tool_name: string
  readonly tool_input: object
}

export type ToolEvent = 'PreToolUse' | 'PostToolUse' | 'PostToolUseFailure'

/**
 * Fires the event at once, if that does nothing but leave a record that may be written later. False: nothing was done, and the
 * event has to be fired as usual. The data must not change afterwards.
 */
export function passUnheard(session: SessionContext, event: ToolEvent, data: ToolData): boolean {
  const { engine, store, turns, key, base, info } = session
  const { audit, auditLater } = engine.embedder
  if (engine.settings.audit_on_failure === 'block' || (audit && !auditLater)) return false
  // Problems with files are told with an event, and may make a call unguarded.
  if (engine.configured.problems.length > 0 || store.failures > 0) return false
  const state = store.load(key)
  if (isPromise(state) || state.skills.length > 0 || state.lost !== '') return false
  if (state.stopsInRow > 0 || hasPending(state)) return false
  if (isPromise(engine.lookAgain(noHooks))) return false
  if (session.hooks().listeners(resolveEvent(event))) return false
  turns.goTo(state.turn, false)
  if (!auditLater) return true
  const now = engine.now()
  const { turnId } = turns.info
  const { agent_id } = base as { readonly agent_id?: string }
  auditLater(
    (): AuditRecord => ({
      kind: 'fire',
      time: timestamp(now),
      session: info.id,
      ...(agent_id !== undefined && { agent: agent_id }),
      ...(turnId !== undefined && { turn: turnId }),
      event,
      tool: data.tool_name,
      digest: callDigest(event, data as unknown as Data),
      action: 'continue',
      hooks: [],
      injections: [],
      diagnostics: [],
      ms: 0,
    }),
  )
  return true
}

const noHooks = (): readonly Hook[] => []
