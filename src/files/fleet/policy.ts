// The fleet's policy on this machine: where its files are, and `in-force.json`, which names the bundles that count.

import { join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { count, fieldsOf, oneOf, optional, type Reader, text } from '../fields.js'
import { inForcePath, type PolicyPlace } from '../fleet-places.js'
import { checkFormat, FIRST_FORMAT } from '../format.js'
import { lstatIfThere } from '../if-there.js'
import { readPlain } from '../plain-file.js'
import { checkOwned } from '../root-owned.js'

/** Written at each good fetch of root, so that everybody sees when root stops. */
export const fetchedPath = (folder: string): string => join(folder, 'fetched')
/** The metadata that the machine has accepted. Only a fetch reads it. */
export const metadataFolder = (folder: string): string => join(folder, 'tuf')
export const bundlesFolder = (folder: string): string => join(folder, 'bundles')
/** An unpacked bundle, laid out like `.amplifier`, with `policy.json`. It gets this name when it is complete. */
export const bundleFolder = (folder: string, digest: string): string => join(folder, 'bundles', digest)
/** The list of its files: `{"files": {PATH: SHA256}, "programs": [PATH]}`. */
export const bundleList = (folder: string, digest: string): string =>
  join(folder, 'bundles', `${digest}.json`)

/** Rights of a program. */
export const EXECUTABLE = 0o111

/** A bundle that a machine has. Digests are SHA-256 in hex. */
export interface BundleInForce {
  /** Of the bundle as its administrator built it; also the name of its folder. */
  readonly digest: string
  readonly version: number
  /** Of the bytes of its list. */
  readonly list: string
}

export const AFTER_EXPIRY = ['close', 'warn'] as const
/** What a machine does that has not heard from its fleet until the policy expired. */
export type AfterExpiry = (typeof AFTER_EXPIRY)[number]

/** How long a machine relies on what its fleet said last, where no bundle says it. */
export const DEFAULT_EXPIRES_DAYS = 7
/** The longest that a bundle may say. */
export const MOST_EXPIRES_DAYS = 365

/** A decision of a reviewer. */
export interface TrustDecision {
  readonly by: string
  /** ISO-8601. */
  readonly at: string
  readonly why?: string
}

/** By digest of a unit. One that was revoked is not trusted, whatever else says so. */
export interface TrustList {
  readonly trusted: Readonly<Record<string, TrustDecision>>
  readonly revoked: Readonly<Record<string, TrustDecision>>
}

export interface InForce {
  /** The key that the fleet began with, base64url. A fetch builds only on what is of its own fleet. */
  readonly rootKey?: string
  /** The version of the roll-out. It only goes up. */
  readonly rollout: number
  readonly enforced?: BundleInForce
  /** Its hooks run and are recorded, but decide nothing. */
  readonly shadow?: BundleInForce
  /** SHA-256 in hex of the newest thing that the fleet signed. It is what a fetch brought to its end last. */
  readonly timestamp?: string
  /** ISO-8601. */
  readonly expires: string
  /** When the newest that the fleet said was signed, ISO-8601. A gateway may keep back what is newer. */
  readonly signed?: string
  readonly afterExpiry: AfterExpiry
  /** The latest time that the machine has from its fleet, ISO-8601. A clock that is far behind it was set back. */
  readonly time: string
  readonly trust?: TrustList
}

/** How far the clock of a machine may be behind the time of its fleet. */
export const CLOCK_BEHIND_MS = 600_000

const MOST_BYTES = 16 * 1024 * 1024

/**
 * Undefined if this machine has no policy of its fleet. Throws if there is a file that nobody can rely on: the text names
 * the file and what to do. It does not check expiry or bundles.
 */
export function readInForce({ folder, owner }: PolicyPlace): InForce | undefined {
  const path = inForcePath(folder)
  try {
    if (!lstatIfThere(path)) return undefined
    for (const one of [folder, path]) checkOwned(one, owner)
    const read = readPlain(path, MOST_BYTES)
    if ('problem' in read) throw new Error(read.problem)
    return inForce(JSON.parse(read.text), 'the file')
  } catch (error) {
    throw new Error(`the policy of the fleet, ${path}, cannot be used: ${textOf(error)}; ${FETCH_AGAIN}`)
  }
}

/** Undefined while the machine may rely on what its fleet said last. */
export function expiryText({ expires, time, signed }: InForce, now = Date.now()): string | undefined {
  if (now >= Date.parse(expires)) {
    const since = signed === undefined ? '' : ` than what was signed at ${signed}`
    return `it expired at ${expires}, and nothing newer${since} has come from the fleet`
  }
  if (now >= Date.parse(time) - CLOCK_BEHIND_MS) return undefined
  return `the clock of this machine is behind: the latest time from the fleet is ${time}`
}

/** Whether hooks run here because a reviewer of the fleet trusts them. */
export function hasTrusted({ trust }: Pick<InForce, 'trust'>): boolean {
  return Object.keys(trust?.trusted ?? {}).length > 0
}

/** What to do about a policy that cannot be used. */
const FETCH_AGAIN = 'carabiner fleet policy fetch gets it again'

export function inForceText(value: InForce): string {
  return `${JSON.stringify({ format: FIRST_FORMAT, ...value }, null, 2)}\n`
}

// ---- fields ---------------------------------------------------------------------------------------------------

const SHA256 = /^[0-9a-f]{64}$/

export const sha256Field: Reader<string> = (value, where) => {
  const read = text(value, where)
  if (SHA256.test(read)) return read
  throw new Error(`is not valid: ${where} must be a SHA-256 digest in hex`)
}

export const timeField: Reader<string> = (value, where) => {
  const read = text(value, where)
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(read) && !Number.isNaN(Date.parse(read))) return read
  throw new Error(`is not valid: ${where} must be a time such as 2030-01-31T12:00:00Z`)
}

const bundle: Reader<BundleInForce> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    digest: sha256Field(fields.digest, `${where}.digest`),
    version: count(fields.version, `${where}.version`),
    list: sha256Field(fields.list, `${where}.list`),
  }
}

const decision: Reader<TrustDecision> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    by: text(fields.by, `${where}.by`),
    at: timeField(fields.at, `${where}.at`),
    ...optional('why', fields.why, text, where),
  }
}

const decisions: Reader<Readonly<Record<string, TrustDecision>>> = (value, where) =>
  Object.fromEntries(
    Object.entries(fieldsOf(value, where)).map(([digest, one]) => [
      sha256Field(digest, `a key of ${where}`),
      decision(one, `${where}.${digest}`),
    ]),
  )

export const trustList: Reader<TrustList> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    trusted: decisions(fields.trusted, `${where}.trusted`),
    revoked: decisions(fields.revoked, `${where}.revoked`),
  }
}

const inForce: Reader<InForce> = (value, where) => {
  const fields = fieldsOf(value, where)
  checkFormat(fields.format)
  return {
    ...optional('rootKey', fields.rootKey, text, where),
    rollout: count(fields.rollout, `${where}.rollout`),
    ...optional('enforced', fields.enforced, bundle, where),
    ...optional('shadow', fields.shadow, bundle, where),
    ...optional('timestamp', fields.timestamp, sha256Field, where),
    expires: timeField(fields.expires, `${where}.expires`),
    ...optional('signed', fields.signed, timeField, where),
    afterExpiry: oneOf(...AFTER_EXPIRY)(fields.afterExpiry, `${where}.afterExpiry`),
    time: timeField(fields.time, `${where}.time`),
    ...optional('trust', fields.trust, trustList, where),
  }
}
