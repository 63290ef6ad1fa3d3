// An MCP server at an address: the official SDK's transport, over our own sockets. The user's headers go with every request,
// and nothing else does.

import { setMaxListeners } from 'node:events'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { textOf } from '../../core/base/errors.js'
import { isObject, type Json } from '../../core/base/json.js'
import { inTime } from '../../core/base/promise.js'
import { RPC_CODES, type RpcId } from '../../rpc/message.js'
import { HttpFetch } from '../../runners/mcp-tool/http-link.js'
import { notLoaded } from '../../runners/mcp-tool/sdk.js'
import { MAX_LINE_BYTES } from './line-peer.js'
import type { Server, ServerEvents, StartServer } from './peer.js'

/** The SDK has everything of an ended stream after this time. */
const DRAIN_MS = 50
/** How long the server may take to forget its session. */
const FAREWELL_MS = 1000

export function serverAtUrl(url: URL, headers: Readonly<Record<string, string>>): StartServer {
  return async (events) => {
    const { StreamableHTTPClientTransport } = await loadTransport()
    const fetch = new WatchedFetch(events)
    const transport = new StreamableHTTPClientTransport(url, {
      requestInit: { headers: { ...headers } },
      fetch: (target, init) => fetch.request(target, init ?? {}),
    })
    transport.onmessage = (message) => fetch.receive(message)
    // Errors of a request are told to its sender too. Only a stream that cannot be opened again leaves somebody waiting.
    transport.onerror = (error) => {
      if (/reconnect/i.test(error.message))
        events.lost(`The connection to the server was lost: ${error.message}`)
    }
    await transport.start()
    const server: Server = {
      send(line) {
        const message = JSON.parse(line) as JSONRPCMessage
        transport.send(message).catch((error: unknown) => fetch.failed(message, error))
      },
      full: () => undefined,
      wait: (until) => fetch.wait(until),
      initialized(answer) {
        const { protocolVersion } = isObject(answer) ? answer : {}
        if (typeof protocolVersion === 'string') transport.setProtocolVersion(protocolVersion)
      },
      async end() {
        await inTime(transport.terminateSession(), FAREWELL_MS).catch(() => undefined)
        await transport.close().catch(() => undefined)
        fetch.close()
      },
    }
    return server
  }
}

async function loadTransport() {
  try {
    return await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
  } catch (error) {
    throw notLoaded(error, 'servers at an address')
  }
}

/** Requests over HTTP, and which of them wait for an answer. */
class WatchedFetch {
  readonly #events: ServerEvents
  readonly #waiting = new Set<RpcId>()
  /** Those whose stream ended, and should be continued. */
  readonly #broken = new Set<RpcId>()
  readonly #fetch = new HttpFetch((type) =>
    type.startsWith('text/event-stream') ? Number.POSITIVE_INFINITY : MAX_LINE_BYTES,
  )
  #until: Promise<void> = Promise.resolve()

  constructor(events: ServerEvents) {
    this.#events = events
  }

  receive(message: JSONRPCMessage): void {
    const isReply = !('method' in message)
    let line: string
    try {
      line = JSON.stringify(message)
    } catch (error) {
      // It is nested too deeply.
      if (isReply) this.#answer(message.id as RpcId, `The reply cannot be read: ${textOf(error)}`)
      return
    }
    if (isReply) this.#forget(message.id as RpcId)
    this.#events.line(line)
  }

  /** Nobody else would answer the request. */
  failed(message: JSONRPCMessage, error: unknown): void {
    if ('method' in message && 'id' in message) this.#answer(message.id, textOf(error))
  }

  wait(until: Promise<void>): void {
    this.#until = until
  }

  async request(target: string | URL, init: RequestInit): Promise<Response> {
    // One signal ends all requests, and there may be many at a time.
    if (init.signal) setMaxListeners(0, init.signal)
    const id = requestIn(init.body)
    if (id !== undefined) this.#waiting.add(id)
    let resumes = false
    const response = await this.#fetch.request(target, init, (why) => {
      if (id === undefined) return
      later(() => {
        // The SDK asks for the rest of a stream that has ids.
        if (!resumes) this.#answer(id, ended(why))
        else if (this.#waiting.has(id)) this.#broken.add(id)
      })
    })
    // The SDK takes this for a server that never has such a stream, and tells nobody.
    if (response.status === 405 && new Headers(init.headers).has('last-event-id'))
      later(() => {
        for (const broken of this.#broken) this.#answer(broken, ended('it cannot be continued'))
      })
    if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream'))
      return response
    const watched = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>(
        watching({ until: () => this.#until, resumed: () => (resumes = true) }),
      ),
    )
    return new Response(watched, { status: response.status, headers: response.headers })
  }

  close(): void {
    this.#fetch.close()
  }

  #answer(id: RpcId, message: string): void {
    if (!this.#forget(id)) return
    const error = { code: RPC_CODES.serverError, message }
    this.#events.line(JSON.stringify({ jsonrpc: '2.0', id, error }))
  }

  /** Returns false if nobody waits for it. */
  #forget(id: RpcId): boolean {
    this.#broken.delete(id)
    return this.#waiting.delete(id)
  }
}

/** What arrived last is still on its way through the SDK. */
function later(work: () => void): void {
  setTimeout(work, DRAIN_MS)
}

function ended(why: string | undefined): string {
  return `the server ended its reply before it answered${why === undefined ? '' : `: ${why}`}`
}

/** Passes a stream of events on, no faster than the client reads. An event that never ends is an error. */
function watching(on: { readonly until: () => Promise<void>; readonly resumed: () => void }) {
  let bytes = 0
  // Enough that no beginning of an id is missed between two chunks.
  let last = '\n'
  return {
    async transform(chunk: Uint8Array, controller: TransformStreamDefaultController<Uint8Array>) {
      await on.until()
      const text = `${last}${Buffer.from(chunk).toString('latin1')}`
      if (/[\r\n]id: ?[^\r\n ]/.test(text)) on.resumed()
      const end = text.search(/\r?\n\r?\n/)
      bytes = end < 0 ? bytes + chunk.length : chunk.length
      if (bytes > MAX_LINE_BYTES) throw new Error(`a message is larger than ${MAX_LINE_BYTES} bytes`)
      last = text.slice(-5)
      controller.enqueue(chunk)
    },
  }
}

/** The id of a request. Undefined for a notification or a reply. */
function requestIn(body: RequestInit['body']): RpcId | undefined {
  if (typeof body !== 'string') return undefined
  const { id, method } = JSON.parse(body) as { readonly id?: RpcId; readonly method?: Json }
  return method === undefined ? undefined : id
}
