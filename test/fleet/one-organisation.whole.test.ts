// A gateway whose user owns the tables, or is a superuser, whom row-level security does not hold back: each query names the
// organisation itself. Two organisations have the same ids here, which only row-level security would keep apart.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  addAnswer,
  addQuestion,
  openQuestions,
  questionOf,
  questionsOfMachine,
  untoldQuestions,
} from '../../src/fleet/database/approvals.js'
import { oneRecord, searchRecords } from '../../src/fleet/database/audit-query.js'
import type { Database } from '../../src/fleet/database/connection.js'
import { evidenceOf } from '../../src/fleet/database/evidence-query.js'
import { fleetStatus } from '../../src/fleet/database/machine-status.js'
import { endsOfChains, hashesAt, lengthOfChains, recordsIn } from '../../src/fleet/database/new-records.js'
import { addPeople, lastPeople, readList } from '../../src/fleet/database/people.js'
import { bundleText, firstRootKey, newestPolicy, policyAfter } from '../../src/fleet/database/policy.js'
import { shadowsIn } from '../../src/fleet/database/shadow-query.js'
import {
  addedMachine,
  type Fleet,
  type Lines,
  listingIn,
  madeFleet,
  madeLines,
  ORG,
  opened,
} from './fleet-scene.js'
import { hasPostgres, Postgres, run } from './postgres.js'

describe.runIf(hasPostgres)('the owner of the tables sees of the database', () => {
  let server: Postgres
  let fleet: Fleet
  /** Of each organisation: a user whom row-level security holds back, and the owner. */
  const users = new Map<string, { readonly held: Database; readonly owner: Database }>()
  const machines = new Map<string, string>()
  const ORGS = [ORG, 'other'] as const

  beforeAll(async () => {
    server = await Postgres.start()
    fleet = await madeFleet(server)
    await run(fleet.owner, ['grant fleet_gateway, fleet_auditor, fleet_admin, fleet_page to a_admin'])
    for (const org of ORGS) {
      const held = await opened(fleet.admin, org)
      users.set(org, { held, owner: await opened(fleet.owner, org) })
      const machine = await addedMachine(fleet, `machine of ${org}`, org)
      machines.set(org, machine)
      const lines = madeLines([
        { session: org, action: 'deny', hooks: [{ name: 'fleet@3:x' }] },
        { session: 's' },
      ])
      await appended(held, machine, lines)
      await appended(held, machine, madeLines([{ session: 'fork' }]))
      const expires = new Date(Date.now() + 3_600_000).toISOString()
      for (const id of ['open', 'denied', 'half', 'settled'])
        await addQuestion(held, machine, { id, body: `{"of":"${org}"}`, people: 2, expires })
      await addPeople(held, 1, { list: `list of ${org}`, signature: org })
      await run(fleet.owner, [
        `select fleet.enter('${org}')`,
        `insert into fleet.policy_file (org, role, version, content) values (fleet.own_org(), 'timestamp', ${org.length}, '{}')`,
        `insert into fleet.policy_bundle (org, digest, content) values (fleet.own_org(), '${'a'.repeat(64)}', '${org}')`,
      ])
    }
    // What only one of them said must not count for the question of the other.
    const [{ held: ours }, { held: theirs }] = [of(ORG), of('other')]
    const answer = { option: 'Allow', allows: true }
    await addAnswer(ours, machineOf(ORG), { id: 'half', by: 'ann', ...answer })
    await addAnswer(ours, machineOf(ORG), { id: 'denied', by: 'ann', option: 'Deny', allows: false })
    await addAnswer(ours, machineOf(ORG), { id: 'settled', by: 'ann', ...answer })
    await run(fleet.owner, [
      `select fleet.enter('${ORG}')`,
      `select fleet.settle('${machineOf(ORG)}', 'settled', 'used', 'ann')`,
      `select fleet.reject('${machineOf(ORG)}', 'half', 1, 'not on its list')`,
    ])
    await addAnswer(theirs, machineOf('other'), { id: 'open', by: 'zoe', ...answer })
    await addAnswer(theirs, machineOf('other'), { id: 'settled', by: 'zoe', option: 'Deny', allows: false })
  })
  afterAll(async () => {
    for (const { held, owner } of users.values()) await Promise.all([held.close(), owner.close()])
    server?.stop()
  })

  const of = (org: string) => users.get(org) as { readonly held: Database; readonly owner: Database }
  const machineOf = (org: string) => machines.get(org) ?? ''
  const appended = (database: Database, machine: string, lines: Lines) =>
    database.rows('select * from fleet.append($1, $2, $3, $4, $5, $6, $7, $8, $9)', [
      ...[machine, 'log', 1, lines.first, lines.prev, lines.count, lines.last.hash, lines.text],
      listingIn(lines),
    ])

  const IDS = ['open', 'denied', 'half', 'settled', 'nothing']
  const PLACES = [1, 2].map((chain) => ({ chain: String(chain), after: 0, upTo: 2 }))
  const READS: Readonly<Record<string, (database: Database, machine: string) => Promise<unknown>>> = {
    'open questions': openQuestions,
    'single questions': (database) => Promise.all(IDS.map((id) => questionOf(database, id))),
    'questions of a machine': (database, machine) =>
      questionsOfMachine(database, machine, { open: 0, half: 0 }),
    'questions to tell': async (database) => (await untoldQuestions(database, 9)).map(({ id }) => id),
    records: (database) => searchRecords(database, { limit: 99 }),
    'records of a hook': (database) => searchRecords(database, { limit: 99, hook: 'fleet@3' }),
    'single records': (database) => Promise.all(PLACES.map(({ chain }) => oneRecord(database, chain, '1'))),
    evidence: (database) => evidenceOf(database),
    status: (database) => fleetStatus(database, 0),
    chains: (database) => endsOfChains(database).next(),
    'length of chains': lengthOfChains,
    'new records': (database) => recordsIn(database, PLACES),
    hashes: (database) =>
      hashesAt(
        database,
        PLACES.map(({ chain }) => ({ chain, seq: 1 })),
      ),
    shadows: async (database) => (await shadowsIn(database, { since: new Date(0) })).table,
    people: lastPeople,
    'the list of people': async (database) => (await readList(database))?.signed,
    'the policy': async (database) => [await newestPolicy(database), await policyAfter(database)],
    bundles: (database) => bundleText(database, 'a'.repeat(64)),
    'the root key': firstRootKey,
  }

  it.each(Object.keys(READS))('only what one organisation has: %s', async (name) => {
    const read = READS[name] as (database: Database, machine: string) => Promise<unknown>
    for (const org of ORGS)
      for (const machine of machines.values())
        expect(await read(of(org).owner, machine)).toEqual(await read(of(org).held, machine))
  })

  it.each(ORGS)('only answers of %s when one is too late', async (org) => {
    const given = { id: 'settled', by: 'eve', option: 'Allow', allows: true }
    const [told, expected] = [of(org).owner, of(org).held].map((one) => addAnswer(one, machineOf(org), given))
    expect(await told).toMatchObject({ status: 'too-late' })
    expect(await told).toEqual(await expected)
  })
})
