// Searching the records of a fleet. The database narrows down, and the filter of `carabiner audit` decides.

import { type FilterOptions, filterOf, namedDecision, timeOf } from '../../store/audit/filter.js'
import type { StoredEntry } from '../../store/audit-log.js'
import { UNREADABLE } from '../listing.js'
import type { Database } from './connection.js'

export interface FleetQuery extends FilterOptions {
  /** The name of a machine. */
  readonly machine?: string
  readonly limit: number
  /** Where the page before this one ended: its `next`. */
  readonly after?: string
  /** The most records to look at. Default: all of them. */
  readonly lookAt?: number
}

export interface FleetEntry {
  readonly machine: string
  /** The number of its chain. With `seq` of the entry, it leads to this record. */
  readonly chain: string
  readonly entry: StoredEntry
}

export interface FleetEntries {
  readonly entries: readonly FleetEntry[]
  /** Leads to older ones. Absent if there are none. */
  readonly next?: string
}

interface Row {
  readonly chain: string
  readonly seq: string
  readonly at: string
  readonly name: string
  readonly line: string
}

const PAGE = 500

/** The newest first. Throws an Error for an invalid filter. */
export async function searchRecords(database: Database, query: FleetQuery): Promise<readonly FleetEntry[]> {
  return (await searchPage(database, query)).entries
}

/** As `searchRecords`, and where to go on. */
export async function searchPage(database: Database, query: FleetQuery): Promise<FleetEntries> {
  const now = Date.now()
  const filter = filterOf(query, now)
  const values: unknown[] = []
  const value = (one: unknown) => `$${values.push(one)}`
  // PostgreSQL has no NUL in its texts, so no column has one either.
  const words = (one: string) => (one.includes('\0') ? 'null' : value(one))
  const tests = ['r.org = fleet.own_org()']
  const { machine, session, kind, decision, hook, since, until } = query
  if (machine !== undefined) tests.push(`m.name = ${words(machine)}`)
  // What the columns do not say about a record, the filter finds in its line.
  const narrow = (test: string) => tests.push(`(${test} or r.kind = '${UNREADABLE}')`)
  if (session !== undefined) narrow(`left(r.session, 200) = left(${words(session)}, 200)`)
  if (kind !== undefined) narrow(`r.kind = ${value(kind)}`)
  const verdict = decision === undefined ? undefined : namedDecision(decision)
  if (verdict !== undefined) narrow(`left(r.verdict, 40) = ${value(verdict)}`)
  if (since !== undefined) narrow(`r.at >= ${value(new Date(timeOf(since, 'since', now)))}`)
  if (until !== undefined) narrow(`r.at <= ${value(new Date(timeOf(until, 'until', now)))}`)
  // A name can be written with escapes, too.
  if (hook !== undefined)
    tests.push(
      `(position(${value(JSON.stringify(hook).slice(1, -1))} in r.line) > 0 or position('\\u' in r.line) > 0)`,
    )
  const found: FleetEntry[] = []
  let looked = 0
  for (let last: Position | undefined = query.after === undefined ? undefined : positionIn(query.after); ; ) {
    const page = [...values]
    const after: string = last
      ? `and (r.at, r.chain, r.seq) < ($${page.push(last.at)}, $${page.push(last.chain)}, $${page.push(last.seq)})`
      : ''
    const rows: readonly Row[] = await database.rows<Row>(
      `select r.chain, r.seq, r.at::text as at, m.name, r.line from fleet.record r
        join fleet.chain c on c.chain = r.chain and c.org = r.org
        join fleet.machine m on m.org = c.org and m.machine = c.machine
        where ${tests.join(' and ')} ${after} order by r.at desc, r.chain desc, r.seq desc limit ${PAGE}`,
      page,
    )
    for (const row of rows) {
      const entry = entryIn(row.line)
      if (entry && filter(entry)) found.push({ machine: row.name, chain: row.chain, entry })
      if (found.length >= query.limit) return { entries: found, next: positionText(row) }
    }
    last = rows.at(-1)
    looked += rows.length
    if (rows.length < PAGE || !last) return { entries: found }
    if (looked >= (query.lookAt ?? Number.POSITIVE_INFINITY))
      return { entries: found, next: positionText(last) }
  }
}

/** Undefined if there is none, or if it cannot be read. */
export async function oneRecord(
  database: Database,
  chain: string,
  seq: string,
): Promise<FleetEntry | undefined> {
  const [row] = await database.rows<Pick<Row, 'name' | 'line'>>(
    `select m.name, r.line from fleet.record r join fleet.chain c on c.chain = r.chain and c.org = r.org
      join fleet.machine m on m.org = c.org and m.machine = c.machine
      where r.org = fleet.own_org() and r.chain = $1 and r.seq = $2`,
    [chain, seq],
  )
  const entry = row && entryIn(row.line)
  return entry && { machine: row.name, chain, entry }
}

type Position = Pick<Row, 'at' | 'chain' | 'seq'>

const POSITION = /^(-?[\w :.+-]{1,40})\/(\d{1,18})\/(\d{1,18})$/

function positionText({ at, chain, seq }: Position): string {
  return Buffer.from(`${at}/${chain}/${seq}`).toString('base64url')
}

/** Undefined for a text that `positionText` did not make. */
export function positionIn(text: string): Position | undefined {
  const [, at, chain, seq] = POSITION.exec(Buffer.from(text, 'base64url').toString()) ?? []
  return at && chain && seq ? { at, chain, seq } : undefined
}

function entryIn(line: string): StoredEntry | undefined {
  try {
    return JSON.parse(line) as StoredEntry
  } catch {
    return undefined
  }
}
