// Counts with all machines of the fleet, through its gateway. Everything else of the fleet is loaded when something is counted.

import type { Counted, Counters, SharedCounting } from '../../core/hooks/count.js'
import { type FleetPlace, fleetPlace } from '../../files/fleet-places.js'
import type { CountAnswer } from '../protocol.js'
import type { GatewayClient } from './gateway-client.js'
import type { Member } from './membership.js'

/** A tool call waits for it. */
const DEADLINE_MS = 2000

export interface FleetCountersOptions {
  /** Where this machine's membership is. Default: the place that counts at that moment. */
  readonly place?: () => FleetPlace | undefined
  /** Default 2000. */
  readonly deadlineMs?: number
}

export class FleetCounters implements Counters {
  readonly #place: () => FleetPlace | undefined
  readonly #deadlineMs: number
  #known: { readonly member: Member; readonly client: GatewayClient } | undefined

  constructor({ place = () => fleetPlace(), deadlineMs = DEADLINE_MS }: FleetCountersOptions = {}) {
    this.#place = place
    this.#deadlineMs = deadlineMs
  }

  async count({ key, id, most, add }: SharedCounting): Promise<Counted> {
    const place = this.#place()
    if (!place) return { problem: 'this machine is in no fleet' }
    const signal = AbortSignal.timeout(this.#deadlineMs)
    const client = await this.#clientAt(place)
    const body = { key, id, add, ...(most < Number.POSITIVE_INFINITY && { most }) }
    try {
      return countedBy(await askedTwice(() => client.ask<CountAnswer>('count', { body, signal }), signal))
    } catch (error) {
      if (!signal.aborted) throw error
      throw new Error(`the gateway did not answer within ${this.#deadlineMs / 1000} s`, { cause: error })
    }
  }

  async #clientAt(place: FleetPlace): Promise<GatewayClient> {
    const { readMember } = await import('./membership.js')
    const member = readMember(place)
    if (!member) throw new Error('this machine is in no fleet')
    if (this.#known?.member.machine !== member.machine || this.#known.member.url !== member.url) {
      const { clientOf } = await import('./joining.js')
      this.#known?.client.close()
      this.#known = { member, client: clientOf(member) }
    }
    return this.#known.client
  }
}

/** A connection that was kept may be gone. The same request counts once, so it may be sent again. */
async function askedTwice<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    const { GatewayRefusal } = await import('../gateway-refusal.js')
    if (signal.aborted || error instanceof GatewayRefusal) throw error
    return ask()
  }
}

function countedBy(answer: CountAnswer | null): Counted {
  switch (answer?.status) {
    case 'counted':
      return { isReached: false }
    case 'reached':
      return { isReached: true }
    case 'full':
      return { problem: 'this machine counts too much already' }
    default:
      return { problem: 'the answer is not one of a gateway' }
  }
}
