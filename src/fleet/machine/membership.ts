// This machine's membership of a fleet: which gateway, which machine it is there, and its key.

import { chmodSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { fieldsOf, optional, text } from '../../files/fields.js'
import { type FleetPlace, fleetPlace } from '../../files/fleet-places.js'
import { makePrivate } from '../../files/folder.js'
import { checkFormat, FIRST_FORMAT } from '../../files/format.js'
import { lstatIfThere } from '../../files/if-there.js'
import { placeWhole, readOwn, readPlain, removeIfThere } from '../../files/plain-file.js'
import { checkRootOwned, writeRootOwned } from '../../files/root-owned.js'
import { type KeyPair, keyPairFrom, pemOf, publicKeyFrom } from '../keys.js'

export interface Membership {
  /** The address of the gateway. */
  readonly url: string
  /** The certificates of its authority in PEM form, if the system does not know it. */
  readonly ca?: string
  readonly machine: string
  readonly name: string
  /** The public key of the fleet, base64url. */
  readonly rootKey: string
}

export interface Member extends Membership {
  readonly key: KeyPair
  readonly place: FleetPlace
}

const MAX_BYTES = 1024 * 1024

/** Undefined if this machine is in no fleet. Throws if it is in one and the files cannot be used. */
export function readMember(place: FleetPlace | undefined = fleetPlace()): Member | undefined {
  const membership = readMembership(place)
  if (!place || !membership) return undefined
  const pem = contentOf(place.key, place.binding)
  try {
    return { ...membership, key: keyPairFrom(pem), place }
  } catch (error) {
    throw unusable(place.key, textOf(error))
  }
}

/** Without the key, which a user of the machine may not be allowed to read. */
export function readMembership(place: FleetPlace | undefined = fleetPlace()): Membership | undefined {
  if (!place || !lstatIfThere(place.marker)) return undefined
  const content = contentOf(place.marker, place.binding)
  try {
    const fields = fieldsOf(JSON.parse(content), 'the file')
    checkFormat(fields.format, place.marker)
    const rootKey = text(fields.rootKey, 'rootKey')
    if (!publicKeyFrom(rootKey)) throw new Error('is not valid: rootKey must be a public key')
    return {
      url: text(fields.url, 'url'),
      ...optional('ca', fields.ca, text, 'the file'),
      machine: text(fields.machine, 'machine'),
      name: text(fields.name, 'name'),
      rootKey,
    }
  } catch (error) {
    throw unusable(place.marker, textOf(error))
  }
}

function contentOf(path: string, isRoots: boolean): string {
  let problem: string
  try {
    if (isRoots) checkRootOwned(path)
    const read = isRoots ? readPlain(path, MAX_BYTES) : readOwn(path, MAX_BYTES)
    if ('text' in read) return read.text
    problem = read.problem
  } catch (error) {
    problem = textOf(error)
  }
  throw unusable(path, problem)
}

function unusable(path: string, problem: string): Error {
  return new Error(`the membership of a fleet, ${path}, cannot be used: ${problem}; join the fleet again`)
}

/** `group` may read the key in a folder of root. Needs the rights of root there. */
export function writeMember(member: Omit<Member, 'place'>, place: FleetPlace, group?: number): void {
  const { key, url, ca, machine, name, rootKey } = member
  const membership: Membership = { url, ...(ca !== undefined && { ca }), machine, name, rootKey }
  const content = `${JSON.stringify({ format: FIRST_FORMAT, ...membership }, null, 2)}\n`
  // The marker comes last: with it, the machine is a member.
  if (place.binding) {
    writeRootOwned(place.key, pemOf(key), group === undefined ? { mode: 0o600 } : { mode: 0o640, group })
    writeRootOwned(place.marker, content)
    return
  }
  makePrivate(dirname(place.marker))
  writePrivate(place.key, pemOf(key))
  writePrivate(place.marker, content)
}

export function removeMember(place: FleetPlace): void {
  removeIfThere(place.marker)
  removeIfThere(place.key)
}

function writePrivate(path: string, content: string): void {
  placeWhole(path, (draft) => {
    writeFileSync(draft, content, { flag: 'wx', mode: 0o600 })
    chmodSync(draft, 0o600)
  })
}
