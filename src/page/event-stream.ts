// Rows as server-sent events: each has the number of its entry as id, so that a browser that reconnects misses none.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { NotAnswered, numberIn } from './answers.js'
import { HEADERS } from './response.js'
import type { PageTrace } from './trace.js'

const MOST_STREAMS = 16
/** A browser that reads slower is cut off; it reconnects and goes on where it was. */
const MOST_UNREAD = 4 * 1024 * 1024
const HEARTBEAT_MS = 15_000
/** A browser that does not read is not waited for. */
const LAST_WORDS_MS = 500

export class EventStreams {
  readonly #trace: PageTrace
  readonly #open = new Map<AbortController, ServerResponse>()

  constructor(trace: PageTrace) {
    this.#trace = trace
  }

  /** Resolves when the browser has left. */
  async serve(request: IncomingMessage, response: ServerResponse, query: URLSearchParams): Promise<void> {
    if (this.#open.size >= MOST_STREAMS)
      throw new NotAnswered(503, 'Too many tabs are open. Close some, then load this page again.')
    const after = afterOf(request, query)
    const controller = new AbortController()
    this.#open.set(controller, response)
    response.once('close', () => controller.abort())
    response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream' })
    response.write('retry: 500\n: here\n\n')
    const heartbeat = setInterval(() => response.write(': here\n\n'), HEARTBEAT_MS)
    try {
      for await (const rows of this.#trace.follow(after, controller.signal)) {
        const newest = rows.reduce((most, { seq }) => Math.max(most, seq), after ?? 0)
        response.write(`id: ${newest}\nevent: rows\ndata: ${JSON.stringify(rows)}\n\n`)
        if (response.writableLength > MOST_UNREAD) response.destroy()
      }
    } finally {
      clearInterval(heartbeat)
      this.#open.delete(controller)
      response.end()
    }
  }

  /** Tells every tab that the page has ended, so that none asks again: another program may take the port. */
  async end(): Promise<void> {
    const told = [...this.#open].map(([controller, response]) => {
      const isOut = new Promise<void>((resolve) => response.end('event: end\ndata: {}\n\n', () => resolve()))
      controller.abort()
      return isOut
    })
    await Promise.race([Promise.all(told), setTimeout(LAST_WORDS_MS, undefined, { ref: false })])
  }
}

/** What the browser saw last, else what it asks for. */
function afterOf({ headers }: IncomingMessage, query: URLSearchParams): number | undefined {
  const last = headers['last-event-id']
  return numberIn(typeof last === 'string' ? new URLSearchParams({ after: last }) : query, 'after')
}
