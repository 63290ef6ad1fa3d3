// Joining a fleet with a token, and leaving it.

import { existsSync } from 'node:fs'
import { type KeyPair, newKeyPair, signatureOf } from '../../files/ed25519.js'
import type { FleetPlace } from '../../files/fleet-places.js'
import { discard } from '../../files/folder.js'
import { GatewayRefusal } from '../gateway-refusal.js'
import type { JoinToken } from '../join-token.js'
import { type JoinAnswer, type JoinRequest, joinText } from '../protocol.js'
import { GatewayClient } from './gateway-client.js'
import { keyAt, type Member, writeKey, writeMembership } from './membership.js'
import { readAccepted } from './policy-files.js'

export interface JoinOptions {
  readonly url: string
  readonly token: JoinToken
  readonly name: string
  readonly ca?: string
  readonly place: FleetPlace
  /** May read the key in a folder of root. */
  readonly group?: number
}

/** Throws if this machine is in a fleet already, or if the gateway refuses. */
export async function joinFleet({ url, token, name, ca, place, group }: JoinOptions): Promise<Member> {
  if (existsSync(place.marker))
    throw new Error(`this machine is in a fleet already (${place.marker}); leave it first`)
  const client = new GatewayClient({ url, ...(ca !== undefined && { ca }) })
  try {
    // The key comes first: if the answer is lost, the same key with the same token gets the same one.
    let key = keyAt(place) ?? newKeyPair()
    writeKey(key, place, group)
    const asked = () => client.ask<JoinAnswer>('join', { body: requestOf(token, name, key) })
    const { machine } = await asked().catch((error: unknown) => {
      if (!(error instanceof GatewayRefusal) || error.code !== 'KEY_USED') throw error
      key = newKeyPair()
      writeKey(key, place, group)
      return asked()
    })
    const rootKey = token.rootKey.toString('base64url')
    const membership = { url, ...(ca !== undefined && { ca }), machine, name, rootKey }
    // Of another fleet, which this machine has left.
    if (readAccepted(place.policy, rootKey).root === undefined) discard(place.policy)
    writeMembership(membership, place)
    return { ...membership, key, place }
  } finally {
    client.close()
  }
}

function requestOf(token: JoinToken, name: string, key: KeyPair): JoinRequest {
  const asked = { token: token.id, name, key: key.publicKey.toString('base64url') }
  const signature = signatureOf(key, joinText(asked)).toString('base64url')
  return { ...asked, secret: token.secret, signature }
}

export function clientOf(member: Member, now?: () => number): GatewayClient {
  const { url, ca, machine, key } = member
  return new GatewayClient({
    url,
    ...(ca !== undefined && { ca }),
    sender: { machine, key },
    ...(now && { now }),
  })
}

/** Comes before `removeMember`, so that nobody misses the machine. */
export async function tellLeaving(member: Member): Promise<void> {
  const client = clientOf(member)
  try {
    await client.ask('leave')
  } finally {
    client.close()
  }
}
