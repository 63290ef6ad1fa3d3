// Writes a new private key, which only its owner may read.

import { chmodSync, writeFileSync } from 'node:fs'
import { textOf } from '../../core/base/errors.js'
import { type KeyPair, newKeyPair, pemOf } from '../../files/ed25519.js'
import { Refusal } from '../refusal.js'

/** Throws if there is such a file already. `option`: the one that names it. */
export function writtenKey(file: string, option: '--key' | '--out', passphrase?: string): KeyPair {
  const key = newKeyPair()
  try {
    writeFileSync(file, pemOf(key, passphrase), { flag: 'wx', mode: 0o600 })
    chmodSync(file, 0o600)
    return key
  } catch (error) {
    throw new Refusal('FLEET_UNUSABLE', `The key cannot be written to ${file}: ${textOf(error)}`, {
      hint: `Give ${option} FILE, where no file is yet, in a folder that is there and that you may write to.`,
    })
  }
}
