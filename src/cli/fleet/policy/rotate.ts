// `fleet policy rotate`: a new key of the fleet takes the place of the old one, and both sign that.

import { shellQuoted } from '../../../effects/shell/shell-quoted.js'
import { callerEnv, callerPath } from '../../../files/caller.js'
import { nextLines, shortPath } from '../../print/lines.js'
import { Refusal, usage } from '../../refusal.js'
import { again, type Given } from '../action.js'
import { writtenKey } from '../new-key.js'
import { PASSPHRASE_VARIABLE } from '../person-key.js'
import { atSigningDesk, publish } from './desk.js'

export async function rotated(given: Given): Promise<number> {
  const { out } = given.options
  if (out === undefined)
    throw usage('Where does the new key go? Type carabiner fleet policy rotate --out NEW-KEY')
  return atSigningDesk(given, async (desk) => {
    const { state, publisher } = desk
    if (!state)
      throw new Refusal('FLEET_POLICY', 'No policy is published, so no machine has a key to replace', {
        hint: 'carabiner fleet policy build FOLDER --out FILE makes a bundle, and publish FILE publishes it.',
      })
    const file = callerPath(out)
    // First the file, and it stays: a fleet whose key nobody has could never change its signers again.
    const fresh = writtenKey(file, '--out', callerEnv()[PASSPHRASE_VARIABLE])
    await publish({ ...desk, publisher: { ...publisher, key: fresh } }, { replaces: publisher.key })
    const key = fresh.publicKey.toString('base64url')
    return given.output.result({ file, key, root: state.rootVersion + 1 }, (paint) => [
      `the key of the policy is now ${key}; its private key is ${shortPath(file)}`,
      '  machines follow at their next contact, also those that missed earlier changes',
      '  the old key signs nothing of the policy any more; the list of people and checkpoints are still its own',
      ...nextLines([again(`carabiner fleet policy list --key ${shellQuoted(out)}`, given)], paint),
    ])
  })
}
