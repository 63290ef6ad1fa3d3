// The gateway, as a person speaks to it: with their own key, from any machine.

import { textOf } from '../../core/base/errors.js'
import type { KeyPair } from '../../files/ed25519.js'
import { readMembership } from '../../files/fleet/marker.js'
import { GatewayClient } from '../../fleet/machine/gateway-client.js'
import type { FleetQuestion, QuestionsAnswer } from '../../fleet/protocol.js'
import { readPending } from '../../store/approvals/stored-question.js'
import { Refusal, usage } from '../refusal.js'
import { asked, type Given } from './action.js'
import { certificates, gatewayUrl } from './gateway-address.js'
import { personKeyIn } from './person-key.js'

export async function withPerson<T>(
  options: Given['options'],
  work: (client: GatewayClient, key: KeyPair) => Promise<T>,
): Promise<T> {
  const key = personKeyIn(options.key)
  const gateway = gatewayOf(options)
  const client = new GatewayClient({ ...gateway, sender: { key } })
  try {
    return await asked(() => work(client, key), gateway)
  } finally {
    client.close()
  }
}

function gatewayOf({ gateway, ca }: Given['options']): { readonly url: string; readonly ca?: string } {
  if (gateway !== undefined) {
    return { url: gatewayUrl(gateway), ...(ca !== undefined && { ca: certificates(ca) }) }
  }
  const known = readMembership()
  if (known) return { url: known.url, ...(known.ca !== undefined && { ca: known.ca }) }
  throw usage('Which gateway? This machine is in no fleet: give --gateway URL')
}

export interface ReadQuestions extends QuestionsAnswer {
  /** Why others that the gateway sent cannot be used. */
  readonly unusable: readonly string[]
}

/** The open questions, or the one with this id, which must be usable: it must show the call that would be signed. */
export async function questionsAt(client: GatewayClient, id?: string): Promise<ReadQuestions> {
  const query = id === undefined ? '' : `id=${encodeURIComponent(id)}`
  const { questions, ...rest } = await client.ask<QuestionsAnswer>('questions', { query })
  const read = questions.map(readQuestion)
  const unusable = read.filter((one) => typeof one === 'string')
  if (id !== undefined && unusable[0] !== undefined) throw new Refusal('FLEET_UNUSABLE', unusable[0])
  return { ...rest, questions: read.filter((one) => typeof one !== 'string'), unusable }
}

function readQuestion(one: FleetQuestion): FleetQuestion | string {
  try {
    const pending = readPending(one.pending, 'the question')
    if (pending.id === one.id) return { ...one, pending }
    throw new Error(`is another one, ${pending.id}`)
  } catch (error) {
    return `The question ${one.id} that the gateway sent ${textOf(error)}`
  }
}
