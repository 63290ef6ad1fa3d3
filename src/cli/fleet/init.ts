// `fleet init`: prepares the database, and makes the key of the fleet. Safe to run again.

import { existsSync } from 'node:fs'
import { callerPath } from '../../files/caller.js'
import { type Client, withOwner } from '../../fleet/database/connection.js'
import { migrate } from '../../fleet/database/migrate.js'
import { MIGRATIONS } from '../../fleet/database/migrations.js'
import { nextLines, shortPath } from '../print/lines.js'
import { Refusal } from '../refusal.js'
import { databaseUrl, type Given, orgOf } from './action.js'
import { refusing } from './failure.js'
import { writtenKey } from './new-key.js'

const ROLES = {
  fleet_gateway: 'appends what machines ship, for carabiner fleet serve',
  fleet_page: 'reads for people who are signed in, for carabiner fleet serve --page',
  fleet_auditor: 'reads everything, for carabiner fleet audit',
  fleet_admin: 'makes tokens and checkpoints; manages people, machines, policy and trust',
} as const

export async function run({ options, output }: Given): Promise<number> {
  const url = databaseUrl(options)
  const org = orgOf(options)
  const file = callerPath(options.key ?? 'fleet-root.key')
  const { applied, rootKey, isNew } = await refusing(() =>
    withOwner(url, async (client) => {
      const done = await migrate(client, () => {
        void output.complain(['carabiner: another program brings the database up to date; waiting for it'])
      })
      return { applied: done.map(({ name }) => name), ...(await keyOf(client, org, file)) }
    }),
  )
  const version = MIGRATIONS.at(-1)?.version ?? 0
  const document = { version, applied, org, rootKey, ...(isNew && { key: file }), roles: ROLES }
  return output.result(document, (paint) => [
    `the tables have version ${version}${applied.length === 0 ? ', as before' : ''}; organisation ${org}`,
    `  public key of the fleet: ${rootKey}`,
    ...(isNew
      ? [`  its private key is ${shortPath(file)}: keep it away from the database, it signs checkpoints`]
      : []),
    '  roles:',
    ...Object.entries(ROLES).map(([role, does]) => `    ${role.padEnd(14)} ${does}`),
    ...nextLines([`psql: create role gateway login password '…' in role fleet_gateway`], paint),
  ])
}

/** An organisation keeps its key: machines know it. */
async function keyOf(
  client: Client,
  org: string,
  file: string,
): Promise<{ readonly rootKey: string; readonly isNew: boolean }> {
  const { rows } = await client.query<{ root_key: Buffer }>(
    'select root_key from fleet.org where name = $1',
    [org],
  )
  const [known] = rows
  if (known) return { rootKey: known.root_key.toString('base64url'), isNew: false }
  if (existsSync(file))
    throw new Refusal(
      'FLEET_UNUSABLE',
      `There is a file ${file} already, and it may be the key of another fleet`,
      {
        hint: 'Give --key FILE: the private key of the new one is written there.',
      },
    )
  // First the file: an organisation whose key nobody has could sign nothing.
  const pair = writtenKey(file, '--key')
  await client.query('insert into fleet.org (name, root_key) values ($1, $2)', [org, pair.publicKey])
  return { rootKey: pair.publicKey.toString('base64url'), isNew: true }
}
