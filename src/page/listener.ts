// The two loopback addresses of the page. It has both or neither: whoever has the other one could pose as the page.

import { createServer, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'

export interface Listening {
  readonly port: number
  /** Somebody with the cookie uses this connection, so it is not closed for others. */
  keep(socket: Socket): void
  close(): Promise<void>
}

export class PortTaken extends Error {
  override readonly name = 'PortTaken'
}

const IPV4 = '127.0.0.1'
const IPV6 = '::1'
/** Codes of a machine without IPv6. */
const NO_IPV6: readonly unknown[] = ['EADDRNOTAVAIL', 'EAFNOSUPPORT']

const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5000,
  // How often Node looks for connections that are over time.
  connectionsCheckingInterval: 2000,
}
const MOST_CONNECTIONS = 64
/** Of somebody who has not shown the cookie yet: anybody on this machine. */
const MOST_STRANGERS = 32

/** Rejects with PortTaken if another program has the port, on either address. Port 0 is any free one. */
export async function listen(port: number, listener: RequestListener): Promise<Listening> {
  const strangers = new Strangers()
  const four = serverFor(listener, strangers)
  const given = await bound(four, IPV4, port)
  const six = serverFor(listener, strangers)
  try {
    await bound(six, IPV6, given)
  } catch (error) {
    if (!NO_IPV6.includes((error as NodeJS.ErrnoException).code)) {
      await closed(four)
      throw error
    }
  }
  return {
    port: given,
    keep: (socket) => strangers.remove(socket),
    close: async () => void (await Promise.all([closed(four), closed(six)])),
  }
}

/** Connections that another user may hold open. The oldest makes room for the next, so they never take all of them. */
class Strangers {
  readonly #open = new Set<Socket>()

  add(socket: Socket): void {
    this.#open.add(socket)
    socket.once('close', () => this.remove(socket))
    const [oldest] = this.#open
    if (!oldest || this.#open.size <= MOST_STRANGERS) return
    this.remove(oldest)
    oldest.destroy()
  }

  remove(socket: Socket): void {
    this.#open.delete(socket)
  }
}

function serverFor(listener: RequestListener, strangers: Strangers): Server {
  const server = createServer(LIMITS, listener)
  server.maxConnections = MOST_CONNECTIONS
  server.on('connection', (socket) => strangers.add(socket))
  server.on('clientError', (_, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
    else socket.destroy()
  })
  return server
}

function bound(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new PortTaken(`${host}:${port}`, { cause: error }) : error),
    )
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address ? address.port : port)
    })
  })
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
