// The policy in the database. Who reads it checks the signatures.

import { POLICY_ROLES, type PolicyRole, type PolicyRow } from '../policy/metadata.js'
import { keyIdOf } from '../policy/signers.js'
import type { Database } from './connection.js'

interface Row {
  readonly role: PolicyRole
  readonly version: number
  readonly content: string
  readonly target: string | null
}

function rowOf({ target, ...row }: Row): PolicyRow {
  return { ...row, ...(target !== null && { target }) }
}

/** All roots after a version, and the newest version of every other role: each from the index, however many there are. */
const STATE = `select role, version, content, target from fleet.policy_file
    where org = fleet.own_org() and role = 'root' and version > $1
  union all select newest.* from unnest($2::text[]) as wanted(role) cross join lateral (
    select role, version, content, target from fleet.policy_file f
    where f.org = fleet.own_org() and f.role = wanted.role order by version desc limit 1) newest`

/** The newest versions. 0 if there is no policy. */
export async function newestPolicy(
  database: Database,
): Promise<{ readonly root: number; readonly timestamp: number }> {
  const newest = (role: PolicyRole) =>
    `coalesce((select max(version) from fleet.policy_file where org = fleet.own_org() and role = '${role}'), 0)`
  const [row] = await database.rows<{ root: number; timestamp: number }>(
    `select ${newest('root')} as root, ${newest('timestamp')} as timestamp`,
  )
  return row ?? { root: 0, timestamp: 0 }
}

/** For a machine that has this root, or for whoever begins with the first. */
export async function policyAfter(database: Database, root = 0): Promise<readonly PolicyRow[]> {
  const rows = await database.rows<Row>(STATE, [root, POLICY_ROLES.filter((role) => role !== 'root')])
  return rows.map(rowOf)
}

/** The key that the fleet began with, as the database says. */
export async function firstRootKey(database: Database): Promise<Buffer> {
  const [row] = await database.rows<{ root_key: Buffer }>(
    'select root_key from fleet.org where org = fleet.own_org()',
  )
  return row?.root_key ?? Buffer.alloc(0)
}

/** Whether the newest root names this key as its own. Nothing is checked. */
export async function isRootOfPolicy(database: Database, key: Buffer): Promise<boolean> {
  const [row] = await database.rows<{ content: string }>(
    `select content from fleet.policy_file where org = fleet.own_org() and role = 'root' order by version desc limit 1`,
  )
  return row?.content.includes(`"root":{"keyids":["${keyIdOf(key)}"]`) ?? false
}

/** Versions of bundles by digest, as the newest list of them says. Nothing is checked. */
export function versionsIn(rows: readonly PolicyRow[]): ReadonlyMap<string, number> {
  const content = rows.find(({ role }) => role === 'targets')?.content
  if (content === undefined) return new Map()
  const { signed } = JSON.parse(content) as {
    readonly signed: {
      readonly targets: Readonly<Record<string, { readonly custom?: { readonly version?: number } }>>
    }
  }
  return new Map(
    Object.entries(signed.targets).flatMap(([name, { custom }]) =>
      typeof custom?.version === 'number' ? [[name.replace(/\.json$/, ''), custom.version] as const] : [],
    ),
  )
}

export async function bundleText(database: Database, digest: string): Promise<string | undefined> {
  const [row] = await database.rows<{ content: string }>(
    'select content from fleet.policy_bundle where org = fleet.own_org() and digest = $1',
    [digest],
  )
  return row?.content
}

export interface NewPolicy {
  readonly rows: readonly PolicyRow[]
  readonly bundle?: { readonly digest: string; readonly text: string }
}

/**
 * All rows or none. Returns false if somebody else has published one of these versions. The bundle is written before, so that no
 * row names one that is missing; it stays even if the rows do not follow, and nothing names it then.
 */
export async function addPolicy(database: Database, { rows, bundle }: NewPolicy): Promise<boolean> {
  if (bundle)
    await database.rows(
      `insert into fleet.policy_bundle (org, digest, content) values (fleet.own_org(), $1, $2) on conflict do nothing`,
      [bundle.digest, bundle.text],
    )
  try {
    await database.rows(
      `insert into fleet.policy_file (org, role, version, content, target)
        select fleet.own_org(), r.role, r.version, r.content, r.target
        from jsonb_to_recordset($1::jsonb) as r(role text, version int, content text, target text)`,
      [JSON.stringify(rows)],
    )
    return true
  } catch (error) {
    if ((error as { code?: unknown }).code === UNIQUE_VIOLATION) return false
    throw error
  }
}

const UNIQUE_VIOLATION = '23505'
