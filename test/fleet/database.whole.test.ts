// The database of a fleet: migrations, roles, row-level security, and appending.

import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import type { PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Client,
  type Database,
  isDataException,
  withOwner,
} from '../../src/fleet/database/connection.js'
import { evidenceOf } from '../../src/fleet/database/evidence-query.js'
import { migrate } from '../../src/fleet/database/migrate.js'
import { MIGRATIONS } from '../../src/fleet/database/migrations.js'
import { isStorable } from '../../src/fleet/protocol.js'
import {
  addedMachine,
  type Fleet,
  type Lines,
  listingIn,
  madeFleet,
  madeLines,
  opened,
  rawLines,
} from './fleet-scene.js'
import { hasPostgres, Postgres, run } from './postgres.js'

const TIME = '2026-11-19T09:00:00.000Z'

describe.runIf(hasPostgres)('the database of a fleet', () => {
  let server: Postgres
  let fleet: Fleet
  let gateway: Database

  beforeAll(async () => {
    server = await Postgres.start()
    fleet = await madeFleet(server)
    gateway = await opened(fleet.gateway)
  })
  afterAll(async () => {
    await gateway?.close()
    server?.stop()
  })

  const append = async (machine: string, lines: Lines, epoch = 1) => {
    const { first, prev, count, last, text } = lines
    const [row] = await gateway.rows('select * from fleet.append($1, $2, $3, $4, $5, $6, $7, $8, $9)', [
      ...[machine, 'log', epoch, first, prev, count, last.hash, text, listingIn(lines)],
    ])
    return row
  }
  const kept = (machine: string) =>
    run(fleet.owner, [
      `select r.seq::int, r.session, r.kind, r.verdict, r.at from fleet.record r join fleet.chain c using (chain) where c.machine = '${machine}' order by c.epoch, r.seq`,
    ])

  it('leaves nothing on a connection that a snapshot gives back', async () => {
    const auditor = await opened(fleet.auditor)
    const listeners = () => auditor.snapshot(async (client) => (client as PoolClient).listenerCount('error'))
    const first = await listeners()
    for (let i = 0; i < 12; i++) expect(await listeners()).toBe(first)
    await auditor.close()
  })

  describe('migrations', () => {
    it('run once, also when several programs begin at the same time, and again change nothing', async () => {
      const { owner } = await server.database()
      const made = await Promise.all([1, 2, 3].map(() => withOwner(owner, migrate)))
      expect(made.flat().map(({ version }) => version)).toEqual(MIGRATIONS.map(({ version }) => version))
      expect(await withOwner(owner, migrate)).toEqual([])
    })

    it('are numbered from 1 without holes', () => {
      expect(MIGRATIONS.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, i) => i + 1))
    })

    it('leave a newer database alone', async () => {
      const { owner } = await server.database()
      await withOwner(owner, migrate)
      await run(owner, [`insert into fleet.migration (version, name) values (999, 'later')`])
      await expect(withOwner(owner, migrate)).rejects.toMatchObject({
        message: expect.stringContaining('version 999'),
        hint: expect.stringContaining('Update Carabiner'),
      })
    })

    it('wait for another program that migrates, and say so after a second', async () => {
      const { owner } = await server.database()
      let said = 0
      const onWait = () => void said++
      let begun: Promise<readonly unknown[]> | undefined
      await withOwner(owner, async (other) => {
        // The lock of all programs that migrate.
        await other.query('select pg_advisory_lock(7203451991)')
        begun = withOwner(owner, (client) => migrate(client, onWait))
        while (said === 0) await setTimeout(50)
      })
      expect(await begun).toHaveLength(MIGRATIONS.length)
      expect(await withOwner(owner, (client) => migrate(client, onWait))).toEqual([])
      expect(said).toBe(1)
    })

    it.each([
      ['a migration fails, and then the connection is lost', 'create table fleet.org'],
      ['the connection is lost', 'create schema'],
    ])('tell what went wrong first, when %s', async (_, failing) => {
      let isLost = false
      const query = async (sql: string) => {
        if (isLost) throw new Error('the connection is lost')
        isLost = sql.includes(failing)
        if (isLost) throw new Error('the disk is full')
        return { rows: [] }
      }
      await expect(migrate({ query } as unknown as Client)).rejects.toThrow('the disk is full')
    })

    it('that fail leave nothing behind', async () => {
      const { owner } = await server.database()
      await run(owner, ['create schema fleet', 'create table fleet.machine (taken int)'])
      await expect(withOwner(owner, migrate)).rejects.toThrow(/already exists/)
      expect(await run(owner, ['select * from fleet.migration'])).toEqual([])
    })
  })

  describe('roles', () => {
    const refused = (url: string, sql: string) =>
      expect(run(url, [`select fleet.enter('acme')`, sql])).rejects.toThrow(/permission denied|must be owner/)

    it.each([
      `delete from fleet.record`,
      `update fleet.record set line = 'x'`,
      `truncate fleet.record`,
      `insert into fleet.record (chain, seq, org, at, received, kind, hash, line) values (1, 1, 1, now(), now(), 'fire', '', '')`,
      `update fleet.chain set seq = 0`,
      `delete from fleet.chain`,
      `insert into fleet.evidence (org) values (1)`,
      `delete from fleet.evidence`,
      `select * from fleet.record`,
      `insert into fleet.machine (org, name, key, token) values (1, 'x', '', '')`,
      `update fleet.machine set key = '\\x00'`,
      `select secret_digest from fleet.join_token`,
      `insert into fleet.join_token (org, token, secret_digest, expires) values (1, 'x', '\\x00', now())`,
      `insert into fleet.checkpoint (org, number, note) values (1, 1, '')`,
      `drop table fleet.record`,
      `select fleet.retire_machine(gen_random_uuid())`,
    ])('the gateway may not: %s', (sql) => refused(fleet.gateway, sql))

    it.each([
      `delete from fleet.record`,
      `update fleet.machine set retired = now()`,
      `select secret_digest from fleet.join_token`,
      `insert into fleet.checkpoint (org, number, note) values (1, 1, '')`,
      `select fleet.append(gen_random_uuid(), 'l', 1, 1, '', 1, '', '', '')`,
    ])('an auditor may not: %s', (sql) => refused(fleet.auditor, sql))

    it.each([
      `delete from fleet.record`,
      `update fleet.join_token set used = null`,
      `select secret_digest from fleet.join_token`,
      `update fleet.checkpoint set note = ''`,
      `delete from fleet.checkpoint`,
    ])('an administrator of the fleet may not: %s', (sql) => refused(fleet.admin, sql))
  })

  it('shows nobody the rows of another organisation, or any rows without one', async () => {
    const [ours, theirs] = [await addedMachine(fleet, 'ours'), await addedMachine(fleet, 'theirs', 'other')]
    const lines = madeLines([{ session: 'rls' }])
    expect(await append(ours, lines)).toMatchObject({ status: 'added' })
    await expect(append(theirs, lines)).rejects.toThrow(/not in this organisation/)
    const seen = async (url: string, org?: string) => {
      const rows = await run(url, [
        ...(org === undefined ? [] : [`select fleet.enter('${org}')`]),
        `select (select count(*)::int from fleet.record where session = 'rls') as records, (select count(*)::int from fleet.machine where name in ('ours', 'theirs')) as machines`,
      ])
      return rows[0]
    }
    expect(await seen(fleet.auditor, 'acme')).toEqual({ records: 1, machines: 1 })
    expect(await seen(fleet.auditor, 'other')).toEqual({ records: 0, machines: 1 })
    expect(await seen(fleet.auditor)).toEqual({ records: 0, machines: 0 })
    await expect(run(fleet.auditor, [`select fleet.enter('nobody')`])).rejects.toThrow(
      /no organisation nobody/,
    )
  })

  describe('appending', () => {
    it('adds lines in order, once, and knows those that it has', async () => {
      const machine = await addedMachine(fleet, 'in-order')
      const one = madeLines([
        { session: 'a', action: 'deny' },
        { session: 'b', kind: 'approval', decision: 'allow' },
      ])
      const two = madeLines([{ session: 'c' }], one.last)
      expect(await append(machine, one)).toEqual({ status: 'added', head_seq: '2', head_hash: one.last.hash })
      expect(await append(machine, one)).toMatchObject({ status: 'known', head_seq: '2' })
      expect(await append(machine, two)).toMatchObject({ status: 'added', head_seq: '3' })
      const both = { ...one, count: 3, last: two.last, text: `${one.text}\n${two.text}` }
      expect(await append(machine, both)).toMatchObject({ status: 'known', head_seq: '3' })
      expect((await kept(machine)).map(({ seq, session, verdict }) => [seq, session, verdict])).toEqual([
        [1, 'a', 'deny'],
        [2, 'b', 'allow'],
        [3, 'c', null],
      ])
    })

    it('adds only the end of a batch that it has in part', async () => {
      const machine = await addedMachine(fleet, 'in-part')
      const one = madeLines([{ session: 'a' }, { session: 'b' }])
      const two = madeLines([{ session: 'c' }], one.last)
      await append(machine, one)
      const both = { ...one, count: 3, last: two.last, text: `${one.text}\n${two.text}` }
      expect(await append(machine, both)).toMatchObject({ status: 'added', head_seq: '3' })
      expect((await kept(machine)).map(({ session }) => session)).toEqual(['a', 'b', 'c'])
    })

    it('once, when two gateways get the same batch at the same time', async () => {
      const machine = await addedMachine(fleet, 'at-once')
      const lines = madeLines(Array.from({ length: 50 }, (_, i) => ({ session: `s${i}` })))
      const said = await Promise.all([1, 2, 3, 4].map(() => append(machine, lines)))
      expect(said.map((row) => row?.status).sort()).toEqual(['added', 'known', 'known', 'known'])
      expect(await kept(machine)).toHaveLength(50)
    })

    it('begins a chain where the machine begins, whose older records are gone', async () => {
      const machine = await addedMachine(fleet, 'late')
      const lines = madeLines([{ session: 'x' }], { seq: 500, hash: 'a'.repeat(64) })
      expect(await append(machine, lines)).toMatchObject({ status: 'added', head_seq: '501' })
    })

    it.each([
      ['gap', (before: Lines) => madeLines([{ session: 'x' }], { ...before.last, seq: before.last.seq + 5 })],
      ['fork', () => madeLines([{ session: 'x' }, { session: 'y' }, { session: 'z' }])],
      ['fork', () => madeLines([{ session: 'other' }])],
      ['fork', ({ last }: Lines) => madeLines([{ session: 'x' }], { ...last, hash: 'b'.repeat(64) })],
    ])('refuses a %s, and keeps it as evidence, once', async (status, made) => {
      const machine = await addedMachine(fleet, `${status}-${Math.random()}`)
      const before = madeLines([{ session: 'a' }, { session: 'b' }])
      await append(machine, before)
      const bad = made(before)
      for (const _ of [1, 2]) expect(await append(machine, bad)).toMatchObject({ status, head_seq: '2' })
      expect(await kept(machine)).toHaveLength(2)
      const evidence = await run(fleet.owner, [
        `select kind, line from fleet.evidence where machine = '${machine}'`,
      ])
      expect(evidence).toEqual([{ kind: status, line: expect.stringContaining('"session":"') }])
      expect(await append(machine, bad, 2)).toMatchObject({ status: 'added' })
    })

    it('takes records that PostgreSQL cannot read: a NUL in a text, a time that is none', async () => {
      const machine = await addedMachine(fleet, 'odd')
      const lines = madeLines([
        { session: 'a\u0000b' },
        { session: 'ok', time: 'x' },
        { session: '\ud800' },
        { session: 'last' },
      ])
      expect(await append(machine, lines)).toMatchObject({ status: 'added', head_seq: '4' })
      expect((await kept(machine)).map(({ kind, session }) => [kind, session])).toEqual([
        ['unreadable', null],
        ['fire', 'ok'],
        ['unreadable', null],
        ['fire', 'last'],
      ])
    })

    it('takes records that no index could hold, or that are nested too deeply', async () => {
      const machine = await addedMachine(fleet, 'too-large')
      const long = randomBytes(6000).toString('base64')
      const first = madeLines([{ session: long, action: long }])
      expect(await append(machine, first)).toMatchObject({ status: 'added', head_seq: '1' })
      const deep = `{"kind":"fire","deep":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
      expect(await append(machine, rawLines([deep], first.last))).toMatchObject({ status: 'added' })
      expect(await kept(machine)).toMatchObject([{ session: long, verdict: long }, { kind: 'fire' }])
    })

    it('lists a record only under texts that its line has', async () => {
      const machine = await addedMachine(fleet, 'listed')
      const time = '2026-01-02T03:04:05.678Z'
      const entries = [
        { kind: 5, time, session: 7, action: { a: 1 } },
        { kind: 'fire', time, action: 'continue', decision: 'deny' },
        { kind: 'fire', time: 'now' },
        { kind: 'fire', time: '2026-02-30T00:00:00.000Z' },
        { kind: 'fire', time, decision: 'allow' },
      ]
      const lines = rawLines(entries.map((entry) => JSON.stringify(entry)))
      expect(await append(machine, lines)).toMatchObject({ status: 'added' })
      const rows = await run(fleet.owner, [
        `select r.kind, r.verdict, r.session, r.at = r.received as late from fleet.record r join fleet.chain c using (chain) where c.machine = '${machine}' order by r.seq`,
      ])
      expect(rows.map(({ kind, verdict, session, late }) => [kind, verdict, session, late])).toEqual([
        ['unreadable', null, null, false],
        ['unreadable', 'continue', null, false],
        ['fire', null, null, true],
        ['fire', null, null, true],
        ['fire', 'allow', null, false],
      ])
    })

    it.each([
      ['a chain that is not the next', 3],
      ['a new chain without evidence that the history broke', 2],
    ])('refuses %s', async (_, epoch) => {
      const machine = await addedMachine(fleet, `epoch-${epoch}`)
      await append(machine, madeLines([{ session: 'a' }]))
      const foreign = madeLines([{ session: 'x' }], { seq: 500, hash: 'a'.repeat(64) })
      expect(await append(machine, foreign, epoch)).toMatchObject({ status: 'epoch' })
      expect(await run(fleet.owner, [`select epoch from fleet.chain where machine = '${machine}'`])).toEqual([
        { epoch: 1 },
      ])
    })

    describe('a flood of evidence', () => {
      const note = (machine: string, log: string, kind: string, seqs: string, epoch = 1) =>
        gateway.rows(
          `select fleet.note_evidence($1, $2, $3, $4, n, null, null, null) as news from generate_series(${seqs}) n`,
          [machine, log, epoch, kind],
        )
      const count = async (machine: string, log: string) => {
        const [row] = await run(fleet.owner, [
          `select count(*)::int as n from fleet.evidence where machine = '${machine}' and log = '${log}'`,
        ])
        return row?.n
      }

      it('about one log keeps no break of another out, nor the records after it', async () => {
        const machine = await addedMachine(fleet, 'flooded')
        await append(machine, madeLines([{ session: 'a' }]))
        for (let log = 0; log < 30; log++) await note(machine, `no-chain-${log}`, 'gap', '1, 100')
        expect(await count(machine, 'no-chain-0')).toBe(100)
        expect(await count(machine, 'no-chain-29')).toBe(0)
        expect(await append(machine, madeLines([{ session: 'other' }]))).toMatchObject({ status: 'fork' })
        expect(await count(machine, 'log')).toBe(1)
        expect(await append(machine, madeLines([{ session: 'b' }]), 2)).toMatchObject({ status: 'added' })
      })

      it('about the log itself keeps the first of each kind and chain, and every record after it', async () => {
        const machine = await addedMachine(fleet, 'flooded-itself')
        await append(machine, madeLines([{ session: 'a' }]))
        await note(machine, 'log', 'gap', '1, 2000')
        expect(await count(machine, 'log')).toBe(1000)
        expect(await note(machine, 'log', 'gap', '5000, 5000')).toEqual([{ news: false }])
        expect(await append(machine, madeLines([{ session: 'other' }]))).toMatchObject({ status: 'fork' })
        expect(await count(machine, 'log')).toBe(1001)
        expect(await append(machine, madeLines([{ session: 'b' }]), 2)).toMatchObject({ status: 'added' })
        expect(await append(machine, madeLines([{ session: 'c' }]), 2)).toMatchObject({ status: 'fork' })
        expect(await append(machine, madeLines([{ session: 'd' }]), 3)).toMatchObject({ status: 'added' })
        // Chains that cannot be there count as the next one.
        for (let epoch = 5; epoch < 50; epoch++) await note(machine, 'log', 'cut', '1, 3', epoch)
        expect(await count(machine, 'log')).toBe(1003)
      })

      it('of one machine does not hide what is known of others, and the list says that it is cut', async () => {
        const [loud, quiet] = [await addedMachine(fleet, 'loud'), await addedMachine(fleet, 'quiet')]
        await append(quiet, madeLines([{ session: 'a' }]))
        await append(quiet, madeLines([{ session: 'other' }]))
        await append(loud, madeLines([{ session: 'a' }]))
        await append(loud, madeLines([{ session: 'other' }]))
        await note(loud, 'other log', 'gap', '1, 900')
        const auditor = await opened(fleet.auditor)
        try {
          const all = await evidenceOf(auditor)
          const of = (name: string) => all.evidence.filter(({ machine }) => machine === name)
          expect(of('quiet')).toMatchObject([{ kind: 'fork' }])
          expect(of('quiet')[0]?.line).toBeUndefined()
          const { evidence } = await evidenceOf(auditor, 'quiet')
          expect(evidence).toMatchObject([{ kind: 'fork', line: expect.stringContaining('"other"') }])
          expect(of('loud')).toHaveLength(100)
          expect(of('loud').map(({ log }) => log)).toContain('log')
          expect(all.hidden).toMatchObject({ loud: 801 })
          expect(all.hidden.quiet).toBeUndefined()
          const one = await evidenceOf(auditor, 'loud')
          expect([one.evidence.length, one.hidden]).toEqual([901, {}])
          expect(await evidenceOf(auditor, 'nobody')).toEqual({ evidence: [], hidden: {} })
        } finally {
          await auditor.close()
        }
      })

      it('is never more than fits, and each machine has its turn', async () => {
        const scene = await madeFleet(server)
        const org = `(select org from fleet.org where name = 'acme')`
        await run(scene.owner, [
          `insert into fleet.machine (org, name, key, token)
            select ${org}, 'many-' || n, decode(lpad(to_hex(n), 64, '0'), 'hex'), 't' from generate_series(1, 120) n`,
          `insert into fleet.evidence (org, machine, log, epoch, kind, seq)
            select m.org, m.machine, 'log', 1, 'gap', n
            from fleet.machine m, generate_series(1, 100) n where m.name <> 'many-1'`,
          `insert into fleet.evidence (org, machine, log, epoch, kind, seq, line)
            select m.org, m.machine, 'log', 1, 'gap', n, repeat('x', 65536)
            from fleet.machine m, generate_series(1, 400) n where m.name = 'many-1'`,
        ])
        const auditor = await opened(scene.auditor)
        try {
          const { evidence, hidden } = await evidenceOf(auditor)
          expect(evidence).toHaveLength(10_000)
          expect(new Set(evidence.map(({ machine }) => machine)).size).toBe(120)
          expect(evidence[0]).toMatchObject({ machine: 'many-1', seq: 400 })
          expect(Object.values(hidden).reduce((sum, one) => sum + one, 0)).toBe(119 * 100 + 400 - 10_000)
          const one = await evidenceOf(auditor, 'many-1')
          expect(one.evidence).toHaveLength(400)
          expect(one.evidence.filter(({ line }) => line).map(({ seq }) => seq)).toEqual(
            Array.from({ length: 256 }, (_, n) => 400 - n),
          )
        } finally {
          await auditor.close()
        }
      })
    })

    it('adds nothing to a chain after the next one has begun', async () => {
      const machine = await addedMachine(fleet, 'old-epoch')
      const first = madeLines([{ session: 'a' }])
      await append(machine, first)
      await append(machine, madeLines([{ session: 'other' }]))
      expect(await append(machine, madeLines([{ session: 'b' }]), 2)).toMatchObject({ status: 'added' })
      expect(await append(machine, madeLines([{ session: 'c' }], first.last))).toMatchObject({
        status: 'epoch',
      })
    })

    it('tells a gateway of an older version to restart, and takes nothing of it for a fault of the machine', async () => {
      const machine = await addedMachine(fleet, 'older')
      const { first, prev, count, last, text } = madeLines([{ session: 'a' }])
      const sent = gateway.rows('select * from fleet.append($1, $2, 1, $3, $4, $5, $6, $7, $8)', [
        ...[machine, 'log', first, prev, count, last.hash, text, JSON.stringify([{ hash: last.hash }])],
      ])
      const error = await sent.catch((one: unknown) => one)
      expect(String(error)).toContain('restart it with the new version')
      expect(isDataException(error)).toBe(false)
    })

    it('keeps what records are found by as it is, whatever the text', async () => {
      const value = fc.oneof(
        fc.constantFrom('', '\\', '\\N', '\n', '\t', '\\"a"', 'null', 'a\tb\nc', '"'),
        fc.string({ unit: 'grapheme' }),
      )
      const text = value.filter(isStorable)
      const entry = fc.record({ kind: text, session: text, action: text }, { requiredKeys: ['kind'] })
      await fc.assert(
        fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 5 }), async (entries) => {
          const machine = await addedMachine(fleet, `values-${randomBytes(8).toString('hex')}`)
          const lines = rawLines(entries.map((one) => JSON.stringify({ time: TIME, ...one })))
          expect(await append(machine, lines)).toMatchObject({ status: 'added' })
          expect(await kept(machine)).toEqual(
            entries.map(({ kind, session = null, action: verdict = null }, i) => {
              return { seq: i + 1, kind, session, verdict, at: new Date(TIME) }
            }),
          )
        }),
        { numRuns: 50 },
      )
    })

    it('refuses a machine that left', async () => {
      const machine = await addedMachine(fleet, 'gone')
      expect(
        await run(fleet.admin, [
          `select fleet.enter('acme')`,
          `select fleet.retire_machine('${machine}') as done`,
        ]),
      ).toEqual([{ done: true }])
      await expect(append(machine, madeLines([{ session: 'a' }]))).rejects.toThrow(/not in this organisation/)
    })
  })
})
