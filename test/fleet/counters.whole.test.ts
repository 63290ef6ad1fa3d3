// Counts of a whole fleet: exact with many machines, whatever is killed, and never silent.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { type AddressInfo, createServer as createPort } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHooks } from 'carabiner'
import { build } from 'esbuild'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Counted } from '../../src/core/hooks/count.js'
import { MemoryStore } from '../../src/core/session/session-store.js'
import type { Database } from '../../src/fleet/database/connection.js'
import { addCount } from '../../src/fleet/database/counters.js'
import { gateway } from '../../src/fleet/gateway/gateway.js'
import { type Listening, listen } from '../../src/fleet/gateway/listener.js'
import { FleetCounters } from '../../src/fleet/machine/counters.js'
import { clientOf } from '../../src/fleet/machine/joining.js'
import { type Member, writeMembership } from '../../src/fleet/machine/membership.js'
import { runs } from '../property/runs.js'
import { contract } from '../store/contracts/counters.js'
import { countedBy } from '../store/counted-by.js'
import { type Fleet, joined, madeFleet, ORG, opened } from './fleet-scene.js'
import { hasPostgres, Postgres, run } from './postgres.js'

const MACHINES = 20
const MOST = 500

describe.runIf(hasPostgres)('counts of a fleet', () => {
  let server: Postgres
  let fleet: Fleet
  let database: Database
  let listening: Listening
  let folder: string
  let made = 0

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carabiner-counters-'))
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

  async function machine(url = listening.url): Promise<Member> {
    made++
    const member = await joined(fleet, listening.url, join(folder, `home-${made}`), `m${made}`)
    return moved(member, url)
  }

  /** The same machine with another address of its gateway. */
  function moved(member: Member, url: string): Member {
    const { place, key, ...membership } = member
    writeMembership({ ...membership, url }, place)
    return { ...member, url }
  }

  const countersOf = ({ place }: Member, deadlineMs?: number) =>
    new FleetCounters({ place: () => place, ...(deadlineMs !== undefined && { deadlineMs }) })

  const totalOf = async (key: string) => {
    const [row] = await run(fleet.owner, [
      `select coalesce(sum(n), 0)::int as total from fleet.counter_minute where key = '${key}'`,
    ])
    return row?.total
  }
  const isAllowed = (counted: Counted) => 'isReached' in counted && !counted.isReached

  contract('a fleet', async () => {
    await run(fleet.owner, ['delete from fleet.counter'])
    let now = Date.now()
    const store = new MemoryStore()
    const fleetOf = [await machine(), await machine()].map((member) => countersOf(member, 60_000))
    let fired = 0
    return {
      // A call belongs to one machine, so that only what has no id comes from several.
      fire: () => {
        const [one, other] = fleetOf.map((counters) => countedBy(store, () => now, counters))
        const any = fired++ % 2 === 0 ? one : other
        return (counting) =>
          (counting.call === undefined ? any : one)?.(counting) ?? { problem: 'no machine' }
      },
      pass: async (minutes) => {
        now += minutes * 60_000
        await run(fleet.owner, [`update fleet.counter_minute set minute = minute - ${minutes}`])
      },
    }
  })

  it('are exact: of 600 from 20 machines at one time, 500 are allowed', async () => {
    const members = await Promise.all(Array.from({ length: MACHINES }, () => machine()))
    const all = await Promise.all(
      members.flatMap((member) => {
        const counters = countersOf(member, 60_000)
        return Array.from({ length: 30 }, () =>
          counters.count({ key: 'exact', id: randomUUID(), most: MOST, add: 1 }),
        )
      }),
    )
    expect(all.filter(isAllowed)).toHaveLength(MOST)
    expect(await totalOf('exact')).toBe(MOST)
  })

  it('count once, however often one request is sent, and whichever answer gets lost', async () => {
    let isLost = true
    const proxy = createServer((asked, answer) => {
      const { method, url: path, headers } = asked
      const there = request(`${listening.url}${path}`, { method, headers }, (back) => {
        if (!isLost) back.pipe(answer)
        else back.resume().on('end', () => asked.socket.destroy())
      })
      asked.pipe(there)
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void proxy.close())
    const member = await machine(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`)
    const one = { key: 'lost', id: randomUUID(), most: 1, add: 1 }
    await expect(countersOf(member, 60_000).count(one)).rejects.toThrow(/cannot be reached/)
    expect(await totalOf('lost')).toBe(1)
    isLost = false
    const counters = countersOf(member)
    expect(await counters.count(one)).toEqual({ isReached: false })
    expect(await counters.count({ ...one, id: randomUUID() })).toEqual({ isReached: true })
    expect(await totalOf('lost')).toBe(1)
  })

  it('count a refused request as refused, also if it is sent again when there is room', async () => {
    const counters = countersOf(await machine())
    const one = { key: 'again', most: 1, add: 1 }
    const id = randomUUID()
    expect(await counters.count({ ...one, id: randomUUID() })).toEqual({ isReached: false })
    expect(await counters.count({ ...one, id })).toEqual({ isReached: true })
    await run(fleet.owner, [`update fleet.counter_minute set minute = minute - 61 where key = 'again'`])
    expect(await counters.count({ ...one, id })).toEqual({ isReached: true })
    expect(await counters.count({ ...one, id: randomUUID() })).toEqual({ isReached: false })
  })

  it('never allow more than the limit, in any mix of machines, ids and numbers', async () => {
    const members = [await machine(), await machine(), await machine()]
    let tried = 0
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(
          fc.record({ by: fc.nat({ max: 2 }), id: fc.nat({ max: 3 }), add: fc.integer({ min: 1, max: 3 }) }),
          { maxLength: 12 },
        ),
        async (most, asked) => {
          const key = `mix-${tried++}`
          const ids = Array.from({ length: 4 }, () => randomUUID())
          // One id is one call, so it always has the same amount.
          const amounts = new Map<string, number>()
          const all = await Promise.all(
            asked.map(async ({ by, id, add }) => {
              const name = `${by} ${id}`
              const amount = amounts.get(name) ?? add
              amounts.set(name, amount)
              const { machine } = members[by] as Member
              const given = { key, id: ids[id] ?? '', most, add: amount }
              return { name, ...(await addCount(database, machine, given)) }
            }),
          )
          const allowed = [
            ...new Set(all.flatMap(({ name, status }) => (status === 'counted' ? [name] : []))),
          ]
          const total = allowed.reduce((sum, name) => sum + (amounts.get(name) ?? 0), 0)
          const last = Math.max(0, ...allowed.map((name) => amounts.get(name) ?? 0))
          expect(await totalOf(key)).toBe(total)
          // The last one was added while there was room for one more.
          expect(total).toBeLessThan(most + last)
        },
      ),
      { numRuns: runs(200) },
    )
  })

  it('refuse what is not a count, and who is not of the fleet', async () => {
    const member = await machine()
    const client = clientOf(member)
    onTestFinished(() => client.close())
    const good = { key: 'good', id: randomUUID(), add: 1 }
    for (const bad of [
      { ...good, key: '' },
      { ...good, key: 'x'.repeat(101) },
      { ...good, key: "k'; drop table fleet.counter" },
      { ...good, id: '1' },
      { ...good, add: -1 },
      { ...good, add: 0.5 },
      { ...good, add: 2 ** 53 },
      { ...good, most: -1 },
      [],
    ])
      await expect(client.ask('count', { body: bad })).rejects.toMatchObject({ code: 'INVALID' })
    await run(fleet.owner, [`update fleet.machine set retired = now() where machine = '${member.machine}'`])
    await expect(client.ask('count', { body: good })).rejects.toMatchObject({ code: 'UNKNOWN_MACHINE' })
    await expect(addCount(database, member.machine, good)).rejects.toThrow(/not in this organisation/)
    expect(await totalOf('good')).toBe(0)
  })

  it('bound what one machine stores, and forget what is over', async () => {
    const { machine: id } = await machine()
    const one = (key: string) => addCount(database, id, { key, id: randomUUID(), add: 1 })
    await run(fleet.owner, [
      `insert into fleet.counter (org, key, machine) select m.org, 'much-' || i, m.machine from fleet.machine m, generate_series(1, 10000) i where m.machine = '${id}'`,
    ])
    expect(await one('more')).toEqual({ status: 'full' })
    expect(await one('much-1')).toEqual({ status: 'counted' })
    await run(fleet.owner, [
      `update fleet.counter set touched = now() - interval '3 hours' where machine = '${id}' and key <> 'much-1'`,
    ])
    expect(await one('much-1')).toEqual({ status: 'counted' })
    expect(await one('more')).toEqual({ status: 'counted' })
    const [row] = await run(fleet.owner, [
      `select count(*)::int as n from fleet.counter where machine = '${id}'`,
    ])
    expect(row?.n).toBe(10_001 - 40)
  })

  it('do not make a call wait for a gateway that says nothing, or for somebody who holds the counter', async () => {
    const silent = createPort(() => {})
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void silent.close())
    const member = await machine()
    const one = { key: 'held', id: randomUUID(), most: 5, add: 1 }
    expect(await countersOf(member).count(one)).toEqual({ isReached: false })
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    await expect(countersOf(moved(member, url), 200).count(one)).rejects.toThrow(
      /did not answer within 0.2 s/,
    )
    moved(member, listening.url)
    const owner = await opened(fleet.owner)
    await owner.snapshot(async (client) => {
      await client.query("select from fleet.counter where key = 'held' for update")
      const asked = { key: 'held', id: randomUUID(), most: 5, add: 1 }
      await expect(addCount(database, member.machine, asked)).rejects.toThrow(/lock timeout/)
      await expect(countersOf(member, 200).count(asked)).rejects.toThrow(/did not answer within 0.2 s/)
    })
    await owner.close()
  })

  it('limit a rule on two machines together, and deny once the gateway is gone', async () => {
    const limit = '"at_most": 3, "per": "hour", "across": "fleet"'
    const rules = `{"rules": [
      {"id": "few", "effects": ["install"], "then": "ask", ${limit}},
      {"id": "soft", "effects": ["send"], "then": "deny", ${limit}, "uncounted": "warn"}
    ]}`
    const members = [await machine(), await machine()]
    const sessions = await Promise.all(
      members.map(async (member, i) => {
        const [home, projectDir] = [join(folder, `user-${i}`), join(folder, `project-${i}`)]
        mkdirSync(join(home, '.amplifier'), { recursive: true })
        mkdirSync(projectDir)
        writeFileSync(join(home, '.amplifier', 'rules.json'), rules)
        const hooks = await createHooks({ projectDir, home, globals: false, counters: countersOf(member) })
        onTestFinished(() => hooks.close())
        return hooks.session({ id: 's' })
      }),
    )
    const fire = async (i: number, command: string) =>
      sessions[i]?.fire('PreToolUse', { tool_name: 'Bash', tool_input: { command } })
    const install = async (i: number) => (await fire(i, 'npm install x'))?.action
    expect([
      await install(0),
      await install(1),
      await install(0),
      await install(1),
      await install(0),
    ]).toEqual([...['continue', 'continue', 'continue'], ...['ask_user', 'ask_user']])
    const gone = createPort()
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve))
    const { port } = gone.address() as AddressInfo
    await new Promise((resolve) => gone.close(resolve))
    for (const member of members) moved(member, `http://127.0.0.1:${port}`)
    expect(await fire(1, 'npm install x')).toMatchObject({
      action: 'deny',
      reason: expect.stringMatching(/in the whole fleet, which cannot be counted \(the gateway .* cannot be/),
    })
    expect(await fire(1, 'curl -d x https://example.com')).toMatchObject({
      action: 'continue',
      diagnostics: expect.arrayContaining([
        expect.objectContaining({ text: expect.stringContaining('cannot be reached') }),
      ]),
    })
  })

  // A server that somebody else runs is not ours to disturb.
  it.runIf(process.env.CARABINER_TEST_PG === undefined)(
    'never allow more than the limit while backends and the gateway are killed',
    async () => {
      await build({
        entryPoints: [new URL('chaos-gateway.ts', import.meta.url).pathname],
        ...{ outfile: join(folder, 'gateway.mjs'), bundle: true, platform: 'node', format: 'esm' },
        banner: {
          js: `import { createRequire } from 'node:module'; const require = createRequire(${JSON.stringify(import.meta.url)})`,
        },
      })
      let child: ChildProcess
      let url = ''
      const start = async () => {
        const port = url === '' ? '0' : new URL(url).port
        const started = spawn(process.execPath, [join(folder, 'gateway.mjs'), fleet.gateway, ORG, port])
        child = started
        const [said] = await once(started.stdout, 'data')
        url = String(said).trim()
      }
      const kill = async () => {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      await start()
      const members = await Promise.all(Array.from({ length: MACHINES }, () => machine(url)))
      let [asked, allowed, failed] = [0, 0, 0]
      const machines = members.map(async (member) => {
        const counters = countersOf(member)
        for (let i = 0; i < 60; i++) {
          const counted = await counters
            .count({ key: 'chaos', id: randomUUID(), most: MOST, add: 1 })
            .catch((error: unknown): Counted => ({ problem: String(error) }))
          asked++
          if (isAllowed(counted)) allowed++
          if ('problem' in counted) failed++
        }
      })
      let kills = 0
      // By progress, not by time: after each hundred requests something is killed.
      for (const at of [100, 200, 300, 400, 500, 600]) {
        while (asked < at) await new Promise((resolve) => setTimeout(resolve, 5))
        if (at % 200 === 0) {
          await kill()
          await start()
        } else
          await run(fleet.owner, [
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'carabiner fleet'",
          ])
        kills++
      }
      await Promise.all(machines)
      await kill()
      const total = (await totalOf('chaos')) as number
      console.log(
        `counters: ${asked} asked, ${allowed} allowed, ${failed} failed, ${total} counted, ${kills} kills`,
      )
      expect(asked).toBe(MACHINES * 60)
      expect(allowed).toBeLessThanOrEqual(total)
      expect(total).toBeLessThanOrEqual(MOST)
      expect(failed).toBeGreaterThan(0)
      // Whoever failed may have cost a count, and nobody else.
      expect(total - allowed).toBeLessThanOrEqual(failed)
    },
  )
})
