// `carabiner audit export`: sends the entries of a log to an OpenTelemetry collector, each once, and goes on where it ended.

import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { digest } from '../core/base/digest.js'
import { textOf } from '../core/base/errors.js'
import { visible } from '../core/base/text.js'
import { fieldsOf, text } from '../files/fields.js'
import { stateHome } from '../files/homes.js'
import { VersionedFile } from '../files/versioned-file.js'
import { type FinishedLog, type FinishedSpan, logOf, type Origin, spansOf } from '../store/audit/telemetry.js'
import type { AuditLog, EntryFilter, StoredEntry } from '../store/audit-log.js'
import type { Output } from './output.js'
import { EXIT, Refusal, usage } from './refusal.js'
import { version } from './version.js'

/** An exporter of the SDK, as far as it is used. */
interface Exporter<T> {
  export(items: readonly T[], done: (result: { readonly code: number; readonly error?: Error }) => void): void
  shutdown(): Promise<void>
}

const SENT = 0
const BATCH = 200
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

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
      return await output.result({ folder: log.place, collector: sending.collector, sent }, () => [
        `${sent === 1 ? '1 entry' : `${sent} entries`} sent to ${visible(sending.collector)}`,
      ])
    }
    await output.complain([`carabiner: sending new entries to ${visible(sending.collector)}; Ctrl-C ends it`])
    await persistently(() => sending.rest(output), follow, output)
    for await (const { seq } of log.follow({ after: sending.last, signal: follow })) {
      if (seq > sending.last) await persistently(() => sending.rest(output), follow, output)
    }
    return EXIT.ok
  } finally {
    await sending.end()
  }
}

/** Tries again until it works, and says so once: a collector may be away for a while. */
async function persistently(
  work: () => Promise<unknown>,
  signal: AbortSignal,
  output: Output,
): Promise<void> {
  for (let pause = FIRST_PAUSE_MS; !signal.aborted; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      await work()
      return
    } catch (error) {
      if (pause === FIRST_PAUSE_MS)
        await output.complain([`carabiner: ${visible(textOf(error))}; trying again until it works`])
      await setTimeout(pause, undefined, { signal }).catch(() => undefined)
    }
  }
}

class Sending {
  readonly collector: string
  readonly #log: AuditLog
  readonly #origin: Origin
  readonly #spans: Exporter<FinishedSpan>
  readonly #logs: Exporter<FinishedLog>
  readonly #mark: VersionedFile<Mark | undefined>

  static async to(log: AuditLog, { project, to }: ExportOptions): Promise<Sending> {
    const collector = collectorOf(to)
    const { spans, logs } = await exporters(to === undefined ? undefined : collector)
    return new Sending(log, project, collector, spans, logs)
  }

  private constructor(
    log: AuditLog,
    project: string,
    collector: string,
    spans: Exporter<FinishedSpan>,
    logs: Exporter<FinishedLog>,
  ) {
    this.#log = log
    this.collector = collector
    this.#spans = spans
    this.#logs = logs
    this.#origin = {
      resource: {
        attributes: { 'service.name': 'carabiner', 'host.name': hostname(), 'carabiner.project': project },
      },
      instrumentationScope: { name: 'carabiner', version },
    }
    this.#mark = new VersionedFile<Mark | undefined>({
      folder: join(stateHome(), 'telemetry', digest([log.place, collector]).slice(0, 32)),
      what: 'the note of what was sent to the collector',
      fresh: undefined,
      check: markIn,
      // Everything is sent again: ids follow from the entries, so the collector sees the same spans.
      damaged: () => undefined,
    })
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
    const spans = batch.flatMap((entry) => spansOf(entry, this.#origin))
    if (spans.length > 0) await this.#exported(this.#spans, spans)
    await this.#exported(
      this.#logs,
      batch.map((entry) => logOf(entry, this.#origin)),
    )
    const { seq, hash, time } = last
    this.#mark.update(() => ({ seq, hash, time }))
    return batch.length
  }

  #exported<T>(to: Exporter<T>, items: readonly T[]): Promise<void> {
    return new Promise((resolve, reject) => {
      to.export(items, ({ code, error }) => {
        if (code === SENT) resolve()
        else reject(this.#refused(error))
      })
    })
  }

  #refused(error: Error | undefined): Refusal {
    const why = error ? textOf(error) : 'it does not say why'
    return new Refusal(
      'NOT_EXPORTED',
      `The collector at ${this.collector} did not take the entries: ${why}`,
      {
        hint: 'Start it, or name another one with --to; what was not sent is sent the next time.',
      },
    )
  }

  async end(): Promise<void> {
    await Promise.allSettled([this.#spans.shutdown(), this.#logs.shutdown()])
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

// ---- the collector --------------------------------------------------------------------------------------------

const USUAL = 'http://localhost:4318'

function collectorOf(to: string | undefined): string {
  if (to === undefined) return process.env.OTEL_EXPORTER_OTLP_ENDPOINT || USUAL
  if (/^https?:\/\//.test(to) && URL.canParse(to)) return to.replace(/\/+$/, '')
  throw usage(`--to must be the address of a collector, such as ${USUAL}, got ${JSON.stringify(to)}`)
}

const PACKAGES = '@opentelemetry/exporter-trace-otlp-http and @opentelemetry/exporter-logs-otlp-http'

/** Each sends to its own path below the collector, or where the variables of OpenTelemetry say. */
async function exporters(
  to: string | undefined,
): Promise<{ readonly spans: Exporter<FinishedSpan>; readonly logs: Exporter<FinishedLog> }> {
  try {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http')
    const { OTLPLogExporter } = await import('@opentelemetry/exporter-logs-otlp-http')
    const spans = new OTLPTraceExporter(to === undefined ? {} : { url: `${to}/v1/traces` })
    const logs = new OTLPLogExporter(to === undefined ? {} : { url: `${to}/v1/logs` })
    return { spans, logs } as unknown as {
      readonly spans: Exporter<FinishedSpan>
      readonly logs: Exporter<FinishedLog>
    }
  } catch (error) {
    throw new Refusal(
      'NOT_EXPORTED',
      `${PACKAGES}, which send the entries, cannot be used: ${textOf(error)}`,
      {
        hint: 'Install them where Carabiner is installed, with @opentelemetry/api.',
      },
    )
  }
}
