// The list of people in the database. Who reads it checks its signature.

import { type People, peopleIn, type SignedPeople } from '../../store/people.js'
import type { Database } from './connection.js'

export interface UncheckedPeople {
  /** Throws if the key of the fleet did not sign it. */
  checked(): People
}

/** The newest list. Undefined if nobody has written one. */
export async function newestPeople(database: Database): Promise<SignedPeople | undefined> {
  const [row] = await database.prepared<SignedPeople>(
    'select list, signature from fleet.people where org = fleet.own_org() order by version desc limit 1',
  )
  return row
}

export interface NumberedPeople extends SignedPeople {
  readonly version: number
}

/** The last hundred lists, the newest first. */
export async function lastPeople(database: Database): Promise<readonly NumberedPeople[]> {
  return database.rows<NumberedPeople>(
    'select version, list, signature from fleet.people where org = fleet.own_org() order by version desc limit 100',
  )
}

/** Reads the newest list, also if it is over. Undefined if there is none. */
export async function readList(database: Database): Promise<UncheckedPeople | undefined> {
  const [row] = await database.prepared<SignedPeople & { root_key: Buffer }>(
    `select p.list, p.signature, o.root_key from fleet.people p join fleet.org o using (org)
      where p.org = fleet.own_org() order by p.version desc limit 1`,
  )
  return row && { checked: () => peopleIn(row, row.root_key) }
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
