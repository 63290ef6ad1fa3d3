// Shipping: in order, once, across restarts and days offline; forks, gaps, cuts and a server that forgot are told.

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Database } from '../../src/fleet/database/connection.js'
import { gateway } from '../../src/fleet/gateway/gateway.js'
import { type Listening, listen } from '../../src/fleet/gateway/listener.js'
import { type GatewayClient, Unavailable } from '../../src/fleet/machine/gateway-client.js'
import { clientOf, tellLeaving } from '../../src/fleet/machine/joining.js'
import { logId } from '../../src/fleet/machine/log-folders.js'
import type { LogBreak } from '../../src/fleet/machine/log-shipping.js'
import { type Member, removeMember } from '../../src/fleet/machine/membership.js'
import { ship } from '../../src/fleet/machine/shipper.js'
import type { RouteName } from '../../src/fleet/protocol.js'
import { START } from '../../src/store/audit/chain.js'
import { FileAuditLog } from '../../src/store/audit/file-audit.js'
import { readShipped, removableUpTo } from '../../src/store/audit/shipped.js'
import type { Link } from '../../src/store/audit-log.js'
import { type Fleet, joined, madeFleet, madeLines, opened } from './fleet-scene.js'
import { hasPostgres, Postgres, run } from './postgres.js'

const time = '2026-11-18T06:00:00.000Z'

describe.runIf(hasPostgres)('shipping', () => {
  let server: Postgres
  let fleet: Fleet
  let database: Database
  let listening: Listening
  let folder: string

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carabiner-shipping-'))
    server = await Postgres.start()
    fleet = await madeFleet(server)
    database = await opened(fleet.gateway)
    listening = await listen({ host: '127.0.0.1', port: 0 }, gateway({ database }))
  })
  afterAll(async () => {
    await listening?.close()
    await database?.close()
    server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  afterEach(() => vi.useRealTimers())

  let made = 0

  /** A machine with a home and a log. */
  class Machine {
    readonly member: Member
    readonly home: string
    log: FileAuditLog
    readonly told: LogBreak[] = []

    constructor(member: Member, home: string, more = {}) {
      this.member = member
      this.home = home
      const projectDir = join(home, 'project')
      mkdirSync(projectDir, { recursive: true })
      this.log = new FileAuditLog({ projectDir, dataDir: join(home, 'data'), ...more })
    }

    static async make(more = {}): Promise<Machine> {
      const home = join(folder, `machine-${made++}`)
      return new Machine(await joined(fleet, listening.url, join(home, 'data'), `ships-${made}`), home, more)
    }

    write(...sessions: string[]): void {
      this.log.append(sessions.map((session) => ({ kind: 'fire', time, session })))
    }

    async ship(client: GatewayClient = clientOf(this.member)) {
      try {
        return await ship({
          client,
          machine: this.member.machine,
          dataDir: join(this.home, 'data'),
          onBreak: (what) => this.told.push(what),
        })
      } finally {
        client.close()
      }
    }

    /** What the database has, by epoch. */
    async there(): Promise<string[]> {
      const rows = await run(fleet.owner, [
        `select c.epoch, coalesce(r.session, r.kind) as what from fleet.record r join fleet.chain c using (chain) where c.machine = '${this.member.machine}' order by c.epoch, r.seq`,
      ])
      return rows.map(({ epoch, what }) => `${epoch}:${what}`)
    }

    /** The log as it is now, to be put back later, as from a backup. */
    backup(): () => void {
      const data = join(this.home, 'data')
      const kept = join(this.home, 'backup')
      const isLogs = (path: string) => !/\/(?:owner\.|lock)/.test(path)
      for (const part of ['audit', 'state'])
        cpSync(join(data, part), join(kept, part), { recursive: true, filter: isLogs })
      return () => {
        const shipped = readFileSync(join(this.log.place, 'shipped.json'))
        this.log.close()
        for (const part of ['audit', 'state']) {
          rmSync(join(data, part), { recursive: true })
          cpSync(join(kept, part), join(data, part), { recursive: true })
        }
        writeFileSync(join(this.log.place, 'shipped.json'), shipped)
      }
    }

    async evidence(): Promise<unknown[]> {
      const sql = `select kind from fleet.evidence where machine = '${this.member.machine}' order by evidence`
      return (await run(fleet.owner, [sql])).map(({ kind }) => kind)
    }

    get segment(): string {
      const names = readdirSync(this.log.place).filter((name) => name.endsWith('.jsonl'))
      return join(this.log.place, names.sort()[0] ?? '')
    }
  }

  it('sends what is new, in order and once, and notes how far', async () => {
    const one = await Machine.make()
    expect(await one.ship()).toEqual({ isBusy: false, logs: 0, records: 0, breaks: [], failures: [] })
    one.write('a', 'b')
    expect(await one.ship()).toMatchObject({ logs: 1, records: 2 })
    expect(await one.ship()).toMatchObject({ logs: 1, records: 0 })
    one.write('c')
    expect(await one.ship()).toMatchObject({ records: 1 })
    expect(await one.there()).toEqual(['1:a', '1:b', '1:c'])
    expect(readShipped(one.log.place)).toMatchObject({
      seq: 3,
      epoch: 1,
      machine: one.member.machine,
      breaks: [],
    })
  })

  it('sends all logs of the user', async () => {
    const one = await Machine.make()
    one.write('a')
    const projectDir = join(one.home, 'second')
    mkdirSync(projectDir)
    new FileAuditLog({ projectDir, dataDir: join(one.home, 'data') }).append([{ kind: 'fire', time }])
    expect(await one.ship()).toMatchObject({ logs: 2, records: 2 })
  })

  it('sends many batches, and segments that follow each other', async () => {
    const one = await Machine.make({ maxSegmentBytes: 50_000 })
    const names = Array.from({ length: 2500 }, (_, i) => `s${i}`)
    for (let from = 0; from < names.length; from += 100) one.write(...names.slice(from, from + 100))
    expect(await one.ship()).toMatchObject({ records: 2500, breaks: [] })
    expect(await one.there()).toEqual(names.map((name) => `1:${name}`))
  })

  it('does not send twice what it does not know to be there', async () => {
    const one = await Machine.make()
    one.write('a', 'b')
    await one.ship()
    unlinkSync(join(one.log.place, 'shipped.json'))
    one.write('c')
    const reports = await Promise.all([one.ship(), one.ship(), one.ship()])
    expect(reports.filter(({ isBusy }) => isBusy)).toHaveLength(2)
    expect(await one.there()).toEqual(['1:a', '1:b', '1:c'])
    expect(await one.evidence()).toEqual([])
  })

  it('catches up after an hour without a gateway, with a clock that went on', async () => {
    const one = await Machine.make()
    one.write('before')
    await one.ship()
    const lost: Member = { ...one.member, url: 'http://127.0.0.1:1' }
    vi.useFakeTimers({ toFake: ['Date'] })
    for (let minutes = 0; minutes < 60; minutes += 10) {
      vi.setSystemTime(Date.now() + 600_000)
      one.write(`offline-${minutes}`)
      await expect(one.ship(clientOf(lost))).rejects.toThrow(/cannot be reached/)
    }
    expect(await one.ship()).toMatchObject({ records: 6, breaks: [] })
    expect(await one.there()).toEqual([
      '1:before',
      ...[0, 10, 20, 30, 40, 50].map((one) => `1:offline-${one}`),
    ])
  })

  it('begins where the log begins, if older records were removed before the machine joined', async () => {
    const one = await Machine.make()
    const early = new FileAuditLog({
      ...{ projectDir: join(one.home, 'project'), dataDir: join(one.home, 'alone') },
      ...{ maxSegmentBytes: 2000, maxBytes: 6000 },
    })
    for (let i = 0; i < 60; i++) early.append([{ kind: 'fire', time, ...{ session: `s${i}` } }])
    const client = clientOf(one.member)
    const report = await ship({ client, machine: one.member.machine, dataDir: join(one.home, 'alone') })
    client.close()
    expect(report.breaks).toEqual([])
    expect((await one.there()).at(-1)).toBe('1:s59')
    expect(await one.there()).not.toContain('1:s0')
  })

  it('keeps on disk what was not shipped, and removes it afterwards', async () => {
    const one = await Machine.make({ maxSegmentBytes: 2000, maxBytes: 6000 })
    for (let i = 0; i < 60; i++) one.write(`s${i}`)
    expect(readFileSync(one.segment, 'utf8')).toContain('"seq":1,')
    expect(await one.ship()).toMatchObject({ records: 60, breaks: [] })
    for (let i = 60; i < 80; i++) one.write(`s${i}`)
    expect(readdirSync(one.log.place)).not.toContain('00000001.jsonl')
    expect(await one.ship()).toMatchObject({ breaks: [] })
    expect((await one.there()).filter((what) => what.includes(':s'))).toHaveLength(80)
    expect(await one.log.verify()).toMatchObject({ ok: true })
  })

  it('sends what a log without its head still has', async () => {
    const one = await Machine.make()
    one.write('a', 'b')
    one.log.close()
    unlinkSync(join(one.log.place, 'head.json'))
    expect(await one.ship()).toMatchObject({ records: 2, breaks: [] })
  })

  it('sends a line that is longer than a batch by itself', async () => {
    const one = await Machine.make()
    one.write('a', 'x'.repeat(900_000), 'y'.repeat(8 * 1024 * 1024 - 2000), 'b')
    expect(await one.ship()).toMatchObject({ records: 4, failures: [] })
  })

  it('sends the other logs when one cannot be shipped, and notes why', async () => {
    const [one, projectDir] = [await Machine.make(), join(folder, 'other-project')]
    one.write('a')
    mkdirSync(projectDir)
    const other = new FileAuditLog({ projectDir, dataDir: join(one.home, 'data') })
    other.append([{ kind: 'fire', time }])
    const [first = '', second = ''] = [one.log.place, other.place].sort()
    const segment = join(first, '00000001.jsonl')
    renameSync(segment, join(first, 'moved'))
    mkdirSync(segment)
    const report = await one.ship()
    expect(report).toMatchObject({ records: 1, failures: [{ folder: first }] })
    expect(readShipped(first)).toMatchObject({
      seq: 0,
      failure: expect.stringContaining('not a regular file'),
    })
    expect(readShipped(second)).toMatchObject({ seq: 1 })
    rmdirSync(segment)
    renameSync(join(first, 'moved'), segment)
    expect(await one.ship()).toMatchObject({ records: 1, failures: [] })
    expect(readShipped(first)?.failure).toBeUndefined()
  })

  it.each([
    ['an answer that says nothing', {}],
    ['an answer of another kind', { status: 'thanks', seq: 2, hash: 'x' }],
    ['fewer records', { status: 'added', seq: 1, hash: 'x' }],
    ['another record', { status: 'known', seq: 2, hash: 'f'.repeat(64) }],
  ])('does not take %s for an acknowledgement', async (_, answer) => {
    const one = await Machine.make()
    one.write('a', 'b')
    const real = clientOf(one.member)
    const ask = (name: RouteName, options: object) => (name === 'append' ? answer : real.ask(name, options))
    const report = await one.ship({ ask, close: () => real.close() } as unknown as GatewayClient)
    expect(report).toMatchObject({ records: 0, failures: [{ why: expect.stringContaining('acknowledge') }] })
    expect(readShipped(one.log.place)?.seq).toBe(0)
  })

  it('notes how far in place, so that a full disk does not matter', async () => {
    const one = await Machine.make()
    const file = join(one.log.place, 'shipped.json')
    one.write('a')
    writeFileSync(`${file}.tmp`, 'left by a process that was killed')
    await one.ship()
    const { ino } = statSync(file)
    one.write('b')
    await one.ship()
    expect(statSync(file).ino).toBe(ino)
    expect(readShipped(one.log.place)).toMatchObject({ seq: 2 })
    expect(readdirSync(one.log.place).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  it('keeps on disk what another membership shipped, until this one has it too', async () => {
    const one = await Machine.make({ maxSegmentBytes: 2000, maxBytes: 6000 })
    for (let i = 0; i < 30; i++) one.write(`s${i}`)
    await one.ship()
    expect(removableUpTo(one.log.place)).toBe(30)
    await tellLeaving(one.member)
    removeMember(one.member.place)
    expect(removableUpTo(one.log.place)).toBe(Infinity)
    const again = await joined(fleet, listening.url, join(one.home, 'data'), 'joined-again')
    expect(removableUpTo(one.log.place)).toBe(0)
    const client = clientOf(again)
    const report = await ship({ client, machine: again.machine, dataDir: join(one.home, 'data') })
    client.close()
    expect(report).toMatchObject({ records: 30, breaks: [] })
    expect(removableUpTo(one.log.place)).toBe(30)
  })

  describe('tells, keeps as evidence on both sides, and goes on in a new chain:', () => {
    const broken = async (one: Machine, kind: string) => {
      const report = await one.ship()
      expect(report.breaks.map((what) => what.kind)).toEqual([kind])
      expect(one.told).toEqual(report.breaks)
      expect(await one.evidence()).toEqual([kind])
      expect(readShipped(one.log.place)?.breaks).toMatchObject([{ kind }])
      expect(await one.ship()).toMatchObject({ records: 0, breaks: [] })
    }

    it('a log that was written anew', async () => {
      const one = await Machine.make()
      one.write('a', 'b')
      await one.ship()
      rmSync(one.log.place, { recursive: true })
      rmSync(join(one.home, 'data', 'state'), { recursive: true })
      one.log.close()
      one.write('x', 'y', 'z')
      await one.ship()
      expect(one.told).toMatchObject([{ kind: 'fork' }])
      expect(await one.evidence()).toEqual(['fork'])
      expect(await one.there()).toEqual(['1:a', '1:b', '2:x', '2:y', '2:z'])
    })

    it('a log that is shorter and ends with another record', async () => {
      const one = await Machine.make()
      one.write('a', 'b', 'c')
      await one.ship()
      const kept = readShipped(one.log.place)
      rmSync(one.log.place, { recursive: true })
      rmSync(join(one.home, 'data', 'state'), { recursive: true })
      one.log.close()
      one.write('x')
      writeFileSync(join(one.log.place, 'shipped.json'), JSON.stringify({ format: 1, ...kept }))
      await one.ship()
      expect(one.told).toMatchObject([{ kind: 'fork', seq: 3 }])
      expect(await one.there()).toEqual(['1:a', '1:b', '1:c', '2:x'])
    })

    it('a log whose end was cut off, without sending the rest again', async () => {
      const one = await Machine.make()
      one.write('a', 'b')
      const putBack = one.backup()
      one.write('c', 'd')
      await one.ship()
      putBack()
      await broken(one, 'cut')
      expect(await one.there()).toEqual(['1:a', '1:b', '1:c', '1:d'])
      one.write('e')
      expect(await one.ship()).toMatchObject({ records: 1, breaks: [] })
      expect(await one.there()).toEqual(['1:a', '1:b', '1:c', '1:d', '2:e'])
    })

    it('a log whose folder is gone, once', async () => {
      const one = await Machine.make()
      one.write('a', 'b')
      await one.ship()
      rmSync(one.log.place, { recursive: true })
      expect((await one.ship()).breaks).toEqual([{ log: logId(one.log.place), kind: 'cut', seq: 2 }])
      expect(await one.evidence()).toEqual(['cut'])
      expect(await one.ship()).toMatchObject({ breaks: [] })
      mkdirSync(one.log.place)
      await one.ship()
      expect(await one.evidence()).toEqual(['cut'])
    })

    it('a chain that somebody else began with the key of this machine, and goes on where it was', async () => {
      const one = await Machine.make()
      one.write('a', 'b')
      await one.ship()
      const log = logId(one.log.place)
      const client = clientOf(one.member)
      const stranger = madeLines([{ session: 'x' }], { seq: 500, hash: 'a'.repeat(64) })
      const append = () =>
        client.ask('append', { query: `log=${log}&epoch=2`, body: Buffer.from(`${stranger.text}\n`) })
      await expect(append()).rejects.toThrow('no chain 2')
      await client.ask('evidence', { body: { log, epoch: 1, kind: 'fork', seq: 2 } })
      await append()
      client.close()
      one.write('c')
      const report = await one.ship()
      expect(report).toMatchObject({ records: 1, breaks: [{ kind: 'fork', seq: 501 }] })
      expect(await one.there()).toEqual(['1:a', '1:b', '2:x', '3:c'])
      const [row] = await run(fleet.owner, [
        `select held, sent from fleet.evidence where machine = '${one.member.machine}' and epoch = 2`,
      ])
      expect(row).toEqual({ held: stranger.last.hash, sent: expect.not.stringMatching(stranger.last.hash) })
    })

    describe('records that somebody else sent before the first shipping,', () => {
      const write = async () => {
        const one = await Machine.make()
        one.write('one', 'two', 'three')
        const lines = readFileSync(one.segment, 'utf8').split('\n').slice(0, -1)
        const links = lines.map((line, i) => ({ seq: i + 1, hash: line.slice(-66, -2) }))
        return { one, lines, links }
      }
      const invented = (before: Link) => [madeLines([{ session: 'x' }], before).text]
      type Written = Awaited<ReturnType<typeof write>>
      const ALL = ['2:one', '2:two', '2:three']

      it.each<[string, (of: Written) => readonly string[]]>([
        ['far behind its end', () => invented({ seq: 999_999, hash: 'a'.repeat(64) })],
        ['right behind its end', ({ links }) => invented(links[2] as Link)],
        ['in the middle', ({ links }) => invented(links[1] as Link)],
        ['a true one', ({ lines }) => lines.slice(2)],
        [
          'a true one, and one more',
          ({ lines, links }) => [...lines.slice(2), ...invented(links[2] as Link)],
        ],
        ['two that are true', ({ lines }) => lines.slice(1)],
        ['one at its beginning', () => invented(START)],
      ])('%s', async (_, sent) => {
        const written = await write()
        const { one } = written
        const client = clientOf(one.member)
        const query = `log=${logId(one.log.place)}&epoch=1`
        await client.ask('append', { query, body: Buffer.from(`${sent(written).join('\n')}\n`) })
        client.close()
        await one.ship()
        expect((await one.there()).filter((what) => what.startsWith('2:'))).toEqual(ALL)
        expect(await one.evidence()).toContain('fork')
        expect(one.told.length).toBeGreaterThan(0)
        expect(await one.ship()).toMatchObject({ records: 0, breaks: [] })
        one.write('four')
        expect(await one.ship()).toMatchObject({ records: 1, breaks: [] })
        expect((await one.there()).at(-1)).toBe('2:four')
      })

      it('while the answers to the first shipping get lost, are not taken for its own', async () => {
        const { one, lines } = await write()
        const real = clientOf(one.member)
        const ask = async (name: RouteName, options: object) => {
          if (name !== 'append') return real.ask(name, options)
          await real.ask('append', { ...options, body: Buffer.from(`${lines[2]}\n`) })
          throw new Unavailable('lost')
        }
        await one.ship({ ask, close: () => real.close() } as unknown as GatewayClient)
        await one.ship()
        expect((await one.there()).filter((what) => what.startsWith('2:'))).toEqual(ALL)
      })
    })

    it.each(['an answer', 'a request'])(
      'nothing, and sends nothing twice, if only %s got lost after a damaged line',
      async (what) => {
        const one = await Machine.make()
        one.write('a', 'b', 'c')
        writeFileSync(
          one.segment,
          readFileSync(one.segment, 'utf8').replace('"session":"b"', '"session":"x"'),
        )
        const real = clientOf(one.member)
        const ask = async (name: RouteName, options: { query?: string }) => {
          const isLost = name === 'append' && options.query?.endsWith('epoch=2')
          if (isLost && what === 'a request') throw new Unavailable('lost')
          const answer = await real.ask(name, options)
          if (isLost) throw new Unavailable('lost')
          return answer
        }
        await one.ship({ ask, close: () => real.close() } as unknown as GatewayClient)
        expect(readShipped(one.log.place)).toMatchObject({ seq: 0, isPending: true, from: 3 })
        expect(await one.ship()).toMatchObject({ records: what === 'an answer' ? 0 : 1, breaks: [] })
        expect(await one.there()).toEqual(['1:a', '2:c'])
        expect(await one.evidence()).toEqual(['damaged'])
        expect(readShipped(one.log.place)).toMatchObject({ seq: 3, isPending: false })
      },
    )

    it('a record that the server replaced behind the back of this machine', async () => {
      const one = await Machine.make()
      one.write('a', 'b')
      await one.ship()
      await run(fleet.owner, [
        `update fleet.chain set hash = decode('${'ab'.repeat(32)}', 'hex') where machine = '${one.member.machine}'`,
      ])
      expect(await one.ship()).toMatchObject({ breaks: [{ kind: 'fork', seq: 2 }] })
    })

    it('a first record that was changed before it was shipped', async () => {
      const one = await Machine.make()
      one.write('a', 'b', 'c')
      writeFileSync(one.segment, readFileSync(one.segment, 'utf8').replace('"session":"a"', '"session":"x"'))
      await broken(one, 'damaged')
      expect(await one.there()).toEqual(['1:b', '1:c'])
    })

    it('first records that were removed before they were shipped', async () => {
      const one = await Machine.make({ maxSegmentBytes: 2000 })
      for (let i = 0; i < 30; i++) one.write(`s${i}`)
      unlinkSync(one.segment)
      await broken(one, 'gap')
      expect((await one.there()).at(-1)).toBe('1:s29')
    })

    it('an older segment whose last line is only a part, and sends what follows', async () => {
      const one = await Machine.make({ maxSegmentBytes: 2000 })
      for (let i = 0; i < 30; i++) one.write(`s${i}`)
      writeFileSync(one.segment, readFileSync(one.segment, 'utf8').slice(0, -20))
      await broken(one, 'damaged')
      expect((await one.there()).at(-1)).toBe('2:s29')
    })

    it('records that were lost before they were shipped', async () => {
      const one = await Machine.make({ maxSegmentBytes: 2000 })
      one.write('a')
      await one.ship()
      for (let i = 0; i < 30; i++) one.write(`s${i}`)
      unlinkSync(one.segment)
      await broken(one, 'gap')
      expect((await one.there()).at(-1)).toBe('2:s29')
    })

    it('a line that was changed', async () => {
      const one = await Machine.make()
      one.write('a', 'b', 'c')
      writeFileSync(one.segment, readFileSync(one.segment, 'utf8').replace('"session":"b"', '"session":"x"'))
      await broken(one, 'damaged')
      expect(await one.there()).toEqual(['1:a', '2:c'])
    })

    it('a server that has less than it acknowledged, which gets it again', async () => {
      const one = await Machine.make()
      one.write('a', 'b', 'c')
      await one.ship()
      const chain = `(select chain from fleet.chain where machine = '${one.member.machine}')`
      await run(fleet.owner, [
        `delete from fleet.record where chain = ${chain} and seq > 1`,
        `update fleet.chain c set seq = 1, hash = r.hash from fleet.record r where r.chain = c.chain and c.chain = ${chain} and r.seq = 1`,
      ])
      await broken(one, 'behind')
      expect(await one.there()).toEqual(['1:a', '1:b', '1:c'])
    })

    it('a server that has lost the whole chain, which gets it again', async () => {
      const one = await Machine.make()
      one.write('a', 'b')
      await one.ship()
      await run(fleet.owner, [
        `delete from fleet.record where chain = (select chain from fleet.chain where machine = '${one.member.machine}')`,
        `delete from fleet.chain where machine = '${one.member.machine}'`,
      ])
      await broken(one, 'behind')
      expect(await one.there()).toEqual(['1:a', '1:b'])
    })
  })
})
