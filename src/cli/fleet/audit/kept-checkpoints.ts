// The checkpoints that somebody keeps away from the database: checkpoint-1.txt and so on in one folder.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ifThere } from '../../../files/if-there.js'

const NAME = /^checkpoint-([1-9]\d{0,14})\.txt$/

export function checkpointFile(number: number): string {
  return `checkpoint-${number}.txt`
}

export interface KeptCheckpoint {
  readonly number: number
  readonly text: string
}

/** In order. Empty if there is no such folder. Throws if one cannot be read. */
export function keptIn(folder: string): readonly KeptCheckpoint[] {
  const names = ifThere(() => readdirSync(folder)) ?? []
  return names
    .flatMap((name) => {
      const number = Number(NAME.exec(name)?.[1])
      return number > 0 ? [{ number, text: readFileSync(join(folder, name), 'utf8') }] : []
    })
    .sort((a, b) => a.number - b.number)
}
