// The machine's side of the connection to its gateway: signed requests over TLS, one after another on one connection.

import { Agent, type ClientRequest, request as plainRequest } from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import { textOf } from '../../core/base/errors.js'
import { isObject } from '../../core/base/json.js'
import { GatewayRefusal } from '../gateway-refusal.js'
import { REFUSED, type RefusedCode, ROUTES, type RouteName } from '../protocol.js'
import { type Sender, SIGNATURE_HEADER, signedHeader } from '../signed-request.js'

export interface GatewayClientOptions {
  readonly url: string
  readonly ca?: string
  /** Absent before the machine has joined. */
  readonly sender?: Sender
  /** Milliseconds since 1970. Default: the clock of this machine. */
  readonly now?: () => number
}

/** The gateway was not reached, or cannot answer now: later it may. */
export class Unreachable extends Error {
  override readonly name: string = 'Unreachable'
}

/** The gateway was reached, and cannot do this now. It may still do something else. */
export class Unavailable extends Unreachable {
  override readonly name = 'Unavailable'
}

const TIMEOUT_MS = 30_000
/** A gateway that somebody has taken must not get requests that are signed for a later day. */
const MOST_OFF_MS = 3_600_000
/** A bundle of a policy is the longest answer. */
const MOST_BYTES = 16 * 1024 * 1024

interface Answer {
  readonly status: number
  readonly body: Buffer
}

interface Exchange {
  readonly path: string
  readonly method: string
  readonly body: Buffer
  readonly signature: string | undefined
  readonly signal: AbortSignal | undefined
}

export class GatewayClient {
  readonly #options: GatewayClientOptions
  readonly #agent: Agent
  /** How far the clock of the gateway is ahead of ours. */
  #aheadMs = 0

  constructor(options: GatewayClientOptions) {
    this.#options = options
    const { url, ca } = options
    const keep = { keepAlive: true, maxSockets: 1 }
    this.#agent = url.startsWith('https:')
      ? // Whatever the environment of an agent says: without this check, anybody could be the gateway.
        new SecureAgent({ ...keep, rejectUnauthorized: true, ...(ca !== undefined && { ca }) })
      : new Agent(keep)
  }

  /** Throws Unreachable or GatewayRefusal. `query` is added to the path; a body that is no Buffer is sent as JSON. */
  async ask<T>(
    name: RouteName,
    { query = '', body, signal }: { query?: string; body?: Buffer | object; signal?: AbortSignal } = {},
  ): Promise<T> {
    const bytes =
      body === undefined ? Buffer.alloc(0) : Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
    try {
      return await this.#ask<T>(name, query, bytes, signal)
    } catch (error) {
      // Our clock is wrong. The gateway, which TLS has shown to be ours, says the time.
      if (!(error instanceof GatewayRefusal) || error.time === undefined) throw error
      this.#aheadMs = correction(error.time, this.#now())
      return this.#ask<T>(name, query, bytes, signal)
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  #now(): number {
    return (this.#options.now ?? Date.now)()
  }

  async #ask<T>(name: RouteName, query: string, body: Buffer, signal?: AbortSignal): Promise<T> {
    const { method, path: route, signed } = ROUTES[name]
    const { url, sender } = this.#options
    const base = url.endsWith('/') ? url.slice(0, -1) : url
    const address = new URL(`${base}${route}${query && `?${query}`}`)
    const path = `${address.pathname}${address.search}`
    if (signed && !sender) throw new Error('this machine has not joined')
    const signature =
      signed && sender
        ? signedHeader(
            { method, path: `${route}${query && `?${query}`}`, body },
            sender,
            Math.round(this.#now() + this.#aheadMs),
          )
        : undefined
    const answer = await this.#exchange(address, { path, method, body, signature, signal })
    const document = parsed(answer)
    if (answer.status === 200) return document as T
    throw refusalOf(document, answer.status)
  }

  async #exchange(address: URL, { path, method, body, signature, signal }: Exchange): Promise<Answer> {
    const make = address.protocol === 'https:' ? secureRequest : plainRequest
    const request = make({
      ...{ hostname: address.hostname.replace(/^\[|\]$/g, ''), port: address.port, path, method },
      agent: this.#agent,
      signal: signal
        ? AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
        : AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        ...{ 'content-type': 'application/octet-stream', 'content-length': body.length },
        ...(signature !== undefined && { [SIGNATURE_HEADER]: signature }),
      },
    })
    try {
      return await answerTo(request, body)
    } catch (error) {
      throw new Unreachable(`the gateway ${address.origin} cannot be reached: ${textOf(error)}`, {
        cause: error,
      })
    }
  }
}

/** How far the gateway is ahead. Throws if that is too much. */
function correction(theirs: number, ours: number): number {
  const ahead = theirs - ours
  if (Math.abs(ahead) <= MOST_OFF_MS) return ahead
  throw new GatewayRefusal(
    'CLOCK',
    `the clocks of this machine and of its gateway differ by more than ${MOST_OFF_MS / 60_000} minutes; set the one that is wrong`,
  )
}

function answerTo(request: ClientRequest, body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (response) => {
      const parts: Buffer[] = []
      let length = 0
      response.on('data', (part: Buffer) => {
        length += part.length
        if (length > MOST_BYTES) request.destroy(new Error('its answer is too long'))
        else parts.push(part)
      })
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts) }))
    })
    request.end(body)
  })
}

function parsed({ status, body }: Answer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    throw new Unreachable(`the answer (status ${status}) is not one of a gateway; check its address`)
  }
}

function refusalOf(document: unknown, status: number): Error {
  const error = isObject(document) && isObject(document.error) ? document.error : {}
  const { code, message, time } = error
  if (typeof code !== 'string' || !Object.hasOwn(REFUSED, code))
    return new Unreachable(`the answer (status ${status}) is not one of a gateway; check its address`)
  if (code === 'UNAVAILABLE') return new Unavailable(String(message))
  return new GatewayRefusal(code as RefusedCode, String(message), typeof time === 'number' ? time : undefined)
}
