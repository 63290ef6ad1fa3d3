// Brings the database up to date: each migration once, in order, whoever else does the same at that moment.

import { type Client, type Database, Unready } from './connection.js'
import { MIGRATIONS, type Migration } from './migrations.js'

/** Any number, as long as it stays the same: PostgreSQL keeps others waiting who use it. */
const LOCK = 7_203_451_991

/** Another program that migrates is not worth a word if it is done by then. */
const WAITS_MS = 1000

/**
 * Each migration is a transaction of its own. Returns those that were missing. Throws for a database that is newer. `onWait` is
 * called once if another program migrates, and this one waits for it.
 */
export async function migrate(client: Client, onWait: () => void = () => {}): Promise<readonly Migration[]> {
  const timer = setTimeout(onWait, WAITS_MS)
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK])
  } finally {
    clearTimeout(timer)
  }
  try {
    await client.query(
      'create schema if not exists fleet; create table if not exists fleet.migration (version int primary key, name text not null, at timestamptz not null default now())',
    )
    const done = new Set(await versionsIn(client))
    const newest = Math.max(0, ...done)
    checkVersion(newest)
    const missing = MIGRATIONS.filter(({ version }) => !done.has(version))
    for (const { version, name, sql } of missing) await apply(client, version, name, sql)
    return missing
  } finally {
    // A connection that is lost gives the lock back itself. What went wrong before is what people have to know.
    await client.query('select pg_advisory_unlock($1)', [LOCK]).catch(() => {})
  }
}

async function versionsIn(client: Client): Promise<readonly number[]> {
  const { rows } = await client.query<{ version: number }>('select version from fleet.migration')
  return rows.map(({ version }) => version)
}

async function apply(client: Client, version: number, name: string, sql: string): Promise<void> {
  await client.query('begin')
  try {
    await client.query(sql)
    await client.query('insert into fleet.migration (version, name) values ($1, $2)', [version, name])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

/** Throws unless the database has exactly the version that this program knows. */
export async function checkSchema(database: Database): Promise<void> {
  const newest = await versionOf(database)
  checkVersion(newest ?? 0)
  if (newest === KNOWN) return
  const found = newest === undefined ? 'an older version' : `version ${newest}`
  throw new Unready(
    `it has ${found}, and this version of Carabiner needs ${KNOWN}`,
    'Its owner brings it up to date: carabiner fleet init.',
  )
}

/** Undefined before migration 13, which lets a gateway read it. */
async function versionOf(database: Database): Promise<number | undefined> {
  try {
    const [row] = await database.rows<{ newest: number }>(
      'select coalesce(max(version), 0) as newest from fleet.migration',
    )
    return row?.newest
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === INSUFFICIENT_PRIVILEGE) return undefined
    throw error
  }
}

const INSUFFICIENT_PRIVILEGE = '42501'

const KNOWN = MIGRATIONS.at(-1)?.version ?? 0

/** A newer gateway has changed the database in ways that this version does not know. */
function checkVersion(newest: number): void {
  if (newest > KNOWN)
    throw new Unready(
      `it has version ${newest}, and this version of Carabiner knows ${KNOWN}`,
      'Update Carabiner: npm install -g carabiner.',
    )
}
