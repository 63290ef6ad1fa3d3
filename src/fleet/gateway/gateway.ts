// The gateway between machines and the database: reads a request, checks who sent it, and answers. It keeps no state.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { textOf } from '../../core/base/errors.js'
import type { Database } from '../database/connection.js'
import { ROUTES, type Route, type RouteName } from '../protocol.js'
import { type Asked, CLOCK_MS, claimIn, isSigned, SIGNATURE_HEADER } from '../signed-request.js'
import { append, evidence, heads } from './audit.js'
import { join, leave, self } from './membership.js'
import { people } from './people.js'
import { GatewayRefusal } from './refusal.js'
import type { Handler } from './request.js'

/** What the gateway does for each route. */
const HANDLERS: Readonly<Record<RouteName, Handler>> = {
  join,
  leave,
  machine: self,
  people,
  heads,
  append,
  evidence,
}

export interface GatewayOptions {
  readonly database: Database
  /** Milliseconds since 1970. Default: the clock of this machine. */
  readonly now?: () => number
  /** Told what could not be done because of this side: a database that does not answer, a bug. */
  readonly onTrouble?: (text: string) => void
}

export function gateway({ database, now = Date.now, onTrouble = () => {} }: GatewayOptions): RequestListener {
  return (request, response) => {
    void answered(request, database, now)
      .catch((error: unknown) => {
        const refusal = refusalOf(error)
        if (refusal.code === 'UNAVAILABLE') onTrouble(`${request.method} ${request.url}: ${textOf(error)}`)
        return { status: refusal.status, document: refusal.document }
      })
      .then(({ status, document }) => send(response, status, document))
      .catch((error: unknown) => onTrouble(textOf(error)))
  }
}

async function answered(
  request: IncomingMessage,
  database: Database,
  now: () => number,
): Promise<{ readonly status: number; readonly document: unknown }> {
  const { method = '', url: path = '' } = request
  const url = new URL(path, 'http://gateway')
  const name = routeOf(method, url.pathname)
  const route: Route = ROUTES[name]
  const asked = { method, path, body: await bodyOf(request, route.most) }
  const machine = route.signed ? await senderOf(asked, request, database, now) : ''
  const document = await HANDLERS[name]({ database, machine, query: url.searchParams, body: asked.body })
  return { status: 200, document }
}

function routeOf(method: string, path: string): RouteName {
  const found = (Object.keys(ROUTES) as RouteName[]).find((name) => {
    return ROUTES[name].path === path && ROUTES[name].method === method
  })
  if (found) return found
  throw new GatewayRefusal('UNKNOWN_ROUTE', 'There is no such route; update the older of the two sides')
}

/** Throws unless the request has the signature of a machine of this fleet. */
async function senderOf(
  asked: Asked,
  { headers }: IncomingMessage,
  database: Database,
  now: () => number,
): Promise<string> {
  const claim = claimIn(headers[SIGNATURE_HEADER])
  if (!claim) throw new GatewayRefusal('UNSIGNED', 'The request has no signature of a machine')
  const [row] = await database.rows<{ key: Buffer; retired: Date | null }>(
    'select key, retired from fleet.machine where org = fleet.own_org() and machine = $1',
    [claim.machine],
  )
  if (!row || !isSigned(asked, claim, row.key))
    throw new GatewayRefusal('UNKNOWN_MACHINE', 'The signature is not one of a machine of this fleet')
  if (row.retired) throw new GatewayRefusal('UNKNOWN_MACHINE', 'This machine has left the fleet')
  // After the signature: only a machine of the fleet learns the time to sign for.
  const time = now()
  if (Math.abs(time - claim.time) > CLOCK_MS)
    throw new GatewayRefusal('CLOCK', 'The clock of the machine is wrong', time)
  return claim.machine
}

async function bodyOf(request: IncomingMessage, most: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length
    if (length > most) throw new GatewayRefusal('TOO_LARGE', `The request is larger than ${most} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** What nobody expected is not told to the machine: it may name things of the database. */
function refusalOf(error: unknown): GatewayRefusal {
  return error instanceof GatewayRefusal
    ? error
    : new GatewayRefusal('UNAVAILABLE', 'The gateway cannot do this now; ask again later')
}

function send(response: ServerResponse, status: number, document: unknown): void {
  if (response.destroyed) return
  const body = JSON.stringify(document)
  // The rest of a request that is too large is not read.
  const close = status === 413 ? { connection: 'close' } : {}
  response.writeHead(status, {
    ...{ 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    ...{ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
    ...close,
  })
  response.end(body)
}
