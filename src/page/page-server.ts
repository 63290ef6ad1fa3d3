// The server behind `carabiner open`: it listens, lets requests through the gate, and ends when nobody looks any more.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { LONGEST_TIMER_MS } from '../core/base/time.js'
import { PAGE_HOST } from '../store/approvals/signature.js'
import { answerWith, bodyOf, sendProblem } from './answering.js'
import type { Answers } from './answers.js'
import type { Asset } from './assets.js'
import { Entrance } from './entrance.js'
import { EventStreams } from './event-stream.js'
import { type Listening, listen, PortTaken } from './listener.js'
import { judged } from './request-gate.js'
import { send, sendJson, sendText } from './response.js'
import type { PageTrace } from './trace.js'

const FIRST_PORT = 7810
const MOST_TRIES = 20
/** A browser lets a hidden tab ask about once a minute. */
const HIDDEN_MS = 150_000

export interface PageOptions {
  readonly assets: ReadonlyMap<string, Asset>
  readonly trace: PageTrace
  readonly answers: Answers
  /** Default: the first free one from 7810 on. */
  readonly port?: number
  /** The page ends when it had no request and no open tab for so long, and after a tab was open not before HIDDEN_MS. */
  readonly idleMs: number
  /** Called when it ended by itself, or because somebody at the page said so. */
  readonly onEnd: (why: 'idle' | 'stopped') => void
  readonly onProblem: (text: string) => void
}

export interface Page {
  readonly port: number
  readonly origin: string
  /** A link that works once. */
  link(): string
  close(): Promise<void>
}

/** Rejects with PortTaken. */
export async function openPage(options: PageOptions): Promise<Page> {
  const server = new PageServer(options)
  await server.listen()
  return server
}

class PageServer implements Page {
  readonly #options: PageOptions
  readonly #entrance = new Entrance()
  readonly #streams: EventStreams
  #listening: Listening | undefined
  #open = 0
  #isClosed = false
  #isSeen = false
  #idle: NodeJS.Timeout | undefined

  constructor(options: PageOptions) {
    this.#options = options
    this.#streams = new EventStreams(options.trace)
  }

  async listen(): Promise<void> {
    const { port } = this.#options
    const answer = (request: IncomingMessage, response: ServerResponse) => this.#answer(request, response)
    this.#listening = port === undefined ? await onFreePort(answer) : await listen(port, answer)
    this.#rest()
  }

  get port(): number {
    return this.#listening?.port ?? 0
  }

  get origin(): string {
    return `http://${PAGE_HOST}:${this.port}`
  }

  link(): string {
    return `${this.origin}${this.#entrance.link()}`
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#idle)
    await this.#streams.end()
    await this.#listening?.close()
  }

  #rest(): void {
    clearTimeout(this.#idle)
    if (this.#isClosed || this.#open > 0) return
    const wanted = Math.max(this.#options.idleMs, this.#isSeen ? HIDDEN_MS : 0)
    const ms = Math.min(wanted, LONGEST_TIMER_MS)
    this.#idle = setTimeout(() => this.#options.onEnd('idle'), ms)
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { port } = this
    const passed = judged(request, { origin: this.origin, port, entrance: this.#entrance })
    if ('refused' in passed) {
      // The rest of a body that nobody reads would keep the connection busy.
      response.setHeader('connection', 'close')
      sendText(response, passed.refused.status, passed.refused.text)
      return
    }
    this.#listening?.keep(request.socket)
    this.#isSeen = true
    // An answer that goes on, such as a stream, keeps the page open.
    this.#open++
    this.#rest()
    response.once('close', () => {
      this.#open--
      this.#rest()
    })
    if (passed.enters) this.#welcome(response)
    else
      this.#route(request, response, passed.url).catch((error: unknown) =>
        sendProblem(response, error, this.#options.onProblem),
      )
  }

  async #route(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const path = url.pathname.slice(this.#entrance.base.length)
    const asset = request.method === 'GET' ? this.#options.assets.get(path) : undefined
    if (asset) {
      send(response, 200, asset.type, asset.body)
      return
    }
    const body = request.method === 'POST' ? await bodyOf(request) : undefined
    if (request.method === 'POST' && path === 'api/stop') {
      response.once('finish', () => this.#options.onEnd('stopped'))
      sendJson(response, { stopped: true })
      return
    }
    const query = url.searchParams
    if (request.method === 'GET' && path === 'api/stream')
      return this.#streams.serve(request, response, query)
    const key = `${request.method} ${path}`
    await answerWith(this.#options.answers, key, response, { query, body, origin: this.origin })
  }

  /**
   * Not a redirect: a browser that came from another site, such as the file that `open` shows it, would follow it without
   * the cookie.
   */
  #welcome(response: ServerResponse): void {
    const { base } = this.#entrance
    const html = `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${base}"><link rel="icon" href="data:,"><title>Carabiner</title><p><a href="${base}">Open the page</a></p></html>`
    send(response, 200, 'text/html; charset=utf-8', html, {
      'set-cookie': this.#entrance.setCookie(this.port),
    })
  }
}

async function onFreePort(answer: Parameters<typeof listen>[1]): Promise<Listening> {
  for (let port = FIRST_PORT; ; port++) {
    try {
      return await listen(port, answer)
    } catch (error) {
      if (!(error instanceof PortTaken) || port >= FIRST_PORT + MOST_TRIES) throw error
    }
  }
}
