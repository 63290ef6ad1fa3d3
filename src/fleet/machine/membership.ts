// This machine as a member of a fleet: its marker and its own key.

import { chmodSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type KeyPair, pemOf } from '../../files/ed25519.js'
import { type Membership, readKey, readMembership } from '../../files/fleet/marker.js'
import { type FleetPlace, fleetPlace } from '../../files/fleet-places.js'
import { discard, makePrivate } from '../../files/folder.js'
import { FIRST_FORMAT } from '../../files/format.js'
import { placeWhole, removeIfThere } from '../../files/plain-file.js'
import { writeRootOwned } from '../../files/root-owned.js'

export interface Member extends Membership {
  readonly key: KeyPair
  readonly place: FleetPlace
}

/** Undefined if this machine is in no fleet. Throws if it is in one and the files cannot be used. */
export function readMember(place: FleetPlace | undefined = fleetPlace()): Member | undefined {
  const membership = readMembership(place)
  if (!place || !membership) return undefined
  return { ...membership, key: readKey(place), place }
}

/** A key that is there, of somebody who tried to join before. Undefined if there is none, or none that can be used. */
export function keyAt(place: FleetPlace): KeyPair | undefined {
  try {
    return readKey(place)
  } catch {
    return undefined
  }
}

/** `group` may read the key in a folder of root. Needs the rights of root there. */
export function writeKey(key: KeyPair, { key: path, binding }: FleetPlace, group?: number): void {
  if (binding)
    writeRootOwned(path, pemOf(key), group === undefined ? { mode: 0o600 } : { mode: 0o640, group })
  else writePrivate(path, pemOf(key))
}

/** After the key: with the marker, the machine is a member. */
export function writeMembership(membership: Membership, { marker, binding }: FleetPlace): void {
  const content = `${JSON.stringify({ format: FIRST_FORMAT, ...membership }, null, 2)}\n`
  if (binding) writeRootOwned(marker, content)
  else writePrivate(marker, content)
}

/** The policy comes first: without the marker, nothing says which fleet it is of. */
export function removeMember(place: FleetPlace): void {
  discard(place.policy)
  removeIfThere(place.people)
  removeIfThere(place.marker)
  removeIfThere(place.key)
}

function writePrivate(path: string, content: string): void {
  makePrivate(dirname(path))
  placeWhole(path, (draft) => {
    writeFileSync(draft, content, { flag: 'wx', mode: 0o600 })
    chmodSync(draft, 0o600)
  })
}
