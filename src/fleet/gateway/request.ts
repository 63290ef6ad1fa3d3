// A request to the gateway after its sender is known, and reading it.

import { textOf } from '../../core/base/errors.js'
import type { Reader } from '../../files/fields.js'
import type { Person } from '../../store/people.js'
import type { Database } from '../database/connection.js'
import type { Bells } from './bells.js'
import { GatewayRefusal } from './refusal.js'

export interface GatewayRequest {
  readonly database: Database
  /** The machine that signed it; empty for a route without a signature. */
  readonly machine: string
  /** The person who signed it, for a route of people. */
  readonly person?: Person
  /** Everybody on the list, for a route of people. */
  readonly people?: readonly Person[]
  readonly bells: Bells
  /** Aborted when the sender has gone, or the gateway stops. */
  readonly gone: AbortSignal
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly query: URLSearchParams
  /** Empty once it was read as JSON: a request that waits must not keep it. */
  body: Buffer
}

/** Returns what is answered as JSON. Throws a GatewayRefusal for what the sender did wrong. */
export type Handler = (request: GatewayRequest) => Promise<object>

/** Reads a body of JSON. Throws INVALID with what is wrong. */
export function read<T>(request: GatewayRequest, reader: Reader<T>): T {
  const text = request.body.toString('utf8')
  request.body = NOTHING
  return readJson(text, reader)
}

const NOTHING = Buffer.alloc(0)

export function readJson<T>(body: string, reader: Reader<T>): T {
  try {
    return reader(JSON.parse(body), 'the request')
  } catch (error) {
    throw new GatewayRefusal('INVALID', `The request ${textOf(error)}`)
  }
}
