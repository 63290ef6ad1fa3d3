// Everything that is verified, wherever it is: the machines, checkpoints, evidence, signed lists, chains and records of a fleet.

import type { Client } from '../database/connection.js'
import { type Chain, type Evidence, evidenceRows, type Leaf, leavesIn, namesIn } from './checkpoint.js'
import { type SignedRow, signedRowsIn } from './signed-rows.js'

/** Each part is read once, in this order, and the records of a chain before the next chain. */
export interface FleetSource<C extends Leaf = Leaf> {
  /** The names of machines by their ids. */
  names(): Promise<ReadonlyMap<string, string>>
  /** In the order of their numbers. */
  checkpoints(): AsyncIterable<NumberedNote>
  evidence(): Promise<readonly Evidence[]>
  signed(): AsyncIterable<SignedRow>
  chains(): AsyncIterable<C>
  records(chain: C): AsyncIterable<FleetRecord>
}

export interface NumberedNote {
  readonly number: number
  readonly note: string
}

export interface FleetRecord {
  readonly seq: number
  readonly hash: string
  readonly line: string
  /** What a search finds it by. Absent where nothing is searched. */
  readonly listed?: {
    readonly kind: string
    readonly verdict: string | null
    readonly session: string | null
    readonly at: Date
    readonly received: Date
  }
}

/** Each checkpoint has a line for every chain. */
const FEW = 10
const PAGE = 2000

/** Call it in one snapshot of the database. */
export function databaseSource(client: Client): FleetSource<Chain> {
  return {
    names: () => namesIn(client),
    checkpoints: async function* () {
      for (let after = 0; ; ) {
        const { rows } = await client.query<{ number: string; note: string }>(
          'select number, note from fleet.checkpoint where org = fleet.own_org() and number > $1 order by number limit $2',
          [after, FEW],
        )
        for (const { number, note } of rows) yield { number: Number(number), note }
        if (rows.length < FEW) return
        after = Number(rows.at(-1)?.number)
      }
    },
    evidence: () => evidenceRows(client),
    signed: () => signedRowsIn(client),
    chains: async function* () {
      yield* await leavesIn(client)
    },
    records: ({ chain, base }) => recordsIn(client, chain, base.seq),
  }
}

async function* recordsIn(client: Client, chain: string, after: number): AsyncGenerator<FleetRecord> {
  for (let from = after; ; ) {
    const { rows } = await client.query<{ seq: string; hash: string; line: string } & FleetRecord['listed']>(
      `select seq, encode(hash, 'hex') as hash, line, kind, verdict, session, at, received
        from fleet.record where org = fleet.own_org() and chain = $1 and seq > $2 order by seq limit $3`,
      [chain, from, PAGE],
    )
    for (const { seq, hash, line, ...listed } of rows) yield { seq: Number(seq), hash, line, listed }
    if (rows.length < PAGE) return
    from = Number(rows.at(-1)?.seq)
  }
}
