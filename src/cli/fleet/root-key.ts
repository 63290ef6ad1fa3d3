// The private key of a fleet, which signs checkpoints and the list of people.

import { readFileSync } from 'node:fs'
import { textOf } from '../../core/base/errors.js'
import { callerPath } from '../../files/caller.js'
import { type KeyPair, keyPairFrom } from '../../files/ed25519.js'
import { usage } from '../refusal.js'
import type { Given } from './action.js'

export function rootKeyIn({ key = 'fleet-root.key' }: Given['options'], hint = 'Give --key FILE.'): KeyPair {
  const file = callerPath(key)
  try {
    return keyPairFrom(readFileSync(file, 'utf8'))
  } catch (error) {
    throw usage(`The private key of the fleet, ${file}, cannot be used: ${textOf(error)}`, hint)
  }
}
