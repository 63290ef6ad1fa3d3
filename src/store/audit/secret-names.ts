// Secrets in entries: of records the engine has taken out what hooks said; names are looked at here.

import { redactedData, withoutSecrets } from '../../core/base/secrets.js'
import type { Writable } from './entry.js'

/** Looking at all of these again would take longer than all the rest. */
const REDACTED_BEFORE: readonly string[] = ['fire', 'late']

const NAMES = ['session', 'agent', 'turn', 'event', 'tool'] as const
/** Lists whose members have names, and those names. */
const MEMBERS: readonly (readonly [list: string, names: readonly string[]])[] = [
  ['hooks', ['name', 'source', 'event', 'changed']],
  ['injections', ['source']],
  ['diagnostics', ['file']],
]

/** Names that have none. They are in the log by now, so that to find out later that one is a secret is too late anyway. */
const clean = new Set<string>()
const MOST_NAMES = 1000
/** Then they are looked at again: what is a secret may have become known. */
const RENEW_MS = 1000
let renewAt = 0

/** The same object where there is none. */
export function withoutSecretsIn(entry: Writable): Writable {
  return REDACTED_BEFORE.includes(entry.kind) && isClean(entry) ? entry : redactedData(entry)
}

function isClean(entry: Writable): boolean {
  const now = performance.now()
  if (now > renewAt || clean.size > MOST_NAMES) {
    clean.clear()
    renewAt = now + RENEW_MS
  }
  const fields = entry as unknown as Readonly<Record<string, unknown>>
  for (const name of NAMES) if (!isCleanName(fields[name])) return false
  for (const [list, names] of MEMBERS) {
    const members = fields[list]
    if (!Array.isArray(members)) continue
    for (const member of members as (Readonly<Record<string, unknown>> | null)[])
      for (const name of names) if (!isCleanName(member?.[name])) return false
  }
  return true
}

function isCleanName(name: unknown): boolean {
  if (Array.isArray(name)) return name.every((one) => isCleanName(one))
  if (typeof name !== 'string' || clean.has(name)) return true
  if (withoutSecrets(name) !== name) return false
  clean.add(name)
  return true
}
