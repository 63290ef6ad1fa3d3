// `fleet audit export --to`: sends the records of all machines to an OpenTelemetry collector, each once, and goes on where it ended.

import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { digest } from '../../../core/base/digest.js'
import { textOf } from '../../../core/base/errors.js'
import { visible, visibleName } from '../../../core/base/text.js'
import { stateHome } from '../../../files/homes.js'
import type { Database } from '../../../fleet/database/connection.js'
import {
  type ChainEnd,
  endsOfChains,
  firstSince,
  hashesAt,
  lengthOfChains,
  type NewRecord,
  type Range,
  recordsIn,
} from '../../../fleet/database/new-records.js'
import { firstRootKey } from '../../../fleet/database/policy.js'
import { timeOf } from '../../../store/audit/filter.js'
import type { Origin } from '../../../store/audit/telemetry.js'
import { BATCH, Collector, persistently } from '../../collector.js'
import { Interruption } from '../../interruption.js'
import type { Output } from '../../output.js'
import { counted, shortPath } from '../../print/lines.js'
import { EXIT, Refusal, usage } from '../../refusal.js'
import { version } from '../../version.js'
import { type Given, orgOf, withDatabase } from '../action.js'
import { refusing } from '../failure.js'
import { sendableEntry } from './sendable-entry.js'
import { type Position, SentPositions } from './sent-positions.js'

/** With --follow: how often to look for new records. */
const EVERY_MS = 2000
/** A collector takes 20 MiB at once if nobody said otherwise. */
const MOST_CHARS = 1024 * 1024
/** Records that one query looks at, to find the first that is not too old. */
const LOOKED_AT = 50_000

export async function sendRecords(given: Given): Promise<number> {
  const { options, output, signal } = given
  const { follow } = options
  if (follow && output.json)
    throw usage('--json prints one document, and --follow has no end: use one or the other')
  const since = sinceOf(options.since)
  const collector = await Collector.at(options.to)
  try {
    return await withDatabase(options, async (database) => {
      const org = orgOf(options)
      const positions = new SentPositions(await folderOf(database, org, collector))
      const begun = positions.beginning()
      const from = begun ? begun.since : since
      const parts = { database, collector, org, positions, output }
      const sending = new Sending({ ...parts, ...(from !== undefined && { since: from }) })
      const notes =
        begun && since
          ? [
              '  --since counts only the first time: this goes on where it ended',
              `  to begin again, remove ${shortPath(positions.folder)}`,
            ]
          : []
      if (follow) return followed(sending, notes, given)
      const sent = await sending.rest(signal)
      return output.result({ org, collector: collector.address, sent }, () => [
        `${counted(sent, 'record')} sent to ${visible(collector.address)}`,
        ...notes,
      ])
    })
  } finally {
    await collector.end()
  }
}

/** ISO-8601. */
function sinceOf(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : new Date(timeOf(text, '--since', Date.now())).toISOString()
  } catch (error) {
    throw usage(textOf(error))
  }
}

/** By the key of the fleet: the address of its database differs between users. */
async function folderOf(database: Database, org: string, { address }: Collector): Promise<string> {
  const fleet = (await firstRootKey(database)).toString('base64url')
  return join(stateHome(), 'telemetry', digest(['fleet', fleet, org, address]).slice(0, 32))
}

async function followed(
  sending: Sending,
  notes: readonly string[],
  { output, signal: caller }: Given,
): Promise<number> {
  const interruption = new Interruption(caller)
  const { signal } = interruption
  try {
    await output.complain([
      `carabiner: sending new records to ${visible(sending.to)}; Ctrl-C ends it`,
      ...notes,
    ])
    while (!signal.aborted) {
      await persistently(() => refusing(() => sending.rest(signal)), signal, output)
      await setTimeout(EVERY_MS, undefined, { signal }).catch(() => {})
    }
  } finally {
    interruption.end(true)
  }
  return EXIT.ok
}

interface SendingOptions {
  readonly database: Database
  readonly collector: Collector
  readonly org: string
  readonly positions: SentPositions
  readonly output: Output
  /** Each chain begins with its first record that is not older. ISO-8601. */
  readonly since?: string
}

/** A chain with records that the collector lacks. */
interface Rest {
  readonly end: ChainEnd
  /** The last record that the collector has, or does not need. */
  after: number
  /** The next record is sent, however old it is. */
  isBegun: boolean
}

class Sending {
  readonly #options: SendingOptions
  /** Of all chains, when nothing was left to send. */
  #length: string | undefined

  constructor(options: SendingOptions) {
    this.#options = options
  }

  get to(): string {
    return this.#options.collector.address
  }

  /** Sends what was not sent yet. Returns how many records that was. */
  async rest(signal: AbortSignal | undefined): Promise<number> {
    const { database } = this.#options
    const length = await lengthOfChains(database)
    if (length === this.#length) return 0
    let sent = 0
    for await (const ends of endsOfChains(database)) {
      const rests = await this.#rests(ends)
      await this.#skip(rests)
      sent += await this.#send(rests, signal)
      if (signal?.aborted) return sent
    }
    this.#length = length
    return sent
  }

  async #rests(ends: readonly ChainEnd[]): Promise<readonly Rest[]> {
    const { positions, since } = this.#options
    const noted = positions.of(ends.map(({ chain }) => chain))
    const longer = ends.filter((end) => !isAt(end, noted.get(end.chain)))
    const others = longer.length > 0 ? await this.#others(longer, noted) : new Set<string>()
    return longer.map((end) => {
      const position = others.has(end.chain) ? undefined : noted.get(end.chain)
      return {
        end,
        after: position?.seq ?? end.base,
        isBegun: since === undefined || position?.hash !== undefined,
      }
    })
  }

  /** Chains that are not those which were sent: the database may be an older copy of itself. Says so. */
  async #others(
    ends: readonly ChainEnd[],
    noted: ReadonlyMap<string, Position>,
  ): Promise<ReadonlySet<string>> {
    const places = ends.flatMap(({ chain }) => {
      const position = noted.get(chain)
      return position?.hash === undefined ? [] : [{ chain, seq: position.seq }]
    })
    const hashes = await hashesAt(this.#options.database, places)
    const others = ends.filter(({ chain, seq }) => {
      const position = noted.get(chain)
      if (position === undefined) return false
      // An administrator may have removed the record itself.
      const hash = hashes.get(chain) ?? position.hash
      return position.seq > seq || hash !== position.hash
    })
    for (const { name, chain } of others)
      await this.#options.output.complain([
        `carabiner: chain ${chain}, of the machine ${visibleName(name)}, is not the one that was sent before; sending it from its start`,
      ])
    return new Set(others.map(({ chain }) => chain))
  }

  /** Leaves out the records before the first that is not too old. */
  async #skip(rests: readonly Rest[]): Promise<void> {
    const { database, since } = this.#options
    if (since === undefined) return
    const isOpen = ({ isBegun, after, end }: Rest) => !isBegun && after < end.seq
    for (let open = rests.filter(isOpen); open.length > 0; open = open.filter(isOpen)) {
      const portion = portionOf(open, LOOKED_AT)
      const firsts = await firstSince(database, [...portion.values()], new Date(since))
      for (const [rest, { chain, upTo }] of portion) {
        const first = firsts.get(chain)
        rest.after = first === undefined ? upTo : first - 1
        rest.isBegun = first !== undefined
      }
      this.#note(new Map([...portion.keys()].map(({ end, after }) => [end.chain, { seq: after }])))
    }
  }

  async #send(rests: readonly Rest[], signal: AbortSignal | undefined): Promise<number> {
    const { database, collector, org } = this.#options
    const origins = new Map(rests.map(({ end }) => [end.chain, originOf(end, org)]))
    const isOpen = ({ after, end }: Rest) => after < end.seq
    let sent = 0
    for (let open = rests.filter(isOpen); open.length > 0; open = open.filter(isOpen)) {
      const portion = portionOf(open, BATCH)
      for (const batch of batchesOf(await recordsIn(database, [...portion.values()]))) {
        if (signal?.aborted) return sent
        await collector.take(
          batch.map((record) => ({
            entry: sendableEntry(record),
            origin: origins.get(record.chain) as Origin,
          })),
        )
        this.#note(new Map(batch.map(({ chain, seq, hash }) => [chain, { seq, hash }])))
        sent += batch.length
      }
      for (const [rest, { upTo }] of portion) rest.after = upTo
    }
    return sent
  }

  #note(places: ReadonlyMap<string, Position>): void {
    const { positions, since } = this.#options
    try {
      positions.begin(since === undefined ? {} : { since })
      positions.note(places)
    } catch (error) {
      throw new Refusal('FLEET_UNUSABLE', `What was sent cannot be noted: ${textOf(error)}`, {
        hint: 'Without the note, the collector would get the same records again and again.',
      })
    }
  }
}

/** Nothing has to be sent. */
function isAt({ seq, hash }: ChainEnd, position: Position | undefined): boolean {
  return position?.seq === seq && (position.hash ?? hash) === hash
}

/** The next records of the first of them, as many as that. */
function portionOf(rests: readonly Rest[], most: number): ReadonlyMap<Rest, Range> {
  const portion = new Map<Rest, Range>()
  let left = most
  for (const rest of rests) {
    if (left === 0) break
    const { end, after } = rest
    const upTo = Math.min(end.seq, after + left)
    portion.set(rest, { chain: end.chain, after, upTo })
    left -= upTo - after
  }
  return portion
}

function* batchesOf(records: readonly NewRecord[]): Generator<readonly NewRecord[]> {
  let batch: NewRecord[] = []
  let chars = 0
  for (const record of records) {
    const length = record.line?.length ?? 0
    if (batch.length > 0 && chars + length > MOST_CHARS) {
      yield batch
      batch = []
      chars = 0
    }
    batch.push(record)
    chars += length
  }
  if (batch.length > 0) yield batch
}

function originOf({ machine, name, log, epoch }: ChainEnd, org: string): Origin {
  return {
    resource: {
      attributes: {
        'service.name': 'carabiner',
        'service.instance.id': machine,
        'host.name': name,
        'carabiner.org': org,
        'carabiner.log': log,
        'carabiner.chain': epoch,
      },
    },
    instrumentationScope: { name: 'carabiner', version },
  }
}
