// Ships one log: compares what the gateway has with what it acknowledged and with what is here, then sends the rest.

import { timestamp } from '../../core/base/time.js'
import { type Mark, START } from '../../store/audit/chain.js'
import { type Shipped, writeShipped } from '../../store/audit/shipped.js'
import type { Link } from '../../store/audit-log.js'
import { type AppendAnswer, BATCH, type Break, type ChainHead, type EvidenceRequest } from '../protocol.js'
import { type GatewayClient, Unavailable } from './gateway-client.js'
import { logId } from './log-folders.js'
import { breakAfter, isPrunedBefore, type LogLine, linesAfter, localEnd } from './log-lines.js'

export interface LogShippingOptions {
  readonly client: GatewayClient
  readonly machine: string
  readonly onBreak?: (what: LogBreak) => void
  readonly signal?: AbortSignal
}

export interface LogBreak {
  readonly log: string
  /** Absent if it is no longer here. */
  readonly folder?: string
  readonly kind: Break
  readonly seq: number
}

/** Where to go on. */
interface Start {
  readonly epoch: number
  /** Whether the gateway has this chain already. */
  readonly isBegun: boolean
  /** Absent: where the log begins, or with the record `from`. */
  readonly after: Link | undefined
  readonly from?: number | undefined
}

/** What the two sides have at the place where they differ. */
interface Difference {
  readonly kind: Break
  readonly epoch: number
  readonly there: Link
  readonly here: Link
}

/** How often a log begins again in one run, when the gateway has another history each time. */
const MOST_RESTARTS = 3
/** The epoch of a log before the gateway acknowledged anything of it. */
const UNKNOWN = 0

export class LogShipping {
  readonly breaks: LogBreak[] = []
  records = 0
  readonly #folder: string
  readonly #log: string
  readonly #options: LogShippingOptions
  #shipped: Shipped | undefined

  /** `shipped` by another membership is of no use. */
  constructor(folder: string, options: LogShippingOptions, shipped: Shipped | undefined) {
    this.#folder = folder
    this.#log = logId(folder)
    this.#options = options
    this.#shipped = shipped?.machine === options.machine ? shipped : undefined
  }

  async run(first: ChainHead | undefined): Promise<void> {
    let head = first
    for (let tries = 0; tries <= MOST_RESTARTS; tries++) {
      const end = localEnd(this.#folder)
      if (!end && !head) return
      const start = await this.#start(head, end, tries > 0)
      if (start.isBegun && start.after) this.#acknowledge(start.epoch, start.after)
      if (!end || start.after?.seq === end.seq) return
      head = await this.#send(start, end)
      if (!head) return
    }
    throw new Unavailable('the gateway had another history of this log each time')
  }

  /** Notes for `status` and `doctor` why it could not be done. */
  fail(why: string): void {
    const { machine } = this.#options
    const before = this.#shipped ?? { machine, epoch: UNKNOWN, isPending: false, ...START, breaks: [] }
    this.#shipped = { ...before, time: timestamp(), failure: why }
    writeShipped(this.#folder, this.#shipped)
  }

  /** `isRefused`: the gateway did not take what goes on after this head. */
  async #start(head: ChainHead | undefined, end: Link | undefined, isRefused: boolean): Promise<Start> {
    const shipped = this.#shipped
    if (!head) {
      const next: Start = { epoch: 1, isBegun: false, after: undefined }
      return shipped && shipped.seq > 0 ? this.#tell(behind(shipped, START), next) : next
    }
    const { epoch } = head
    const next: Start = { epoch: epoch + 1, isBegun: false, after: undefined }
    if (shipped && shipped.epoch < epoch && shipped.epoch !== UNKNOWN) {
      // Somebody else has begun a chain of this log.
      const found = { kind: 'fork', epoch, there: head, here: shipped } as const
      return this.#tell(found, { ...next, after: this.#goingOn(shipped, end) })
    }
    if (shipped && shipped.epoch > epoch) {
      if (shipped.isPending) return { ...next, after: this.#goingOn(shipped, end), from: shipped.from }
      return this.#tell(behind(shipped, START), next)
    }
    if (shipped && shipped.seq > head.seq)
      await this.#tell(behind(shipped, head), { epoch, isBegun: true, after: head })
    else if (shipped && shipped.seq === head.seq && shipped.hash !== head.hash)
      return this.#tell({ kind: 'fork', epoch, there: head, here: shipped }, next)
    const kind = end ? breakAfter(this.#folder, head, end) : 'cut'
    if (kind === undefined && !isRefused) return this.#goOn(head, end)
    const after = await this.#common(kind ?? 'fork', head, end)
    // A shorter log that ends with another record was not only cut.
    const seen = kind === undefined || (kind === 'cut' && end && !after) ? 'fork' : kind
    return this.#tell({ kind: seen, epoch, there: head, here: end ?? START }, { ...next, after })
  }

  /**
   * Where the gateway acknowledged to this log, whatever else it has. Somebody else may have sent that, and not what is before it;
   * it knows again what it has.
   */
  #goOn({ epoch, ...head }: ChainHead, end: Link | undefined): Start {
    const shipped = this.#shipped?.epoch === epoch ? this.#shipped : undefined
    const after = shipped?.seq === head.seq ? head : shipped && this.#goingOn(shipped, end)
    return { epoch, isBegun: true, after, from: shipped?.isPending ? shipped.from : undefined }
  }

  /** The record, if the log here still goes on after it. */
  #goingOn(after: Link, end: Link | undefined): Link | undefined {
    return after.seq > 0 && end && breakAfter(this.#folder, after, end) === undefined ? after : undefined
  }

  /** The last record that both sides are known to have, so that not everything is sent again. */
  async #common(kind: Break, head: ChainHead, end: Link | undefined): Promise<Link | undefined> {
    const shipped = this.#shipped
    // That it has one record says nothing about those before it, unless it acknowledged them.
    if (kind !== 'cut' || !end || !shipped || shipped.seq < end.seq)
      return shipped && this.#goingOn(shipped, end)
    for (const line of linesAfter(this.#folder, end.seq - 1)) {
      if ('damaged' in line || line.mark.hash !== end.hash) break
      // The gateway has as many records, so this adds nothing: it only says whether it has this one.
      const { status } = await this.#append(head.epoch, Buffer.concat([line.bytes, NEWLINE]))
      return status === 'known' ? end : undefined
    }
    return undefined
  }

  /** Keeps it as evidence on both sides, tells it, and goes on at `next`. */
  async #tell({ kind, epoch, there, here }: Difference, next: Start): Promise<Start> {
    const { client, machine, onBreak } = this.#options
    const body: EvidenceRequest = {
      ...{ log: this.#log, epoch, kind, seq: there.seq },
      ...{ held: there.hash, sent: here.hash },
    }
    await client.ask('evidence', { body })
    const what = { log: this.#log, folder: this.#folder, kind, seq: there.seq }
    this.breaks.push(what)
    const time = timestamp()
    const breaks = [...(this.#shipped?.breaks ?? []), { kind, seq: there.seq, time }]
    const { seq, hash } = next.after ?? START
    const { epoch: nextEpoch, isBegun, from } = next
    this.#shipped = {
      ...{ machine, epoch: nextEpoch, isPending: !isBegun, seq, hash, time, breaks },
      ...(from !== undefined && { from }),
    }
    writeShipped(this.#folder, this.#shipped)
    onBreak?.(what)
    return next
  }

  /** Returns the head of the gateway if it has another history than we thought. */
  async #send(start: Start, end: Link): Promise<ChainHead | undefined> {
    let { epoch, isBegun } = start
    let before = start.after
    // A chain has to begin with the first record of the log, or say why not.
    let isExplained = before !== undefined || this.#isExplained()
    const batch = new Batch()
    const flush = async (): Promise<ChainHead | undefined> => {
      const { last } = batch
      if (!last) return undefined
      const answer = await this.#append(epoch, batch.bytes)
      if (answer.status === 'gap' || answer.status === 'fork') return { ...answer, epoch }
      if (!isAcknowledged(answer, last))
        throw new Unavailable('the gateway did not acknowledge the records that it was sent')
      if (answer.status === 'added') this.records += batch.count
      isBegun = true
      this.#acknowledge(epoch, last)
      batch.clear()
      return undefined
    }
    for (const line of linesAfter(this.#folder, before?.seq ?? (start.from ?? 1) - 1)) {
      if (this.#options.signal?.aborted || ('mark' in line && line.mark.seq > end.seq)) break
      const kind = this.#breakAt(line, before, isExplained)
      if (kind) {
        const other = await flush()
        if (other) return other
        const there = before ?? { ...START, seq: seqOf(line) - 1 }
        const here = 'damaged' in line ? START : line.mark
        const from = 'damaged' in line ? line.seq + 1 : line.mark.seq
        const next = { epoch: isBegun ? epoch + 1 : epoch, isBegun: false, after: undefined, from }
        ;({ epoch, isBegun } = await this.#tell({ kind, epoch, there, here }, next))
        before = undefined
        isExplained = true
      }
      if ('damaged' in line) continue
      const other = batch.hasRoomFor(line.bytes) ? undefined : await flush()
      if (other) return other
      batch.add(line.bytes, line.mark)
      before = line.mark
    }
    return flush()
  }

  /** Whether it was told that records before the next chain are lost. */
  #isExplained(): boolean {
    const { isPending = false, breaks = [] } = this.#shipped ?? {}
    return isPending && ['gap', 'damaged'].includes(breaks.at(-1)?.kind ?? '')
  }

  /** Why this line cannot follow. */
  #breakAt(line: LogLine, before: Link | undefined, isExplained: boolean): Break | undefined {
    if (before)
      return 'mark' in line && line.mark.seq === before.seq + 1 && line.mark.prev === before.hash
        ? undefined
        : 'damaged'
    if (isExplained) return undefined
    if ('damaged' in line) return 'damaged'
    return line.mark.seq > 1 && !isPrunedBefore(this.#folder, line.mark) ? 'gap' : undefined
  }

  async #append(epoch: number, body: Buffer): Promise<AppendAnswer> {
    const query = `log=${this.#log}&epoch=${epoch}`
    return this.#options.client.ask<AppendAnswer>('append', { query, body })
  }

  #acknowledge(epoch: number, { seq, hash }: Link): void {
    const { machine } = this.#options
    const before = this.#shipped
    const isKnown = before?.epoch === epoch && before.seq === seq && before.hash === hash
    if (isKnown && !before.isPending && before.failure === undefined) return
    const breaks = before?.breaks ?? []
    this.#shipped = { machine, epoch, isPending: false, seq, hash, time: timestamp(), breaks }
    writeShipped(this.#folder, this.#shipped)
  }
}

/** The gateway has less than it acknowledged. */
function behind(shipped: Shipped, there: Link): Difference {
  return { kind: 'behind', epoch: shipped.epoch, there, here: shipped }
}

function isAcknowledged({ status, seq, hash }: AppendAnswer, last: Link): boolean {
  if (status !== 'added' && status !== 'known') return false
  return seq > last.seq || (seq === last.seq && hash === last.hash)
}

function seqOf(line: LogLine): number {
  return 'damaged' in line ? line.seq : line.mark.seq
}

const NEWLINE = Buffer.from('\n')

/** Lines that are sent together. */
class Batch {
  last: Mark | undefined
  #lines: Buffer[] = []
  #length = 0

  get count(): number {
    return this.#lines.length
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#lines)
  }

  /** A line that is longer than a batch goes alone. */
  hasRoomFor(line: Buffer): boolean {
    return this.count === 0 || (this.count < BATCH.lines && this.#length + line.length < BATCH.bytes)
  }

  add(bytes: Buffer, mark: Mark): void {
    // A copy: whoever reads the log uses its memory again.
    const line = Buffer.concat([bytes, NEWLINE])
    this.#lines.push(line)
    this.#length += line.length
    this.last = mark
  }

  clear(): void {
    this.#lines = []
    this.#length = 0
    this.last = undefined
  }
}
