// Reading many rows in order, page by page: a machine may send lines of 8 MiB, and a thousand of those would fill the memory.

import type { Client } from './connection.js'

export interface Reading {
  /** Ends with its conditions. */
  readonly select: string
  /** The column of numbers by which rows are in order. */
  readonly by: string
  /** The column that may be long. */
  readonly long: string
  /** From `$2` on. */
  readonly values?: readonly unknown[]
}

const ROWS = 2000
const BYTES = 16 * 1024 * 1024
/** The smallest number of PostgreSQL. */
const FIRST = '-9223372036854775808'

/** No page has more rows than that, nor more bytes in the long column, unless one row alone has more. */
export async function* rowsOf<R extends object>(
  client: Client,
  { select, by, long, values = [] }: Reading,
): AsyncGenerator<R> {
  // PostgreSQL knows how long a value is without reading it.
  const length = `coalesce(octet_length(${long}), 0)`
  const sql = `select * from (
      select *, sum(${length}) over (order by ${by}) as bytes, count(*) over ()::int as found
      from (${select} and ${by} > $1::bigint order by ${by} limit ${ROWS}) as next
    ) as summed where bytes <= ${BYTES} or bytes = ${length} order by ${by}`
  for (let last: unknown = FIRST; ; ) {
    const { rows } = await client.query<R & Record<string, unknown>>(sql, [last, ...values])
    const end = rows.at(-1)
    if (!end) return
    for (const { bytes: _, found: __, ...row } of rows) yield row as unknown as R
    if (rows.length === end.found && rows.length < ROWS) return
    last = end[by]
  }
}
