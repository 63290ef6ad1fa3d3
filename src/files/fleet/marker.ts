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
    if (error instanceof NewerFormat) throw error
    throw new UnusableMembership(place.marker, textOf(error), place.binding)
  }
}

/** The key of the machine. */
export function readKey({ key, binding }: FleetPlace): KeyPair {
  const pem = contentOf(key, binding)
  try {
    return keyPairFrom(pem)
  } catch (error) {
    throw new UnusableMembership(key, textOf(error), binding)
  }
}

/** Throws if somebody else could have written it. */
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
  throw new UnusableMembership(path, problem, isRoots)
}

/** The machine is in a fleet, and the files that say so cannot be used. */
export class UnusableMembership extends Error {
  override readonly name = 'UnusableMembership'
  /** Without what to do. */
  readonly what: string
  readonly path: string
  /** A command, and what it is for. */
  readonly todo: readonly [command: string, why: string]

  constructor(path: string, problem: string, isRoots: boolean) {
    const what = `the membership of a fleet, ${path}, cannot be used: ${problem}`
    // Only root can tell whether it is damaged, or only not for this user.
    const isOurs = !isRoots || process.geteuid?.() === 0
    const todo = isOurs
      ? (['carabiner fleet leave --anyway', 'then join again'] as const)
      : (['sudo carabiner fleet status', 'says what root can do'] as const)
    super(`${what}; ${todo.join(isOurs ? ', ' : ' ')}`)
    this.what = what
    this.path = path
    this.todo = todo
  }
}
