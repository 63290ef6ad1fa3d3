// An OpenTelemetry collector, which takes audit entries as spans and log records.

import { setTimeout } from 'node:timers/promises'
import { textOf } from '../core/base/errors.js'
import { visible } from '../core/base/text.js'
import { type FinishedLog, type FinishedSpan, logOf, type Origin, spansOf } from '../store/audit/telemetry.js'
import type { StoredEntry } from '../store/audit-log.js'
import type { Output } from './output.js'
import { Refusal, usage } from './refusal.js'

/** The most entries to send at once. */
export const BATCH = 200

/** An exporter of the SDK, as far as it is used. */
interface Exporter<T> {
  export(items: readonly T[], done: (result: { readonly code: number; readonly error?: Error }) => void): void
  shutdown(): Promise<void>
}

interface Exporters {
  readonly spans: Exporter<FinishedSpan>
  readonly logs: Exporter<FinishedLog>
}

export interface Sent {
  readonly entry: StoredEntry
  /** The same object for all entries of one origin, so that they are sent together. */
  readonly origin: Origin
}

const SENT = 0

export class Collector {
  readonly address: string
  readonly #exporters: Exporters

  /** Default: what OTEL_EXPORTER_OTLP_ENDPOINT says. */
  static async at(to: string | undefined): Promise<Collector> {
    const address = addressOf(to)
    return new Collector(address, await exporters(to === undefined ? undefined : address))
  }

  private constructor(address: string, own: Exporters) {
    this.address = address
    this.#exporters = own
  }

  /** Throws a Refusal unless all of them were taken. Then some may have been taken, too. */
  async take(batch: readonly Sent[]): Promise<void> {
    const spans = batch.flatMap(({ entry, origin }) => spansOf(entry, origin))
    if (spans.length > 0) await this.#exported(this.#exporters.spans, spans)
    await this.#exported(
      this.#exporters.logs,
      batch.map(({ entry, origin }) => logOf(entry, origin)),
    )
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
    return new Refusal('NOT_EXPORTED', `The collector at ${this.address} did not take the entries: ${why}`, {
      hint: 'Start it, or name another one with --to; what was not sent is sent the next time.',
      mayPass: true,
    })
  }

  async end(): Promise<void> {
    const { spans, logs } = this.#exporters
    await Promise.allSettled([spans.shutdown(), logs.shutdown()])
  }
}

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

/** Tries again while a collector or a database is away, and says so once. Throws anything else: a bug would never work. */
export async function persistently(
  work: () => Promise<unknown>,
  signal: AbortSignal,
  output: Output,
): Promise<void> {
  for (let pause = FIRST_PAUSE_MS; !signal.aborted; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      await work()
      return
    } catch (error) {
      if (!(error instanceof Refusal && error.mayPass)) throw error
      if (pause === FIRST_PAUSE_MS)
        await output.complain([`carabiner: ${visible(textOf(error))}; trying again until it works`])
      await setTimeout(pause, undefined, { signal }).catch(() => undefined)
    }
  }
}

const USUAL = 'http://localhost:4318'

function addressOf(to: string | undefined): string {
  if (to === undefined) return process.env.OTEL_EXPORTER_OTLP_ENDPOINT || USUAL
  if (/^https?:\/\//.test(to) && URL.canParse(to)) return to.replace(/\/+$/, '')
  throw usage(`--to must be the address of a collector, such as ${USUAL}, got ${JSON.stringify(to)}`)
}

const PACKAGES = '@opentelemetry/exporter-trace-otlp-http and @opentelemetry/exporter-logs-otlp-http'

/** Each sends to its own path below the collector, or where the variables of OpenTelemetry say. */
async function exporters(to: string | undefined): Promise<Exporters> {
  try {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http')
    const { OTLPLogExporter } = await import('@opentelemetry/exporter-logs-otlp-http')
    const spans = new OTLPTraceExporter(to === undefined ? {} : { url: `${to}/v1/traces` })
    const logs = new OTLPLogExporter(to === undefined ? {} : { url: `${to}/v1/logs` })
    return { spans, logs } as unknown as Exporters
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
