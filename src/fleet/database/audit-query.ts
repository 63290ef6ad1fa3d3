// Searching the records of a fleet. The database narrows down, and the filter of `carabiner audit` decides.

import { type FilterOptions, filterOf, namedDecision, timeOf } from '../../store/audit/filter.js'
import type { StoredEntry } from '../../store/audit-log.js'
import { LONGEST_READ, UNREADABLE } from '../listing.js'
import type { Database } from './connection.js'
import { type FoundRecord, shownOf } from './found-record.js'

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

interface Row extends FoundRecord {
  readonly chain: string
  /** As PostgreSQL has it, with microseconds. */
  readonly at: string
  /** Of the machine. Null if its row is gone. */
  readonly name: string | null
}

interface LookedAt extends Row {
  readonly matches: boolean
  /** How many the database looked at. It leaves out the last of them if they have too many bytes. */
  readonly total: number
}

const PAGE = 500
const FEW = 50
/** Of the lines of one answer of the database, and of one page. */
const MOST_BYTES = 8 * 1024 * 1024

/** The newest first. Throws an Error for an invalid filter. */
export async function searchRecords(database: Database, query: FleetQuery): Promise<readonly FleetEntry[]> {
  const found: FleetEntry[] = []
  let after = query.after
  do {
    const rest = { ...query, limit: query.limit - found.length, ...(after !== undefined && { after }) }
    const { entries, next } = await searchPage(database, rest)
    found.push(...entries)
    after = next
  } while (after !== undefined && found.length < query.limit)
  return found
}

/** One page of them, and where to go on. A page with many bytes ends early. */
export async function searchPage(database: Database, query: FleetQuery): Promise<FleetEntries> {
  const now = Date.now()
  const filter = filterOf(query, now)
  const { limit, lookAt = Number.POSITIVE_INFINITY } = query
  const found: FleetEntry[] = []
  let looked = 0
  let bytes = 0
  let last = query.after === undefined ? undefined : positionIn(query.after)
  // Most searches end with their first records. Of a machine with many logs, so many are read of each.
  for (let size = Math.max(FEW, limit); ; size *= 2) {
    const most = Math.min(PAGE, size, lookAt - looked)
    const { sql, values } = searchOf(query, { now, last, most })
    const rows: readonly LookedAt[] = await database.rows<LookedAt>(sql, values)
    for (const row of rows) {
      if (!row.matches) continue
      const entry = shownOf(row)
      // Nobody knows whether a line that was not read matches.
      if (row.line !== null && !filter(entry)) continue
      found.push({ machine: row.name ?? '', chain: row.chain, entry })
      bytes += row.line === null ? 0 : row.size
      if (found.length >= limit || bytes >= MOST_BYTES) return { entries: found, next: positionText(row) }
    }
    const { total = 0 } = rows[0] ?? {}
    last = rows.at(-1)
    looked += rows.length
    if (!last || (total < most && rows.length === total)) return { entries: found }
    if (looked >= lookAt) return { entries: found, next: positionText(last) }
  }
}

const NEWEST = 'r.at desc, r.chain desc, r.seq desc'
/** The indexes have no longer texts. */
const LONGEST_INDEXED = 200

interface Sql {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** Conditions of the indexes, by column: nearly all records are events that went on, and an index has a limit for its entries. */
const INDEXED = {
  session: `length(r.session) <= ${LONGEST_INDEXED}`,
  verdict: `r.verdict <> 'continue' and length(r.verdict) <= ${LONGEST_INDEXED}`,
  kind: `r.kind <> 'fire' and length(r.kind) <= ${LONGEST_INDEXED}`,
} as const
const COMMON = { session: undefined, verdict: 'continue', kind: 'fire' } as const

interface Looking {
  readonly now: number
  readonly last: Position | undefined
  readonly most: number
}

/**
 * Looks at the next records, and says which of them match. One index says which these are and has them in order, so no others
 * are read. What the columns do not say about a record, the filter finds in its line.
 */
function searchOf(query: FleetQuery, { now, last, most }: Looking): Sql {
  const values: unknown[] = []
  const value = (one: unknown) => `$${values.push(one)}`
  // PostgreSQL has no NUL in its texts, so no column has one either.
  const words = (one: string) => (one.includes('\0') ? 'null' : value(one))
  const { machine, session, kind, decision, hook, since, until } = query
  const verdict = decision === undefined ? undefined : namedDecision(decision)
  const lastAt = last && value(last.at)
  // The first condition says where to begin in any index.
  const after =
    last &&
    `r.at <= ${lastAt} and (r.at, r.chain, r.seq) < (${lastAt}, ${value(last.chain)}, ${value(last.seq)})`
  const times = [
    since !== undefined && `r.at >= ${value(new Date(timeOf(since, 'since', now)))}`,
    until !== undefined && `r.at <= ${value(new Date(timeOf(until, 'until', now)))}`,
  ]
  const ofMachine = machine !== undefined && `m.name = ${words(machine)}`
  const ofColumns = Object.entries({ session, verdict, kind }).flatMap(([name, wanted]) => {
    const column = name as keyof typeof INDEXED
    return wanted === undefined ? [] : [{ column, wanted, test: `r.${column} = ${words(wanted)}` }]
  })
  const lead = ofColumns.find(
    ({ column, wanted }) => wanted !== COMMON[column] && [...wanted].length <= LONGEST_INDEXED,
  )
  const newest = (...wanted: readonly (string | false | undefined)[]) =>
    `(select r.at, r.chain, r.seq from fleet.record r
      where ${all('r.org = fleet.own_org()', ...wanted, after)} order by ${NEWEST} limit ${most})`
  const listed = lead
    ? newest(lead.test, INDEXED[lead.column], ...times)
    : ofMachine
      ? `(select r.* from fleet.machine m join fleet.chain c on c.org = m.org and c.machine = m.machine
          cross join lateral ${newest('r.chain = c.chain', ...times)} r
          where m.org = fleet.own_org() and ${ofMachine})`
      : newest(...times)
  // Those without proper columns are looked at whatever is searched for.
  const odd = newest(`r.kind = '${UNREADABLE}'`, INDEXED.kind)
  const looked = lead || times.some(Boolean) ? `${listed} union ${odd}` : listed
  // The filter decides by the line. Of one without proper columns that is too long to be read, its time and its session decide.
  const isShort = `octet_length(r.line) <= ${LONGEST_READ}`
  const orOdd = (test: string, isOpen?: string) =>
    `(${test} or r.kind = '${UNREADABLE}'${isOpen === undefined ? '' : ` and (${isOpen})`})`
  const tests = all(
    'm.name is not null',
    ofMachine,
    ...times.map((test) => test && orOdd(test, isShort)),
    ...ofColumns.map(({ column, test }) =>
      // A record may have two verdicts, of which the column has one.
      column === 'session' ? orOdd(test, `r.session is null or ${isShort}`) : orOdd(test),
    ),
    // A name can be written with escapes, too.
    hook !== undefined &&
      `(position(${value(JSON.stringify(hook).slice(1, -1))} in r.line) > 0 or r.line ~ '\\\\[u/]')`,
  )
  const sql = `with looked as (select * from (${looked}) r order by ${NEWEST} limit ${most}),
    judged as (select r.*, m.name, octet_length(r.line) as size, coalesce(${tests}, false) as matches
      from looked l join fleet.record r on r.chain = l.chain and r.seq = l.seq and r.org = fleet.own_org()
      left join fleet.chain c on c.chain = r.chain and c.org = r.org
      left join fleet.machine m on m.org = c.org and m.machine = c.machine),
    counted as (select r.*, count(*) over ()::int as total, matches and size <= ${LONGEST_READ} as "isShown",
      sum(case when matches and size <= ${LONGEST_READ} then size else 0 end) over (order by ${NEWEST} rows unbounded preceding) as bytes from judged r)
    select chain, seq, at::text as at, at as time, kind, name, verdict, session, encode(hash, 'hex') as hash, size, matches, total,
        case when "isShown" then line end as line
      from counted r where bytes <= ${MOST_BYTES} order by ${NEWEST}`
  return { sql, values }
}

function all(...tests: readonly (string | false | undefined)[]): string {
  return tests.filter(Boolean).join(' and ')
}

/** Undefined if there is none. */
export async function oneRecord(
  database: Database,
  chain: string,
  seq: string,
): Promise<FleetEntry | undefined> {
  const [row] = await database.rows<Row>(
    `select r.chain, r.seq, r.at::text as at, r.at as time, r.kind, m.name, r.verdict, r.session, encode(r.hash, 'hex') as hash,
        octet_length(r.line) as size, case when octet_length(r.line) <= ${LONGEST_READ} then r.line end as line
      from fleet.record r join fleet.chain c on c.chain = r.chain and c.org = r.org
      join fleet.machine m on m.org = c.org and m.machine = c.machine
      where r.org = fleet.own_org() and r.chain = $1 and r.seq = $2`,
    [chain, seq],
  )
  return row && { machine: row.name ?? '', chain, entry: shownOf(row) }
}

type Position = Pick<Row, 'at' | 'chain' | 'seq'>

const POSITION = /^(-?[\w :.+-]{1,40})\/(\d{1,18})\/(-?\d{1,18})$/

function positionText({ at, chain, seq }: Position): string {
  return Buffer.from(`${at}/${chain}/${seq}`).toString('base64url')
}

/** Undefined for a text that `positionText` did not make. */
export function positionIn(text: string): Position | undefined {
  const [, at, chain, seq] = POSITION.exec(Buffer.from(text, 'base64url').toString()) ?? []
  return at && chain && seq ? { at, chain, seq } : undefined
}
