// What administrators of a policy work with: the key that signs, and what is published, checked against the key of the fleet.

import { existsSync, readFileSync } from 'node:fs'
import { textOf } from '../../../core/base/errors.js'
import { callerEnv, callerPath } from '../../../files/caller.js'
import { type KeyPair, keyPairFrom, publicKeyFrom } from '../../../files/ed25519.js'
import { readMembership } from '../../../files/fleet/marker.js'
import type { Database } from '../../../fleet/database/connection.js'
import { addPolicy, firstRootKey, type NewPolicy, policyAfter } from '../../../fleet/database/policy.js'
import { type Accepted, OtherKey, type Published, verified } from '../../../fleet/policy/checked-policy.js'
import type { PolicyRow, Signers } from '../../../fleet/policy/metadata.js'
import { type Change, firstSigners, type Publisher, publication } from '../../../fleet/policy/publication.js'
import { type Models, tufModels } from '../../../fleet/policy/tuf.js'
import type { Output } from '../../output.js'
import { shortPath } from '../../print/lines.js'
import { Refusal, usage } from '../../refusal.js'
import { type Given, withDatabase } from '../action.js'
import { isOfDatabase, isOfFile } from '../failure.js'
import { PASSPHRASE_VARIABLE, personKeyFile } from '../person-key.js'
import { rememberPolicy, seenFolder, seenPolicy } from '../seen.js'

export interface Desk {
  readonly database: Database
  readonly models: Models
  readonly rows: readonly PolicyRow[]
  /** Undefined before the first publication. */
  readonly state: Published | undefined
  readonly signers: Signers
  readonly rootKey: Buffer
  readonly output: Output
}

export interface SigningDesk extends Desk {
  readonly publisher: Publisher
}

/** Opens the database, and checks all that is in it before anything is signed on top. */
export async function atDesk<T>({ options, output }: Given, work: (desk: Desk) => Promise<T>): Promise<T> {
  const models = await refusingPolicy(tufModels)
  return withDatabase(options, async (database) => {
    const rows = await policyAfter(database)
    const rootKey = rootKeyOf(options, models, rows, await firstRootKey(database))
    const state = await stateOf({ models, rows, rootKey, output })
    const signers = state ?? firstSigners(rootKey)
    return refusingPolicy(() => work({ database, models, rows, state, rootKey, signers, output }))
  })
}

type Read = Pick<Desk, 'models' | 'rows' | 'rootKey' | 'output'>

/** Undefined before the first publication. Throws if something was there before that is gone. */
async function stateOf({ models, rows, rootKey, output }: Read): Promise<Published | undefined> {
  const accepted: Accepted = { ...seenPolicy(rootKey) }
  const isFirst = accepted.root === undefined
  if (rows.length === 0 && isFirst) return undefined
  try {
    return verified(models, rows, rootKey, accepted)
  } catch (error) {
    const text = textOf(error)
    throw new Refusal('FLEET_POLICY', text.slice(0, 1).toUpperCase() + text.slice(1), {
      ...(error instanceof OtherKey && {
        hint: 'Check KEY: it is the public key that carabiner fleet init printed, also after a rotation.',
      }),
      ...(!isFirst && {
        hint: `Somebody changed the database, or put an older copy back. Find out who, and bring back what is missing. To go on from what is there, remove ${shortPath(seenFolder(rootKey))}, which holds what you have seen; machines that have had newer versions refuse yours until their numbers are higher.`,
      }),
    })
  } finally {
    await rememberPolicy(output, rootKey, accepted)
  }
}

export async function atSigningDesk<T>(given: Given, work: (desk: SigningDesk) => Promise<T>): Promise<T> {
  const key = signingKey(given.options)
  return atDesk(given, (desk) => {
    const { models, rootKey } = desk
    return work({ ...desk, publisher: { models, key, rootKey, now: Date.now() } })
  })
}

/** Signs and publishes a change. Returns what is published then. Throws if somebody else was faster. */
export async function publish(
  { database, publisher, rows, output }: SigningDesk,
  change: Change,
  bundle?: NewPolicy['bundle'],
): Promise<Published> {
  const added = publication(publisher, rows, change)
  if (await addPolicy(database, { rows: added, ...(bundle && { bundle }) })) {
    const { models, rootKey } = publisher
    const state = await stateOf({ models, rows: [...rows, ...added], rootKey, output })
    if (state) return state
  }
  throw new Refusal('FLEET_POLICY', 'Somebody else has published at the same moment; nothing was changed', {
    hint: 'carabiner fleet policy list shows what is published now. Then try again.',
  })
}

/** What is wrong with a policy or a signature is a refusal. What `refusing` tells, and our own bugs, are left to it. */
export async function refusingPolicy<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal || isOfDatabase(error) || isOfFile(error) || isBug(error)) throw error
    const text = textOf(error)
    throw new Refusal('FLEET_POLICY', text.slice(0, 1).toUpperCase() + text.slice(1))
  }
}

/** What our own code throws about its input is a plain Error, or a SyntaxError of JSON. */
function isBug(error: unknown): boolean {
  return [TypeError, RangeError, ReferenceError].some((kind) => error instanceof kind)
}

// ---- keys -----------------------------------------------------------------------------------------------------

const ROOT_KEY_FILE = 'fleet-root.key'

/** The given one, or the fleet's if it is in this folder, or that of the person. */
function keyFile({ key }: Given['options']): string {
  if (key !== undefined) return callerPath(key)
  const fleets = callerPath(ROOT_KEY_FILE)
  return existsSync(fleets) ? fleets : personKeyFile(undefined)
}

function signingKey(options: Given['options']): KeyPair {
  const file = keyFile(options)
  try {
    return keyPairFrom(readFileSync(file, 'utf8'), callerEnv()[PASSPHRASE_VARIABLE])
  } catch (error) {
    throw usage(
      `The private key ${file} cannot be used: ${textOf(error)}`,
      `Give --key FILE: the key of the fleet, or your own. If it has a passphrase, set ${PASSPHRASE_VARIABLE}.`,
    )
  }
}

/** Not from the database alone: its administrator could put another one there. */
function rootKeyOf(
  options: Given['options'],
  models: Models,
  rows: readonly PolicyRow[],
  inDatabase: Buffer,
): Buffer {
  const { 'root-key': given } = options
  if (given !== undefined) {
    const key = publicKeyFrom(given)
    if (key) return key
    throw usage('--root-key must be the public key that carabiner fleet init printed')
  }
  const file = keyFile(options)
  const own = existsSync(file) ? signingKey(options).publicKey : undefined
  if (own?.equals(inDatabase)) return own
  // Nobody else could have signed a root that names this key as the next key of the fleet.
  if (own && isNewest(own, models, rows, inDatabase)) return inDatabase
  const member = readMembership()
  if (member) return Buffer.from(member.rootKey, 'base64url')
  throw usage(
    'Which key does the fleet have? Give --root-key KEY, the public key that carabiner fleet init printed',
    'The database alone is not asked: whoever has it could name another key.',
  )
}

function isNewest(own: Buffer, models: Models, rows: readonly PolicyRow[], first: Buffer): boolean {
  try {
    return verified(models, rows, first).rootKey.equals(own)
  } catch {
    return false
  }
}
