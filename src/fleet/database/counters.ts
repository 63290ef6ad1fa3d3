// Counts of the last hour that all machines share, in the database.

import type { CountAnswer, CountRequest } from '../protocol.js'
import type { Database } from './connection.js'

/** Adds once for each id of a machine. Waits for others who count the same, two seconds at most. */
export async function addCount(
  database: Database,
  machine: string,
  { key, id, most, add }: CountRequest,
): Promise<CountAnswer> {
  const [row] = await database.rows<{ status: CountAnswer['status'] }>(
    'select fleet.add_count($1, $2, $3, $4, $5) as status',
    [machine, key, id, most ?? null, add],
  )
  if (!row) throw new Error('the database did not count')
  return row
}
