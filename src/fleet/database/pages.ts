// Reading many rows in order, page by page: a machine may send lines of 8 MiB, and a thousand of those would fill the memory.

import type { Client } from './connection.js'

export interface Reading {
  readonly columns: string
  /** A table and conditions. */
  readonly from: string
  /** The column of numbers by which rows are in order. Several rows may have the same one. */
  readonly by: string
  /** The column that may be long. */
  readonly long: string
  /** From `$3` on. */
  readonly values?: readonly unknown[]
}

const ROWS = 2000
const BYTES = 16 * 1024 * 1024
/** Before all rows. */
const FIRST = { number: '-9223372036854775808', place: '(0,0)' }

/** No page has more rows than that, nor more bytes in the long column, unless one row alone has more. */
export async function* rowsOf<R extends object>(
  client: Client,
  { columns, from, by, long, values = [] }: Reading,
): AsyncGenerator<R> {
  // PostgreSQL knows how long a value is without reading it.
  const length = `coalesce(octet_length(${long}), 0)`
  // Whoever owns the database can drop a primary key. The place of a row in its table is its own all the same.
  const sql = `select * from (
      select *, sum(${length}) over (order by ${by}, place rows unbounded preceding) as bytes, count(*) over ()::int as found
      from (select ${columns}, ctid as place from ${from} and (${by}, ctid) > ($1::bigint, $2::tid) order by ${by}, ctid limit ${ROWS}) as next
    ) as summed where bytes <= ${BYTES} or bytes = ${length} order by ${by}, place`
  for (let { number, place }: { number: unknown; place: unknown } = FIRST; ; ) {
    const { rows } = await client.query<R & Record<string, unknown>>(sql, [number, place, ...values])
    const end = rows.at(-1)
    if (!end) return
    for (const { bytes: _, found: __, place: ___, ...row } of rows) yield row as unknown as R
    if (rows.length === end.found && rows.length < ROWS) return
    number = end[by]
    place = end.place
  }
}
