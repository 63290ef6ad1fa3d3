// The list of people in the database. Whoever reads it checks its signature and its version.

import { type People, peopleIn, type SignedPeople } from '../../files/fleet/people.js'
import type { Database } from './connection.js'

/** The newest list, as the database has it. */
export interface UncheckedPeople {
  readonly signed: SignedPeople
  /** Throws if the key of the fleet did not sign it, or signed it as another version: an old list must not come back. */
  checked(): People
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

/** Reads the newest list, also if it is over. Undefined if there is none. Everybody reads it here. */
export async function readList(database: Database): Promise<UncheckedPeople | undefined> {
  const [row] = await database.prepared<NumberedPeople & { root_key: Buffer }>(
    `select p.version, p.list, p.signature, o.root_key from fleet.people p join fleet.org o using (org)
      where p.org = fleet.own_org() order by p.version desc limit 1`,
  )
  if (!row) return undefined
  const { version, list, signature, root_key } = row
  return {
    signed: { list, signature },
    checked: () => numberedPeople({ version, list, signature }, root_key),
  }
}

/** Throws as `checked` does. */
export function numberedPeople({ version, ...signed }: NumberedPeople, rootKey: Buffer): People {
  const list = peopleIn(signed, rootKey)
  if (list.version !== version) throw new Error(`is a copy of version ${list.version}`)
  return list
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
