// A checkpoint: the heads of all chains, names of machines, newest signed lists and all evidence at one moment, their Merkle root, and the signature of the fleet over it.

import { hash } from 'node:crypto'
import { textOf } from '../../core/base/errors.js'
import type { KeyPair } from '../../files/ed25519.js'
import type { Link } from '../../store/audit-log.js'
import type { Client } from '../database/connection.js'
import { evidenceIn, evidenceText, isEvidence } from './evidence.js'
import { isNoteSigned, noteIn, signedNote } from './note.js'
import { type SignedLeaf, SignedVersions, signedLeafIn, signedRowsIn, signedText } from './signed-rows.js'
import { treeRoot } from './tree.js'

/** A chain as it was. */
export interface Leaf {
  readonly machine: string
  readonly log: string
  readonly epoch: number
  /** The record before the first one. */
  readonly base: Link
  readonly head: Link
}

export interface Checkpoint {
  readonly org: string
  /** From 1, without holes. */
  readonly number: number
  readonly time: string
  /** The SHA-256 of the checkpoint before it; zeros for the first. */
  readonly previous: string
  readonly leaves: readonly Leaf[]
  /** By the ids of machines. Older checkpoints have none. */
  readonly names: ReadonlyMap<string, string>
  /** The newest list of people, and the newest version of each role of the policy. Older checkpoints have none. */
  readonly signed: readonly SignedLeaf[]
  /** What was noticed about breaks, as `evidenceText` says it, sorted. */
  readonly evidence: readonly string[]
}

const NONE = '0'.repeat(64)

function leafText({ machine, log, epoch, base, head }: Leaf): string {
  return `${machine} ${log} ${epoch} ${base.seq}:${base.hash} ${head.seq}:${head.hash}`
}

const LEAF = /^([0-9a-f-]{36}) ([0-9a-f]{32}) (\d{1,7}) (\d{1,16}):([0-9a-f]{64}) (\d{1,16}):([0-9a-f]{64})$/

function leafIn(text: string): Leaf | undefined {
  const [, machine, log, epoch, baseSeq, baseHash, seq, head] = LEAF.exec(text) ?? []
  if (!machine || !log || !baseHash || !head) return undefined
  return {
    machine,
    log,
    epoch: Number(epoch),
    base: { seq: Number(baseSeq), hash: baseHash },
    head: { seq: Number(seq), hash: head },
  }
}

/** A name is written as JSON: a line break in it would be another leaf. */
const NAME = /^machine ([0-9a-f-]{36}) ("[^\n]*")$/

function nameIn(text: string): readonly [machine: string, name: string] | undefined {
  const [, machine, name] = NAME.exec(text) ?? []
  return machine && name ? [machine, String(JSON.parse(name))] : undefined
}

/** A signed note, and below it the leaves that its root is made of. */
export function checkpointText(checkpoint: Checkpoint, key: KeyPair): string {
  const { org, number, time, previous, leaves, names, signed, evidence } = checkpoint
  const texts = [
    ...leaves.map(leafText),
    ...[...names].map(([machine, name]) => `machine ${machine} ${JSON.stringify(name)}`).sort(),
    ...signed.map(signedText),
    ...evidence,
  ]
  const root = treeRoot(texts).toString('base64')
  const name = `carabiner-fleet/${org}`
  const body = [name, texts.length, root, `number ${number}`, `time ${time}`, `previous ${previous}`]
  return `${signedNote(`${body.join('\n')}\n`, name, key)}\n${texts.map((text) => `${text}\n`).join('')}`
}

const BODY =
  /^carabiner-fleet\/(\S+)\n(\d{1,9})\n([A-Za-z0-9+/]{43}=)\nnumber (\d{1,15})\ntime (\S+)\nprevious ([0-9a-f]{64})\n$/

/** Throws unless it is signed by the fleet, and has exactly the leaves that were signed. */
export function checkedCheckpoint(text: string, rootKey: Buffer): Checkpoint {
  const found = noteIn(text)
  const [, org, size, root, number, time, previous] = BODY.exec(found?.note.text ?? '') ?? []
  if (!found || !org || !time || !previous) throw new Error('is not a checkpoint')
  if (!isNoteSigned(found.note, rootKey)) throw new Error('is not signed by the key of this fleet')
  const texts = found.rest.split('\n').slice(1, -1).map(ownText)
  const evidence = texts.filter(isEvidence)
  const leaves = texts.flatMap((one) => leafIn(one) ?? [])
  const names = texts.map(nameIn).filter((one) => one !== undefined)
  const signed = texts.flatMap((one) => signedLeafIn(one) ?? [])
  const known = leaves.length + names.length + signed.length + evidence.length
  const isWhole = known === texts.length && texts.length === Number(size)
  if (!isWhole || treeRoot(texts).toString('base64') !== root)
    throw new Error('has another list of chains than the one that was signed')
  return {
    ...{ org, number: Number(number), time, previous, leaves },
    ...{ names: new Map(names), signed, evidence },
  }
}

/** A part of a text keeps all of that text in memory. This one does not. */
function ownText(part: string): string {
  return Buffer.from(part).toString()
}

export function digestOf(text: string): string {
  return hash('sha256', text)
}

export type Chain = Leaf & { readonly chain: string }

/** All chains, in the order in which they are in a checkpoint. */
export async function leavesIn(client: Client): Promise<readonly Chain[]> {
  const { rows } = await client.query<{
    chain: string
    machine: string
    log: string
    epoch: number
    base_seq: string
    base: string
    seq: string
    head: string
  }>(
    `select chain, machine, log, epoch, base_seq, encode(base_hash, 'hex') as base, seq, encode(hash, 'hex') as head
      from fleet.chain where org = fleet.own_org() order by machine, log, epoch`,
  )
  return rows.map(({ chain, machine, log, epoch, base_seq, base, seq, head }) => ({
    ...{ chain, machine, log, epoch },
    base: { seq: Number(base_seq), hash: base },
    head: { seq: Number(seq), hash: head },
  }))
}

/** By the ids of machines. */
export async function namesIn(client: Client): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ machine: string; name: string }>(
    'select machine, name from fleet.machine where org = fleet.own_org()',
  )
  return new Map(rows.map(({ machine, name }) => [machine, name]))
}

export interface NextCheckpoint {
  readonly org: string
  readonly key: KeyPair
  readonly time: string
  /** The newest checkpoint that was kept away from the database. Absent only before the first one. */
  readonly kept?: string
}

/** Why the next checkpoint is not signed. */
export class Unsigned extends Error {
  override readonly name = 'Unsigned'
  /** What to do. */
  readonly hint: string

  constructor(message: string, hint: string) {
    super(message)
    this.hint = hint
  }
}

/** What became of a machine, if it is not there under its name. */
export function lossOfName(
  names: ReadonlyMap<string, string>,
  [machine, name]: readonly [machine: string, name: string],
): string | undefined {
  const found = names.get(machine)
  if (found === name) return undefined
  return found === undefined
    ? `the machine ${name} is gone`
    : `the machine ${name} is listed under another name, ${found}`
}

const OTHER_FOLDER =
  'Give --out FOLDER, the folder in which you keep all checkpoints, and put earlier ones there, too.'
const LOOK = 'carabiner fleet audit verify --checkpoint FOLDER lists all that is missing or changed.'

/**
 * Makes the next checkpoint and keeps it in the database. Returns its text, which belongs elsewhere, too. Throws
 * `Unsigned` if a chain no longer has the record with which it ended in the one before, a machine has another name, or a
 * signed list is gone or another one: a checkpoint over that would hide it. The records before the ends are not read.
 */
export async function makeCheckpoint(
  client: Client,
  { org, key, time, kept }: NextCheckpoint,
): Promise<string> {
  const last = await lastKept(client, key.publicKey, kept)
  const names = await namesIn(client)
  const held = new SignedVersions()
  for await (const row of signedRowsIn(client)) held.add(row)
  if (last) {
    await checkKept(client, last.checkpoint)
    checkNames(names, last.checkpoint)
    checkSigned(held, last.checkpoint)
  }
  const number = (last?.checkpoint.number ?? 0) + 1
  const leaves = (await leavesIn(client)).map(({ chain: _, ...leaf }) => leaf)
  const evidence: string[] = []
  for await (const one of evidenceIn(client)) evidence.push(evidenceText(one))
  evidence.sort()
  const previous = last ? digestOf(last.text) : NONE
  const signed = held.newest()
  const text = checkpointText({ org, number, time, previous, leaves, names, signed, evidence }, key)
  await put(client, number, text)
  return text
}

async function put(client: Client, number: number, text: string): Promise<void> {
  await client.query('insert into fleet.checkpoint (org, number, note) values (fleet.own_org(), $1, $2)', [
    number,
    text,
  ])
}

/** The checkpoint before the next one, which both sides have to have. */
async function lastKept(
  client: Client,
  rootKey: Buffer,
  kept: string | undefined,
): Promise<{ readonly text: string; readonly checkpoint: Checkpoint } | undefined> {
  const { rows } = await client.query<{ number: string; note: string }>(
    'select number, note from fleet.checkpoint where org = fleet.own_org() order by number desc limit 1',
  )
  const [row] = rows
  if (kept === undefined) {
    if (!row) return undefined
    throw new Unsigned(
      `checkpoint ${row.number} is in the database, but not among those that you kept`,
      OTHER_FOLDER,
    )
  }
  const checkpoint = checkedKept(kept, rootKey)
  const { number, previous } = checkpoint
  if (row?.note === kept) return { text: kept, checkpoint }
  // Signed and kept, but never committed, or removed: it belongs there.
  const follows = number === Number(row?.number ?? 0) + 1 && previous === (row ? digestOf(row.note) : NONE)
  if (!follows)
    throw new Unsigned(
      `the newest checkpoint that you kept is ${number}, and the database ${row ? `has another one, ${row.number}` : 'has none'}: somebody changed them there, or you keep newer ones elsewhere`,
      `${OTHER_FOLDER} If it is this one, ${LOOK}`,
    )
  await put(client, number, kept)
  return { text: kept, checkpoint }
}

function checkedKept(kept: string, rootKey: Buffer): Checkpoint {
  try {
    return checkedCheckpoint(kept, rootKey)
  } catch (error) {
    throw new Unsigned(`the newest checkpoint that you kept ${textOf(error)}`, OTHER_FOLDER)
  }
}

/** Throws unless every head of the checkpoint is still there. */
async function checkKept(client: Client, { number, leaves }: Checkpoint): Promise<void> {
  const { rows } = await client.query<{ machine: string; log: string; seq: string }>(
    `select coalesce(m.name, w.machine::text) as machine, w.log, w.seq from unnest($1::uuid[], $2::text[], $3::int[], $4::bigint[], $5::text[]) w (machine, log, epoch, seq, hash)
      left join fleet.chain c on c.org = fleet.own_org() and c.machine = w.machine and c.log = w.log and c.epoch = w.epoch
      left join fleet.record r on r.org = c.org and r.chain = c.chain and r.seq = w.seq
      left join fleet.machine m on m.org = fleet.own_org() and m.machine = w.machine
      where encode(coalesce(r.hash, case when c.base_seq = w.seq then c.base_hash end), 'hex') is distinct from w.hash limit 1`,
    [
      leaves.map(({ machine }) => machine),
      leaves.map(({ log }) => log),
      leaves.map(({ epoch }) => epoch),
      leaves.map(({ head }) => head.seq),
      leaves.map(({ head }) => head.hash),
    ],
  )
  const [gone] = rows
  if (gone)
    throw changed(
      `record ${gone.seq} of the machine ${gone.machine}, log ${gone.log.slice(0, 8)}, is gone or another one`,
      number,
    )
}

function checkNames(now: ReadonlyMap<string, string>, { number, names }: Checkpoint): void {
  const loss = [...names].map((one) => lossOfName(now, one)).find((one) => one !== undefined)
  if (loss !== undefined) throw changed(loss, number)
}

function checkSigned(held: SignedVersions, { number, signed }: Checkpoint): void {
  const loss = signed.map((one) => held.lossOf(one)).find((one) => one !== undefined)
  if (loss !== undefined) throw changed(loss, number)
}

function changed(what: string, number: number): Unsigned {
  return new Unsigned(
    `${what}, and checkpoint ${number} has it`,
    `Somebody changed the database, or put an older copy back. ${LOOK}`,
  )
}
