// Decides whether a request is answered at all: from our own page in this browser, or from nobody.

import type { IncomingMessage } from 'node:http'
import type { Entrance } from './entrance.js'

export interface Refused {
  readonly status: number
  readonly text: string
}

export interface Gate {
  /** `carabiner.localhost:7810` */
  readonly authority: string
  readonly port: number
  readonly entrance: Entrance
}

export type Passed = { readonly refused: Refused } | { readonly url: URL; readonly enters?: true }

const NEW_LINK = 'Type carabiner open in a terminal: it shows a new link.'

/** Every request comes through here first. */
export function judged(request: IncomingMessage, gate: Gate): Passed {
  const { method, headers } = request
  const refuse = (status: number, text: string): Passed => ({ refused: { status, text } })
  // A web page that makes its own name point to this machine still sends that name.
  if (headers.host !== gate.authority || countOf(request, 'host') !== 1)
    return refuse(421, 'This server only answers to its own name.')
  const url = urlOf(request, gate)
  if (!url || headers.upgrade !== undefined) return refuse(400, 'This request is not valid.')
  if (method !== 'GET' && method !== 'POST') return refuse(405, 'Only GET and POST work here.')
  if (url.pathname === '/open')
    return method === 'GET' ? entered(request, url, gate) : refuse(405, 'Use GET.')
  if (!gate.entrance.knows(headers.cookie, gate.port) || !url.pathname.startsWith(gate.entrance.base))
    return refuse(401, `This page is private. ${NEW_LINK}`)
  if (!isOwnSite(headers['sec-fetch-site'])) return refuse(403, 'This request comes from another site.')
  if (headers.origin !== undefined && headers.origin !== `http://${gate.authority}`)
    return refuse(403, 'This request comes from another origin.')
  if (method === 'GET') return { url }
  // A form can send neither of them.
  if (headers.origin === undefined) return refuse(403, 'This request does not say where it comes from.')
  if (headers['content-type'] !== 'application/json') return refuse(403, 'Send application/json.')
  return { url }
}

/** The link is its own proof. Whatever looks at links ahead of people must not use it up. */
function entered({ headers }: IncomingMessage, url: URL, { entrance }: Gate): Passed {
  const ahead = `${headers['sec-purpose'] ?? ''} ${headers.purpose ?? ''} ${headers['x-moz'] ?? ''}`
  const isShown = headers['sec-fetch-dest'] === undefined || headers['sec-fetch-dest'] === 'document'
  if (/prefetch|preview|prerender/i.test(ahead) || !isShown)
    return { refused: { status: 403, text: 'Open this link in a tab of its own.' } }
  return entrance.enter(url.searchParams.get('t') ?? '')
    ? { url, enters: true }
    : { refused: { status: 403, text: `This link was used already, or is too old. ${NEW_LINK}` } }
}

/** Absent for programs that are no browser; `none` if a person typed the address. A page on another port is `same-site`. */
function isOwnSite(site: string | string[] | undefined): boolean {
  return site === undefined || site === 'same-origin' || site === 'none'
}

function urlOf({ url = '' }: IncomingMessage, { authority }: Gate): URL | undefined {
  return url.startsWith('/') && !url.startsWith('//') && URL.canParse(url, `http://${authority}`)
    ? new URL(url, `http://${authority}`)
    : undefined
}

/** Node only shows the first of several. */
function countOf({ rawHeaders }: IncomingMessage, name: string): number {
  return rawHeaders.filter((one, i) => i % 2 === 0 && one.toLowerCase() === name).length
}
