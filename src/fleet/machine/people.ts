// Fetches the list of people from the gateway, and keeps it where the queue of approvals looks for it.

import { chmodSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import {
  checkMayAllow,
  heldPeople,
  type People,
  peopleIn,
  type SignedPeople,
  signed,
} from '../../files/fleet/people.js'
import { userPlace } from '../../files/fleet-places.js'
import { makePrivate } from '../../files/folder.js'
import { placeWhole } from '../../files/plain-file.js'
import { writeRootOwned } from '../../files/root-owned.js'
import type { PeopleAnswer } from '../protocol.js'
import type { GatewayClient } from './gateway-client.js'
import type { Member } from './membership.js'

export interface FetchOptions {
  /** Default `dataHome()`. */
  readonly dataDir?: string
  /** The list, if it was sent with something else. */
  readonly sent?: SignedPeople | undefined
  /** Milliseconds since 1970. Default: the clock of this machine. */
  readonly now?: () => number
}

/**
 * Returns the list that counts from now on. Undefined if the fleet has none. Throws if the gateway sends a list that the key
 * of the fleet did not sign, or an older one than this machine has had: the newer one stays. Throws also if nobody on it may
 * allow any more.
 */
export async function fetchPeople(
  client: GatewayClient,
  member: Member,
  { dataDir, sent, now = Date.now }: FetchOptions = {},
): Promise<People | undefined> {
  const given = sent ?? (await client.ask<PeopleAnswer>('people')).people
  const known = knownPeople(member, dataDir)
  if (!given) {
    if (known) throw behind(0, known)
    return undefined
  }
  const list = signed(given, 'its answer')
  const people = checkedPeople(list, member)
  if (known && people.version < known.version) throw behind(people.version, known)
  if (people.version !== known?.version || isRoots(member)) keep(list, member, dataDir)
  checkMayAllow(people, member, now())
  return people
}

function checkedPeople(sent: SignedPeople, { rootKey }: Member): People {
  try {
    return peopleIn(sent, Buffer.from(rootKey, 'base64url'))
  } catch (error) {
    throw new Error(`the list of people that the gateway sent ${textOf(error)}; it is not used`)
  }
}

function behind(version: number, known: People): Error {
  return new Error(
    `the gateway has version ${version} of the list of people, and this machine has had ${known.version}: somebody removed the newer ones; it is not used`,
  )
}

/** Undefined if there is none that the fleet signed. */
function knownPeople({ place, rootKey }: Member, dataDir?: string): People | undefined {
  try {
    return heldPeople(place, rootKey, dataDir)
  } catch {
    return undefined
  }
}

/** Root renews its own copy, which an agent cannot put back. */
function keep(sent: SignedPeople, member: Member, dataDir?: string): void {
  const content = `${JSON.stringify(sent)}\n`
  if (isRoots(member)) {
    writeRootOwned(member.place.people, content)
    return
  }
  const { people: path } = userPlace(dataDir)
  makePrivate(dirname(path))
  placeWhole(path, (draft) => {
    writeFileSync(draft, content, { flag: 'wx', mode: 0o600 })
    chmodSync(draft, 0o600)
  })
}

function isRoots({ place }: Member): boolean {
  return place.binding && process.geteuid?.() === 0
}
