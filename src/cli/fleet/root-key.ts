// The key of a fleet, whose private half signs checkpoints and the list of people.

import { readFileSync } from 'node:fs'
import { textOf } from '../../core/base/errors.js'
import { callerPath } from '../../files/caller.js'
import { type KeyPair, keyPairFrom } from '../../files/ed25519.js'
import type { Database } from '../../fleet/database/connection.js'
import { firstRootKey, isRootOfPolicy } from '../../fleet/database/policy.js'
import { Refusal, usage } from '../refusal.js'
import { type Given, orgOf } from './action.js'

export function rootKeyIn({ key = 'fleet-root.key' }: Given['options'], hint = 'Give --key FILE.'): KeyPair {
  const file = callerPath(key)
  try {
    return keyPairFrom(readFileSync(file, 'utf8'))
  } catch (error) {
    throw usage(`The private key of the fleet, ${file}, cannot be used: ${textOf(error)}`, hint)
  }
}

/** Throws unless it is the key that the fleet began with: no machine accepts what another one signs. */
export async function checkRootKey(
  database: Database,
  key: Buffer,
  options: Given['options'],
  how = '--key FILE',
): Promise<void> {
  if (key.equals(await firstRootKey(database))) return
  const newer = (await isRootOfPolicy(database, key))
    ? 'It is the newer key of the policy. The list of people, checkpoints and tokens still need the first one. '
    : ''
  throw new Refusal('FLEET_UNUSABLE', `The given key is not the key of the fleet ${orgOf(options)}`, {
    hint: `${newer}Give ${how}, with the key that carabiner fleet init made.`,
  })
}
