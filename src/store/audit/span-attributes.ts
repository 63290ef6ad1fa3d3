// The attributes of spans and log records. They have the names of the GenAI conventions where one exists.

import type { AuditedHook, AuditRecord } from '../../core/session/audit-record.js'

export type Attributes = Readonly<Record<string, string | number | boolean>>

export const HOOK_SPAN = 'execute_hook'

export function hasRun({ status }: AuditedHook): boolean {
  return status === 'ran' || status === 'failed'
}

export function attributesOfEvent(record: AuditRecord): Attributes {
  return present({
    'gen_ai.conversation.id': record.session,
    'gen_ai.tool.name': record.tool,
    'gen_ai.agent.id': record.agent,
    'carabiner.event': record.event,
    'carabiner.decision': record.action,
    'carabiner.call.digest': record.digest,
    'carabiner.turn': record.turn,
  })
}

export function attributesOfHook(record: AuditRecord, hook: AuditedHook): Attributes {
  return present({
    ...attributesOfEvent(record),
    'gen_ai.operation.name': HOOK_SPAN,
    'error.type': hook.status === 'failed' ? (hook.why ?? 'failed') : undefined,
    'carabiner.hook.name': hook.name,
    'carabiner.hook.kind': hook.kind,
    'carabiner.hook.source': hook.source,
    'carabiner.hook.hash': hook.hash,
    'carabiner.hook.status': hook.status,
    'carabiner.hook.action': hook.action,
    'carabiner.hook.ms': hook.ms,
    'carabiner.event': hook.event ?? record.event,
  })
}

export function present(
  attributes: Readonly<Record<string, string | number | boolean | undefined>>,
): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).filter(([, value]) => value !== undefined),
  ) as Attributes
}
