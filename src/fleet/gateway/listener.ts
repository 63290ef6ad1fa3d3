// The port of a gateway: TLS, or plain HTTP on the loopback, where a proxy or a test stands in front of it.

import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { isIP } from 'node:net'
import { isLoopback } from '../protocol.js'

export interface ListenOptions {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  readonly tls?: { readonly cert: string; readonly key: string }
}

export interface Listening {
  readonly url: string
  close(): Promise<void>
}

const LIMITS = { headersTimeout: 10_000, requestTimeout: 60_000, keepAliveTimeout: 75_000 }

/** Machines that wait for an answer of a person keep their connections. */
const MOST_CONNECTIONS = 10_000

/** Rejects if the port is taken, and for plain HTTP on an address that others can reach. */
export async function listen(
  { host, port, tls }: ListenOptions,
  listener: RequestListener,
): Promise<Listening> {
  if (!tls && !isLoopback(host))
    throw new Error(`without a certificate the gateway listens on the loopback only, not on ${host}`)
  const server: Server = tls
    ? createSecureServer({ ...LIMITS, ...tls }, listener)
    : createServer(LIMITS, listener)
  server.maxConnections = MOST_CONNECTIONS
  const given = await bound(server, host, port)
  const name = isIP(host) === 6 ? `[${host}]` : host
  return { url: `${tls ? 'https' : 'http'}://${name}:${given}`, close: () => closed(server) }
}

/** Whether a host is an address and no name. */
export function isNumeric(host: string): boolean {
  return isIP(host.replace(/^\[|\]$/g, '')) !== 0
}

function bound(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address ? address.port : port)
    })
  })
}

/** How long a request that has begun may take. Machines that wait for answers ask again elsewhere. */
const LAST_MS = 1000

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const rest = setTimeout(() => server.closeAllConnections(), LAST_MS)
    server.close(() => {
      clearTimeout(rest)
      resolve()
    })
    server.closeIdleConnections()
  })
}
