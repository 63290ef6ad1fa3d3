// The gateway between machines and the database: reads a request, checks who sent it, and answers. What it keeps, another copy can do without.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { textOf } from '../../core/base/errors.js'
import { type Database, isDataException } from '../database/connection.js'
import { GatewayRefusal } from '../gateway-refusal.js'
import { ROUTES, type Route, type RouteName } from '../protocol.js'
import { type Asked, CLOCK_MS, type Claim, claimIn, isSigned, SIGNATURE_HEADER } from '../signed-request.js'
import { answer, ask, peopleOf, personWith, questions, settleQuestions, sync } from './approvals.js'
import { append, evidence, heads } from './audit.js'
import { Bells } from './bells.js'
import { Bundles } from './bundles.js'
import { count } from './counters.js'
import { join, leave, people, report, self } from './membership.js'
import { bundle, policy } from './policy.js'
import type { GatewayRequest, Handler } from './request.js'

/** What the gateway does for each route. */
const HANDLERS: Readonly<Record<RouteName, Handler>> = {
  join,
  leave,
  machine: self,
  report,
  people,
  policy,
  bundle,
  heads,
  append,
  evidence,
  ask,
  sync,
  settle: settleQuestions,
  questions,
  answer,
  count,
}

export interface GatewayOptions {
  readonly database: Database
  /** Milliseconds since 1970. Default: the clock of this machine. */
  readonly now?: () => number
  /** Wakes requests that wait. Without one that listens, they look when their time is up. */
  readonly bells?: Bells
  /** Told what could not be done because of this side: a database that does not answer, a bug. */
  readonly onTrouble?: (text: string) => void
}

export function gateway({
  database,
  now = Date.now,
  bells = new Bells(),
  onTrouble = () => {},
}: GatewayOptions): RequestListener {
  const reading = new Reading()
  const bundles = new Bundles(database)
  return (request, response) => {
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    void answered(request, { database, now, bells, bundles, reading, gone: gone.signal })
      .catch((error: unknown) => {
        const refusal = refusalOf(error)
        if (refusal.code === 'UNAVAILABLE') onTrouble(`${request.method} ${request.url}: ${textOf(error)}`)
        return { status: refusal.status, document: refusal.document }
      })
      .then((answer) => send(request, response, answer))
      .catch((error: unknown) => onTrouble(textOf(error)))
  }
}

type Around = Pick<GatewayRequest, 'database' | 'bells' | 'bundles' | 'gone'> & {
  readonly now: () => number
  readonly reading: Reading
}

interface Answer {
  readonly status: number
  readonly document: unknown
}

async function answered(request: IncomingMessage, around: Around): Promise<Answer> {
  const url = urlOf(request.url ?? '')
  const name = routeOf(request.method ?? '', url?.pathname)
  const query = url?.searchParams ?? new URLSearchParams()
  const document = await HANDLERS[name](await received(request, ROUTES[name], query, around))
  return { status: 200, document }
}

/** The whole request, after its signature was checked. Nothing but what is returned keeps its body. */
async function received(
  request: IncomingMessage,
  route: Route,
  query: URLSearchParams,
  { now, reading, ...around }: Around,
): Promise<GatewayRequest> {
  const { method = '', url: path = '' } = request
  // The sender first: only somebody of the fleet may send much.
  const claimed = route.signed ? await claimedSender(request, route, around.database) : undefined
  const who = claimed?.claim.person ?? claimed?.claim.machine ?? ''
  const body = await bodyOf(request, route.most, reading.of(who))
  const sender = claimed ? checkedSender({ method, path, body }, claimed, now) : { machine: '' }
  return { ...around, ...sender, now, query, body }
}

/** Undefined for whatever a machine does not ask for. Without a path before it, `//` begins with a host. */
function urlOf(path: string): URL | undefined {
  return path.startsWith('/') && URL.canParse(`http://gateway${path}`)
    ? new URL(`http://gateway${path}`)
    : undefined
}

function routeOf(method: string, path: string | undefined): RouteName {
  const found = (Object.keys(ROUTES) as RouteName[]).find((name) => {
    return ROUTES[name].path === path && ROUTES[name].method === method
  })
  if (found) return found
  if (method === 'GET' && path === '/')
    throw new GatewayRefusal(
      'UNKNOWN_ROUTE',
      'This gateway serves no page for people: carabiner fleet serve --page ORIGIN serves one',
    )
  throw new GatewayRefusal('UNKNOWN_ROUTE', 'There is no such route; update the older of the two sides')
}

/** Who the request says to be from, before it is read. */
interface ClaimedSender {
  readonly claim: Claim
  readonly key: Buffer
  readonly sender: Pick<GatewayRequest, 'machine' | 'person' | 'people'>
  readonly isRetired: boolean
}

/** Throws if the fleet has no such machine, or no such person for a route of theirs. */
async function claimedSender(
  { headers }: IncomingMessage,
  { person: isForPeople }: Route,
  database: Database,
): Promise<ClaimedSender> {
  const claim = claimIn(headers[SIGNATURE_HEADER])
  if (!claim || (isForPeople === true) !== (claim.person !== undefined))
    throw new GatewayRefusal(
      'UNSIGNED',
      `The request has no signature of a ${isForPeople ? 'person' : 'machine'}`,
    )
  return claim.person === undefined
    ? claimedMachine(claim, database)
    : claimedPerson(claim, claim.person, database)
}

async function claimedMachine(claim: Claim, database: Database): Promise<ClaimedSender> {
  const { machine } = claim
  const [row] = await database.prepared<{ key: Buffer; retired: Date | null }>(
    'select key, retired from fleet.machine where org = fleet.own_org() and machine = $1',
    [machine],
  )
  if (!row) throw stranger({ machine })
  return { claim, key: row.key, sender: { machine }, isRetired: row.retired !== null }
}

async function claimedPerson(claim: Claim, key: string, database: Database): Promise<ClaimedSender> {
  const people = await peopleOf(database)
  const person = personWith(people, key)
  if (!person) throw new GatewayRefusal('UNKNOWN_PERSON', UNKNOWN_PERSON)
  return {
    claim,
    key: Buffer.from(key, 'base64url'),
    sender: { machine: '', person, people },
    isRetired: false,
  }
}

const UNKNOWN_PERSON = 'The signature is not one of a person on the list of this fleet'

function stranger({ person }: ClaimedSender['sender']): GatewayRefusal {
  return person
    ? new GatewayRefusal('UNKNOWN_PERSON', UNKNOWN_PERSON)
    : new GatewayRefusal('UNKNOWN_MACHINE', 'The signature is not one of a machine of this fleet')
}

/** Throws unless the request has the signature of that sender. */
function checkedSender(
  asked: Asked,
  { claim, key, sender, isRetired }: ClaimedSender,
  now: () => number,
): ClaimedSender['sender'] {
  if (!isSigned(asked, claim, key)) throw stranger(sender)
  if (isRetired) throw new GatewayRefusal('UNKNOWN_MACHINE', 'This machine has left the fleet')
  // After the signature: only somebody of the fleet learns the time to sign for.
  const time = now()
  if (Math.abs(time - claim.time) > CLOCK_MS)
    throw new GatewayRefusal('CLOCK', 'The clock of the machine is wrong', time)
  return sender
}

async function bodyOf(request: IncomingMessage, most: number, room: Room): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  try {
    for await (const part of request as AsyncIterable<Buffer>) {
      length += part.length
      room.take(part.length)
      if (length > most) throw new GatewayRefusal('TOO_LARGE', `The request is larger than ${most} bytes`)
      parts.push(part)
    }
    return Buffer.concat(parts)
  } finally {
    room.take(-length)
  }
}

/** Enough for the longest records of several users at once. */
const MOST_READING = 4 * ROUTES.append.most

interface Room {
  take(bytes: number): void
}

/**
 * What is held of requests that are not complete, by the sender that they name. Only the whole request shows whether it is
 * really from that sender, so whoever knows a name could let the gateway hold any number of them.
 */
class Reading {
  readonly #bytes = new Map<string, number>()

  of(who: string): Room {
    return {
      take: (bytes) => {
        const held = (this.#bytes.get(who) ?? 0) + bytes
        if (held > 0) this.#bytes.set(who, held)
        else this.#bytes.delete(who)
        if (bytes > 0 && held > MOST_READING)
          throw new GatewayRefusal('UNAVAILABLE', 'Too much is sent in this name at once; ask again later')
      },
    }
  }
}

/** What nobody expected is not told to the machine: it may name things of the database. */
function refusalOf(error: unknown): GatewayRefusal {
  if (error instanceof GatewayRefusal) return error
  // A number or a text that PostgreSQL does not take, now or later.
  if (isDataException(error))
    return new GatewayRefusal('INVALID', 'The request has a value that the database does not take')
  return new GatewayRefusal('UNAVAILABLE', 'The gateway cannot do this now; ask again later')
}

function send(request: IncomingMessage, response: ServerResponse, { status, document }: Answer): void {
  if (response.destroyed) return
  const body = JSON.stringify(document)
  // The rest of a request that is refused early is not read.
  const close = request.complete ? {} : { connection: 'close' }
  response.writeHead(status, {
    ...{ 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    ...{ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
    ...close,
  })
  response.end(body)
}
