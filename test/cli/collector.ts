// A collector of OpenTelemetry for tests: it keeps what the real exporters send to it.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

export interface KeyValue {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: number; readonly doubleValue?: number }
}

export interface Attributed {
  readonly attributes: readonly KeyValue[]
}

export interface SpanSeen extends Attributed {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status: { readonly code?: number }
}

export interface LogSeen extends Attributed {
  readonly timeUnixNano: string
  readonly severityText: string
  readonly eventName: string
  readonly body: { readonly stringValue: string }
  readonly traceId?: string
  readonly spanId?: string
  readonly resource: Attributed
}

interface Body {
  readonly resourceSpans?: readonly {
    readonly resource: Attributed
    readonly scopeSpans: readonly { readonly spans: readonly SpanSeen[] }[]
  }[]
  readonly resourceLogs?: readonly {
    readonly resource: Attributed
    readonly scopeLogs: readonly { readonly logRecords: readonly Omit<LogSeen, 'resource'>[] }[]
  }[]
}

export class Collector {
  readonly spans: SpanSeen[] = []
  readonly logs: LogSeen[] = []
  readonly resources: (readonly KeyValue[])[] = []
  /** Answers with this status. Another one than 200 keeps nothing. */
  status = 200
  /** Called for each request, before it is answered. */
  onRequest: (() => Promise<void> | void) | undefined
  readonly #server: Server
  readonly #waiting = new Set<() => void>()

  constructor() {
    this.#server = createServer(async (request, response) => {
      const body = (await json(request)) as Body
      await this.onRequest?.()
      if (this.status === 200) this.#keep(body)
      response.writeHead(this.status, { 'content-type': 'application/json' }).end('{}')
      for (const look of this.#waiting) look()
    })
  }

  #keep({ resourceSpans = [], resourceLogs = [] }: Body): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resources.push(resource.attributes)
      this.spans.push(...scopeSpans.flatMap(({ spans }) => spans))
    }
    for (const { resource, scopeLogs } of resourceLogs)
      this.logs.push(
        ...scopeLogs.flatMap(({ logRecords }) => logRecords.map((one) => ({ ...one, resource }))),
      )
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Until it is so, after some request. */
  async until(isSo: () => boolean): Promise<void> {
    if (isSo()) return
    await new Promise<void>((resolve) => {
      const look = () => {
        if (!isSo()) return
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
    })
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

export function attribute({ attributes }: Attributed, name: string) {
  const found = attributes.find(({ key }) => key === name)?.value
  return found?.stringValue ?? found?.intValue ?? found?.doubleValue
}
