// Searching the records of a fleet. The database narrows down, and the filter of `carabiner audit` decides.

import { type FilterOptions, filterOf, timeOf } from '../../store/audit/filter.js'
import type { StoredEntry } from '../../store/audit-log.js'
import type { Database } from './connection.js'

export interface FleetQuery extends FilterOptions {
  /** The name of a machine. */
  readonly machine?: string
  readonly limit: number
}

export interface FleetEntry {
  readonly machine: string
  readonly entry: StoredEntry
}

interface Row {
  readonly chain: string
  readonly seq: string
  readonly at: string
  readonly name: string
  readonly line: string
}

const PAGE = 500
/** Decisions that are no column of their own. */
const NO_VERDICT = ['modify', 'failed', 'bypass', 'revoked', 'ask']

/** The newest first. Throws an Error for an invalid filter. */
export async function searchRecords(database: Database, query: FleetQuery): Promise<readonly FleetEntry[]> {
  const now = Date.now()
  const filter = filterOf(query, now)
  const values: unknown[] = []
  const value = (one: unknown) => `$${values.push(one)}`
  const tests = ['true']
  const { machine, session, kind, decision, hook, since, until } = query
  if (machine !== undefined) tests.push(`m.name = ${value(machine)}`)
  if (session !== undefined) tests.push(`(r.session = ${value(session)} or r.kind = 'unreadable')`)
  if (kind !== undefined) tests.push(`(r.kind = ${value(kind)} or r.kind = 'unreadable')`)
  if (decision !== undefined && !NO_VERDICT.includes(decision))
    tests.push(`(r.verdict = ${value(decision)} or r.kind = 'unreadable')`)
  if (hook !== undefined) tests.push(`position(${value(JSON.stringify(hook).slice(1, -1))} in r.line) > 0`)
  if (since !== undefined) tests.push(`r.at >= ${value(new Date(timeOf(since, 'since', now)))}`)
  if (until !== undefined) tests.push(`r.at <= ${value(new Date(timeOf(until, 'until', now)))}`)
  const found: FleetEntry[] = []
  for (let last: Row | undefined; ; ) {
    const page = [...values]
    const after: string = last
      ? `and (r.at, r.chain, r.seq) < ($${page.push(last.at)}, $${page.push(last.chain)}, $${page.push(last.seq)})`
      : ''
    const rows: readonly Row[] = await database.rows<Row>(
      `select r.chain, r.seq, r.at::text as at, m.name, r.line from fleet.record r
        join fleet.chain c on c.chain = r.chain join fleet.machine m on m.org = c.org and m.machine = c.machine
        where ${tests.join(' and ')} ${after} order by r.at desc, r.chain desc, r.seq desc limit ${PAGE}`,
      page,
    )
    for (const { name, line } of rows) {
      const entry = entryIn(line)
      if (entry && filter(entry)) found.push({ machine: name, entry })
      if (found.length >= query.limit) return found
    }
    last = rows.at(-1)
    if (rows.length < PAGE || !last) return found
  }
}

function entryIn(line: string): StoredEntry | undefined {
  try {
    return JSON.parse(line) as StoredEntry
  } catch {
    return undefined
  }
}
