// A fleet for tests: a database with its roles, an organisation, and logs of machines as the product writes them.

import { generateKeyPairSync } from 'node:crypto'
import { newKeyPair } from '../../src/files/ed25519.js'
import { userPlace } from '../../src/files/fleet-places.js'
import { type Client, type Database, openDatabase, withOwner } from '../../src/fleet/database/connection.js'
import { migrate } from '../../src/fleet/database/migrate.js'
import { type JoinToken, newToken, secretDigest } from '../../src/fleet/join-token.js'
import { listingOf, listingText } from '../../src/fleet/listing.js'
import { joinFleet } from '../../src/fleet/machine/joining.js'
import type { Member } from '../../src/fleet/machine/membership.js'
import { chained, markOf, START, textOfEntry } from '../../src/store/audit/chain.js'
import type { Link } from '../../src/store/audit-log.js'
import '../files/in-a-fleet.js'
import { type Postgres, run } from './postgres.js'

export const ORG = 'acme'
/** Signs lists of people and checkpoints. */
export const ROOT = newKeyPair()

export interface Fleet {
  /** Addresses of the database: as its owner, and as somebody with one of the roles. */
  readonly owner: string
  readonly gateway: string
  /** A gateway with a page. */
  readonly page: string
  readonly auditor: string
  readonly admin: string
}

/** A new database, brought up to date or as `prepare` does it, with two organisations and a user for each role. */
export async function madeFleet(
  server: Postgres,
  prepare: (client: Client) => Promise<unknown> = (client) => migrate(client),
): Promise<Fleet> {
  const { owner, as } = await server.database()
  await withOwner(owner, prepare)
  const key = `'\\x${ROOT.publicKey.toString('hex')}'`
  await run(owner, [
    ...['gateway', 'page', 'auditor', 'admin'].map(
      (role) =>
        `do $$ begin create role a_${role} login; exception when duplicate_object or unique_violation then null; end $$`,
    ),
    'grant fleet_gateway, fleet_page to a_page',
    'grant fleet_gateway to a_gateway; grant fleet_auditor to a_auditor; grant fleet_admin to a_admin',
    `insert into fleet.org (name, root_key) values ('${ORG}', ${key}), ('other', ${key})`,
  ])
  return {
    owner,
    gateway: as('a_gateway'),
    page: as('a_page'),
    auditor: as('a_auditor'),
    admin: as('a_admin'),
  }
}

export function opened(url: string, org = ORG): Promise<Database> {
  return openDatabase({ url, org })
}

/** The public half of a new machine key, as the database has it. */
export function machineKey(): Buffer {
  const { publicKey } = generateKeyPairSync('ed25519')
  return Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
}

/** Puts a machine on the list without a token. */
export async function addedMachine(fleet: Fleet, name: string, org = ORG): Promise<string> {
  const [row] = await run(fleet.owner, [
    `insert into fleet.machine (org, name, key, token) select org, '${name}', '\\x${machineKey().toString('hex')}', 't' from fleet.org where name = '${org}' returning machine`,
  ])
  return String(row?.machine)
}

export interface Lines {
  readonly first: number
  readonly prev: string
  readonly count: number
  readonly last: Link
  readonly text: string
}

/** Lines of a log, as a machine has them, after `before`. */
export function madeLines(entries: readonly object[], before: Link = START): Lines {
  const time = '2026-11-18T06:00:00.000Z'
  return rawLines(
    entries.map((entry) => textOfEntry({ kind: 'fire', time, ...entry })),
    before,
  )
}

/** Lines of any objects, which no product writes but whoever has the key of a machine could send. */
export function rawLines(texts: readonly string[], before: Link = START): Lines {
  const { bytes, last } = chained(texts, before)
  return {
    first: before.seq + 1,
    prev: before.hash,
    count: texts.length,
    last,
    text: bytes.toString('utf8').slice(0, -1),
  }
}

/** How the gateway lists these lines. */
export function listingIn({ text }: Pick<Lines, 'text'>): string {
  return listingText(
    text.split('\n').map((line) => ({ ...listingOf(line), hash: markOf(Buffer.from(line))?.hash ?? '' })),
  )
}

/** A token for one machine, as `carabiner fleet token` makes it. */
export async function madeToken(fleet: Fleet, { lasts = '1 hour', org = ORG } = {}): Promise<JoinToken> {
  const token = newToken(ROOT.publicKey)
  const digest = secretDigest(token.secret).toString('hex')
  await run(fleet.owner, [
    `insert into fleet.join_token (org, token, secret_digest, expires) select org, '${token.id}', '\\x${digest}', clock_timestamp() + interval '${lasts}' from fleet.org where name = '${org}'`,
  ])
  return token
}

/** A machine that has joined, with its own home. */
export async function joined(fleet: Fleet, url: string, home: string, name: string): Promise<Member> {
  return joinFleet({ url, token: await madeToken(fleet), name, place: userPlace(home) })
}
