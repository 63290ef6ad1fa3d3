// How PostgreSQL finds what a search or a list asks for, as users whom row-level security holds back, in a large fleet.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addQuestion, openQuestions, untoldQuestions } from '../../src/fleet/database/approvals.js'
import { type FleetQuery, searchPage } from '../../src/fleet/database/audit-query.js'
import type { Database } from '../../src/fleet/database/connection.js'
import { addedMachine, type Fleet, madeFleet, ORG, opened } from './fleet-scene.js'
import { hasPostgres, Postgres, run } from './postgres.js'

/** A node of `explain (analyze, format json)`. */
interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Plan[]
}

const CHAINS = 12
const EACH = 5000
const PAGE = 500
const LOGS = 200
const LOG_EACH = 100

describe.runIf(hasPostgres)('in a large fleet', () => {
  let server: Postgres
  let fleet: Fleet
  let auditor: Database
  let gateway: Database

  beforeAll(async () => {
    server = await Postgres.start()
    fleet = await madeFleet(server)
    auditor = await opened(fleet.auditor)
    gateway = await opened(fleet.gateway)
    for (const name of ['ann', 'bob', 'quiet', 'busy']) await addedMachine(fleet, name)
    const line = (fields: string) =>
      `json_build_object('time', to_char(t, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), ${fields})::text`
    await run(fleet.owner, [
      `set timezone to 'UTC'; select fleet.enter('${ORG}')`,
      `insert into fleet.chain (org, machine, log, epoch, base_seq, base_hash, seq, hash)
        select fleet.own_org(), (select machine from fleet.machine where name = case when n = 1 then 'quiet' when n % 2 = 0 then 'ann' else 'bob' end),
          'log ' || n, 1, 0, '', ${EACH}, '' from generate_series(1, ${CHAINS}) n`,
      `insert into fleet.record (chain, seq, org, at, received, kind, verdict, session, hash, line)
        select c, n, fleet.own_org(), t, t, kind, verdict, session, '\\x00', ${line(`'kind', kind, 'action', verdict, 'session', session, 'seq', n, 'hooks', '[]'::json, 'filling', repeat('x', 400)`)}
        from (select c, n, timestamptz '2026-01-01' + n * interval '1 minute' + c * interval '1 second' as t,
            case when n % 1000 = 0 then 'unreadable' when n % 50 = 0 then 'approval' else 'fire' end as kind,
            case when n % 100 = 7 then 'deny' else 'continue' end as verdict,
            'session ' || c || ' ' || n / 100 as session
          from generate_series(1, ${CHAINS}) c, generate_series(1, ${EACH}) n) x`,
      // A machine with many projects, each with a log of its own.
      `insert into fleet.chain (org, machine, log, epoch, base_seq, base_hash, seq, hash)
        select fleet.own_org(), (select machine from fleet.machine where name = 'busy'), 'project ' || n, 1, 0, '', ${LOG_EACH}, '' from generate_series(1, ${LOGS}) n`,
      `insert into fleet.record (chain, seq, org, at, received, kind, verdict, session, hash, line)
        select c.chain, n, c.org, t, t, 'fire', 'continue', 's', '\\x00', ${line(`'kind', 'fire', 'action', 'continue', 'seq', n, 'filling', repeat('x', 400)`)}
        from (select c.*, n, timestamptz '2026-01-01' + n * interval '1 hour' + c.chain * interval '1 second' as t
          from fleet.chain c, generate_series(1, ${LOG_EACH}) n where c.log like 'project %') c`,
      // Nearly all questions are over.
      `insert into fleet.question (org, id, machine, body, people, asked, expires)
        select fleet.own_org(), 'old' || n, (select machine from fleet.machine where name = 'ann'), '{}', 1, now() - interval '2 days', now() - interval '1 day'
        from generate_series(1, 20000) n`,
      `vacuum analyze fleet.record`,
      `vacuum analyze fleet.question`,
      `analyze fleet.chain`,
    ])
    const [row] = await run(fleet.owner, [`select machine from fleet.machine where name = 'bob'`])
    const expires = new Date(Date.now() + 3_600_000).toISOString()
    for (const id of ['one', 'two'])
      await addQuestion(gateway, String(row?.machine), { id, body: '{}', people: 1, expires })
  })
  afterAll(async () => {
    await auditor?.close()
    await gateway?.close()
    server?.stop()
  })

  /** The scans of a table by all statements that it sends. */
  async function scansOf(
    database: Database,
    table: string,
    work: (database: Database) => Promise<unknown>,
  ): Promise<readonly Plan[]> {
    const found: Plan[] = []
    const collect = (plan: Plan) => {
      if (plan['Relation Name'] === table) found.push(plan)
      plan.Plans?.forEach(collect)
    }
    const told = async (sql: string, values: readonly unknown[] = []) => {
      const [row] = await database.rows<{ 'QUERY PLAN': readonly [{ Plan: Plan }] }>(
        `explain (analyze, format json) ${sql}`,
        values,
      )
      if (row) collect(row['QUERY PLAN'][0].Plan)
      return database.rows(sql, values)
    }
    await work({ rows: told, prepared: told } as unknown as Database)
    return found
  }
  const read = (plan: Plan) =>
    (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']

  const ODD = 'record_kind'
  /** With the indexes that they are answered from. Records without proper columns may be what any of them looks for. */
  const SEARCHES: readonly (readonly [string, Partial<FleetQuery>, readonly string[]])[] = [
    ['everything', {}, ['record_at']],
    ['a session', { session: 'session 3 20' }, ['record_session', ODD]],
    ['a verdict', { decision: 'deny' }, ['record_verdict', ODD]],
    ['a kind', { kind: 'approval' }, ['record_kind', ODD]],
    ['a time', { since: '2026-01-02T00:00:00Z', until: '2026-01-02T01:00:00Z' }, ['record_at', ODD]],
    ['a verdict at a time', { decision: 'deny', until: '2026-01-03T00:00:00Z' }, ['record_verdict', ODD]],
    ['a session and a verdict', { session: 'session 3 20', decision: 'deny' }, ['record_session', ODD]],
    ['a machine', { machine: 'quiet' }, ['record_chain']],
    ['a machine at a time', { machine: 'quiet', until: '2026-01-02T01:00:00Z' }, ['record_chain', ODD]],
    ['what nearly every record is', { decision: 'continue', kind: 'fire' }, ['record_at']],
    ['a text that no index has', { session: 'x'.repeat(3000) }, ['record_at']],
  ]

  it.each(SEARCHES)('a search for %s reads what an index says, page for page', async (_, query, indexes) => {
    const limit = 400
    let after: string | undefined
    for (let page = 0; page < 3; page++) {
      let next: string | undefined
      const scans = await scansOf(auditor, 'record', async (database) => {
        const place = after === undefined ? {} : { after }
        const found = await searchPage(database, { ...query, ...place, limit, lookAt: PAGE })
        next = found.next
      })
      expect(new Set(scans.map((one) => one['Index Name']))).toEqual(new Set([...indexes, 'record_pkey']))
      for (const scan of scans) {
        expect(scan['Node Type']).toMatch(/^Index( Only)? Scan$/)
        // Where there are few more, PostgreSQL may as well read all of them and sort.
        expect(read(scan)).toBeLessThanOrEqual(2 * PAGE)
      }
      if (next === undefined) return
      after = next
    }
  })

  it('a search for a machine with many logs reads lines of what it shows alone', async () => {
    const scans = await scansOf(auditor, 'record', async (database) => {
      const { entries } = await searchPage(database, { machine: 'busy', limit: 20 })
      expect(entries).toHaveLength(20)
    })
    const [keys, lines, ...more] = ['record_chain', 'record_pkey'].map((name) =>
      scans.filter((one) => one['Index Name'] === name),
    )
    expect([scans.length, more]).toEqual([2, []])
    expect(keys?.[0]).toMatchObject({ 'Node Type': 'Index Only Scan', 'Actual Loops': LOGS })
    expect(read(lines?.[0] as Plan)).toBeLessThanOrEqual(50)
    // The next pages begin where this one ended, not with the newest again.
    const { next: after = '' } = await searchPage(auditor, { machine: 'busy', limit: 10_000 })
    const later = await scansOf(auditor, 'record', (database) => {
      return searchPage(database, { machine: 'busy', limit: 20, after })
    })
    for (const scan of later) expect(scan['Rows Removed by Filter'] ?? 0).toBeLessThanOrEqual(1)
  })

  it('a search for what hardly any record has looks at no more records than it may', async () => {
    for (const query of [{ hook: 'nobody' }, { hook: 'nobody', machine: 'quiet' }, { event: 'Stop' }]) {
      let next: string | undefined
      const scans = await scansOf(auditor, 'record', async (database) => {
        next = (await searchPage(database, { ...query, limit: 10, lookAt: 1200 })).next
      })
      expect(next).toBeDefined()
      for (const isLines of [true, false]) {
        const some = scans.filter((one) => (one['Index Name'] === 'record_pkey') === isLines)
        expect(some.map(read).reduce((a, b) => a + b)).toBeLessThanOrEqual(1200 + 100)
      }
    }
  })

  it('open questions are found by their time', async () => {
    for (const list of [openQuestions, (database: Database) => untoldQuestions(database, 9)]) {
      const scans = await scansOf(gateway, 'question', list)
      expect(scans.map((one) => one['Index Cond']).join()).toMatch(/expires > now\(\)/)
      for (const scan of scans) expect(read(scan)).toBeLessThanOrEqual(2)
    }
  })
})
