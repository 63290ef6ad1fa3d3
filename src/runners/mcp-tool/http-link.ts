// An MCP server at a URL: the SDK's HTTP transport over our own sockets, so that every answer is limited and can be stopped.

import type { Agent, IncomingMessage } from 'node:http'
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { textOf } from '../../core/base/errors.js'
import { ownTls } from '../../effects/shell/own-environment.js'
import { type Link, type LinkEvents, MOST_MESSAGE_BYTES, type Sdk, TRANSPORT_ERROR } from './sdk.js'
import { refusal } from './stdio-link.js'

/** How long a complete answer may take to end by itself, and a goodbye to be accepted. */
const GRACE_MS = 1000
/** How long a message without an answer may take to be accepted. */
const NOTICE_MS = 10_000
/** The client has everything of an ended stream after this time. */
const DRAIN_MS = 50

/** The transport never reconnects by itself. The next call starts over. */
const NO_RECONNECTION = {
  initialReconnectionDelay: 0,
  maxReconnectionDelay: 0,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 0,
}

export class HttpLink implements Link {
  onclose?: () => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly gone: Promise<void>
  readonly #inner: StreamableHTTPClientTransport
  readonly #fetch = new HttpFetch()
  readonly #events: LinkEvents
  /** Requests that wait for an answer, each with its abort controller. */
  readonly #waiting = new Map<RequestId, AbortController>()
  #why: string | undefined
  #isDismissed = false
  #leave = () => {}

  constructor(
    { StreamableHTTPClientTransport: Transport }: Sdk,
    url: URL,
    headers: Readonly<Record<string, string>>,
    events: LinkEvents,
  ) {
    this.#events = events
    this.gone = new Promise((resolve) => {
      this.#leave = resolve
    })
    this.#inner = new Transport(url, {
      requestInit: { headers: { ...headers } },
      reconnectionOptions: NO_RECONNECTION,
      fetch: (target, init) => this.#request(target, init ?? {}),
    })
    this.#inner.onmessage = (message) => this.#receive(message)
    // The caller gets every error too.
    this.#inner.onerror = () => undefined
  }

  get isOver(): boolean {
    return this.#why !== undefined
  }

  get isDismissed(): boolean {
    return this.#isDismissed
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId
  }

  async how(): Promise<string> {
    return this.#why ?? 'it is connected'
  }

  withLastWords(text: string): string {
    return text
  }

  forgetStderr(): void {}

  newStderr(): string {
    return ''
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version)
  }

  start(): Promise<void> {
    return this.#inner.start()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (
      'method' in message &&
      message.method === 'notifications/cancelled' &&
      !this.#givesUp(message.params)
    ) {
      return // Its answer has already arrived.
    }
    if (!('method' in message && 'id' in message)) return this.#inner.send(message)
    this.#waiting.set(message.id, new AbortController())
    try {
      await this.#inner.send(message)
    } catch (error) {
      this.#waiting.delete(message.id)
      throw error
    }
  }

  async close(): Promise<void> {
    this.end('it was no longer needed')
  }

  /** Tells the server to forget its session, without waiting long. */
  end(why: string): void {
    if (!this.#leaveOnce(why)) return
    this.#isDismissed = true
    const late = new Promise<void>((resolve) => setTimeout(resolve, GRACE_MS).unref())
    void Promise.race([this.#inner.terminateSession().catch(() => undefined), late]).then(() =>
      this.#release(),
    )
  }

  terminate(why: string): void {
    if (this.#leaveOnce(why)) this.#release()
  }

  #leaveOnce(why: string): boolean {
    if (this.#why !== undefined) return false
    this.#why = why
    for (const waiting of this.#waiting.values()) waiting.abort()
    this.#waiting.clear()
    this.#events.over()
    this.onclose?.()
    return true
  }

  #release(): void {
    void this.#inner.close().catch(() => undefined)
    this.#fetch.close()
    this.#leave()
  }

  #givesUp(params: unknown): boolean {
    const { requestId } = params as { readonly requestId: RequestId }
    this.#waiting.get(requestId)?.abort()
    return this.#waiting.delete(requestId)
  }

  #receive(message: JSONRPCMessage): void {
    if ('method' in message && 'id' in message) {
      if (message.method !== 'ping') this.#events.noise(refusal(message.method))
    } else if (!('method' in message)) {
      const id = message.id as RequestId
      const waiting = this.#waiting.get(id)
      if (!waiting) {
        this.#events.noise(`A reply with the id ${JSON.stringify(id)} was dropped: no call is waiting for it`)
        return
      }
      this.#waiting.delete(id)
      // Some servers keep the stream of a complete answer open.
      setTimeout(() => waiting.abort(), GRACE_MS).unref()
    }
    this.onmessage?.(message)
  }

  // ---- requests -------------------------------------------------------------------------------------------------

  async #request(target: string | URL, init: RequestInit): Promise<Response> {
    // This stream would carry unsolicited messages. Nothing here uses them, and it would stay open.
    if (init.method === 'GET') return new Response(null, { status: 405 })
    const id = requestIn(init.body)
    const waiting = id === undefined ? undefined : this.#waiting.get(id)
    const bound = waiting?.signal ?? AbortSignal.timeout(NOTICE_MS)
    const signals = init.signal ? [init.signal, bound] : [bound]
    return this.#fetch.request(target, { ...init, signal: AbortSignal.any(signals) }, (why) => {
      if (id !== undefined) setTimeout(() => this.#endedWithout(id, why), DRAIN_MS)
    })
  }

  /** The stream has ended, so the answer will never arrive. */
  #endedWithout(id: RequestId, why: string | undefined): void {
    if (!this.#waiting.delete(id)) return
    const message = `the server ended its reply before it answered${why === undefined ? '' : `: ${why}`}`
    this.onmessage?.({ jsonrpc: '2.0', id, error: { code: TRANSPORT_ERROR, message } })
  }
}

/** The id of a request. Undefined for a notification or a reply. */
function requestIn(body: RequestInit['body']): RequestId | undefined {
  if (typeof body !== 'string') return undefined
  const { id, method } = JSON.parse(body) as { readonly id?: RequestId; readonly method?: string }
  return method === undefined ? undefined : id
}

// ---- fetch with limits ----------------------------------------------------------------------------------------

const MOST_HEADER_BYTES = 64 * 1024
/** The only headers that the SDK reads. */
const HEADERS = ['content-type', 'mcp-session-id', 'location', 'www-authenticate'] as const
/** Statuses whose body nobody reads. */
const BODILESS: ReadonlySet<number> = new Set([202, 204, 205, 304])

export class HttpFetch {
  readonly #mostBytes: (contentType: string) => number
  #agent: Agent | undefined
  #closed = false

  /** `mostBytes`: of one answer. */
  constructor(mostBytes: (contentType: string) => number = () => MOST_MESSAGE_BYTES) {
    this.#mostBytes = mostBytes
  }

  /** Calls `ended`, with what went wrong, when nothing more can arrive. Does not follow redirects. The global fetch would share its sockets and obey variables that a project can set. */
  async request(target: string | URL, init: RequestInit, ended: (why?: string) => void): Promise<Response> {
    const url = new URL(target)
    // Loaded here, because most users have no server at an address.
    const { request, Agent } =
      url.protocol === 'https:' ? await import('node:https') : await import('node:http')
    const trusted = url.protocol === 'https:' ? await ownTls() : {}
    if (this.#closed) throw new Error('the connection was closed')
    this.#agent ??= new Agent({ keepAlive: true })
    const headers = { ...Object.fromEntries(new Headers(init.headers)), 'accept-encoding': 'identity' }
    const { method = 'GET', signal } = init
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = {
        method,
        headers,
        agent: this.#agent,
        maxHeaderSize: MOST_HEADER_BYTES,
        ...trusted,
      }
      request(url, { ...options, ...(signal && { signal }) }, resolve)
        .on('error', reject)
        .end(typeof init.body === 'string' ? init.body : undefined)
    })
    let why: string | undefined
    incoming.once('error', (error) => {
      why = textOf(error)
    })
    incoming.once('close', () => ended(why))
    return responseOf(incoming, this.#mostBytes(incoming.headers['content-type'] ?? ''))
  }

  /** Destroys idle and busy sockets. */
  close(): void {
    this.#closed = true
    this.#agent?.destroy()
  }
}

function responseOf(incoming: IncomingMessage, mostBytes: number): Response {
  const { statusCode: status = 0, headers: given } = incoming
  const encoding = given['content-encoding'] ?? 'identity'
  if (status < 200 || status > 599 || encoding !== 'identity') {
    incoming.destroy()
    throw new Error(
      encoding === 'identity'
        ? `it answered with status ${status}`
        : 'it compressed its answer, which was not requested',
    )
  }
  const headers = new Headers()
  for (const name of HEADERS) {
    const value = given[name]
    if (typeof value === 'string') headers.set(name, value)
  }
  if (!BODILESS.has(status)) return new Response(boundedBody(incoming, mostBytes), { status, headers })
  incoming.resume()
  return new Response(null, { status, headers })
}

function boundedBody(incoming: IncomingMessage, mostBytes: number): ReadableStream<Uint8Array> {
  let left = mostBytes
  let open = true
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const finish = (error?: Error) => {
        if (!open) return
        open = false
        if (!error) controller.close()
        else controller.error(error)
        incoming.destroy(error)
      }
      incoming.on('data', (chunk: Buffer) => {
        left -= chunk.length
        if (left < 0) finish(new Error(`its answer is larger than ${mostBytes} bytes`))
        else if (open) controller.enqueue(new Uint8Array(chunk))
        // Nobody reads it now, and a flood would fill the memory.
        if (open && (controller.desiredSize ?? 0) <= 0) incoming.pause()
      })
      incoming.on('end', () => finish())
      incoming.on('error', finish)
      incoming.on('close', () => finish(new Error('the connection was lost')))
    },
    pull() {
      incoming.resume()
    },
    cancel() {
      open = false
      incoming.destroy()
    },
  })
}
