// Records in which a policy in shadow mode would have done something.

import { UNREADABLE } from '../listing.js'
import { ShadowTable } from '../shadow-table.js'
import type { Database } from './connection.js'

const PAGE = 500

interface Row {
  readonly at: string
  readonly chain: string
  readonly seq: string
  readonly name: string
  readonly line: string
}

/** Looks at the newest records that are not older than `since`. */
export async function shadowsIn(database: Database, since: Date, version?: number): Promise<ShadowTable> {
  const table = new ShadowTable(version)
  for (let last: Row | undefined; ; ) {
    const after = last ? 'and (r.at, r.chain, r.seq) < ($2, $3, $4)' : ''
    const rows: readonly Row[] = await database.rows<Row>(
      `select r.at::text as at, r.chain, r.seq, m.name, r.line from fleet.record r
        join fleet.chain c on c.chain = r.chain and c.org = r.org
        join fleet.machine m on m.org = c.org and m.machine = c.machine
        where r.org = fleet.own_org() and r.at >= $1 and r.kind in ('fire', '${UNREADABLE}')
          and position('"fleet@' in r.line) > 0 ${after}
        order by r.at desc, r.chain desc, r.seq desc limit ${PAGE}`,
      [since, ...(last ? [last.at, last.chain, last.seq] : [])],
    )
    for (const { name, line } of rows) table.add(name, parsed(line))
    last = rows.at(-1)
    if (rows.length < PAGE) return table
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
