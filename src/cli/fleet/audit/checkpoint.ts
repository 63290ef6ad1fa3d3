// `fleet checkpoint`: signs the heads of all chains, for somebody who keeps the files away from the database.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { textOf } from '../../../core/base/errors.js'
import { visible } from '../../../core/base/text.js'
import { timestamp } from '../../../core/base/time.js'
import { callerPath } from '../../../files/caller.js'
import { checkedCheckpoint, makeCheckpoint, Unsigned } from '../../../fleet/checkpoint/checkpoint.js'
import { counted, shortPath } from '../../print/lines.js'
import { Refusal } from '../../refusal.js'
import { type Given, orgOf, withDatabase } from '../action.js'
import { checkRootKey, rootKeyIn } from '../root-key.js'
import { checkpointFile, keptIn } from './kept-checkpoints.js'

export async function run({ options, output }: Given): Promise<number> {
  const key = rootKeyIn(options)
  const org = orgOf(options)
  const folder = callerPath(options.out ?? '.')
  const kept = newestIn(folder)
  const { file, text } = await withDatabase(options, async (database) => {
    await checkRootKey(database, key.publicKey, options)
    return database.snapshot(async (client) => {
      const next = { org, key, time: timestamp(), ...(kept !== undefined && { kept }) }
      const text = await makeCheckpoint(client, next).catch((error: unknown) => {
        if (!(error instanceof Unsigned)) throw error
        const { message, hint } = error
        throw new Refusal('FLEET_UNUSABLE', `No checkpoint was made: ${visible(message)}`, { hint })
      })
      const file = join(folder, checkpointFile(checkedCheckpoint(text, key.publicKey).number))
      // Before it is committed: one that is only in the database proves nothing, and the next one would be refused.
      keep(file, text)
      return { file, text }
    })
  })
  const { number, leaves } = checkedCheckpoint(text, key.publicKey)
  return output.result({ number, chains: leaves.length, file }, () => [
    `checkpoint ${number} of ${counted(leaves.length, 'chain')} is in ${shortPath(file)}`,
    '  it says where each chain ends; carabiner fleet audit verify reads all records before that',
    '  keep the folder where no administrator of the database can change it, for fleet audit verify --checkpoint',
  ])
}

function newestIn(folder: string): string | undefined {
  try {
    const newest = keptIn(folder).at(-1)
    return newest === undefined ? undefined : readFileSync(newest, 'utf8')
  } catch (error) {
    throw new Refusal(
      'FLEET_UNUSABLE',
      `No checkpoint was made: ${folder} cannot be read: ${textOf(error)}`,
      { hint: 'Give --out FOLDER, the folder in which you keep all checkpoints.' },
    )
  }
}

function keep(file: string, text: string): void {
  try {
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, text, { flag: 'wx' })
  } catch (error) {
    throw new Refusal('FLEET_UNUSABLE', `No checkpoint was made: ${file} cannot be written: ${textOf(error)}`)
  }
}
