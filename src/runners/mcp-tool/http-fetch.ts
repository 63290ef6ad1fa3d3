// HttpFetch: fetch with bounds and an end. Its sockets are its own, so that nothing of them is left when it is closed.

import type { Agent, IncomingMessage } from 'node:http'
import { textOf } from '../../core/base/errors.js'
import { MOST_MESSAGE_BYTES } from './link.js'

const MOST_HEADER_BYTES = 64 * 1024
/** All that the library looks at. */
const HEADERS = ['content-type', 'mcp-session-id', 'location', 'www-authenticate'] as const
/** They have no body, or none that anybody reads. */
const BODILESS: ReadonlySet<number> = new Set([202, 204, 205, 304])

export class HttpFetch {
  #agent: Agent | undefined
  #closed = false

  /** `ended` is called when nothing more of the answer can come, with what went wrong. Redirects are not followed. */
  async request(target: string | URL, init: RequestInit, ended: (why?: string) => void): Promise<Response> {
    const url = new URL(target)
    // Here and not above: who has no server at an address need not load it.
    const { request, Agent } =
      url.protocol === 'https:' ? await import('node:https') : await import('node:http')
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
        // Whatever NODE_TLS_REJECT_UNAUTHORIZED says, as for hooks that are servers.
        ...(url.protocol === 'https:' && { rejectUnauthorized: true }),
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
    return responseOf(incoming)
  }

  /** Idle sockets and busy ones. */
  close(): void {
    this.#closed = true
    this.#agent?.destroy()
  }
}

function responseOf(incoming: IncomingMessage): Response {
  const { statusCode: status = 0, headers: given } = incoming
  const encoding = given['content-encoding'] ?? 'identity'
  if (status < 200 || status > 599 || encoding !== 'identity') {
    incoming.destroy()
    throw new Error(
      encoding === 'identity' ? `it answered with status ${status}` : 'it compressed its answer, unasked',
    )
  }
  const headers = new Headers()
  for (const name of HEADERS) {
    const value = given[name]
    if (typeof value === 'string') headers.set(name, value)
  }
  if (!BODILESS.has(status)) return new Response(boundedBody(incoming), { status, headers })
  incoming.resume()
  return new Response(null, { status, headers })
}

function boundedBody(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let left = MOST_MESSAGE_BYTES
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
        if (left < 0) finish(new Error(`it answered more than ${MOST_MESSAGE_BYTES} bytes`))
        else if (open) controller.enqueue(new Uint8Array(chunk))
      })
      incoming.on('end', () => finish())
      incoming.on('error', finish)
      incoming.on('close', () => finish(new Error('the connection was lost')))
    },
    cancel() {
      open = false
      incoming.destroy()
    },
  })
}
