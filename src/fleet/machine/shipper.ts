// Ships the records of this machine to its gateway: the log is the queue, in order, from where the gateway has it.

import { join } from 'node:path'
import { digest } from '../../core/base/digest.js'
import { timestamp } from '../../core/base/time.js'
import { namesIn } from '../../files/folder.js'
import { START } from '../../store/audit/chain.js'
import { readShipped, type Shipped, writeShipped } from '../../store/audit/shipped.js'
import type { Link } from '../../store/audit-log.js'
import {
  type AppendAnswer,
  BATCH,
  type Break,
  type ChainHead,
  type EvidenceRequest,
  type HeadsAnswer,
  MOST_LOGS,
} from '../protocol.js'
import type { GatewayClient } from './gateway-client.js'
import { breakAfter, linesAfter, localEnd } from './log-lines.js'

export interface ShipOptions {
  readonly client: GatewayClient
  /** The id of this machine. */
  readonly machine: string
  /** Where the logs are: `dataHome()`. */
  readonly dataDir: string
  /** Told at once: the history of a log broke. */
  readonly onBreak?: (what: LogBreak) => void
  readonly signal?: AbortSignal
}

export interface LogBreak {
  readonly folder: string
  readonly kind: Break
  readonly seq: number
}

export interface ShipReport {
  readonly logs: number
  /** Records that were shipped now. */
  readonly records: number
  readonly breaks: readonly LogBreak[]
}

const LOG_FOLDER = /^[0-9a-f]{32}$/

/** The folders of all logs of this user. */
export function logFolders(dataDir: string): readonly string[] {
  const audit = join(dataDir, 'audit')
  return namesIn(audit)
    .filter((name) => LOG_FOLDER.test(name))
    .sort()
    .map((name) => join(audit, name))
}

/** Ships what the gateway does not have. Throws what GatewayClient throws; what was acknowledged until then stays so. */
export async function ship(options: ShipOptions): Promise<ShipReport> {
  const folders = logFolders(options.dataDir)
  const breaks: LogBreak[] = []
  let records = 0
  for (let from = 0; from < folders.length; from += MOST_LOGS) {
    const some = folders.slice(from, from + MOST_LOGS)
    // Before the heads: another shipper may go on meanwhile, and then the gateway has more than we know of, never less.
    const known = new Map(some.map((folder) => [folder, shippedBy(options.machine, folder)]))
    const logs = some.map(logId)
    const { heads } = await options.client.ask<HeadsAnswer>('heads', { body: { logs } })
    for (const folder of some) {
      if (options.signal?.aborted) break
      const shipping = new LogShipping(folder, options, known.get(folder))
      try {
        await shipping.run(heads[logId(folder)])
      } finally {
        breaks.push(...shipping.breaks)
        records += shipping.records
      }
    }
  }
  return { logs: folders.length, records, breaks }
}

/** The same for the same folder on the same machine. */
export function logId(folder: string): string {
  return digest(folder).slice(0, 32)
}

/** What another membership has shipped is of no use. */
function shippedBy(machine: string, folder: string): Shipped | undefined {
  const shipped = readShipped(folder)
  return shipped?.machine === machine ? shipped : undefined
}

/** Where to go on: after a record, or, without one, where the log begins. */
interface Start {
  readonly epoch: number
  readonly after: Link | undefined
}

/** How often a log begins again in one run, when the gateway has another history each time. */
const MOST_RESTARTS = 3

class LogShipping {
  readonly breaks: LogBreak[] = []
  records = 0
  readonly #folder: string
  readonly #options: ShipOptions
  #shipped: Shipped | undefined

  constructor(folder: string, options: ShipOptions, shipped: Shipped | undefined) {
    this.#folder = folder
    this.#options = options
    this.#shipped = shipped
  }

  async run(first: ChainHead | undefined): Promise<void> {
    let head = first
    for (let tries = 0; tries <= MOST_RESTARTS; tries++) {
      const end = localEnd(this.#folder)
      if (!end) return
      const start = await this.#start(head, end)
      if (start.after && start.after.seq > (this.#shipped?.seq ?? 0))
        this.#acknowledge(start.epoch, start.after)
      if (start.after?.seq === end.seq) return
      head = await this.#send(start, end)
      if (!head) return
    }
  }

  /** Compares what the gateway has with what it acknowledged and with what is here. */
  async #start(head: ChainHead | undefined, end: Link): Promise<Start> {
    const shipped = this.#shipped
    const isBehind =
      shipped !== undefined &&
      shipped.seq > 0 &&
      (!head || head.epoch < shipped.epoch || (head.epoch === shipped.epoch && head.seq < shipped.seq))
    if (isBehind) {
      const epoch = shipped.epoch
      await this.#tell('behind', epoch, head?.epoch === epoch ? head : START, shipped)
    }
    const epoch = Math.max(head?.epoch ?? 0, shipped?.epoch ?? 0, 1)
    // The gateway has lost this epoch as a whole, or has never had one.
    if (!head || head.epoch < epoch) return { epoch, after: undefined }
    const broken = breakAfter(this.#folder, head, end)
    if (broken === undefined) return { epoch, after: head }
    await this.#tell(broken, epoch, head, end)
    return { epoch: epoch + 1, after: undefined }
  }

  /** Keeps it as evidence on both sides, and tells. */
  async #tell(kind: Break, epoch: number, there: Link, here: Link): Promise<void> {
    const body: EvidenceRequest = {
      ...{ log: logId(this.#folder), epoch, kind, seq: there.seq },
      ...{ held: here.hash, sent: there.hash },
    }
    await this.#options.client.ask('evidence', { body })
    const what = { folder: this.#folder, kind, seq: there.seq }
    this.breaks.push(what)
    const { machine } = this.#options
    const time = timestamp()
    const before = this.#shipped?.breaks ?? []
    const breaks = [...before, { kind, seq: there.seq, time }]
    // What follows is acknowledged anew.
    const from = kind === 'behind' ? there : START
    this.#shipped = { machine, epoch, seq: from.seq, hash: from.hash, time, breaks }
    writeShipped(this.#folder, this.#shipped)
    this.#options.onBreak?.(what)
  }

  /** Returns the head of the gateway if it has another history than we thought. */
  async #send(start: Start, end: Link): Promise<ChainHead | undefined> {
    let { epoch } = start
    let batch: Buffer[] = []
    let bytes = 0
    let last: Link | undefined
    let before = start.after
    const flush = async (): Promise<ChainHead | undefined> => {
      if (!last || batch.length === 0) return undefined
      const query = `log=${logId(this.#folder)}&epoch=${epoch}`
      const answer = await this.#options.client.ask<AppendAnswer>('append', {
        query,
        body: Buffer.concat(batch),
      })
      if (answer.status === 'gap' || answer.status === 'fork')
        return { epoch, seq: answer.seq, hash: answer.hash }
      if (answer.status === 'added') this.records += batch.length
      this.#acknowledge(epoch, last)
      batch = []
      bytes = 0
      return undefined
    }
    for (const line of linesAfter(this.#folder, start.after?.seq ?? 0)) {
      const isGoingOn = !('damaged' in line) && (!before || line.mark.prev === before.hash)
      if (!isGoingOn) {
        const other = await flush()
        if (other) return other
        const seq = 'damaged' in line ? line.seq : line.mark.seq
        const there = last ?? before ?? { ...START, seq: seq - 1 }
        if (before) {
          await this.#tell('damaged', epoch, there, 'damaged' in line ? START : line.mark)
          epoch++
        }
        before = undefined
      }
      if ('damaged' in line) continue
      if (line.mark.seq > end.seq || this.#options.signal?.aborted) break
      // The generator uses its memory again.
      batch.push(Buffer.concat([line.bytes, NEWLINE]))
      bytes += line.bytes.length + 1
      last = before = { seq: line.mark.seq, hash: line.mark.hash }
      if (batch.length < BATCH.lines && bytes < BATCH.bytes) continue
      const other = await flush()
      if (other) return other
    }
    return flush()
  }

  #acknowledge(epoch: number, { seq, hash }: Link): void {
    const { machine } = this.#options
    const breaks = this.#shipped?.breaks ?? []
    this.#shipped = { machine, epoch, seq, hash, time: timestamp(), breaks }
    writeShipped(this.#folder, this.#shipped)
  }
}

const NEWLINE = Buffer.from('\n')
