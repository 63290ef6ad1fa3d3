// Verifies what the database has: every byte of every record, and that everything in signed checkpoints is still there.

import { textOf } from '../../core/base/errors.js'
import { isIntact, markOf } from '../../store/audit/chain.js'
import type { Client } from '../database/connection.js'
import { listingOf, UNREADABLE } from '../listing.js'
import { type Checkpoint, checkedCheckpoint, digestOf, type Leaf, leavesIn } from './checkpoint.js'

export interface FleetVerification {
  readonly ok: boolean
  readonly chains: number
  readonly records: number
  readonly checkpoints: number
  /** The first hundred. */
  readonly problems: readonly string[]
  readonly problemCount: number
}

export interface FleetVerifyOptions {
  /** The public key of the fleet, from somewhere else than the database. */
  readonly rootKey: Buffer
  /** A checkpoint that was kept elsewhere. */
  readonly kept?: string
}

const MOST_PROBLEMS = 100
const PAGE = 2000

type Chain = Leaf & { readonly chain: string }

/** Reads everything in one snapshot of the database. Throws only if it cannot be read. */
export async function verifyFleet(client: Client, options: FleetVerifyOptions): Promise<FleetVerification> {
  const problems = new Problems()
  const names = await machineNames(client)
  const checkpoints = await checkpointsIn(client, options, problems)
  const chains = await leavesIn(client)
  const expected = expectations(checkpoints)
  let records = 0
  for (const chain of chains) {
    const name = nameOf(chain, names)
    const wanted = expected.get(keyOf(chain)) ?? []
    expected.delete(keyOf(chain))
    records += await checkChain(client, chain, wanted, (what) => problems.add(`${name}: ${what}`))
  }
  for (const [leaf] of expected.values())
    if (leaf)
      problems.add(
        `${nameOf(leaf, names)}: all of it is gone, and a checkpoint has ${leaf.head.seq} as its last record`,
      )
  const { all, count } = problems
  return {
    ok: count === 0,
    ...{ chains: chains.length, records, checkpoints: checkpoints.length },
    ...{ problems: all, problemCount: count },
  }
}

class Problems {
  readonly all: string[] = []
  count = 0

  add(what: string): void {
    this.count++
    if (this.all.length < MOST_PROBLEMS) this.all.push(what)
  }
}

function keyOf({ machine, log, epoch }: Leaf): string {
  return `${machine} ${log} ${epoch}`
}

function nameOf({ machine, log, epoch }: Leaf, names: ReadonlyMap<string, string>): string {
  return `${names.get(machine) ?? machine}, log ${log.slice(0, 8)}${epoch > 1 ? `, chain ${epoch}` : ''}`
}

async function machineNames(client: Client): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ machine: string; name: string }>(
    'select machine, name from fleet.machine where org = fleet.own_org()',
  )
  return new Map(rows.map(({ machine, name }) => [machine, name]))
}

// ---- checkpoints ----------------------------------------------------------------------------------------------

async function checkpointsIn(
  client: Client,
  { rootKey, kept }: FleetVerifyOptions,
  problems: Problems,
): Promise<readonly Checkpoint[]> {
  const { rows } = await client.query<{ number: string; note: string }>(
    'select number, note from fleet.checkpoint where org = fleet.own_org() order by number',
  )
  const found: Checkpoint[] = []
  const checked = (text: string, where: string): Checkpoint | undefined => {
    try {
      const checkpoint = checkedCheckpoint(text, rootKey)
      found.push(checkpoint)
      return checkpoint
    } catch (error) {
      problems.add(`${where} ${textOf(error)}`)
      return undefined
    }
  }
  let before: string | undefined
  for (const [i, { number, note }] of rows.entries()) {
    const one = checked(note, `checkpoint ${number}`)
    if (one && one.number !== i + 1) problems.add(`checkpoint ${i + 1} is missing`)
    else if (one && before !== undefined && one.previous !== digestOf(before))
      problems.add(`checkpoint ${i} was replaced: checkpoint ${i + 1} follows another one`)
    before = note
  }
  if (kept === undefined) return found
  const own = checked(kept, 'the checkpoint that you kept')
  const same = own && rows.find(({ number }) => Number(number) === own.number)
  if (own && !same) problems.add(`checkpoint ${own.number}, which you kept, is missing in the database`)
  else if (same && same.note !== kept)
    problems.add(`checkpoint ${own?.number} in the database is not the one that you kept`)
  return found
}

function expectations(checkpoints: readonly Checkpoint[]): Map<string, Leaf[]> {
  const expected = new Map<string, Leaf[]>()
  for (const { leaves } of checkpoints)
    for (const leaf of leaves) expected.set(keyOf(leaf), [...(expected.get(keyOf(leaf)) ?? []), leaf])
  return expected
}

// ---- records --------------------------------------------------------------------------------------------------

interface Row {
  readonly seq: string
  readonly hash: string
  readonly line: string
  readonly kind: string
  readonly verdict: string | null
  readonly session: string | null
  readonly at: Date
  readonly received: Date
}

/** Returns the number of records. */
async function checkChain(
  client: Client,
  { chain, base, head }: Chain,
  wanted: readonly Leaf[],
  problem: (what: string) => void,
): Promise<number> {
  const hashes = new Map(wanted.map((leaf) => [leaf.head.seq, leaf.head.hash]))
  if (wanted.some((leaf) => leaf.base.seq !== base.seq || leaf.base.hash !== base.hash))
    problem('it begins elsewhere than in a checkpoint')
  let before = base
  let records = 0
  const see = (seq: number, hash: string) => {
    const expected = hashes.get(seq)
    if (expected !== undefined && expected !== hash)
      problem(`record ${seq} is another one than in a checkpoint`)
    hashes.delete(seq)
  }
  see(base.seq, base.hash)
  for (let from = base.seq; ; from = before.seq) {
    const { rows } = await client.query<Row>(
      `select seq, encode(hash, 'hex') as hash, line, kind, verdict, session, at, received
        from fleet.record where org = fleet.own_org() and chain = $1 and seq > $2 order by seq limit $3`,
      [chain, from, PAGE],
    )
    for (const row of rows) {
      records++
      const seq = Number(row.seq)
      for (const what of rowProblems(row, before)) problem(what)
      see(seq, row.hash)
      before = { seq, hash: row.hash }
    }
    if (rows.length < PAGE) break
  }
  if (before.seq !== head.seq || before.hash !== head.hash)
    problem(`it ends with record ${before.seq}, and its head is record ${head.seq}`)
  for (const seq of hashes.keys()) problem(`record ${seq}, which a checkpoint has, is missing`)
  return records
}

function* rowProblems(row: Row, before: { readonly seq: number; readonly hash: string }): Generator<string> {
  const seq = Number(row.seq)
  const line = Buffer.from(row.line)
  const mark = markOf(line)
  if (seq !== before.seq + 1) yield `records ${before.seq + 1} to ${seq - 1} are missing`
  if (!mark || !isIntact(line, mark) || mark.seq !== seq || mark.hash !== row.hash) {
    yield `record ${seq} was changed`
    return
  }
  if (seq === before.seq + 1 && mark.prev !== before.hash)
    yield `record ${seq} follows another one: one of them was replaced`
  if (!isListed(row)) yield `record ${seq} is listed under something else than it says`
}

/** Whether searches find the record by what it says. They read every unreadable one themselves. */
function isListed(row: Row): boolean {
  if (row.kind === UNREADABLE) return true
  const { at, kind, verdict, session } = listingOf(row.line)
  const time = at === null ? row.received.getTime() : Date.parse(at)
  return row.kind === kind && row.verdict === verdict && row.session === session && row.at.getTime() === time
}
