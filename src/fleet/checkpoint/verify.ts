// Verifies what a database or an export has: every byte of every record, and that everything in signed checkpoints is still there.

import { isIntact, markOf } from '../../store/audit/chain.js'
import type { Link } from '../../store/audit-log.js'
import { entryIn, listingOf, UNREADABLE } from '../listing.js'
import { prunes } from '../machine/log-lines.js'
import { type Leaf, lossOfName } from './checkpoint.js'
import { type Evidence, evidenceText } from './evidence.js'
import {
  type Expectations,
  expectationsIn,
  type FleetVerifyOptions,
  keyOf,
  linkText,
  type Wanted,
} from './expectations.js'
import { SignedVersions } from './signed-rows.js'
import type { FleetRecord, FleetSource } from './source.js'

export interface FleetVerification {
  readonly ok: boolean
  readonly chains: number
  readonly records: number
  readonly checkpoints: number
  /** How often a break was noticed. */
  readonly evidence: number
  /** The first hundred. */
  readonly problems: readonly string[]
  readonly problemCount: number
}

const MOST_PROBLEMS = 100

/** Throws only if it cannot be read. */
export async function verifyFleet<C extends Leaf>(
  source: FleetSource<C>,
  options: FleetVerifyOptions,
): Promise<FleetVerification> {
  const problems = new Problems()
  const names = await source.names()
  const expected = await expectationsIn(source, options, (what) => problems.add(what))
  const breaks = new Breaks()
  for await (const one of source.evidence()) {
    breaks.add(one)
    expected.evidence.delete(evidenceText(one))
  }
  for (const name of expected.names.values()) told(lossOfName(names, name), problems)
  await checkSigned(source, expected, problems)
  const chains = new Set<string>()
  const held = new HeldRecords()
  let records = 0
  for await (const chain of source.chains()) {
    const key = keyOf(chain)
    const problem = (what: string) => problems.add(`${nameOf(chain, names)}: ${what}`)
    if (chains.has(key)) problem('it is there twice')
    chains.add(key)
    held.begin(chain)
    records += await checkChain(source.records(chain), chain, {
      problem,
      wanted: expected.chains.get(key),
      held,
      isChainExplained: chain.epoch === 1 || breaks.explainsChain(chain),
      isBaseExplained: chain.base.seq === 0 || held.has(chain.base) || breaks.explainsBase(chain),
    })
    expected.chains.delete(key)
  }
  for (const { leaf } of expected.chains.values())
    problems.add(
      `${nameOf(leaf, names)}: all of it is gone, and a checkpoint has ${leaf.head.seq} as its last record`,
    )
  for (const one of expected.evidence)
    problems.add(`evidence is gone that a checkpoint has: ${one.slice(0, 120)}`)
  const { all, count } = problems
  return {
    ok: count === 0,
    ...{ chains: chains.size, records, checkpoints: expected.checkpoints, evidence: breaks.count },
    ...{ problems: all, problemCount: count },
  }
}

function told(loss: string | undefined, problems: Problems): void {
  if (loss !== undefined) problems.add(`${loss}, and a checkpoint has it`)
}

async function checkSigned(
  source: Pick<FleetSource, 'signed'>,
  { signed }: Expectations,
  problems: Problems,
): Promise<void> {
  const held = new SignedVersions()
  for await (const row of source.signed())
    if (!held.add(row)) problems.add(`version ${row.version} of ${row.what} is there twice`)
  for (const one of signed.values()) told(held.lossOf(one), problems)
}

class Problems {
  readonly all: string[] = []
  count = 0

  add(what: string): void {
    this.count++
    if (this.all.length < MOST_PROBLEMS) this.all.push(what)
  }
}

function nameOf({ machine, log, epoch }: Leaf, names: ReadonlyMap<string, string>): string {
  return `${names.get(machine) ?? machine}, log ${log.slice(0, 8)}${epoch > 1 ? `, chain ${epoch}` : ''}`
}

// ---- breaks ---------------------------------------------------------------------------------------------------

/** Why chains do not begin with the first record, or are not the first of their log. */
class Breaks {
  /** By machine and log: the newest chain that broke. */
  readonly #newest = new Map<string, number>()
  /** Chains before which records were lost on the machine. */
  readonly #losses = new Set<string>()

  count = 0

  add({ machine, log, epoch, kind }: Evidence): void {
    this.count++
    const key = `${machine} ${log}`
    this.#newest.set(key, Math.max(epoch, this.#newest.get(key) ?? 0))
    if (LOSSES.includes(kind)) this.#losses.add(`${key} ${epoch}`)
  }

  /** Whether there is evidence of a break after the chain before this one. */
  explainsChain({ machine, log, epoch }: Leaf): boolean {
    return (this.#newest.get(`${machine} ${log}`) ?? 0) >= epoch - 1
  }

  /** It is told of the chain that ended there, or, if that was the first, of this one. */
  explainsBase(chain: Leaf): boolean {
    const before = { ...chain, epoch: chain.epoch - 1 }
    return this.#losses.has(keyOf(chain)) || this.#losses.has(keyOf(before))
  }
}

/** Only these say that records before a chain were lost. */
const LOSSES: readonly string[] = ['gap', 'damaged']

/** Which records of a log its chains have had so far: a chain may go on after any of them. */
class HeldRecords {
  #log = ''
  #chains: { readonly base: number; hashes: Buffer; count: number }[] = []

  begin({ machine, log, base }: Leaf): void {
    const key = `${machine} ${log}`
    if (key !== this.#log) this.#chains = []
    this.#log = key
    this.#chains.push({ base: base.seq, hashes: Buffer.alloc(HELD_BYTES), count: 0 })
  }

  add(hash: string): void {
    const chain = this.#chains.at(-1)
    if (!chain) return
    const at = chain.count++ * HELD_BYTES
    if (at === chain.hashes.length) chain.hashes = Buffer.concat([chain.hashes], 2 * at)
    chain.hashes.write(hash.slice(0, 2 * HELD_BYTES), at, 'hex')
  }

  /** Without those of the chain that has begun last. */
  has({ seq, hash }: Link): boolean {
    return this.#chains.slice(0, -1).some(({ base, hashes, count }) => {
      const at = (seq - base - 1) * HELD_BYTES
      if (at < 0 || at >= count * HELD_BYTES) return false
      return hashes.toString('hex', at, at + HELD_BYTES) === hash.slice(0, 2 * HELD_BYTES)
    })
  }
}

/** Half a hash is enough to tell records apart, and a log may have millions of them. */
const HELD_BYTES = 16

// ---- records --------------------------------------------------------------------------------------------------

interface Checking {
  readonly wanted: Wanted | undefined
  /** Is told each record. */
  readonly held: HeldRecords
  /** Whether there is evidence of a break before it, if it is a new chain of its log. */
  readonly isChainExplained: boolean
  /** Whether the fleet has the record before its first one, or evidence that those before it were lost. */
  readonly isBaseExplained: boolean
  readonly problem: (what: string) => void
}

/** Returns the number of records. */
async function checkChain(
  rows: AsyncIterable<FleetRecord>,
  { base, head }: Leaf,
  { wanted, held, isChainExplained, isBaseExplained, problem }: Checking,
): Promise<number> {
  const hashes = wanted?.heads.hashes() ?? new Map<number, Set<string>>()
  if (wanted?.bases.some((one) => one !== linkText(base))) problem('it begins elsewhere than in a checkpoint')
  let before = base
  let records = 0
  let isPruned = false
  const see = (seq: number, hash: string) => {
    const expected = [...(hashes.get(seq) ?? [])]
    if (expected.some((one) => one !== hash)) problem(`record ${seq} is another one than in a checkpoint`)
    hashes.delete(seq)
  }
  see(base.seq, base.hash)
  for await (const row of rows) {
    records++
    const { seq, hash } = row
    if (seq <= base.seq) {
      problem(`record ${seq} is before the beginning of the chain`)
      continue
    }
    if (seq <= before.seq) {
      problem(
        seq === before.seq
          ? `record ${seq} is there twice`
          : `record ${seq} is listed after record ${before.seq}`,
      )
      see(seq, hash)
      continue
    }
    for (const what of rowProblems(row, before)) problem(what)
    isPruned ||= base.seq > 0 && isPruning(row.line, base)
    see(seq, hash)
    held.add(hash)
    before = { seq, hash }
  }
  if (before.seq !== head.seq || before.hash !== head.hash)
    problem(`it ends with record ${before.seq}, and its head is record ${head.seq}`)
  for (const seq of hashes.keys()) problem(`record ${seq}, which a checkpoint has, is missing`)
  if (!isChainExplained) problem('it is a new chain of the log, and there is no evidence of a break')
  else if (!isBaseExplained && !isPruned)
    problem(`it begins with record ${base.seq + 1}, and nothing says why`)
  return records
}

/** Whether it records that everything up to there was removed on the machine to save space. */
function isPruning(line: string, upTo: Link): boolean {
  if (!line.includes('"pruned"')) return false
  const { kind, first, last, lastHash } = entryIn(line) ?? {}
  if (
    kind !== 'pruned' ||
    typeof first !== 'number' ||
    typeof last !== 'number' ||
    typeof lastHash !== 'string'
  )
    return false
  return prunes({ first, last, lastHash }, upTo)
}

function* rowProblems(row: FleetRecord, before: Link): Generator<string> {
  const { seq } = row
  const line = Buffer.from(row.line)
  const mark = markOf(line)
  const first = before.seq + 1
  if (seq !== first)
    yield seq === first + 1 ? `record ${first} is missing` : `records ${first} to ${seq - 1} are missing`
  if (!mark || !isIntact(line, mark) || mark.seq !== seq || mark.hash !== row.hash) {
    yield `record ${seq} was changed`
    return
  }
  if (seq === first && mark.prev !== before.hash)
    yield `record ${seq} follows another one: one of them was replaced`
  if (!isListed(row)) yield `record ${seq} is listed under something else than it says`
}

/** Whether searches find the record by what it says. They read every unreadable one themselves, by its time. */
function isListed({ line, listed }: FleetRecord): boolean {
  if (!listed) return true
  const { at, kind, verdict, session } = listingOf(line)
  const time = at === null ? listed.received.getTime() : Date.parse(at)
  const isSame = kind === UNREADABLE || (listed.verdict === verdict && listed.session === session)
  return isSame && listed.kind === kind && listed.at.getTime() === time
}
