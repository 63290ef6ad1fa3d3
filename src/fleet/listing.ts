// How the database lists a record: the columns that searches go by, taken from its line.

import { isObject } from '../core/base/json.js'
import { isStorable } from './protocol.js'

/** `kind` is UNREADABLE for a line that does not fit into the columns. Searches read those lines themselves. */
export interface Listing {
  /** Null: when it arrived. */
  readonly at: string | null
  readonly kind: string
  readonly verdict: string | null
  readonly session: string | null
}

export const UNREADABLE = 'unreadable'

/** Longer lines are left out where many are read at once. The product writes shorter ones, but a machine may send up to 8 MiB. */
export const LONGEST_READ = 256 * 1024

export function listingOf(line: string): Listing {
  const entry = entryIn(line)
  if (!entry) return { at: null, kind: UNREADABLE, verdict: null, session: null }
  const { kind, action, decision, session } = entry
  const verdict = [action, decision].find((one) => typeof one === 'string')
  // A record with both has two verdicts, and there is one column.
  const isWhole = fits(kind) && !('action' in entry && 'decision' in entry) && !hasOdd(verdict, session)
  return {
    at: timeIn(entry),
    kind: isWhole ? kind : UNREADABLE,
    verdict: fits(verdict) ? verdict : null,
    session: fits(session) ? session : null,
  }
}

/** The same for records of one batch, column by column, with their hashes, as `fleet.append` of migration 18 reads it. */
export function listingText(records: readonly (Listing & { readonly hash: string })[]): string {
  return COLUMNS.map((name) => records.map((one) => valueText(one[name])).join('\n')).join('\t')
}

const COLUMNS = ['hash', 'at', 'kind', 'verdict', 'session'] as const

/** Nothing for null. JSON after a backslash for what could be taken for something else. */
function valueText(value: string | null): string {
  if (value === null) return ''
  return value === '' || /[\\\n\t]/.test(value) ? `\\${JSON.stringify(value)}` : value
}

function fits(value: unknown): value is string {
  return typeof value === 'string' && isStorable(value)
}

function hasOdd(...values: readonly unknown[]): boolean {
  return values.some((value) => typeof value === 'string' && !fits(value))
}

/** Only a time as every record of the product has it. PostgreSQL reads more than that, and some of it as another time. */
function timeIn({ time }: Readonly<Record<string, unknown>>): string | null {
  if (typeof time !== 'string' || !/^[12]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(time)) return null
  const read = new Date(time)
  // A day that no month has is the next one for Date.
  return !Number.isNaN(read.getTime()) && read.toISOString() === time ? time : null
}

/** What the database knows of a record whose line nobody reads. `verify` checks the columns of a proper one alone. */
export function knownOf({ kind, verdict, session }: Omit<Listing, 'at'>): Readonly<Record<string, string>> {
  const isProper = kind !== UNREADABLE
  return {
    kind: UNREADABLE,
    ...(isProper && verdict !== null && { action: verdict }),
    ...(isProper && session !== null && { session }),
  }
}

/** Undefined if it is none: whoever has the key of a machine could send any line. */
export function entryIn(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const entry: unknown = JSON.parse(line)
    return isObject(entry) ? entry : undefined
  } catch {
    return undefined
  }
}
