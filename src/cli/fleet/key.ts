// `fleet key`: makes the Ed25519 key with which a person signs answers, and the code for `fleet people add`.

import { chmodSync, writeFileSync } from 'node:fs'
import { textOf } from '../../core/base/errors.js'
import { callerEnv, callerPath } from '../../files/caller.js'
import { newKeyPair, pemOf } from '../../files/ed25519.js'
import { personCode } from '../../store/people.js'
import { nextLines, shortPath } from '../print/lines.js'
import { Refusal } from '../refusal.js'
import type { Given } from './action.js'
import { PASSPHRASE_VARIABLE, personKeyFile } from './person-key.js'

export async function run({ options, output }: Given): Promise<number> {
  const file = personKeyFile(options.out)
  const key = newKeyPair()
  const { [PASSPHRASE_VARIABLE]: passphrase } = callerEnv()
  try {
    writeFileSync(file, pemOf(key, passphrase), { flag: 'wx', mode: 0o600 })
    chmodSync(file, 0o600)
  } catch (error) {
    throw new Refusal('FLEET_UNUSABLE', `The key cannot be written to ${file}: ${textOf(error)}`, {
      hint: 'Give --out FILE, where no file is yet.',
    })
  }
  const code = personCode({ kind: 'ed25519', publicKey: key.publicKey.toString('base64url') })
  return output.result({ file: callerPath(file), code, encrypted: Boolean(passphrase) }, (paint) => [
    `your private key is ${shortPath(file)}; keep it where no agent can read it`,
    ...(passphrase
      ? []
      : [`  it has no passphrase: set ${PASSPHRASE_VARIABLE} before you make one that needs it`]),
    ...nextLines([`send the administrator: carabiner fleet people add NAME ${code}`], paint),
  ])
}
