// Row-level security of every table that there is: whoever has a role of the fleet sees the rows of one organisation, or none.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Fleet, madeFleet, ORG } from './fleet-scene.js'
import { hasPostgres, Postgres, run } from './postgres.js'

/** Says which migrations have run, and nothing about an organisation. */
const WITHOUT_ORG = ['migration']
const OWN = '(org = fleet.own_org())'

/** A value for a column that must have one. ORG is the number of the organisation, so that keys differ. */
const VALUES: Readonly<Record<string, string>> = {
  int4: 'ORG',
  int8: 'ORG',
  text: `'xORG'`,
  bytea: `'xORG'`,
  uuid: 'gen_random_uuid()',
  timestamptz: 'now()',
  bool: 'true',
  jsonb: `'{}'`,
}

interface Column {
  readonly name: string
  readonly type: string
}

describe.runIf(hasPostgres)('row-level security', () => {
  let server: Postgres
  let fleet: Fleet
  let tables: readonly string[]
  let own: number

  const rows = <R>(url: string, ...statements: string[]) =>
    run(url, statements) as unknown as Promise<readonly R[]>

  beforeAll(async () => {
    server = await Postgres.start()
    fleet = await madeFleet(server)
    const found = await rows<{ name: string }>(
      fleet.owner,
      `select relname as name from pg_class where relnamespace = 'fleet'::regnamespace and relkind in ('r', 'p') order by 1`,
    )
    tables = found.map(({ name }) => name).filter((name) => !WITHOUT_ORG.includes(name))
    const orgs = await rows<{ org: number; name: string }>(fleet.owner, 'select org, name from fleet.org')
    own = orgs.find(({ name }) => name === ORG)?.org ?? 0
    // Only who sees a row matters here, not what it says.
    await run(fleet.owner, [
      `do $$ declare c record; begin
        for c in select conname, conrelid::regclass as place from pg_constraint
          where connamespace = 'fleet'::regnamespace and contype in ('c', 'f')
        loop execute format('alter table %s drop constraint if exists %I cascade', c.place, c.conname); end loop;
      end $$`,
    ])
    for (const table of tables)
      if (table !== 'org') for (const { org } of orgs) await run(fleet.owner, [await filling(table, org)])
  })
  afterAll(() => server?.stop())

  async function filling(table: string, org: number): Promise<string> {
    const needed = await rows<Column>(
      fleet.owner,
      `select a.attname as name, t.typname as type from pg_attribute a join pg_type t on t.oid = a.atttypid
        where a.attrelid = 'fleet.${table}'::regclass and a.attnum > 0 and not a.attisdropped
          and a.attnotnull and not a.atthasdef and a.attidentity = ''`,
    )
    const value = ({ type }: Column) => (VALUES[type] ?? `'{}'`).replace('ORG', String(org))
    return `insert into fleet.${table} (${needed.map(({ name }) => name).join(', ')}) values (${needed.map(value).join(', ')})`
  }

  it('is on for every table, with the organisation of the connection and nothing else', async () => {
    expect(tables).toEqual(
      expect.arrayContaining(['org', 'machine', 'record', 'evidence', 'people', 'answer']),
    )
    const found = await rows<{ name: string; enabled: boolean; policies: readonly string[] }>(
      fleet.owner,
      `select c.relname as name, c.relrowsecurity as enabled,
          array(select pg_get_expr(p.polqual, p.polrelid) || coalesce(' ' || pg_get_expr(p.polwithcheck, p.polrelid), '')
            from pg_policy p where p.polrelid = c.oid) as policies
        from pg_class c where c.relnamespace = 'fleet'::regnamespace and c.relkind in ('r', 'p')`,
    )
    for (const { name, enabled, policies } of found.filter((one) => tables.includes(one.name))) {
      expect([name, enabled, policies.length]).toEqual([name, true, 1])
      expect([OWN, `${OWN} ${OWN}`]).toContain(policies[0])
    }
  })

  it('binds every role: none is the owner of a table, or exempt', async () => {
    const exempt = await rows<{ rolname: string }>(
      fleet.owner,
      `select rolname from pg_roles where rolname ~ '^(fleet|a)_(gateway|page|auditor|admin)$' and
        (rolsuper or rolbypassrls or oid in (select relowner from pg_class where relnamespace = 'fleet'::regnamespace))`,
    )
    expect(exempt).toEqual([])
  })

  it.each(['gateway', 'page', 'auditor', 'admin'] as const)(
    'shows the %s rows of one organisation',
    async (role) => {
      const url = fleet[role]
      const seen: string[] = []
      for (const table of tables) {
        const sql = `select array_agg(distinct org) as orgs from fleet.${table}`
        const orgs = async (...before: string[]) =>
          (await rows<{ orgs: readonly number[] | null }>(url, ...before, sql))[0]?.orgs
        try {
          expect([table, await orgs()]).toEqual([table, null])
        } catch (error) {
          expect(String(error)).toMatch(/permission denied/)
          continue
        }
        expect([table, await orgs(`select fleet.enter('${ORG}')`)]).toEqual([table, [own]])
        seen.push(table)
      }
      expect(seen).toContain('machine')
      expect(seen.includes('record')).toBe(role !== 'gateway')
    },
  )
})
