// A request to the gateway after its sender is known, and reading it.

import { textOf } from '../../core/base/errors.js'
import { shown } from '../../core/base/text.js'
import type { Reader } from '../../files/fields.js'
import type { Person } from '../../files/fleet/people.js'
import type { Database } from '../database/connection.js'
import { GatewayRefusal } from '../gateway-refusal.js'
import { isStorable } from '../protocol.js'
import type { Bells } from './bells.js'
import type { Bundles } from './bundles.js'

export interface GatewayRequest {
  readonly database: Database
  /** The machine that signed it; empty for a route without a signature. */
  readonly machine: string
  /** The person who signed it, for a route of people. */
  readonly person?: Person
  /** Everybody on the list, for a route of people. */
  readonly people?: readonly Person[]
  readonly bells: Bells
  readonly bundles: Bundles
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

/** Reads a body of JSON, and forgets it. Throws INVALID with what is wrong, also for a text that the database could not keep. */
export function read<T>(request: GatewayRequest, reader: Reader<T>): T {
  const json = request.body.toString('utf8')
  request.body = NOTHING
  return readJson(json, (value, where) => {
    if (ODD_ESCAPE.test(json)) JSON.parse(json, storable)
    return reader(value, where)
  })
}

/** Nothing else in JSON makes such a text. */
const ODD_ESCAPE = /\\u(?:0000|d[89a-f])/i

function storable(key: string, value: unknown): unknown {
  if (isStorable(key) && (typeof value !== 'string' || isStorable(value))) return value
  throw new Error(`is not valid: ${shown(key)} has a NUL or half a character, which no database keeps`)
}

const NOTHING = Buffer.alloc(0)

export function readJson<T>(body: string, reader: Reader<T>): T {
  try {
    return reader(JSON.parse(body), 'the request')
  } catch (error) {
    throw new GatewayRefusal('INVALID', `The request ${textOf(error)}`)
  }
}
