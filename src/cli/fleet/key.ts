// `fleet key`: makes the Ed25519 key with which a person signs answers, unless it is there, and prints its code for `fleet people add`.

import { existsSync, readFileSync } from 'node:fs'
import { textOf } from '../../core/base/errors.js'
import { callerEnv, callerPath } from '../../files/caller.js'
import { type KeyPair, keyPairFrom } from '../../files/ed25519.js'
import { personCode } from '../../files/fleet/people.js'
import { nextLines, shortPath } from '../print/lines.js'
import { Refusal } from '../refusal.js'
import type { Given } from './action.js'
import { writtenKey } from './new-key.js'
import { PASSPHRASE_VARIABLE, personKeyFile } from './person-key.js'

export async function run({ options, output }: Given): Promise<number> {
  const file = personKeyFile(options.out)
  const { [PASSPHRASE_VARIABLE]: passphrase } = callerEnv()
  const isNew = !existsSync(file)
  const { key, encrypted } = isNew
    ? { key: writtenKey(file, '--out', passphrase), encrypted: Boolean(passphrase) }
    : read(file, passphrase)
  const code = personCode({ kind: 'ed25519', publicKey: key.publicKey.toString('base64url') })
  return output.result({ file: callerPath(file), code, encrypted, new: isNew }, (paint) => [
    isNew
      ? `your private key is ${shortPath(file)}; keep it where no agent can read it`
      : `your private key is ${shortPath(file)}, as before; this is its code`,
    ...(encrypted
      ? []
      : [`  it has no passphrase: set ${PASSPHRASE_VARIABLE} before you make one that needs it`]),
    ...nextLines([`send the administrator: carabiner fleet people add NAME ${code}`], paint),
  ])
}

interface PersonalKey {
  readonly key: KeyPair
  /** Whether it needs a passphrase. */
  readonly encrypted: boolean
}

function read(file: string, passphrase: string | undefined): PersonalKey {
  try {
    const pem = readFileSync(file, 'utf8')
    return { key: keyPairFrom(pem, passphrase), encrypted: pem.includes('ENCRYPTED') }
  } catch (error) {
    throw new Refusal('FLEET_UNUSABLE', `The file ${file} is there already: ${textOf(error)}`, {
      hint: `Give --out FILE, where no file is yet. If it is your key with a passphrase, set ${PASSPHRASE_VARIABLE}.`,
    })
  }
}
