// A record of a fleet as a collector accepts it. Whoever has the key of a machine could send any line, and a collector that
// refused it would keep the records of all other machines back.

import { isObject } from '../../../core/base/json.js'
import type { NewRecord } from '../../../fleet/database/new-records.js'
import { knownOf, UNREADABLE } from '../../../fleet/listing.js'
import type { StoredEntry } from '../../../store/audit-log.js'

type Fields = Readonly<Record<string, unknown>>

export function sendableEntry(record: NewRecord): StoredEntry {
  const fields = fieldsIn(record)
  const { seq, hash } = record
  const time = timeIn(fields) ?? record.received.toISOString()
  const whole = isEvent(fields) ? fields : plain(fields)
  return { ...whole, seq, hash, time } as unknown as StoredEntry
}

/** What the database knows of a line that is too long, or that no program can read. */
function fieldsIn({ line, ...listed }: NewRecord): Fields {
  const known = knownOf(listed)
  if (line === undefined) return known
  try {
    const read: unknown = JSON.parse(line, exact)
    return isObject(read) ? read : known
  } catch {
    return known
  }
}

/** A collector reads whole numbers as 64 bits, and refuses others. */
function exact(_: string, value: unknown): unknown {
  return typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER ? String(value) : value
}

/** The nanoseconds since 1970 have to fit into 64 bits, also when the event began. */
const [EARLIEST, LATEST] = [Date.UTC(2000, 0), Date.UTC(2500, 0)]

function timeIn({ time }: Fields): string | undefined {
  const ms = typeof time === 'string' ? Date.parse(time) : Number.NaN
  return ms >= EARLIEST && ms < LATEST ? new Date(ms).toISOString() : undefined
}

const EVENT_TEXTS = ['session', 'event', 'digest', 'action'] as const
const MORE_EVENT_TEXTS = ['agent', 'turn', 'tool', 'reason'] as const
const HOOK_TEXTS = ['name', 'status'] as const
const MORE_HOOK_TEXTS = ['kind', 'source', 'hash', 'action', 'why', 'detail', 'event'] as const

/** Whether everything that spans are made of is there. */
function isEvent(fields: Fields): boolean {
  const { kind, hooks, ms } = fields
  return (
    (kind === 'fire' || kind === 'late') &&
    isDuration(ms) &&
    EVENT_TEXTS.every((name) => typeof fields[name] === 'string') &&
    MORE_EVENT_TEXTS.every((name) => isTextOrAbsent(fields[name])) &&
    Array.isArray(hooks) &&
    hooks.every(isHook)
  )
}

function isHook(hook: unknown): boolean {
  return (
    isObject(hook) &&
    isDuration(hook.ms) &&
    (hook.at === undefined || isDuration(hook.at)) &&
    HOOK_TEXTS.every((name) => typeof hook[name] === 'string') &&
    MORE_HOOK_TEXTS.every((name) => isTextOrAbsent(hook[name]))
  )
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}

const YEAR_MS = 366 * 24 * 3600 * 1000

function isDuration(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value < YEAR_MS
}

/** Only what a log record has. An event that is not whole is none. */
function plain({ kind, unguarded, ...fields }: Fields): Fields {
  const isPlain = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)
  return {
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => isPlain(value))),
    ...(Array.isArray(unguarded) && { unguarded }),
    kind: typeof kind === 'string' && kind !== 'fire' && kind !== 'late' ? kind : UNREADABLE,
  }
}
