// The private key of a person, which signs what they answer.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { callerEnv, callerPath } from '../../files/caller.js'
import { type KeyPair, keyPairFrom } from '../../files/ed25519.js'
import { userHome } from '../../files/homes.js'
import { usage } from '../refusal.js'

export const PASSPHRASE_VARIABLE = 'CARABINER_KEY_PASSPHRASE'

/** Where it is, unless they say otherwise. */
export function personKeyFile(given: string | undefined): string {
  return given === undefined ? join(userHome(), 'carabiner-person.key') : callerPath(given)
}

export function personKeyIn(given: string | undefined): KeyPair {
  const file = personKeyFile(given)
  const { [PASSPHRASE_VARIABLE]: passphrase } = callerEnv()
  try {
    return keyPairFrom(readFileSync(file, 'utf8'), passphrase)
  } catch (error) {
    throw usage(
      `Your private key, ${file}, cannot be used: ${textOf(error)}`,
      `Give --key FILE, or make one: carabiner fleet key. If it has a passphrase, set ${PASSPHRASE_VARIABLE}.`,
    )
  }
}
