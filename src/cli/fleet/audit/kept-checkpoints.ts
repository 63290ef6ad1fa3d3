// The checkpoints that somebody keeps away from the database: checkpoint-1.txt and so on in one folder.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ifThere } from '../../../files/if-there.js'

const NAME = /^checkpoint-([1-9]\d{0,14})\.txt$/

export function checkpointFile(number: number): string {
  return `checkpoint-${number}.txt`
}

/** Their files, in order. Empty if there is no such folder. */
export function keptIn(folder: string): readonly string[] {
  const numbers = (ifThere(() => readdirSync(folder)) ?? []).map((name) => Number(NAME.exec(name)?.[1]))
  return numbers
    .filter((number) => number > 0)
    .sort((a, b) => a - b)
    .map((number) => join(folder, checkpointFile(number)))
}
