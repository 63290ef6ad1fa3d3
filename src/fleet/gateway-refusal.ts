// A request that the gateway does not do: how it is answered, and what whoever asked gets to know.

import { REFUSED, type Refused, type RefusedCode } from './protocol.js'

export class GatewayRefusal extends Error {
  override readonly name = 'GatewayRefusal'
  readonly code: RefusedCode
  /** The time of the gateway, for a machine whose clock is wrong. */
  readonly time: number | undefined

  constructor(code: RefusedCode, message: string, time?: number) {
    super(message)
    this.code = code
    this.time = time
  }

  get status(): number {
    return REFUSED[this.code]
  }

  get document(): Refused {
    const { code, message, time } = this
    return { error: { code, message, ...(time !== undefined && { time }) } }
  }
}
