// A request to the gateway after its sender is known, and reading it.

import { textOf } from '../../core/base/errors.js'
import type { Reader } from '../../files/fields.js'
import type { Database } from '../database/connection.js'
import { GatewayRefusal } from './refusal.js'

export interface GatewayRequest {
  readonly database: Database
  /** The machine that signed it; empty for a route without a signature. */
  readonly machine: string
  readonly query: URLSearchParams
  readonly body: Buffer
}

/** Returns what is answered as JSON. Throws a GatewayRefusal for what the sender did wrong. */
export type Handler = (request: GatewayRequest) => Promise<object>

/** Reads a body of JSON. Throws INVALID with what is wrong. */
export function read<T>({ body }: GatewayRequest, reader: Reader<T>): T {
  try {
    return reader(JSON.parse(body.toString('utf8')), 'the request')
  } catch (error) {
    throw new GatewayRefusal('INVALID', `The request ${textOf(error)}`)
  }
}
