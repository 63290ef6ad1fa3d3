// A search of all records finds what the filter of one log would, in pages that are never too much to hold.

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { entryCells } from '../../src/cli/print/print-audit.js'
import {
  type FleetEntry,
  type FleetQuery,
  oneRecord,
  searchPage,
  searchRecords,
} from '../../src/fleet/database/audit-query.js'
import type { Database } from '../../src/fleet/database/connection.js'
import { recordAnswers } from '../../src/page/fleet/record-answers.js'
import { rowOf } from '../../src/page/row.js'
import { filterOf } from '../../src/store/audit/filter.js'
import { runs, seeded } from '../property/runs.js'
import {
  addedMachine,
  type Fleet,
  type Lines,
  listingIn,
  madeFleet,
  opened,
  rawLines,
} from './fleet-scene.js'
import { hasPostgres, Postgres, run } from './postgres.js'

const MIB = 1024 * 1024
const LONG_SESSION = 'long'.repeat(100)
const HOUR = 3_600_000
const START = Date.UTC(2026, 0)
const timeAt = (hour: number) => new Date(START + hour * HOUR).toISOString()

describe.runIf(hasPostgres)('a search of a fleet', () => {
  let server: Postgres
  let fleet: Fleet
  let gateway: Database
  let auditor: Database

  beforeAll(async () => {
    server = await Postgres.start()
    fleet = await madeFleet(server)
    gateway = await opened(fleet.gateway)
    auditor = await opened(fleet.auditor)
  })
  afterAll(async () => {
    await gateway?.close()
    await auditor?.close()
    server?.stop()
  })

  const append = async (machine: string, lines: Lines, log = 'log') => {
    const [row] = await gateway.rows('select * from fleet.append($1, $2, 1, $3, $4, $5, $6, $7, $8)', [
      ...[machine, log, lines.first, lines.prev, lines.count, lines.last.hash, lines.text, listingIn(lines)],
    ])
    expect(row).toMatchObject({ status: 'added' })
  }

  /** The product would shorten them. */
  const longLines = (entries: readonly object[]) =>
    rawLines(entries.map((one) => JSON.stringify({ kind: 'fire', ...one })))

  const entry = fc.record({
    kind: fc.constantFrom('fire', 'fire', 'approval', 'late', 'x'.repeat(300)),
    time: fc.nat(30).map(timeAt),
    session: fc.constantFrom('a', 'b', LONG_SESSION, `${LONG_SESSION}er`, 'nul\0'),
    verdict: fc.constantFrom(
      { action: 'deny' },
      { action: 'continue' },
      { decision: 'allow' },
      // No column has both.
      { action: 'continue', decision: 'deny' },
    ),
    event: fc.constantFrom('PreToolUse', 'Stop'),
    hook: fc.constantFrom('guard:x', '\\u0067uard', 'other'),
  })
  const lineOf = ({ verdict, hook, ...rest }: typeof entry extends fc.Arbitrary<infer T> ? T : never) =>
    `${JSON.stringify({ ...rest, ...verdict }).slice(0, -1)},"hooks":[{"name":"${hook}"}]}`
  const sometimes = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 1 })
  const query = fc.record({
    machine: sometimes(fc.constantFrom('p0', 'p1', 'nobody')),
    session: sometimes(fc.constantFrom('a', LONG_SESSION, 'nul\0', 'c')),
    kind: sometimes(fc.constantFrom('fire', 'approval')),
    decision: sometimes(fc.constantFrom('deny', 'continue', 'allow', 'modify')),
    event: sometimes(fc.constant('Stop')),
    hook: sometimes(fc.constantFrom('guard', 'nobody')),
    since: sometimes(fc.nat(30).map(timeAt)),
    until: sometimes(fc.nat(30).map(timeAt)),
    limit: fc.integer({ min: 1, max: 20 }),
    lookAt: fc.integer({ min: 1, max: 40 }),
  })
  const given = (one: object) =>
    Object.fromEntries(
      Object.entries(one).filter(([, value]) => value !== undefined),
    ) as unknown as FleetQuery

  it('finds what the filter of one log would, in any pages', async () => {
    const logs = fc.array(fc.array(entry, { minLength: 1, maxLength: 25 }), { minLength: 4, maxLength: 4 })
    const [[sample] = []] = fc.sample(fc.tuple(logs), { numRuns: 1, seed: 7 })
    const machines = [await addedMachine(fleet, 'p0'), await addedMachine(fleet, 'p1')]
    for (const [i, log] of (sample ?? []).entries())
      await append(machines[i % 2] ?? '', rawLines(log.map(lineOf)), `log ${i}`)
    const all = (await run(fleet.owner, [
      `select m.name, r.chain || '.' || r.seq as id, r.line from fleet.record r join fleet.chain c using (chain)
        join fleet.machine m using (machine) order by r.at desc, r.chain desc, r.seq desc`,
    ])) as unknown as readonly { readonly name: string; readonly id: string; readonly line: string }[]
    const idOf = ({ chain, entry: { seq } }: FleetEntry) => `${chain}.${seq}`
    await fc.assert(
      fc.asyncProperty(query, async (made) => {
        const { limit, lookAt, machine, ...rest } = given(made)
        const filter = filterOf(rest)
        const wanted = all.filter(
          ({ name, line }) => (machine === undefined || name === machine) && filter(JSON.parse(line)),
        )
        const found: string[] = []
        let after: string | undefined
        do {
          const place = after === undefined ? {} : { after }
          const { entries, next } = await searchPage(auditor, { ...given(made), ...place })
          expect(entries.length).toBeLessThanOrEqual(limit)
          found.push(...entries.map(idOf))
          after = next
        } while (after !== undefined)
        expect(found).toEqual(wanted.map(({ id }) => id))
        const first = await searchRecords(auditor, given({ ...made, lookAt: undefined }))
        expect(first.map(idOf)).toEqual(found.slice(0, limit))
      }),
      { numRuns: runs(300), ...seeded(5) },
    )
  })

  it('shows a line that is too long with its number and hash, and says so', async () => {
    const machine = await addedMachine(fleet, 'verbose')
    const time = timeAt(1)
    const long = { time, session: 'long-one', action: 'deny', tool: 'Bash', more: 'x'.repeat(3 * MIB) }
    const lines = longLines([{ time, session: 'short' }, long])
    await append(machine, lines)
    const shown = {
      ...{ kind: 'unreadable', seq: 2, hash: lines.last.hash, time, session: 'long-one', action: 'deny' },
      reason: expect.stringMatching(/^record 2 is too long to show: 307\d KiB, with the hash [0-9a-f]{64}$/),
    }
    // Nobody knows whether its tool is the one.
    for (const more of [{}, { decision: 'deny' }, { session: 'long-one' }, { tool: 'Read' }]) {
      const found = await searchRecords(auditor, { limit: 9, machine: 'verbose', ...more })
      expect([more, found[0]?.entry]).toEqual([more, shown])
    }
    for (const more of [{ decision: 'allow' }, { session: 'other' }, { hook: 'guard' }])
      expect(await searchRecords(auditor, { limit: 9, machine: 'verbose', ...more })).toEqual([])
    const [row] = await searchRecords(auditor, { limit: 1, machine: 'verbose' })
    expect((await oneRecord(auditor, row?.chain ?? '', '2'))?.entry).toEqual(shown)
    const answers = recordAnswers(auditor)
    const asked = (path: string, words: string) =>
      answers[path]?.answer({ query: new URLSearchParams(words) } as never) as Promise<never>
    const { rows } = (await asked('GET api/records', 'machine=verbose')) as {
      rows: readonly { id: string }[]
    }
    expect(rows[0]).toMatchObject({ seq: 2, said: 'unreadable', reason: expect.stringContaining('too long') })
    expect(await asked('GET api/record', `id=${rows[0]?.id}`)).toMatchObject({
      call: expect.arrayContaining([{ name: 'hash', value: lines.last.hash }]),
    })
  })

  it('does not fill other searches with long lines that no column describes, and shows no column of them', async () => {
    const machine = await addedMachine(fleet, 'flood')
    const odd = {
      kind: 'fire',
      action: 'deny',
      decision: 'allow',
      session: 'flood',
      more: 'x'.repeat(300_000),
    }
    await append(machine, longLines(Array.from({ length: 5 }, () => ({ time: timeAt(9), ...odd }))))
    const search = async (query: object) => searchRecords(auditor, { limit: 9, machine: 'flood', ...query })
    for (const query of [{ session: 'other' }, { until: timeAt(8) }, { since: timeAt(10) }])
      expect([query, await search(query)]).toEqual([query, []])
    // It has two verdicts.
    for (const decision of ['allow', 'deny']) expect(await search({ decision })).toHaveLength(5)
    const found = await search({ session: 'flood', kind: 'fire' })
    expect(found).toHaveLength(5)
    for (const { entry } of found) {
      expect(entry).toMatchObject({ kind: 'unreadable', reason: expect.stringContaining('too long') })
      expect(Object.keys(entry)).not.toEqual(expect.arrayContaining(['session']))
      expect(Object.keys(entry)).not.toEqual(expect.arrayContaining(['action']))
    }
  })

  it('takes records that no program writes, and shows each as far as it can be shown', async () => {
    const machine = await addedMachine(fleet, 'hostile')
    const time = timeAt(2)
    const noText = '{"toString":1}'
    const bodies = [
      `{"kind":${noText},"time":"${time}"}`,
      `{"kind":"fire","time":${noText},"tool":${noText},"event":${noText},"action":${noText}}`,
      `{"kind":"fire","time":"${time}","hooks":${'['.repeat(6000)}${']'.repeat(6000)}}`,
      `{"kind":"approval","time":"x\\n${time}","decision":5,"seq":99,"hash":"other"}`,
      `{"kind":"fire",nonsense}`,
    ]
    const lines = rawLines(bodies)
    await append(machine, lines)
    const all = { limit: 9, machine: 'hostile' }
    for (const query of [
      { tool: 'Bash' },
      { event: 'PreToolUse' },
      { hook: 'guard' },
      { since: time, until: time },
    ])
      expect(Array.isArray(await searchRecords(auditor, { ...all, ...query }))).toBe(true)
    const found = await searchRecords(auditor, all)
    expect(found.map(({ entry: { seq } }) => seq).sort()).toEqual([1, 2, 3, 4, 5])
    for (const { chain, entry } of found) {
      expect((await oneRecord(auditor, chain, String(entry.seq)))?.entry).toEqual(entry)
      expect(JSON.stringify(entry).length).toBeLessThan(1000)
      for (const cell of entryCells(entry)) expect(cell).toMatch(/^[^\n]*$/)
      expect(rowOf(entry).seq).toBe(entry.seq)
    }
    expect(found.find(({ entry: { seq } }) => seq === 5)?.entry).toMatchObject({
      reason: expect.stringContaining('is not JSON'),
    })
    // It says nothing, so it is nobody's session.
    expect(await searchRecords(auditor, { ...all, session: 'mine' })).toEqual([])
    expect(found.find(({ entry: { seq } }) => seq === 3)?.entry).toMatchObject({
      ...{ kind: 'unreadable', reason: expect.stringContaining('nested too deeply') },
    })
  })

  it('never holds more than some MiB at once, and still finds everything', async () => {
    const machine = await addedMachine(fleet, 'heavy')
    const entries = Array.from({ length: 120 }, (_, i) => ({
      time: timeAt(i),
      session: `heavy ${i}`,
      more: 'y'.repeat(240_000),
    }))
    for (const [log, part] of [entries.slice(0, 60), entries.slice(60)].entries())
      await append(machine, longLines(part), `heavy ${log}`)
    let most = 0
    const measured = {
      rows: async (sql: string, values: readonly unknown[]) => {
        const rows = await auditor.rows<{ line: string | null }>(sql, values)
        most = Math.max(
          most,
          rows.map(({ line }) => line?.length ?? 0).reduce((a, b) => a + b, 0),
        )
        return rows
      },
    } as unknown as Database
    const wanted = entries.map(({ session }) => session).reverse()
    const sessions = (found: readonly FleetEntry[]) =>
      found.map(({ entry: one }) => (one as { session?: string }).session)
    expect(sessions(await searchRecords(measured, { limit: 1000, machine: 'heavy' }))).toEqual(wanted)
    expect(most).toBeLessThan(9 * MIB)
    const { entries: page, next } = await searchPage(measured, { limit: 100, machine: 'heavy' })
    expect(JSON.stringify(page).length).toBeLessThan(9 * MIB)
    expect(next).toBeDefined()
  })
})
