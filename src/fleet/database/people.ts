// The list of people in the database. Who reads it checks its signature.

import { type People, peopleIn, type SignedPeople } from '../../store/people.js'
import type { Database } from './connection.js'

/** The newest list. Undefined if nobody has written one. */
export async function newestPeople(database: Database): Promise<SignedPeople | undefined> {
  const [row] = await database.rows<{ list: string; signature: string }>(
    'select list, signature from fleet.people where org = fleet.own_org() order by version desc limit 1',
  )
  return row
}

/** The newest list, also if it is over. Undefined if there is none. Throws if the key of the fleet did not sign it. */
export async function checkedPeople(database: Database): Promise<People | undefined> {
  const [newest, [org]] = await Promise.all([
    newestPeople(database),
    database.rows<{ root_key: Buffer }>('select root_key from fleet.org where org = fleet.own_org()'),
  ])
  return newest && org && peopleIn(newest, org.root_key)
}

/** Returns false if somebody else has written this version. */
export async function addPeople(
  database: Database,
  version: number,
  { list, signature }: SignedPeople,
): Promise<boolean> {
  const rows = await database.rows(
    `insert into fleet.people (org, version, list, signature) values (fleet.own_org(), $1, $2, $3)
      on conflict do nothing returning version`,
    [version, list, signature],
  )
  return rows.length === 1
}
