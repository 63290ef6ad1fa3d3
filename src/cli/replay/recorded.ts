// The tool calls of a project that are on record, and what was decided about them.

import { textOf } from '../../core/base/errors.js'
import type { AuditRecord } from '../../core/session/audit-record.js'
import { filterOf, timeOf } from '../../store/audit/filter.js'
import type { KeptCall } from '../../store/audit-calls.js'
import { fileCalls } from '../../store/file-stores.js'
import { auditOf } from '../project-audit.js'
import { Refusal, usage } from '../refusal.js'

export const SINCE_OPTION = {
  type: 'string',
  value: 'TIME',
  help: 'Since 2026-01-31T12:00:00Z, or 2h, 3d ago; default: 7d.',
} as const

/** In milliseconds. */
export function startOf(text = '7d'): number {
  try {
    return timeOf(text, '--since', Date.now())
  } catch (error) {
    throw usage(textOf(error))
  }
}

/** The oldest first. */
export async function callsSince(projectDir: string, since: number): Promise<readonly KeptCall[]> {
  const found: KeptCall[] = []
  try {
    for await (const kept of (await fileCalls({ projectDir })).calls())
      if (kept.event === 'PreToolUse' && Date.parse(kept.time) >= since) found.push(kept)
  } catch (error) {
    throw new Refusal('STORE_UNUSABLE', `The recorded calls cannot be read: ${textOf(error)}`)
  }
  return found.reverse()
}

/** Records of events, the oldest first. Anybody who can write the log may have written them. */
export async function* recordsSince(projectDir: string, since: number): AsyncIterable<AuditRecord> {
  const filter = filterOf({ since: new Date(since).toISOString(), kind: 'fire' })
  for await (const entry of auditOf(projectDir).entries({ filter })) if (entry.kind === 'fire') yield entry
}
