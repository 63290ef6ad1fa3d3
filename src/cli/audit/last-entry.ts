// The newest entry of a project's audit in which a hook had a part.

import type { AuditedHook } from '../../core/session/audit-record.js'
import { filterOf } from '../../store/audit/filter.js'
import { auditFolder } from '../../store/audit/log-folder.js'
import { readEntries } from '../../store/audit/read.js'
import type { LastEntry } from '../why/hook-answer.js'

/** Undefined where there is none, or no audit that can be read: `carabiner doctor` says more. */
export function lastEntryOf(project: string, name: string): LastEntry | undefined {
  try {
    const filter = filterOf({ hook: name, kind: 'fire' })
    const [entry] = readEntries({ folder: auditFolder(project), newestFirst: true, filter, limit: 1 })
    if (entry?.kind !== 'fire') return undefined
    const hook = entry.hooks.find((one) => one.name === name)
    return hook && { seq: entry.seq, time: entry.time, event: entry.event, ...saidBy(hook) }
  } catch {
    return undefined
  }
}

function saidBy({ status, action, why, detail }: AuditedHook): Pick<LastEntry, 'status' | 'detail'> {
  const words = [why, detail].filter((one) => one !== undefined).join(': ')
  const text = status === 'ran' ? (action ?? 'continue') : words
  return { status, ...(text !== '' && { detail: text }) }
}
