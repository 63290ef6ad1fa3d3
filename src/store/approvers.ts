// The people who may allow calls on this machine: those in a file that only root can change, and those of its fleet.

import { join } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { encoded, fieldsOf, listOf, personName, type Reader } from '../files/fields.js'
import type { Membership } from '../files/fleet/marker.js'
import type { PersonKey } from '../files/fleet/people.js'
import { fleetReader } from '../files/fleet-files.js'
import { fleetPlace } from '../files/fleet-places.js'
import { checkFormat, FIRST_FORMAT } from '../files/format.js'
import { lstatIfThere } from '../files/if-there.js'
import { hasName } from '../files/looks.js'
import { readPlain, removeIfThere } from '../files/plain-file.js'
import { checkRootOwned, ROOT_FOLDER, writeRootOwned } from '../files/root-owned.js'

/** Somebody with a passkey, in the list of this machine. It signs on the page of `carabiner open`. */
export interface LocalApprover {
  /** Goes on record with each answer. */
  readonly name: string
  /** The id of the passkey, base64url. */
  readonly id: string
  /** The public key of the passkey in COSE form, base64url. */
  readonly publicKey: string
}

/** Somebody who may allow, with one of their keys. */
export interface Approver {
  readonly name: string
  readonly key: PersonKey | LocalKey
}

/** A passkey of the page of `carabiner open`, which is on another port each time. */
export interface LocalKey extends Pick<LocalApprover, 'id' | 'publicKey'> {
  readonly kind: 'local-passkey'
}

/** Who may allow on this machine. */
export interface Signers {
  readonly approvers: readonly Approver[]
  /** Absent on a machine that is in no fleet. */
  readonly asker?: Asker
}

/** The machine of a fleet that asks. A signature is for its id, and for the name that the person was shown. */
export type Asker = Pick<Membership, 'machine' | 'name'>

export interface SignersPlace {
  /** Default `APPROVERS_FILE`. */
  readonly approversFile?: string | undefined
  /** Default `dataHome()`. */
  readonly dataDir?: string | undefined
  /** Milliseconds since 1970. Asked only in a fleet. */
  readonly now?: () => number
}

/**
 * Undefined if people allow by typing: there is no list, and the machine is in no fleet. Throws if there is a list that
 * cannot be relied on, or if the list of the fleet is missing or over.
 */
export function signersOf({ approversFile, dataDir, now }: SignersPlace = {}): Signers | undefined {
  const local = readApprovers(approversFile)
  const place = fleetPlace(dataDir)
  const approvers = (local ?? []).map(({ name, id, publicKey }) => ({
    name,
    key: { kind: 'local-passkey', id, publicKey } as const,
  }))
  if (!place) return local && { approvers }
  const { readMembership, readPeople } = fleetReader()
  const membership = readMembership(place)
  // It has just left.
  if (!membership) return local && { approvers }
  const { people } = readPeople(place, membership.rootKey, dataDir, now)
  const theirs = people
    .filter(({ role }) => role !== 'viewer')
    .flatMap(({ name, keys }) => keys.map((key) => ({ name, key })))
  const { machine, name } = membership
  return { approvers: [...approvers, ...theirs], asker: { machine, name } }
}

/**
 * Whether a call is allowed only with a signature: then no answer at a terminal or in a dialog is enough. It only looks
 * whether there is a list or a fleet, so a list that cannot be relied on counts, too.
 */
export function isSignatureNeeded({ approversFile = APPROVERS_FILE, dataDir }: SignersPlace = {}): boolean {
  return hasName(approversFile) || fleetPlace(dataDir) !== undefined
}

/** Those who may allow on the page of `carabiner open`. */
export function localPasskeys({ approvers }: Signers): readonly string[] {
  return approvers.flatMap(({ key }) => (key.kind === 'local-passkey' ? [key.id] : []))
}

export const APPROVERS_FILE = join(ROOT_FOLDER, 'approvers.json')
const MAX_BYTES = 1024 * 1024

/**
 * Undefined if there is no list: then people allow by typing. Throws if the list is there and cannot be relied on,
 * because a list that does not count would let anybody allow.
 */
export function readApprovers(path: string = APPROVERS_FILE): readonly LocalApprover[] | undefined {
  if (!lstatIfThere(path)) return undefined
  try {
    checkRootOwned(path)
    const read = readPlain(path, MAX_BYTES)
    if ('problem' in read) throw new Error(read.problem)
    const file = fieldsOf(JSON.parse(read.text), 'the file')
    checkFormat(file.format, path)
    return listOf(approver)(file.approvers, 'approvers')
  } catch (error) {
    throw new Error(
      `the list of people who may allow, ${path}, cannot be used: ${textOf(error)}; no call is allowed until root repairs or removes it`,
      { cause: error },
    )
  }
}

/** Needs the rights of root. Without anybody on it, the list is removed. */
export function writeApprovers(approvers: readonly LocalApprover[], path: string = APPROVERS_FILE): void {
  if (approvers.length === 0) {
    removeIfThere(path)
    return
  }
  writeRootOwned(path, `${JSON.stringify({ format: FIRST_FORMAT, approvers }, null, 2)}\n`)
}

const approver: Reader<LocalApprover> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    name: personName(fields.name, `${where}.name`),
    id: encoded(fields.id, `${where}.id`),
    publicKey: encoded(fields.publicKey, `${where}.publicKey`),
  }
}

// ---- from the browser to root ---------------------------------------------------------------------------------

/** One word to type: what the page knows about a new passkey, for the command that root runs. */
export function enrolmentCode(approver: LocalApprover): string {
  return Buffer.from(JSON.stringify(approver)).toString('base64url')
}

/** Throws for anything that `enrolmentCode` did not make. */
export function readEnrolment(code: string): LocalApprover {
  const decoded = Buffer.from(code, 'base64url').toString()
  let value: unknown
  try {
    value = JSON.parse(decoded)
  } catch {
    throw new Error('is not an enrolment code')
  }
  return approver(value, 'the enrolment')
}
