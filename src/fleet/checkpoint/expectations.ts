// What signed checkpoints say about a fleet, and whether one of them is missing or was replaced.

import { textOf } from '../../core/base/errors.js'
import type { Link } from '../../store/audit-log.js'
import { type Checkpoint, checkedCheckpoint, digestOf, type Leaf } from './checkpoint.js'
import { type SignedLeaf, signedText } from './signed-rows.js'
import type { FleetSource } from './source.js'

export interface FleetVerifyOptions {
  /** The public key of the fleet, from somewhere else than the database. */
  readonly rootKey: Buffer
  /** Checkpoints that were kept elsewhere. Read once. */
  readonly kept?: Iterable<string>
}

/** What signed checkpoints say about a chain. */
export interface Wanted {
  /** The newest. */
  leaf: Leaf
  /** Checkpoints that disagree have several. */
  readonly bases: string[]
  readonly heads: Heads
}

/** Where a chain ended in each checkpoint: 40 bytes for each, because a fleet may have a thousand machines, and a year 365 days. */
class Heads {
  #bytes = Buffer.alloc(HEAD_BYTES)
  #end = 0

  add({ seq, hash }: Link): void {
    if (this.#end === this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], 2 * this.#end)
    this.#bytes.write(hash, this.#bytes.writeDoubleBE(seq, this.#end), 'hex')
    this.#end += HEAD_BYTES
  }

  /** By number of the record. Checkpoints that disagree have several hashes. */
  hashes(): Map<number, Set<string>> {
    const hashes = new Map<number, Set<string>>()
    for (let at = 0; at < this.#end; at += HEAD_BYTES) {
      const seq = this.#bytes.readDoubleBE(at)
      const hash = this.#bytes.toString('hex', at + 8, at + HEAD_BYTES)
      hashes.set(seq, (hashes.get(seq) ?? new Set()).add(hash))
    }
    return hashes
  }
}

const HEAD_BYTES = 8 + 32

export class Expectations {
  readonly chains = new Map<string, Wanted>()
  readonly evidence = new Set<string>()
  /** By what they say: checkpoints that disagree have several of the same thing. */
  readonly names = new Map<string, readonly [machine: string, name: string]>()
  readonly signed = new Map<string, SignedLeaf>()
  checkpoints = 0

  add({ leaves, names, signed, evidence }: Checkpoint): void {
    this.checkpoints++
    for (const one of names) this.names.set(one.join(' '), one)
    for (const one of signed) this.signed.set(signedText(one), one)
    for (const one of evidence) this.evidence.add(one)
    for (const leaf of leaves) this.#addLeaf(leaf)
  }

  #addLeaf(leaf: Leaf): void {
    const key = keyOf(leaf)
    const known = this.chains.get(key)
    const wanted = known ?? { leaf, bases: [], heads: new Heads() }
    if (!known) this.chains.set(key, wanted)
    // Most chains have nothing new since the checkpoint before.
    if (!known || linkText(leaf.head) !== linkText(known.leaf.head)) wanted.heads.add(leaf.head)
    const base = linkText(leaf.base)
    if (!wanted.bases.includes(base)) wanted.bases.push(base)
    wanted.leaf = leaf
  }
}

export async function expectationsIn(
  source: Pick<FleetSource, 'checkpoints'>,
  { rootKey, kept = [] }: FleetVerifyOptions,
  problem: (what: string) => void,
): Promise<Expectations> {
  const expected = new Expectations()
  const checked = (text: string, where: string): Checkpoint | undefined => {
    try {
      return checkedCheckpoint(text, rootKey)
    } catch (error) {
      problem(`${where} ${textOf(error)}`)
      return undefined
    }
  }
  /** By number: the digest of its text. */
  const digests = new Map<number, string>()
  /** The one before, as it is listed. */
  let before = 0
  for await (const { number, note } of source.checkpoints()) {
    const one = checked(note, `checkpoint ${number}`)
    if (one && one.number !== number) problem(`checkpoint ${one.number} is listed as checkpoint ${number}`)
    if (number < 1) problem(`checkpoint ${number} is before the first one`)
    else if (number <= before) problem(`checkpoint ${number} is listed after checkpoint ${before}`)
    else if (number > before + 1) problem(missing(before + 1, number - 1))
    else if (one?.number === number && before > 0 && one.previous !== digests.get(before))
      problem(`checkpoint ${before} was replaced: checkpoint ${number} follows another one`)
    if (one) expected.add(one)
    digests.set(number, digestOf(note))
    before = Math.max(before, number)
  }
  for (const text of kept) {
    const own = checked(text, 'a checkpoint that you kept')
    if (!own || digests.get(own.number) === digestOf(text)) continue
    expected.add(own)
    problem(
      digests.has(own.number)
        ? `checkpoint ${own.number} is not the one that you kept`
        : `checkpoint ${own.number}, which you kept, is missing`,
    )
  }
  return expected
}

function missing(from: number, to: number): string {
  return from === to ? `checkpoint ${from} is missing` : `checkpoints ${from} to ${to} are missing`
}

export function linkText({ seq, hash }: Link): string {
  return `${seq}:${hash}`
}

export function keyOf({ machine, log, epoch }: Leaf): string {
  return `${machine} ${log} ${epoch}`
}
