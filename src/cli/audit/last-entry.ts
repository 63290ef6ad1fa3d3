// The newest entry of a project's audit in which a hook had a part.

import type { AuditedHook } from '../../core/session/audit-record.js'
import { filterOf } from '../../store/audit/filter.js'
import { fileStores } from '../../store/file-stores.js'
import type { LastEntry } from '../why/hook-answer.js'

/** Undefined if there is none, or if the audit cannot be read: `carabiner doctor` says more. */
export async function lastEntryOf(projectDir: string, name: string): Promise<LastEntry | undefined> {
  try {
    const filter = filterOf({ hook: name, kind: 'fire' })
    for await (const entry of fileStores({ projectDir }).audit.entries({ newestFirst: true, filter })) {
      if (entry.kind !== 'fire') return undefined
      const hook = entry.hooks.find((one) => one.name === name)
      return hook && { seq: entry.seq, time: entry.time, event: entry.event, ...saidBy(hook) }
    }
    return undefined
  } catch {
    return undefined
  }
}

function saidBy({ status, action, why, detail }: AuditedHook): Pick<LastEntry, 'status' | 'detail'> {
  const words = [why, detail].filter((one) => one !== undefined).join(': ')
  const text = status === 'ran' ? (action ?? 'continue') : words
  return { status, ...(text !== '' && { detail: text }) }
}
