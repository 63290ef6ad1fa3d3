// The people of a fleet: their roles and keys, as a list with a version that the key of the fleet signs.

import { textOf } from '../../core/base/errors.js'
import { localTime, timestamp } from '../../core/base/time.js'
import { countPeople } from '../../core/verdict/approval.js'
import { isSignedBy, type KeyPair, publicKeyFrom, signatureOf } from '../ed25519.js'
import { count, encoded, fieldsOf, listOf, oneOf, personName, type Reader, text } from '../fields.js'
import { type FleetPlace, policyPlace, userPlace } from '../fleet-places.js'
import { checkFormat, FIRST_FORMAT } from '../format.js'
import { readIfThere } from '../plain-file.js'
import { CLOCK_BEHIND_MS, readInForce, timeField } from './policy.js'

export const ROLES = ['viewer', 'approver', 'admin'] as const
/** A viewer sees questions and records, an approver also answers, an admin also looks after machines. */
export type Role = (typeof ROLES)[number]

/** A passkey, which signs on one page only, or an Ed25519 key. Binary fields are base64url. */
export type PersonKey =
  | {
      readonly kind: 'passkey'
      readonly id: string
      /** In COSE form. */
      readonly publicKey: string
      readonly rpId: string
      /** The page: `https://fleet.example:8443`. */
      readonly origin: string
    }
  | { readonly kind: 'ed25519'; readonly publicKey: string }

export interface Person {
  readonly name: string
  readonly role: Role
  readonly keys: readonly PersonKey[]
}

export interface People {
  /** Each list replaces the one before it, in full. */
  readonly version: number
  readonly people: readonly Person[]
  /** ISO-8601. From then on, nobody on it may allow: whoever keeps newer lists back cannot keep a removed person for ever. */
  readonly until: string
}

/** The list as its signer wrote it. */
export interface SignedPeople {
  readonly list: string
  /** By the key of the fleet, base64url. */
  readonly signature: string
}

/** Keeps the signature of a list from being one of anything else. */
const PREFIX = 'carabiner-fleet-people-v1\n'
const MAX_BYTES = 1024 * 1024
const DAY_MS = 24 * 3_600_000
const LASTS_MS = 30 * DAY_MS
const SOON_MS = 7 * DAY_MS

/** Counts for thirty days. */
export function signedPeople(
  { version, people }: Pick<People, 'version' | 'people'>,
  rootKey: KeyPair,
  now: number = Date.now(),
): SignedPeople {
  const list = JSON.stringify({ format: FIRST_FORMAT, version, people, until: timestamp(now + LASTS_MS) })
  checkedList(list)
  checkDifferent(people)
  return { list, signature: signatureOf(rootKey, PREFIX + list).toString('base64url') }
}

/** Two people who count as one could never allow together; one with two names would count as two. */
function checkDifferent(people: readonly Person[]): void {
  const keys = people.flatMap((one) => [...new Set(one.keys.map(({ publicKey }) => publicKey))])
  const same =
    countPeople(people.map((one) => one.name)) < people.length
      ? 'name, but for case or spaces'
      : new Set(keys).size < keys.length
        ? 'key'
        : undefined
  if (same !== undefined) throw new Error(`is not valid: two people have the same ${same}`)
}

/** Throws unless the key of the fleet signed it. */
export function peopleIn({ list, signature }: SignedPeople, rootKey: Buffer): People {
  if (!isSignedBy(rootKey, PREFIX + list, Buffer.from(signature, 'base64url')))
    throw new Error('is not signed by the key of the fleet')
  return checkedList(list)
}

function checkedList(list: string): People {
  const fields = fieldsOf(JSON.parse(list), 'the list')
  checkFormat(fields.format, 'the list of people')
  const people = listOf(person)(fields.people, 'people')
  for (const [what, all] of [
    ['name', people.map((one) => one.name)],
    ['key', people.flatMap(({ keys }) => keys.map(keyId))],
  ] as const)
    if (new Set(all).size < all.length) throw new Error(`is not valid: two people have the same ${what}`)
  const { until = NEVER } = fields
  return { version: count(fields.version, 'version'), people, until: timeField(until, 'until') }
}

/** A list without a time is over. */
const NEVER = '1970-01-01T00:00:00Z'

export function arePeopleOver({ until }: People, now: number = Date.now()): boolean {
  return Date.parse(until) <= now
}

/** What to tell about a list that is over, or will be in a week. */
export function endOfPeople(people: People, now: number = Date.now()): string | undefined {
  const { until } = people
  if (Date.parse(until) > now + SOON_MS) return undefined
  const ended = arePeopleOver(people, now) ? 'expired on' : 'expires on'
  return `the list of people who may allow calls in this fleet ${ended} ${localTime(until)}; an administrator renews it: carabiner fleet people renew`
}

/** What an answer names its key by. */
export function keyId(key: PersonKey): string {
  return key.kind === 'passkey' ? key.id : key.publicKey
}

// ---- on a machine ---------------------------------------------------------------------------------------------

/** The newest list on this machine. Throws if nobody may allow by it: there is none that the fleet signed, or it is over. */
export function readPeople(
  place: FleetPlace,
  rootKey: string,
  dataDir?: string,
  now: () => number = Date.now,
): People {
  const people = heldPeople(place, rootKey, dataDir)
  checkMayAllow(people, { place, rootKey }, now())
  return people
}

/**
 * Throws if nobody on the list may allow. A clock that was set back does not bring back a list that is over: it is judged by
 * the latest time that the machine has from its fleet, and never by one before it was signed.
 */
export function checkMayAllow(
  people: People,
  { place, rootKey }: { readonly place: FleetPlace; readonly rootKey: string },
  now: number = Date.now(),
): void {
  const signed = Date.parse(people.until) - LASTS_MS
  if (now < signed - CLOCK_BEHIND_MS)
    throw new Error(
      `the clock of this machine is behind: the list of people who may allow calls in this fleet was signed ${localTime(timestamp(signed))}; no call is allowed until the clock is right`,
    )
  const time = Math.max(now, signed, latestTime(place, rootKey))
  if (arePeopleOver(people, time)) throw new Error(endOfPeople(people, time))
}

/** Milliseconds since 1970; 0 if the machine has none that can be read. */
function latestTime(place: FleetPlace, fleet: string): number {
  try {
    const { time, rootKey = fleet } = readInForce(policyPlace(place)) ?? {}
    return time === undefined || rootKey !== fleet ? 0 : Date.parse(time)
  } catch {
    return 0
  }
}

/** There is no list: nobody wrote one, or it was not fetched. */
export class NoPeople extends Error {}

/**
 * The newest list on this machine, also if it is over. Throws if there is none that the fleet signed. The user's copy is the one that is kept
 * up to date; root's copy is the oldest that can still count, whatever an agent does to the other.
 */
export function heldPeople(place: FleetPlace, rootKey: string, dataDir?: string): People {
  let newest: People | undefined
  let problem: string | undefined
  for (const path of peoplePaths(place, dataDir)) {
    const read = readIfThere(path, MAX_BYTES)
    if (!read) continue
    try {
      if ('problem' in read) throw new Error(read.problem)
      const people = peopleIn(signed(parsed(read.text), 'the file'), Buffer.from(rootKey, 'base64url'))
      if (!newest || people.version > newest.version) newest = people
    } catch (error) {
      problem = `${path} cannot be used: it ${textOf(error)}`
    }
  }
  if (newest) return newest
  const Problem = problem === undefined ? NoPeople : Error
  throw new Problem(
    `the list of people who may allow calls in this fleet ${problem ?? 'is missing'}; no call is allowed until carabiner fleet ship has fetched it (an administrator writes it: carabiner fleet people add)`,
  )
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    throw new Error('is not valid JSON')
  }
}

/** Where a list may be on this machine. */
function peoplePaths(place: FleetPlace, dataDir?: string): readonly string[] {
  return [...new Set([userPlace(dataDir).people, place.people])]
}

// ---- fields ---------------------------------------------------------------------------------------------------

const personKey: Reader<PersonKey> = (value, where) => {
  const fields = fieldsOf(value, where)
  const kind = oneOf('passkey', 'ed25519')(fields.kind, `${where}.kind`)
  const publicKey = encoded(fields.publicKey, `${where}.publicKey`)
  if (kind === 'ed25519') {
    if (publicKeyFrom(publicKey)) return { kind, publicKey }
    throw new Error(`${where}.publicKey must be an Ed25519 key of 32 bytes`)
  }
  const origin = text(fields.origin, `${where}.origin`)
  const rpId = text(fields.rpId, `${where}.rpId`)
  const host = URL.canParse(origin) && new URL(origin).origin === origin ? new URL(origin).hostname : ''
  if (host !== rpId && !host.endsWith(`.${rpId}`))
    throw new Error(`${where}.rpId must be the host of ${where}.origin, which must be the address of a page`)
  return { kind, id: encoded(fields.id, `${where}.id`), publicKey, rpId, origin }
}

const person: Reader<Person> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    name: personName(fields.name, `${where}.name`),
    role: oneOf(...ROLES)(fields.role, `${where}.role`),
    keys: listOf(personKey)(fields.keys, `${where}.keys`),
  }
}

export const signed: Reader<SignedPeople> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    list: text(fields.list, `${where}.list`),
    signature: encoded(fields.signature, `${where}.signature`),
  }
}

// ---- from a person to the administrator -----------------------------------------------------------------------

/** One word to type: a new key, for `carabiner fleet people add`. */
export function personCode(key: PersonKey): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url')
}

/** Throws for anything that `personCode` did not make. */
export function readPersonCode(code: string): PersonKey {
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(code, 'base64url').toString())
  } catch {
    throw new Error('is not the code of a key')
  }
  return personKey(value, 'the code')
}
