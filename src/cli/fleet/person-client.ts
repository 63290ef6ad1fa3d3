// The gateway, as a person speaks to it: with their own key, from any machine.

import { readFileSync } from 'node:fs'
import { textOf } from '../../core/base/errors.js'
import { callerPath } from '../../files/caller.js'
import type { KeyPair } from '../../files/ed25519.js'
import { readMembership } from '../../files/fleet-marker.js'
import { GatewayClient } from '../../fleet/machine/gateway-client.js'
import { isLoopback, type QuestionsAnswer } from '../../fleet/protocol.js'
import { readPending } from '../../store/approvals/stored-question.js'
import { Refusal, usage } from '../refusal.js'
import { asked, type Given } from './action.js'
import { personKeyIn } from './person-key.js'

export async function withPerson<T>(
  options: Given['options'],
  work: (client: GatewayClient, key: KeyPair) => Promise<T>,
): Promise<T> {
  const key = personKeyIn(options.key)
  const client = new GatewayClient({ ...gatewayOf(options), sender: { key } })
  try {
    return await asked(() => work(client, key))
  } finally {
    client.close()
  }
}

function gatewayOf({ gateway, ca }: Given['options']): { readonly url: string; readonly ca?: string } {
  if (gateway !== undefined) {
    const url = URL.canParse(gateway) ? new URL(gateway) : undefined
    if (url?.protocol !== 'https:' && !(url?.protocol === 'http:' && isLoopback(url.hostname)))
      throw usage(
        `--gateway must be the address of a gateway, got ${JSON.stringify(gateway)}`,
        'It begins with https://; only on this machine itself http:// will do.',
      )
    return { url: url.href.replace(/\/$/, ''), ...(ca !== undefined && { ca: certificates(ca) }) }
  }
  const known = readMembership()
  if (known) return { url: known.url, ...(known.ca !== undefined && { ca: known.ca }) }
  throw usage('Which gateway? This machine is in no fleet: give --gateway URL')
}

function certificates(file: string): string {
  try {
    return readFileSync(callerPath(file), 'utf8')
  } catch (error) {
    throw usage(`--ca cannot be read: ${textOf(error)}`)
  }
}

/** The open questions, or the one with this id. Throws if one of them shows another call than the one that would be signed. */
export async function questionsAt(client: GatewayClient, id?: string): Promise<QuestionsAnswer> {
  const query = id === undefined ? '' : `id=${encodeURIComponent(id)}`
  const { questions, hidden } = await client.ask<QuestionsAnswer>('questions', { query })
  try {
    const read = questions.map((one) => ({
      ...one,
      pending: readPending(one.pending, `the question ${one.id}`),
    }))
    return { questions: read, hidden }
  } catch (error) {
    throw new Refusal('FLEET_UNUSABLE', `The gateway sent a question that cannot be used: ${textOf(error)}`)
  }
}
