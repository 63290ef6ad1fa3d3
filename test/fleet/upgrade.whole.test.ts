// A database that an older version has filled is brought up to date: all of it is still there, is found, and goes on.

import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { databaseSource } from '../../src/fleet/checkpoint/source.js'
import { verifyFleet } from '../../src/fleet/checkpoint/verify.js'
import {
  addAnswer,
  addQuestion,
  openQuestions,
  questionsOfMachine,
} from '../../src/fleet/database/approvals.js'
import { searchRecords } from '../../src/fleet/database/audit-query.js'
import { type Client, withOwner } from '../../src/fleet/database/connection.js'
import { evidenceOf } from '../../src/fleet/database/evidence-query.js'
import { fleetStatus } from '../../src/fleet/database/machine-status.js'
import { checkSchema, migrate } from '../../src/fleet/database/migrate.js'
import { MIGRATIONS } from '../../src/fleet/database/migrations.js'
import { listingOf } from '../../src/fleet/listing.js'
import { markOf } from '../../src/store/audit/chain.js'
import {
  addedMachine,
  type Fleet,
  listingIn,
  madeFleet,
  madeLines,
  ORG,
  opened,
  ROOT,
  rawLines,
} from './fleet-scene.js'
import { hasPostgres, Postgres, run } from './postgres.js'

const NEWEST = MIGRATIONS.length
const time = '2026-11-18T06:00:00.000Z'
/** No index could hold it, compressed either. */
const LONG = randomBytes(6000).toString('base64')

describe.runIf(hasPostgres)('a database of an older version', () => {
  let server: Postgres

  beforeAll(async () => {
    server = await Postgres.start()
    // Roles are those of the whole server.
    await madeFleet(server)
  })
  afterAll(() => server?.stop())

  const upTo = (version: number) => async (client: Client) => {
    await client.query('create schema fleet')
    await client.query(
      'create table fleet.migration (version int primary key, name text not null, at timestamptz not null default now())',
    )
    for (const { version: own, name, sql } of MIGRATIONS.slice(0, version)) {
      await client.query(sql)
      await client.query('insert into fleet.migration (version, name) values ($1, $2)', [own, name])
    }
  }

  /** As the tables were then. Later versions have only added columns to them, or dropped some that may be null. */
  async function filled(fleet: Fleet, version: number) {
    const machine = await addedMachine(fleet, 'ann')
    const gone = await addedMachine(fleet, 'gone')
    const texts = [
      { kind: 'fire', time, session: 's-1', action: 'deny' },
      { kind: 'fire', time, session: LONG.slice(0, 199), action: 'continue' },
      { kind: 'approval', time, session: 's-2', decision: 'allow' },
      { kind: 'fire', time, session: 's-3', action: 'continue', decision: 'deny' },
      // No index of the first versions could hold it.
      ...(version < 4 ? [] : [{ kind: 'fire', time, session: LONG, action: 'deny' }]),
    ]
    const lines = rawLines(texts.map((one) => JSON.stringify(one)))
    await withOwner(fleet.owner, async (client) => {
      await client.query('select fleet.enter($1)', [ORG])
      const hash = Buffer.from(lines.last.hash, 'hex')
      const chain = await client.query<{ chain: string }>(
        `insert into fleet.chain (org, machine, log, epoch, base_seq, base_hash, seq, hash)
          values (fleet.own_org(), $1, 'log', 1, 0, decode($2, 'hex'), $3, $4) returning chain`,
        [machine, lines.prev, lines.count, hash],
      )
      for (const [i, line] of lines.text.split('\n').entries()) {
        const { at, kind, verdict, session } = listingOf(line)
        await client.query(
          `insert into fleet.record (chain, seq, org, at, received, kind, verdict, session, hash, line)
            values ($1, $2, fleet.own_org(), coalesce($3, now()), now(), $4, $5, $6, decode($7, 'hex'), $8)`,
          [chain.rows[0]?.chain, i + 1, at, kind, verdict, session, markOf(Buffer.from(line))?.hash, line],
        )
      }
      await client.query(
        `insert into fleet.evidence (org, machine, log, epoch, kind, seq) values (fleet.own_org(), $1, 'log', 1, 'gap', 3)`,
        [machine],
      )
      await client.query('update fleet.machine set retired = now() where machine = $1', [gone])
      if (version < 6) return
      for (const id of ['open', 'half', 'settled'])
        await client.query(
          `insert into fleet.question (org, id, machine, body, people, expires)
            values (fleet.own_org(), $1, $2, '{}', 2, now() + interval '1 hour')`,
          [id, machine],
        )
      await client.query(
        `insert into fleet.answer (org, id, place, by_name, option, allows) values (fleet.own_org(), 'half', 1, 'ann', 'Allow', true)`,
      )
      await client.query(`insert into fleet.told (org, id) values (fleet.own_org(), 'open')`)
      await client.query(
        `insert into fleet.settled (org, id, how) values (fleet.own_org(), 'settled', 'denied')`,
      )
    })
    return { machine, lines }
  }

  it.each([2, 3, 4, 6, 7, 8, 11, 12, 13, 14, 15, 16, 17])(
    '%i keeps everything, and goes on',
    async (version) => {
      const fleet = await madeFleet(server, upTo(version))
      const { machine, lines } = await filled(fleet, version)
      const done = await withOwner(fleet.owner, (client) => migrate(client))
      expect(done.map((one) => one.version)).toEqual(MIGRATIONS.slice(version).map((one) => one.version))
      await run(fleet.owner, ['grant fleet_gateway, fleet_auditor, fleet_admin, fleet_page to a_admin'])
      const database = await opened(fleet.admin)
      try {
        await checkSchema(database)
        const seqs = async (query: object) =>
          (await searchRecords(database, { limit: 99, ...query })).map(({ entry }) => entry.seq)
        const all = Array.from({ length: lines.count }, (_, i) => lines.count - i)
        expect(await seqs({})).toEqual(all)
        expect(await seqs({ machine: 'ann', since: time, until: time })).toEqual(all)
        expect(await seqs({ session: 's-1' })).toEqual([1])
        expect(await seqs({ session: LONG.slice(0, 199) })).toEqual([2])
        expect(await seqs({ session: LONG })).toEqual(version < 4 ? [] : [5])
        expect(await seqs({ kind: 'approval' })).toEqual([3])
        expect(await seqs({ decision: 'deny' })).toEqual(version < 4 ? [4, 1] : [5, 4, 1])
        expect((await evidenceOf(database)).evidence).toMatchObject([{ machine: 'ann', kind: 'gap', seq: 3 }])
        expect((await fleetStatus(database)).machines).toMatchObject([{ name: 'ann' }])

        const next = madeLines([{ session: 'next' }], lines.last)
        expect(
          await database.rows('select status from fleet.append($1, $2, 1, $3, $4, $5, $6, $7, $8)', [
            ...[
              machine,
              'log',
              next.first,
              next.prev,
              next.count,
              next.last.hash,
              next.text,
              listingIn(next),
            ],
          ]),
        ).toEqual([{ status: 'added' }])
        expect(await seqs({ session: 'next' })).toEqual([lines.count + 1])
        const options = { rootKey: ROOT.publicKey }
        expect(
          await database.snapshot((client) => verifyFleet(databaseSource(client), options)),
        ).toMatchObject({
          ...{ ok: true, records: lines.count + 1, evidence: 1, problems: [] },
        })

        const expires = new Date(Date.now() + 3_600_000).toISOString()
        expect(await addQuestion(database, machine, { id: 'new', body: '{}', people: 1, expires })).toBe(
          'asked',
        )
        const open = (await openQuestions(database)).rows.map(({ id, allowed }) => [id, allowed])
        const old =
          version < 6
            ? []
            : [
                ['open', 0],
                ['half', 1],
              ]
        expect(open.sort()).toEqual([...old, ['new', 0]].sort())
        const allow = { by: 'ben', option: 'Allow', allows: true }
        expect(await addAnswer(database, machine, { id: 'new', ...allow })).toEqual({ status: 'answered' })
        const half = { status: version < 6 ? 'unknown' : 'answered' }
        expect(await addAnswer(database, machine, { id: 'half', ...allow })).toEqual(half)
        const { answers } = await questionsOfMachine(database, machine, { new: 0, half: 0 })
        expect(answers.map(({ id, by }) => [id, by])).toEqual([
          ...(version < 6
            ? []
            : [
                ['half', 'ann'],
                ['half', 'ben'],
              ]),
          ['new', 'ben'],
        ])
        expect(await database.rows('select fleet.retire_machine($1) as done', [machine])).toEqual([
          { done: true },
        ])
      } finally {
        await database.close()
      }
      expect(await withOwner(fleet.owner, (client) => migrate(client))).toEqual([])
      expect(done.length + version).toBe(NEWEST)
    },
  )
})
