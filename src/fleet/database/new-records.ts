// Reading on in the chains of all machines, each from where a reader was. A time would not do as such a place: records of a
// machine that was offline arrive after newer ones of another. In one chain, they arrive in order.

import { type Listing, LONGEST_READ } from '../listing.js'
import type { Database } from './connection.js'

/** Where a chain ends. */
export interface ChainEnd {
  readonly chain: string
  readonly machine: string
  readonly name: string
  readonly log: string
  readonly epoch: number
  /** Before its first record. */
  readonly base: number
  readonly seq: number
  readonly hash: string
}

const CHAINS = 500

/** The ends of all chains, page by page, in the order of their numbers. */
export async function* endsOfChains(database: Database): AsyncGenerator<readonly ChainEnd[]> {
  for (let after = '0'; ; ) {
    const rows = await database.rows<
      Omit<ChainEnd, 'base' | 'seq'> & { readonly base: string; readonly seq: string }
    >(
      `select c.chain, c.machine, m.name, c.log, c.epoch, c.base_seq as base, c.seq, encode(c.hash, 'hex') as hash
        from fleet.chain c join fleet.machine m on m.org = c.org and m.machine = c.machine
        where c.org = fleet.own_org() and c.chain > $1 order by c.chain limit ${CHAINS}`,
      [after],
    )
    if (rows.length > 0) yield rows.map((row) => ({ ...row, base: Number(row.base), seq: Number(row.seq) }))
    if (rows.length < CHAINS) return
    after = rows.at(-1)?.chain ?? after
  }
}

/** Changes with every record that arrives, so that nobody has to look at each chain to see that there is none. */
export async function lengthOfChains(database: Database): Promise<string> {
  const [row] = await database.rows<{ length: string }>(
    `select count(*) || ':' || coalesce(sum(seq), 0) as length from fleet.chain where org = fleet.own_org()`,
  )
  return row?.length ?? ''
}

/** Records of one chain: after the first number, up to the second. */
export interface Range {
  readonly chain: string
  readonly after: number
  readonly upTo: number
}

export interface NewRecord extends Omit<Listing, 'at'> {
  readonly chain: string
  readonly seq: number
  readonly hash: string
  readonly received: Date
  /** Absent if it is very long. What a search finds it by is there anyway. */
  readonly line?: string
}

/**
 * In the order of the ranges. They should be short: each record is looked up by its number, because without statistics,
 * PostgreSQL would read an index of the whole organisation for a range.
 */
export async function recordsIn(database: Database, ranges: readonly Range[]): Promise<readonly NewRecord[]> {
  const places = ranges.flatMap(({ chain, after, upTo }) =>
    Array.from({ length: upTo - after }, (_, index) => [chain, after + 1 + index] as const),
  )
  const rows = await database.rows<
    Omit<NewRecord, 'seq' | 'line'> & { readonly seq: string; readonly line: string | null }
  >(
    `select r.chain, r.seq, encode(r.hash, 'hex') as hash, r.received, r.kind, r.verdict, r.session,
        case when octet_length(r.line) <= ${LONGEST_READ} then r.line end as line
      from unnest($1::bigint[], $2::bigint[]) with ordinality as p(chain, seq, place)
      join fleet.record r on r.chain = p.chain and r.seq = p.seq
      where r.org = fleet.own_org() order by p.place`,
    [places.map(([chain]) => chain), places.map(([, seq]) => seq)],
  )
  return rows.map(({ seq, line, ...row }) => ({ ...row, seq: Number(seq), ...(line !== null && { line }) }))
}

/** The number of the first record in each range that is not older, by chain. */
export async function firstSince(
  database: Database,
  ranges: readonly Range[],
  since: Date,
): Promise<ReadonlyMap<string, number>> {
  const rows = await database.rows<{ chain: string; seq: string }>(
    `select p.chain, r.seq from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as p(chain, after, up_to)
      cross join lateral (
        select seq from fleet.record
        where org = fleet.own_org() and chain = p.chain and seq > p.after and seq <= p.up_to and at >= $4
        order by seq limit 1
      ) r`,
    [
      ranges.map(({ chain }) => chain),
      ranges.map(({ after }) => after),
      ranges.map(({ upTo }) => upTo),
      since,
    ],
  )
  return new Map(rows.map(({ chain, seq }) => [chain, Number(seq)]))
}

/** The hashes of these records, by chain, where they are there. */
export async function hashesAt(
  database: Database,
  places: readonly { readonly chain: string; readonly seq: number }[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await database.rows<{ chain: string; hash: string }>(
    `select r.chain, encode(r.hash, 'hex') as hash from unnest($1::bigint[], $2::bigint[]) as p(chain, seq)
      join fleet.record r on r.chain = p.chain and r.seq = p.seq where r.org = fleet.own_org()`,
    [places.map(({ chain }) => chain), places.map(({ seq }) => seq)],
  )
  return new Map(rows.map(({ chain, hash }) => [chain, hash]))
}
