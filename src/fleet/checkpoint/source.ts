// Everything that is verified, wherever it is: the machines, checkpoints, evidence, signed lists, chains and records of a fleet.

import type { Client } from '../database/connection.js'
import { rowsOf } from '../database/pages.js'
import { type Chain, type Leaf, leavesIn, namesIn } from './checkpoint.js'
import { type Evidence, evidenceIn } from './evidence.js'
import { type SignedRow, signedRowsIn } from './signed-rows.js'

/** Each part is read once, in this order, and the records of a chain before the next chain. */
export interface FleetSource<C extends Leaf = Leaf> {
  /** The names of machines by their ids. */
  names(): Promise<ReadonlyMap<string, string>>
  /** In the order of their numbers. */
  checkpoints(): AsyncIterable<NumberedNote>
  evidence(): AsyncIterable<Evidence>
  signed(): AsyncIterable<SignedRow>
  chains(): AsyncIterable<C>
  /** Also those that are no part of it: before its beginning or after its end. */
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

/** Call it in one snapshot of the database. */
export function databaseSource(client: Client): FleetSource<Chain> {
  return {
    names: () => namesIn(client),
    checkpoints: () => checkpointsIn(client),
    evidence: () => evidenceIn(client),
    signed: () => signedRowsIn(client),
    chains: async function* () {
      yield* await leavesIn(client)
    },
    records: ({ chain }) => recordsIn(client, chain),
  }
}

async function* checkpointsIn(client: Client): AsyncGenerator<NumberedNote> {
  const rows = rowsOf<{ number: string; note: string }>(client, {
    columns: 'number, note',
    from: 'fleet.checkpoint where org = fleet.own_org()',
    ...{ by: 'number', long: 'note' },
  })
  for await (const { number, note } of rows) yield { number: Number(number), note }
}

async function* recordsIn(client: Client, chain: string): AsyncGenerator<FleetRecord> {
  const rows = rowsOf<{ seq: string; hash: string; line: string } & FleetRecord['listed']>(client, {
    columns: `seq, encode(hash, 'hex') as hash, line, kind, verdict, session, at, received`,
    from: 'fleet.record where org = fleet.own_org() and chain = $3',
    ...{ by: 'seq', long: 'line', values: [chain] },
  })
  for await (const { seq, hash, line, ...listed } of rows) yield { seq: Number(seq), hash, line, listed }
}
