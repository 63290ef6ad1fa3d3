// Names of machines: which there are, and which of two machines with the same name has left the fleet.

import { didYouMean, visibleName } from '../../core/base/text.js'
import type { FleetEntry } from './audit-query.js'
import type { Database } from './connection.js'

/** Why nothing has this name, in a sentence without its end. Undefined if a machine has it, or had it. */
export async function unknownName(
  database: Database,
  name: string,
  { isRetiredToo = true } = {},
): Promise<string | undefined> {
  const rows = await database.rows<{ name: string }>(
    `select name from fleet.machine where org = fleet.own_org() and ($1 or retired is null)`,
    [isRetiredToo],
  )
  const names = rows.map((row) => row.name)
  if (names.includes(name)) return undefined
  return `No machine of the fleet is called ${visibleName(name)}${didYouMean(name, names)}`
}

/** When their machines were retired, ISO-8601, by their chains. */
export async function retiredAmong(
  database: Database,
  entries: readonly FleetEntry[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await database.rows<{ chain: string; retired: Date }>(
    `select c.chain, m.retired from fleet.chain c join fleet.machine m on m.org = c.org and m.machine = c.machine
      where c.org = fleet.own_org() and c.chain = any($1::bigint[]) and m.retired is not null`,
    [[...new Set(entries.map(({ chain }) => chain))]],
  )
  return new Map(rows.map(({ chain, retired }) => [chain, retired.toISOString()]))
}

/** Follows its name: a machine that joined again has the same one. */
export function retiredWords(retired: string | undefined): string {
  return retired === undefined ? '' : ` (retired ${retired.slice(0, 10)})`
}
