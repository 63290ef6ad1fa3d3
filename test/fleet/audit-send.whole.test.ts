// The records of all machines of a fleet, as a collector of OpenTelemetry receives them from the real exporters.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Link } from '../../src/store/audit-log.js'
import { attribute, Collector, type LogSeen } from '../cli/collector.js'
import { Project, programWithPackages, withProgram } from '../cli/program.js'
import {
  addedMachine,
  type Fleet,
  type Lines,
  listingIn,
  madeFleet,
  madeLines,
  ORG,
  rawLines,
} from './fleet-scene.js'
import { hasPostgres, Postgres, run } from './postgres.js'

withProgram()

const LOG = '0'.repeat(32)

describe.runIf(hasPostgres)('fleet audit export --to', () => {
  let server: Postgres
  let fleet: Fleet
  let project: Project
  let collector: Collector
  const running: ChildProcess[] = []

  beforeAll(async () => {
    server = await Postgres.start()
  })
  afterAll(() => server?.stop())
  beforeEach(async () => {
    fleet = await madeFleet(server)
    project = new Project()
    collector = new Collector()
    await collector.start()
  })
  afterEach(async () => {
    for (const child of running.splice(0)) await ended(child, 'SIGKILL')
    await collector.stop()
    project.remove()
  })

  const env = () => ({
    CARABINER_HOME: join(project.home, 'data'),
    CARABINER_FLEET_DATABASE: fleet.auditor,
  })
  const type = (...args: string[]) =>
    project.call(['fleet', 'audit', 'export', ...args, '--org', ORG], { env: env() })
  const send = (...args: string[]) => type('--to', collector.url, ...args)

  /** The same in a process that can be killed. */
  function started(...args: string[]): ChildProcess {
    const words = ['fleet', 'audit', 'export', '--to', collector.url, '--org', ORG, ...args]
    const child = spawn(process.execPath, [programWithPackages(), ...words], {
      ...{ cwd: project.folder, env: project.env(env()), stdio: ['ignore', 'pipe', 'pipe'] },
    })
    running.push(child)
    return child
  }

  async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
    if (child.exitCode === null && child.signalCode === null) {
      const exit = once(child, 'exit')
      child.kill(signal)
      await exit
    }
    return child.exitCode
  }

  /** A log of a machine. Each call ships so many records, or these, behind those that were shipped before. */
  async function machineNamed(name: string, log = LOG) {
    const machine = await addedMachine(fleet, name)
    let last: Link | undefined
    const chained = (make: (before: Link | undefined) => Lines) => {
      const lines = make(last)
      last = lines.last
      return lines
    }
    return {
      ship: (entries: readonly object[] | number) =>
        append(
          fleet.gateway,
          chained((before) =>
            madeLines(typeof entries === 'number' ? events(name, entries) : entries, before),
          ),
        ),
      shipRaw: (texts: readonly string[]) =>
        append(
          fleet.gateway,
          chained((before) => rawLines(texts, before)),
        ),
      /** Returns how to commit them. */
      shipSlowly: async (entries: readonly object[]) => {
        const client = new pg.Client({ connectionString: fleet.gateway })
        await client.connect()
        await client.query('select fleet.enter($1)', [ORG])
        await client.query('begin')
        await client.query(...appending(chained((before) => madeLines(entries, before))))
        return async () => {
          await client.query('commit')
          await client.end()
        }
      },
    }

    function appending({ first, prev, count, last: end, text, ...lines }: Lines): [string, unknown[]] {
      const listing = listingIn({ ...lines, text })
      return [
        'select * from fleet.append($1, $2, 1, $3, $4, $5, $6, $7, $8)',
        [machine, log, first, prev, count, end.hash, text, listing],
      ]
    }

    async function append(url: string, lines: Lines): Promise<void> {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      await client.query('select fleet.enter($1)', [ORG])
      const { rows } = await client.query(...appending(lines))
      await client.end()
      expect(rows).toMatchObject([{ status: 'added' }])
    }
  }

  const numbersOf = (name: string) =>
    collector.logs
      .filter(({ resource }) => attribute(resource, 'host.name') === name)
      .map((one) => Number(attribute(one, 'carabiner.entry.number')))
  const upTo = (most: number) => Array.from({ length: most }, (_, index) => index + 1)

  it('sends the records of all machines once, and goes on where it ended', async () => {
    const [ann, bob] = [await machineNamed('ann'), await machineNamed('bob')]
    await ann.ship(3)
    await bob.ship(2)
    const first = await send()
    expect(first).toEqual({ code: 0, stdout: `5 records sent to ${collector.url}\n`, stderr: '' })
    expect([numbersOf('ann'), numbersOf('bob')]).toEqual([upTo(3), upTo(2)])

    const [log] = collector.logs as [LogSeen]
    expect([log.severityText, log.eventName, log.body.stringValue]).toEqual([
      ...['WARN', 'carabiner.fire', 'PreToolUse Bash: deny (no)'],
    ])
    const [event, hook] = collector.spans
    expect([event?.name, hook?.name]).toEqual(['handle_event PreToolUse', 'execute_hook'])
    expect(hook?.parentSpanId).toBe(event?.spanId)
    expect(event?.spanId).toBe(log.spanId)
    const [row] = await run(fleet.owner, [`select machine from fleet.machine where name = 'ann'`])
    const named = (name: string) => attribute(log.resource, name)
    expect(
      ['service.name', 'service.instance.id', 'host.name', 'carabiner.org', 'carabiner.log'].map(named),
    ).toEqual(['carabiner', row?.machine, 'ann', ORG, LOG])
    // Everything of one chain has one resource, and is not told it again for each record.
    expect(collector.resources).toHaveLength(2)

    expect(JSON.parse((await send('--json')).stdout)).toEqual({
      ...{ org: ORG, collector: collector.url, sent: 0 },
    })
    await bob.ship(1)
    expect(JSON.parse((await send('--json')).stdout)).toMatchObject({ sent: 1 })
    expect(numbersOf('bob')).toEqual(upTo(3))

    const other = new Collector()
    await other.start()
    expect((await type('--to', other.url)).stdout).toBe(`6 records sent to ${other.url}\n`)
    await other.stop()
    expect(new Set(other.spans.map(({ spanId }) => spanId))).toEqual(
      new Set(collector.spans.map(({ spanId }) => spanId)),
    )
  })

  it('sends a chain that was committed after newer records of another one', async () => {
    const [late, early] = [await machineNamed('late'), await machineNamed('early')]
    const old = { ...event('late', 1), time: '2026-01-01T00:00:00.000Z' }
    const commit = await late.shipSlowly([old, old])
    await early.ship(2)
    expect((await send()).stdout).toContain('2 records sent')
    expect(numbersOf('late')).toEqual([])
    await commit()
    expect((await send()).stdout).toContain('2 records sent')
    expect([numbersOf('late'), numbersOf('early')]).toEqual([upTo(2), upTo(2)])
  })

  it('says that a collector failed in the middle, and goes on there', async () => {
    const [ann, bob] = [await machineNamed('ann'), await machineNamed('bob')]
    await ann.ship(250)
    await bob.ship(250)
    let requests = 0
    collector.onRequest = () => {
      // Spans and logs of the first batch, and spans of the second.
      collector.status = ++requests <= 3 ? 200 : 400
    }
    const { code, stderr } = await send()
    expect(code).toBe(1)
    expect(stderr).toMatch(
      new RegExp(`The collector at ${collector.url} did not take the entries: .*\\n +Start it`),
    )
    expect(collector.logs).toHaveLength(200)

    collector.onRequest = undefined
    collector.status = 200
    expect((await send()).stdout).toContain('300 records sent')
    expect([numbersOf('ann'), numbersOf('bob')]).toEqual([upTo(250), upTo(250)])
    // The spans that it had taken are the same ones again.
    expect(collector.spans).toHaveLength(1400)
    expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(1000)
  })

  it('goes on after it was killed, and what is sent twice has the same ids', async () => {
    const machine = await machineNamed('ann')
    await machine.ship(500)
    const child = started()
    // The logs of the second batch are there, but nobody ever answers.
    let requests = 0
    const held = new Promise<void>((resolve) => {
      collector.onRequest = () => {
        if (++requests < 4) return
        resolve()
        return new Promise(() => {})
      }
    })
    await held
    await ended(child, 'SIGKILL')
    collector.onRequest = undefined
    expect(numbersOf('ann')).toEqual(upTo(200))
    expect((await send()).stdout).toContain('300 records sent')
    expect(numbersOf('ann')).toEqual(upTo(500))
    expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(1000)
  })

  it('stays with --follow, also while the collector is away', async () => {
    const [ann, bob] = [await machineNamed('ann'), await machineNamed('bob')]
    await ann.ship(1)
    collector.status = 400
    const child = started('--follow')
    let said = ''
    for await (const part of child.stderr ?? []) {
      said += part
      if (said.includes('trying again')) break
    }
    expect(said).toContain(`sending new records to ${collector.url}; Ctrl-C ends it`)
    expect(said).toContain('did not take the entries')
    collector.status = 200
    await collector.until(() => collector.logs.length === 1)
    await bob.ship(2)
    await collector.until(() => collector.logs.length === 3)
    await ann.ship(1)
    await collector.until(() => collector.logs.length === 4)
    expect([numbersOf('ann'), numbersOf('bob')]).toEqual([upTo(2), upTo(2)])
    expect(await ended(child, 'SIGTERM')).toBe(0)
    expect((await send()).stdout).toContain('0 records sent')
  })

  it('begins each chain with its first record since a time, and says that this counts once', async () => {
    const at = (day: string) => ({ ...event('x', 1), time: `2026-11-${day}T00:00:00.000Z` })
    const [ann, bob] = [await machineNamed('ann'), await machineNamed('bob')]
    // A clock was set back after the third record.
    await ann.ship([at('01'), at('02'), at('10'), at('03')])
    await bob.ship([at('01'), at('02')])
    const first = await send('--since', '2026-11-09')
    expect(first.stdout).toBe(`2 records sent to ${collector.url}\n`)
    expect([numbersOf('ann'), numbersOf('bob')]).toEqual([[3, 4], []])

    await bob.ship([at('03'), at('11'), at('12')])
    const cid = await machineNamed('cid')
    await cid.ship([at('01')])
    const second = await send('--since', '2026-01-01')
    expect(second.stdout).toContain('2 records sent')
    expect(second.stdout).toContain('--since counts only the first time: this goes on where it ended')
    expect([numbersOf('bob'), numbersOf('cid')]).toEqual([[4, 5], []])
    expect((await send()).stdout).toBe(`0 records sent to ${collector.url}\n`)
  })

  it('sends what no product wrote, so that it holds nothing back', async () => {
    const odd = await machineNamed('odd')
    const whole = event('odd', 1)
    const texts = [
      { kind: 'fire', time: 'x', hooks: 5 },
      { ...whole, time: '+010000-01-01T00:00:00.000Z' },
      { ...whole, time: '1970-01-01T00:00:00.000Z', ms: 1e9 },
      { ...whole, ms: 1e300 },
      { ...whole, session: { toString: 1 } },
      { kind: 'approval', time: whole.time, action: { toString: 1 }, decision: 1e300 },
      { kind: ['x'], time: 7 },
      { ...whole, reason: '\ud800\u0000' },
      { kind: 'gap', time: whole.time, why: 'x'.repeat(300_000), action: 'deny' },
      { ...whole, hooks: [null] },
    ].map((one) => JSON.stringify(one))
    await odd.shipRaw(texts)
    const next = await machineNamed('next')
    await next.ship(1)
    expect((await send()).stdout).toContain(`${texts.length + 1} records sent`)
    expect(numbersOf('odd')).toEqual(upTo(texts.length))
    expect(numbersOf('next')).toEqual([1])
    const values = collector.logs.flatMap(({ attributes }) => attributes.map(({ value }) => value))
    for (const { intValue = 0 } of values) expect(Number.isSafeInteger(intValue)).toBe(true)
    for (const { timeUnixNano } of collector.logs)
      expect(Number(timeUnixNano)).toBeGreaterThan(Date.UTC(2020, 0) * 1e6)
    expect(JSON.stringify(collector.logs).length).toBeLessThan(50_000)
  })

  it('sends a chain from its start, and says so, if the database is an older copy of itself', async () => {
    const ann = await machineNamed('ann')
    await ann.ship(5)
    await send()
    await run(fleet.owner, [
      'delete from fleet.record where seq > 3',
      'update fleet.chain set seq = 3, hash = (select hash from fleet.record where seq = 3)',
    ])
    const { stdout, stderr } = await send()
    expect(stderr).toMatch(/chain \d+, of the machine ann, is not the one that was sent before/)
    expect(stdout).toContain('3 records sent')
    expect(numbersOf('ann')).toEqual([...upTo(5), ...upTo(3)])
    expect((await send()).stdout).toContain('0 records sent')
    await run(fleet.owner, [
      `update fleet.record set hash = '\\x01' where seq = 3`,
      `update fleet.chain set hash = '\\x01'`,
    ])
    expect((await send()).stderr).toContain('is not the one that was sent before')
  })

  it('keeps its place in very many chains', async () => {
    await addedMachine(fleet, 'ann')
    const line = JSON.stringify({ kind: 'bypass', time: '2026-11-18T06:00:00.000Z', event: 'Stop' })
    const chains = (from: number, to: number) =>
      run(fleet.owner, [
        `with c as (insert into fleet.chain (org, machine, log, epoch, base_seq, base_hash, seq, hash)
          select org, machine, n::text, 1, 6, '\\x00', 7, decode(lpad(n::text, 64, '0'), 'hex')
          from fleet.machine, generate_series(${from}, ${to}) n returning *)
        insert into fleet.record (org, chain, seq, received, at, kind, hash, line)
          select org, chain, seq, now(), now(), 'bypass', hash, '${line}' from c`,
      ])
    await chains(1, 1100)
    expect(JSON.parse((await send('--json')).stdout)).toMatchObject({ sent: 1100 })
    await chains(1101, 1101)
    expect(JSON.parse((await send('--json')).stdout)).toMatchObject({ sent: 1 })
    expect(new Set(collector.logs.map((one) => attribute(one, 'carabiner.entry.hash'))).size).toBe(1101)
    const notes = join(project.home, 'data', 'state', 'telemetry')
    const [folder = ''] = readdirSync(notes)
    expect(readdirSync(join(notes, folder)).filter((name) => name.startsWith('chains-'))).toHaveLength(5)
  })

  it.each([
    [['--json', '--follow', '--to', 'http://127.0.0.1:1'], '--json prints one document'],
    [[], 'Where to? Give --out FILE, or --to URL'],
    [['--to', 'localhost:4318'], '--to must be the address of a collector'],
    [['--out', 'x.jsonl', '--to', 'http://127.0.0.1:1'], '--to does not work with --out'],
    [['--to', 'http://127.0.0.1:1', '--since', 'yesterday'], '--since must be a time'],
    [['--to', 'http://127.0.0.1:1', '--tool', 'Bash'], '--tool does not work with'],
  ])('refuses %j', async (args, message) => {
    const { code, stdout, stderr } = await type(...args)
    expect([code, stdout + stderr]).toEqual([64, expect.stringContaining(message)])
  })
})

function events(session: string, count: number): readonly object[] {
  return Array.from({ length: count }, (_, index) => event(session, index))
}

function event(session: string, index: number) {
  const hook = { name: 'guard', kind: 'command', source: 'user', status: 'ran', at: 1, ms: 2, action: 'deny' }
  return {
    ...{ kind: 'fire', time: new Date(Date.UTC(2026, 10, 18) + index).toISOString(), session },
    ...{ event: 'PreToolUse', tool: 'Bash', digest: 'd'.repeat(64), action: 'deny', reason: 'no' },
    ...{ hooks: [hook], injections: [], diagnostics: [], ms: 5 },
  }
}
