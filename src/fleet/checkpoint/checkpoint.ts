// A checkpoint: the heads of all chains at one moment, their Merkle root, and the signature of the fleet over it.

import { hash } from 'node:crypto'
import type { KeyPair } from '../../files/ed25519.js'
import type { Link } from '../../store/audit-log.js'
import type { Client } from '../database/connection.js'
import { isNoteSigned, noteIn, signedNote } from './note.js'
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
}

const NONE = '0'.repeat(64)

export function leafText({ machine, log, epoch, base, head }: Leaf): string {
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

/** A signed note, and below it the leaves that its root is made of. */
export function checkpointText(checkpoint: Checkpoint, key: KeyPair): string {
  const { org, number, time, previous, leaves } = checkpoint
  const texts = leaves.map(leafText)
  const root = treeRoot(texts).toString('base64')
  const name = `carabiner-fleet/${org}`
  const body = [name, leaves.length, root, `number ${number}`, `time ${time}`, `previous ${previous}`]
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
  const texts = found.rest.split('\n').slice(1, -1)
  const leaves = texts.flatMap((one) => leafIn(one) ?? [])
  const isWhole = leaves.length === texts.length && texts.length === Number(size)
  if (!isWhole || treeRoot(texts).toString('base64') !== root)
    throw new Error('has another list of chains than the one that was signed')
  return { org, number: Number(number), time, previous, leaves }
}

export function digestOf(text: string): string {
  return hash('sha256', text)
}

/** All chains, in the order in which they are in a checkpoint. */
export async function leavesIn(client: Client): Promise<readonly (Leaf & { readonly chain: string })[]> {
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

/** Makes the next checkpoint and keeps it in the database. Returns its text, which belongs elsewhere, too. */
export async function makeCheckpoint(
  client: Client,
  org: string,
  key: KeyPair,
  time: string,
): Promise<string> {
  const { rows } = await client.query<{ number: string; note: string }>(
    'select number, note from fleet.checkpoint where org = fleet.own_org() order by number desc limit 1',
  )
  const [last] = rows
  const number = Number(last?.number ?? 0) + 1
  const leaves = (await leavesIn(client)).map(({ chain: _, ...leaf }) => leaf)
  const previous = last ? digestOf(last.note) : NONE
  const text = checkpointText({ org, number, time, previous, leaves }, key)
  await client.query('insert into fleet.checkpoint (org, number, note) values (fleet.own_org(), $1, $2)', [
    number,
    text,
  ])
  return text
}
