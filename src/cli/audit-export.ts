// `carabiner audit export`: sends the entries of a log to an OpenTelemetry collector, each once, and goes on where it ended.

import { hostname } from 'node:os'
import { join } from 'node:path'
import { digest } from '../core/base/digest.js'
import { visible } from '../core/base/text.js'
import { fieldsOf, text } from '../files/fields.js'
import { stateHome } from '../files/homes.js'
import { VersionedFile } from '../files/versioned-file.js'
import type { Origin } from '../store/audit/telemetry.js'
import type { AuditLog, EntryFilter, StoredEntry } from '../store/audit-log.js'
import { BATCH, Collector, persistently } from './collector.js'
import type { Output } from './output.js'
import { EXIT } from './refusal.js'
import { version } from './version.js'

/** The last entry that the collector has. */
interface Mark {
  readonly seq: number
  readonly hash: string
  readonly time: string
}

export interface ExportOptions {
  readonly project: string
  /** The collector; default: what OTEL_EXPORTER_OTLP_ENDPOINT says. */
  readonly to?: string
  /** Sends new entries until it aborts. */
  readonly follow?: AbortSignal
}

export async function exportEntries(log: AuditLog, options: ExportOptions, output: Output): Promise<number> {
  const { follow } = options
  const sending = await Sending.to(log, options)
  try {
    if (!follow) {
      const sent = await sending.rest(output)
      return await output.result({ folder: log.place, collector: sending.to, sent }, () => [
        `${sent === 1 ? '1 entry' : `${sent} entries`} sent to ${visible(sending.to)}`,
      ])
    }
    await output.complain([`carabiner: sending new entries to ${visible(sending.to)}; Ctrl-C ends it`])
    await persistently(() => sending.rest(output), follow, output)
    for await (const { seq } of log.follow({ after: sending.last, signal: follow })) {
      if (seq > sending.last) await persistently(() => sending.rest(output), follow, output)
    }
    return EXIT.ok
  } finally {
    await sending.end()
  }
}

class Sending {
  readonly #log: AuditLog
  readonly #collector: Collector
  readonly #origin: Origin
  readonly #mark: VersionedFile<Mark | undefined>

  static async to(log: AuditLog, { project, to }: ExportOptions): Promise<Sending> {
    return new Sending(log, project, await Collector.at(to))
  }

  private constructor(log: AuditLog, project: string, collector: Collector) {
    this.#log = log
    this.#collector = collector
    this.#origin = {
      resource: {
        attributes: { 'service.name': 'carabiner', 'host.name': hostname(), 'carabiner.project': project },
      },
      instrumentationScope: { name: 'carabiner', version },
    }
    this.#mark = new VersionedFile<Mark | undefined>({
      folder: join(stateHome(), 'telemetry', digest([log.place, collector.address]).slice(0, 32)),
      what: 'the note of what was sent to the collector',
      fresh: undefined,
      check: markIn,
      // Everything is sent again: ids follow from the entries, so the collector sees the same spans.
      damaged: () => undefined,
    })
  }

  /** The address of the collector. */
  get to(): string {
    return this.#collector.address
  }

  /** The number of the last entry that was sent. */
  get last(): number {
    return this.#mark.load()?.seq ?? 0
  }

  /** Sends what was not sent yet. Returns how many entries that was. */
  async rest(output: Output): Promise<number> {
    let mark = this.#mark.load()
    if (mark && !(await this.#continues(mark))) {
      await output.complain([
        `carabiner: the log is not the one that was sent before (entry ${mark.seq} is another one); sending it from its start`,
      ])
      mark = undefined
    }
    let sent = 0
    let batch: StoredEntry[] = []
    for await (const entry of this.#log.entries({ filter: after(mark) })) {
      batch.push(entry)
      if (batch.length < BATCH) continue
      sent += await this.#send(batch)
      batch = []
    }
    return sent + (await this.#send(batch))
  }

  /** False if the log has another entry under the same number. The entry itself may have been removed to save space. */
  async #continues({ seq, hash, time }: Mark): Promise<boolean> {
    const isThat: EntryFilter = Object.assign((entry: object) => (entry as StoredEntry).seq <= seq, {
      since: Date.parse(time),
    })
    for await (const entry of this.#log.entries({ newestFirst: true, filter: isThat, limit: 1 }))
      return entry.seq < seq ? false : entry.hash === hash
    return true
  }

  async #send(batch: readonly StoredEntry[]): Promise<number> {
    const last = batch.at(-1)
    if (!last) return 0
    const origin = this.#origin
    await this.#collector.take(batch.map((entry) => ({ entry, origin })))
    const { seq, hash, time } = last
    this.#mark.update(() => ({ seq, hash, time }))
    return batch.length
  }

  async end(): Promise<void> {
    await this.#collector.end()
  }
}

function after(mark: Mark | undefined): EntryFilter {
  if (!mark) return () => true
  return Object.assign((entry: object) => (entry as StoredEntry).seq > mark.seq, {
    since: Date.parse(mark.time),
  })
}

function markIn(value: unknown): Mark | undefined {
  const { seq, hash, time } = fieldsOf(value, 'the note')
  if (!Number.isSafeInteger(seq)) throw new Error('seq is not a number')
  return { seq: seq as number, hash: text(hash, 'hash'), time: text(time, 'time') }
}
