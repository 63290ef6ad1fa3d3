// Decides whether a request is answered at all: from our own page in this browser, or from nobody.

import type { IncomingMessage } from 'node:http'
import type { Entrance } from './entrance.js'

export interface Refused {
  readonly status: number
  readonly text: string
}

export interface Gate {
  readonly origin: string
  readonly port: number
  readonly entrance: Entrance
}

export type Passed = { readonly refused: Refused } | { readonly url: URL; readonly enters?: true }

const NEW_LINK = 'Type carabiner open in a terminal: it shows a new link.'

/** Every request to the page of this machine comes through here first. */
export function judged(request: IncomingMessage, gate: Gate): Passed {
  const { method, headers } = request
  const addressed = addressedTo(request, gate.origin)
  if ('refused' in addressed) return addressed
  const { url } = addressed
  if (url.pathname === '/open')
    return method === 'GET' ? entered(request, url, gate) : refuse(405, 'Use GET.')
  if (!gate.entrance.knows(headers.cookie, gate.port) || !url.pathname.startsWith(gate.entrance.base))
    return refuse(401, `This page is private. ${NEW_LINK}`)
  const refused = foreignTo(request, gate.origin)
  return refused ? { refused } : { url }
}

/** Whether a request is meant for the page with this origin. It may come from anywhere. */
export function addressedTo(request: IncomingMessage, origin: string): Passed {
  const { method, headers } = request
  // A web page that makes its own name point to this machine still sends that name.
  if (headers.host !== new URL(origin).host || countOf(request, 'host') !== 1)
    return refuse(421, 'This server only answers to its own name.')
  const url = urlOf(request, origin)
  if (!url || headers.upgrade !== undefined) return refuse(400, 'This request is not valid.')
  if (method !== 'GET' && method !== 'POST') return refuse(405, 'Only GET and POST work here.')
  return { url }
}

/** Why a request does not come from the page with this origin. Undefined if it does. */
export function foreignTo({ method, headers }: IncomingMessage, origin: string): Refused | undefined {
  if (!isOwnSite(headers['sec-fetch-site']))
    return { status: 403, text: 'This request comes from another site.' }
  if (headers.origin !== undefined && headers.origin !== origin)
    return { status: 403, text: 'This request comes from another origin.' }
  if (method === 'GET') return undefined
  // A form can send neither of them.
  if (headers.origin === undefined)
    return { status: 403, text: 'This request does not say where it comes from.' }
  return headers['content-type'] === 'application/json'
    ? undefined
    : { status: 403, text: 'Send application/json.' }
}

function refuse(status: number, text: string): { readonly refused: Refused } {
  return { refused: { status, text } }
}

/** The link is its own proof. Whatever looks at links ahead of people must not use it up. */
function entered({ headers }: IncomingMessage, url: URL, { entrance }: Gate): Passed {
  const ahead = `${headers['sec-purpose'] ?? ''} ${headers.purpose ?? ''} ${headers['x-moz'] ?? ''}`
  const isShown = headers['sec-fetch-dest'] === undefined || headers['sec-fetch-dest'] === 'document'
  if (/prefetch|preview|prerender/i.test(ahead) || !isShown)
    return refuse(403, 'Open this link in a tab of its own.')
  return entrance.enter(url.searchParams.get('t') ?? '')
    ? { url, enters: true }
    : refuse(403, `This link was used already, or is too old. ${NEW_LINK}`)
}

/** Absent for programs that are no browser; `none` if a person typed the address. A page on another port is `same-site`. */
function isOwnSite(site: string | string[] | undefined): boolean {
  return site === undefined || site === 'same-origin' || site === 'none'
}

function urlOf({ url = '' }: IncomingMessage, origin: string): URL | undefined {
  return url.startsWith('/') && !url.startsWith('//') && URL.canParse(url, origin)
    ? new URL(url, origin)
    : undefined
}

/** Node only shows the first of several. */
function countOf({ rawHeaders }: IncomingMessage, name: string): number {
  return rawHeaders.filter((one, i) => i % 2 === 0 && one.toLowerCase() === name).length
}
