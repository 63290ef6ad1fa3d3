// The two loopback addresses of the page. It has both or neither: whoever has the other one could pose as the page.

import { createServer, type RequestListener, type Server } from 'node:http'

export interface Listening {
  readonly port: number
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

/** Rejects with PortTaken if another program has the port, on either address. Port 0 is any free one. */
export async function listen(port: number, listener: RequestListener): Promise<Listening> {
  const four = serverFor(listener)
  const given = await bound(four, IPV4, port)
  const six = serverFor(listener)
  try {
    await bound(six, IPV6, given)
  } catch (error) {
    if (!NO_IPV6.includes((error as NodeJS.ErrnoException).code)) {
      await closed(four)
      throw error
    }
  }
  return { port: given, close: async () => void (await Promise.all([closed(four), closed(six)])) }
}

function serverFor(listener: RequestListener): Server {
  const server = createServer(LIMITS, listener)
  server.maxConnections = MOST_CONNECTIONS
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
