// A visitor of the page that is no browser: sends exactly these bytes, and reads what comes back.

import { connect } from 'node:net'

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Sent {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly host?: string
}

const nameOf = (port: number) => `carabiner.localhost:${port}`

/** One request on a connection of its own. */
export async function visit(port: number, sent: Sent): Promise<Reply> {
  const { method = 'GET', path, headers = {}, body = '', host = nameOf(port) } = sent
  const all = {
    Host: host,
    Connection: 'close',
    ...(body !== '' && { 'Content-Length': String(body.length) }),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return replyIn(await exchange(port, `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`))
}

/** Sends these bytes, and reads until the other side closes. */
export function exchange(port: number, bytes: string, address = '127.0.0.1'): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: address })
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', (part) => {
      text += part
    })
    socket.on('error', (error: NodeJS.ErrnoException) =>
      // The server may close before it has read a body that it does not want.
      error.code === 'ECONNRESET' || error.code === 'EPIPE' ? resolve(text) : reject(error),
    )
    socket.on('close', () => resolve(text))
    socket.write(bytes)
  })
}

export function replyIn(text: string): Reply {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const headers = lines.map((line) => {
    const at = line.indexOf(':')
    return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()] as const
  })
  return {
    status: Number(first.split(' ')[1]),
    headers: Object.fromEntries(headers),
    body: rest.join('\r\n\r\n'),
  }
}

/** Goes in through the link. Returns the path of the page, and the cookie as a browser sends it. */
export async function enter(port: number, link: string): Promise<{ base: string; cookie: string }> {
  const { pathname, search } = new URL(link)
  const { status, headers } = await visit(port, { path: `${pathname}${search}` })
  const [, cookie = '', base = ''] = /^([^;]+);.*Path=([^;]+)$/.exec(headers['set-cookie'] ?? '') ?? []
  if (status !== 200 || cookie === '') throw new Error(`The link was refused: ${status}`)
  return { base, cookie }
}

/** Asks the page with the cookie, as its own tab does. */
export type Ask = (
  method: string,
  path: string,
  body?: object,
) => Promise<{ readonly status: number; readonly answer: never }>

export async function tabOf(page: {
  readonly port: number
  readonly origin: string
  link(): string
}): Promise<Ask> {
  const { base, cookie } = await enter(page.port, page.link())
  const headers = { Cookie: cookie, Origin: page.origin, 'Content-Type': 'application/json' }
  return async (method, path, body) => {
    const sent = { method, path: `${base}${path}`, headers, ...(body && { body: JSON.stringify(body) }) }
    const { status, body: text } = await visit(page.port, sent)
    return { status, answer: JSON.parse(text) as never }
  }
}

/** Reads server-sent events until there are rows with this number. */
export function readStream(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
  until: (text: string) => boolean,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' })
    let text = ''
    socket.setEncoding('utf8')
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
    socket.on('data', (part) => {
      text += part
      if (until(text)) socket.destroy()
    })
    const lines = Object.entries({ Host: nameOf(port), ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    )
    socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
  })
}
