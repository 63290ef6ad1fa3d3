// What was shipped reads like the log that it came from: the contract of AuditLog, and every search.

import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { userPlace } from '../../src/files/fleet-places.js'
import type { Database } from '../../src/fleet/database/connection.js'
import { gateway } from '../../src/fleet/gateway/gateway.js'
import { type Listening, listen } from '../../src/fleet/gateway/listener.js'
import { joinFleet } from '../../src/fleet/machine/joining.js'
import { DECISIONS, type FilterOptions, filterOf, KINDS } from '../../src/store/audit/filter.js'
import type { StoredEntry, Writable } from '../../src/store/audit-log.js'
import { runs, seeded } from '../property/runs.js'
import { contract } from '../store/contracts/audit-log.js'
import { type Fleet, madeFleet, madeToken, opened } from './fleet-scene.js'
import { hasPostgres, Postgres, run } from './postgres.js'
import { openedLater, ShippedLog } from './shipped-log.js'

describe.runIf(hasPostgres)('what was shipped', () => {
  let server: Postgres
  let fleet: Fleet
  let folder: string
  let made = 0
  const ends: (() => Promise<void>)[] = []

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carabiner-shipped-'))
    server = await Postgres.start()
    fleet = await madeFleet(server)
  })
  afterAll(async () => {
    for (const end of ends.reverse()) await end()
    server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const opening = async (url: string, org: string): Promise<Database> => {
    const database = await opened(url, org)
    ends.push(() => database.close())
    return database
  }

  /** An organisation of its own, with its gateway and one machine. Returns how to open the machine's log. */
  async function organisation(home: string): Promise<() => ShippedLog> {
    const org = `org-${made++}`
    const { publicKey } = generateKeyPairSync('ed25519')
    const rootKey = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
    await run(fleet.owner, [
      `insert into fleet.org (name, root_key) values ('${org}', '\\x${rootKey.toString('hex')}')`,
    ])
    const [served, database] = [await opening(fleet.gateway, org), await opening(fleet.auditor, org)]
    const listening: Listening = await listen({ host: '127.0.0.1', port: 0 }, gateway({ database: served }))
    ends.push(() => listening.close())
    const dataDir = join(home, 'data')
    const token = await madeToken(fleet, { org })
    const member = await joinFleet({ url: listening.url, token, name: 'machine', place: userPlace(dataDir) })
    return () => new ShippedLog({ member, database, rootKey, projectDir: join(home, 'project'), dataDir })
  }

  function newHome(): string {
    const home = join(folder, `home-${made++}`)
    mkdirSync(join(home, 'project'), { recursive: true })
    return home
  }

  contract('the log of a machine, read from the database of its fleet', () => {
    const home = newHome()
    let ready: Promise<() => ShippedLog> | undefined
    const view = () => {
      let log: Promise<ShippedLog> | undefined
      return openedLater(home, () => {
        ready ??= organisation(home)
        log ??= ready.then((open) => open())
        return log
      })
    }
    return [view(), view()]
  })

  const TEXTS = fc.oneof(
    fc.constantFrom('a', 'b', 'guard', 'guard:deny', 'ü', '"', '\\', '\u2028', '\u0000', '\ud800', '\n'),
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.constantFrom('x'.repeat(3000), '漢'.repeat(900)),
  )
  const TIMES = fc.oneof(
    fc
      .integer({ min: 0, max: 20 })
      .map((minute) => new Date(Date.UTC(2026, 10, 18, 6, minute)).toISOString()),
    fc.constantFrom('x', '', '2026-13-45T99:99:99Z', '+010000-01-01T00:00:00.000Z'),
  )
  const VALUES = fc.oneof(
    TEXTS,
    fc.constantFrom(...DECISIONS),
    fc.constantFrom(null, 5, true, ['a'], { a: 1 }),
  )
  const ENTRIES = fc.record(
    {
      kind: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...KINDS) }, { weight: 1, arbitrary: TEXTS }),
      time: TIMES,
      session: VALUES,
      event: fc.constantFrom('PreToolUse', 'Stop', 7),
      tool: VALUES,
      action: VALUES,
      decision: VALUES,
      hook: VALUES,
      modified: fc.boolean(),
      hooks: fc.array(fc.record({ name: TEXTS, status: fc.constantFrom('ran', 'failed') }), { maxLength: 2 }),
    },
    { requiredKeys: ['kind', 'time'] },
  )
  const ISO_TIMES = fc
    .integer({ min: -1, max: 21 })
    .map((minute) => new Date(Date.UTC(2026, 10, 18, 6, minute)).toISOString())
  const QUERIES: fc.Arbitrary<FilterOptions> = fc.record(
    {
      session: TEXTS,
      hook: TEXTS,
      tool: TEXTS,
      decision: fc.constantFrom(...DECISIONS),
      kind: fc.constantFrom(...KINDS),
      event: fc.constantFrom('PreToolUse', 'Stop'),
      since: ISO_TIMES,
      until: ISO_TIMES,
    },
    { requiredKeys: [] },
  )

  it('has every byte of the local log, and answers every search as that log does', async () => {
    const home = newHome()
    const log = (await organisation(home))()
    await fc.assert(
      fc.asyncProperty(
        fc.array(ENTRIES, { minLength: 1, maxLength: 20 }),
        fc.array(QUERIES, { minLength: 1, maxLength: 4 }),
        async (entries, queries) => {
          await log.append(entries as unknown as Writable[])
          for (const query of queries) {
            const here: StoredEntry[] = []
            for await (const entry of log.local.entries({ filter: filterOf(query) })) here.push(entry)
            const there = await log.search(query)
            expect(there.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual(here.map(({ seq }) => seq))
          }
        },
      ),
      { numRuns: runs(40), ...seeded(27) },
    )
    expect(lines(await shippedLines())).toEqual(lines(localText(log.local.place)))
    expect(await log.verify()).toMatchObject({ ok: true, problems: [] })

    async function shippedLines(): Promise<string> {
      const rows = await run(fleet.owner, [
        `select string_agg(line, E'\\n' order by r.seq) as text from fleet.record r join fleet.chain c using (chain) join fleet.org o on o.org = c.org where o.name = 'org-${made - 1}'`,
      ])
      return String(rows[0]?.text)
    }
  })
})

function localText(place: string): string {
  const names = readdirSync(place).filter((name) => name.endsWith('.jsonl'))
  return names
    .sort()
    .map((name) => readFileSync(join(place, name), 'utf8'))
    .join('')
}

function lines(text: string): readonly string[] {
  return text.trimEnd().split('\n')
}
