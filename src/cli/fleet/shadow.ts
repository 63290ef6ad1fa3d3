// `fleet shadow`: what a policy in shadow mode would have changed, on all machines or, without a database, on this one.

import { textOf } from '../../core/base/errors.js'
import { dataHome } from '../../files/homes.js'
import { shadowsIn } from '../../fleet/database/shadow-query.js'
import { logFolders } from '../../fleet/machine/log-folders.js'
import { ShadowTable } from '../../fleet/shadow-table.js'
import { filterOf } from '../../store/audit/filter.js'
import { readEntries } from '../../store/audit/read.js'
import { nextLines } from '../print/lines.js'
import { usage } from '../refusal.js'
import { type Given, isAboutAll, withDatabase } from './action.js'
import { SHADOW_SINCE, shadowLines, sinceOf, untriedLine } from './shadow-lines.js'

export async function run({ options, words: [wanted], output }: Given): Promise<number> {
  const version = wanted === undefined ? undefined : Number(wanted)
  if (version !== undefined && !Number.isSafeInteger(version))
    throw usage(`Which version? Type carabiner fleet shadow 8, not ${JSON.stringify(wanted)}`)
  const since = checkedSince(options.since ?? SHADOW_SINCE)
  const table = isAboutAll(options)
    ? (await withDatabase(options, (database) => shadowsIn(database, { since, version }))).table
    : ownShadows(since, version)
  const [rows, trials] = [table.rows(), table.trials()]
  return output.result({ since: since.toISOString(), trials, rows }, (paint) =>
    trials.length === 0
      ? [
          untriedLine(version, since),
          ...nextLines(['carabiner fleet policy publish FILE --ring 1 --shadow'], paint),
        ]
      : shadowLines(table),
  )
}

function checkedSince(given: string): Date {
  try {
    return sinceOf(given)
  } catch (error) {
    throw usage(textOf(error))
  }
}

function ownShadows(since: Date, version: number | undefined): ShadowTable {
  const table = new ShadowTable(version)
  const filter = filterOf({ since: since.toISOString(), kind: 'fire' })
  for (const folder of logFolders(dataHome()))
    for (const entry of readEntries(folder, { newestFirst: true, filter })) table.add('here', entry)
  return table
}
