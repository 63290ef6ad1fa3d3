// Adds the calls that are still kept to audit entries.

import type { ShownEntry } from '../audit/entry-words.js'
import type { AuditCalls, KeptCall } from '../audit-calls.js'
import type { StoredEntry } from '../audit-log.js'

const SOON_TRIES = 5
const SOON_MS = 50
/** More than other processes write between two tries. */
const NEWEST = 500

/** The id of the entry's call, if one was kept. */
export function callIdOf(entry: StoredEntry): string | undefined {
  return 'call' in entry && typeof entry.call === 'string' ? entry.call : undefined
}

/** Rejects if the calls cannot be read. */
export async function withCalls(
  entries: readonly StoredEntry[],
  calls: () => Promise<AuditCalls>,
): Promise<readonly ShownEntry[]> {
  const ids = idsOf(entries)
  if (ids.size === 0) return entries
  return joined(entries, await (await calls()).find(ids))
}

/** For entries that were just written: a call is written after the answer, and its record before. */
export async function withCallsSoon(
  entries: readonly StoredEntry[],
  calls: () => Promise<AuditCalls>,
): Promise<readonly ShownEntry[]> {
  const ids = idsOf(entries)
  let found: ReadonlyMap<string, KeptCall> = new Map()
  for (let tries = 0; found.size < ids.size && tries <= SOON_TRIES; tries++) {
    if (tries > 0) await new Promise((done) => setTimeout(done, SOON_MS))
    found = await newest(await calls(), ids)
  }
  return joined(entries, found)
}

async function newest(calls: AuditCalls, ids: ReadonlySet<string>): Promise<ReadonlyMap<string, KeptCall>> {
  const found = new Map<string, KeptCall>()
  for await (const call of calls.calls({ limit: ids.size + NEWEST })) {
    if (ids.has(call.id)) found.set(call.id, call)
    if (found.size === ids.size) break
  }
  return found
}

function idsOf(entries: readonly StoredEntry[]): ReadonlySet<string> {
  return new Set(entries.flatMap((entry) => callIdOf(entry) ?? []))
}

function joined(
  entries: readonly StoredEntry[],
  found: ReadonlyMap<string, KeptCall>,
): readonly ShownEntry[] {
  return entries.map((entry) => {
    const kept = found.get(callIdOf(entry) ?? '')
    return kept ? { ...entry, kept } : entry
  })
}
