// Records in which a policy in shadow mode would have done something.

import { entryIn, LONGEST_READ, UNREADABLE } from '../listing.js'
import { ShadowTable } from '../shadow-table.js'
import type { Database } from './connection.js'

const PAGE = 500

interface Row {
  /** As PostgreSQL has it, with microseconds. */
  readonly at: string
  readonly time: Date
  readonly chain: string
  readonly seq: string
  readonly name: string
  readonly line: string
}

export interface ShadowQuery {
  readonly since: Date
  /** Of a bundle. Default: all of them. */
  readonly version?: number | undefined
  /** The most records with a shadow to look at, the newest. Default: all of them. */
  readonly lookAt?: number
}

export interface Shadows {
  readonly table: ShadowTable
  /** The time of the oldest record that was looked at, ISO-8601, if there may be more than `lookAt`. */
  readonly cutAt?: string
}

/** Looks at the newest records that are not older than `since`. The index record_shadow has them all. Very long ones do not count. */
export async function shadowsIn(
  database: Database,
  { since, version, lookAt = Number.POSITIVE_INFINITY }: ShadowQuery,
): Promise<Shadows> {
  const table = new ShadowTable(version)
  let looked = 0
  for (let last: Row | undefined; ; ) {
    const after = last ? 'and (r.at, r.chain, r.seq) < ($2, $3, $4)' : ''
    const most = Math.min(PAGE, lookAt - looked)
    const rows: readonly Row[] = await database.rows<Row>(
      `select r.at::text as at, r.at as time, r.chain, r.seq, m.name, r.line from fleet.record r
        join fleet.chain c on c.chain = r.chain and c.org = r.org
        join fleet.machine m on m.org = c.org and m.machine = c.machine
        where r.org = fleet.own_org() and r.at >= $1 and r.kind in ('fire', '${UNREADABLE}')
          and position('"fleet@' in r.line) > 0 and octet_length(r.line) <= ${LONGEST_READ} ${after}
        order by r.at desc, r.chain desc, r.seq desc limit ${most}`,
      [since, ...(last ? [last.at, last.chain, last.seq] : [])],
    )
    for (const { name, line } of rows) table.add(name, entryIn(line))
    last = rows.at(-1)
    looked += rows.length
    if (!last || rows.length < most) return { table }
    if (looked >= lookAt) return { table, cutAt: last.time.toISOString() }
  }
}
