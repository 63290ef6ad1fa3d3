// The marker of a machine that is in a fleet: which gateway, which machine it is there, and the public key of the fleet.

import { textOf } from '../../core/base/errors.js'
import { type KeyPair, keyPairFrom, publicKeyFrom } from '../ed25519.js'
import { fieldsOf, optional, text } from '../fields.js'
import { type FleetPlace, fleetPlace } from '../fleet-places.js'
import { checkFormat, NewerFormat } from '../format.js'
import { lstatIfThere } from '../if-there.js'
import { readOwn, readPlain } from '../plain-file.js'
import { checkRootOwned } from '../root-owned.js'

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

const MAX_BYTES = 1024 * 1024

/** Without the key, which a user of the machine may not be allowed to read. */
export function readMembership(place: FleetPlace | undefined = fleetPlace()): Membership | undefined {
  if (!place || !isThere(place)) return undefined
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
    throw new UnusableMembership(place.marker, error, place.binding)
  }
}

/** The key of the machine. */
export function readKey({ key, binding }: FleetPlace): KeyPair {
  const pem = contentOf(key, binding)
  try {
    return keyPairFrom(pem)
  } catch (error) {
    throw new UnusableMembership(key, error, binding)
  }
}

function isThere({ marker, binding }: FleetPlace): boolean {
  try {
    return lstatIfThere(marker) !== undefined
  } catch (error) {
    throw new UnusableMembership(marker, error, binding)
  }
}

/** Throws if somebody else could have written it. */
function contentOf(path: string, isRoots: boolean): string {
  try {
    if (isRoots) checkRootOwned(path)
    const read = isRoots ? readPlain(path, MAX_BYTES) : readOwn(path, MAX_BYTES)
    if ('text' in read) return read.text
    throw new Error(read.problem)
  } catch (error) {
    throw new UnusableMembership(path, error, isRoots)
  }
}

/** The machine is in a fleet, and the files that say so cannot be used. */
export class UnusableMembership extends Error {
  override readonly name = 'UnusableMembership'
  /** Without what to do. */
  readonly what: string
  readonly path: string
  /** A command, and what it is for. */
  readonly todo: readonly [command: string, why: string]
  /** Whether it may be removed. One that a newer Carabiner wrote, or that root alone can judge, may not. */
  readonly isDamaged: boolean

  constructor(path: string, cause: unknown, isRoots: boolean) {
    const what = `the membership of a fleet, ${path}, cannot be used: ${textOf(cause)}`
    const isOurs = !isRoots || process.geteuid?.() === 0
    const [todo, isDamaged] =
      cause instanceof NewerFormat ? [UPDATE, false] : isOurs ? [LEAVE, true] : [ASK_ROOT, false]
    super(`${what}; ${todo.join(', ')}`, { cause })
    this.what = what
    this.path = path
    this.todo = todo
    this.isDamaged = isDamaged
  }
}

const UPDATE = ['update Carabiner', 'because a newer version wrote the file'] as const
const LEAVE = ['carabiner fleet leave --anyway', 'then join again'] as const
const ASK_ROOT = ['sudo carabiner fleet status', 'which says what root can do'] as const
