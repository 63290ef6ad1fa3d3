// `fleet checkpoint`: signs the heads of all chains, for somebody who keeps the file away from the database.

import { writeFileSync } from 'node:fs'
import { textOf } from '../../core/base/errors.js'
import { timestamp } from '../../core/base/time.js'
import { callerPath } from '../../files/caller.js'
import { checkedCheckpoint, makeCheckpoint } from '../../fleet/checkpoint/checkpoint.js'
import { counted, shortPath } from '../print/lines.js'
import { Refusal } from '../refusal.js'
import { type Given, orgOf, withDatabase } from './action.js'
import { rootKeyIn } from './root-key.js'

export async function run({ options, output }: Given): Promise<number> {
  const key = rootKeyIn(options)
  const org = orgOf(options)
  const text = await withDatabase(options, async (database) => {
    const [row] = await database.rows<{ root_key: Buffer }>(
      'select root_key from fleet.org where org = fleet.own_org()',
    )
    if (!row?.root_key.equals(key.publicKey))
      throw new Refusal('FLEET_UNUSABLE', `The private key is not the one of ${org}`, {
        hint: 'Give --key FILE, with the key that carabiner fleet init made.',
      })
    return database.snapshot((client) => makeCheckpoint(client, org, key, timestamp()))
  })
  const { number, leaves } = checkedCheckpoint(text, key.publicKey)
  const file = callerPath(options.out ?? `checkpoint-${number}.txt`)
  try {
    writeFileSync(file, text, { flag: 'wx' })
  } catch (error) {
    throw new Refusal(
      'FLEET_UNUSABLE',
      `The checkpoint is in the database, but ${file} cannot be written: ${textOf(error)}`,
    )
  }
  return output.result({ number, chains: leaves.length, file }, () => [
    `checkpoint ${number} of ${counted(leaves.length, 'chain')} is in ${shortPath(file)}`,
    '  keep it where no administrator of the database can change it, for fleet audit verify --checkpoint',
  ])
}
