// 100,000 records from 20 machines, while machines, gateways and the database are killed with -9: none lost, none twice.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FileAuditLog } from '../../src/store/audit/file-audit.js'
import { isLarge, runs } from '../property/runs.js'
import { type Fleet, joined, madeFleet, ORG } from './fleet-scene.js'
import { bundled, GatewayCopy } from './gateway-copies.js'
import { isOurServer, Postgres, run } from './postgres.js'

const MACHINES = 20
const EACH = runs(100_000) / MACHINES
/** Processes of machines at one time. */
const AT_ONCE = 4

describe.runIf(isOurServer('chaos'))('chaos', () => {
  let server: Postgres
  let fleet: Fleet
  let folder: string
  const gateways: GatewayCopy[] = []

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carabiner-chaos-'))
    await bundled(folder, ['chaos-machine.ts', 'chaos-gateway.ts'])
    server = await Postgres.start()
    fleet = await madeFleet(server)
    for (let i = 0; i < 2; i++) gateways.push(new GatewayCopy(folder, fleet.gateway, ORG))
    for (const one of gateways) await one.start()
  })
  afterAll(async () => {
    for (const one of gateways) await one.end()
    server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('every record arrives once and in order', async () => {
    const homes = Array.from({ length: MACHINES }, (_, i) => join(folder, `machine-${i}`))
    const urls = gateways.map(({ url }) => url)
    for (const [i, home] of homes.entries()) {
      mkdirSync(join(home, 'project'), { recursive: true })
      await joined(fleet, urls[i % 2] ?? '', join(home, 'data'), `chaos-${i}`)
    }
    const running = new Set<ChildProcess>()
    let told = ''
    let killed = 0
    /** Until it ends by itself: one that was killed is started again. */
    const played = async (home: string): Promise<void> => {
      for (;;) {
        const args = [join(home, 'data'), join(home, 'project'), String(EACH), ...urls]
        const child = spawn(process.execPath, [join(folder, 'chaos-machine.mjs'), ...args])
        running.add(child)
        child.stdout.on('data', (part) => {
          told += part
        })
        child.stderr.on('data', (part) => {
          told += part
        })
        const [code] = await once(child, 'exit')
        running.delete(child)
        if (code === 0) return
        killed++
      }
    }
    let isOver = false
    const waiting = [...homes]
    const players = Array.from({ length: AT_ONCE }, async () => {
      for (let home = waiting.shift(); home !== undefined; home = waiting.shift()) await played(home)
    })
    const everything = Promise.all(players).finally(() => {
      isOver = true
    })
    // As many kills as the machines need turns: each turn kills one of the three kinds.
    let servers = 0
    const copies = gateways.map(() => 0)
    for (let turn = 0; !isOver; turn++) {
      await Promise.race([everything, new Promise((resolve) => setTimeout(resolve, 1500))])
      if (isOver) break
      if (turn % 8 === 7) {
        server.kill()
        server.up()
        servers++
      } else if (turn % 4 === 1) {
        const which = Math.floor(turn / 4) % gateways.length
        gateways[which]?.kill()
        copies[which] = (copies[which] ?? 0) + 1
      } else if (turn < 30) [...running][turn % Math.max(running.size, 1)]?.kill('SIGKILL')
    }
    await everything
    expect(told).toBe('')
    expect(killed).toBeGreaterThan(0)
    console.log(
      `chaos: ${killed} machines, ${copies.join(' and ')} gateways and ${servers} servers were killed`,
    )
    if (isLarge) {
      expect(servers).toBeGreaterThan(0)
      expect(Math.min(...copies)).toBeGreaterThan(0)
    }
    const [row] = await run(fleet.owner, [
      `select count(*)::int as records, count(distinct (chain, seq))::int as distinct,
        (select count(*)::int from fleet.evidence) as evidence, (select max(epoch) from fleet.chain) as epochs from fleet.record`,
    ])
    expect(row).toMatchObject({ evidence: 0, epochs: 1 })
    expect(row?.records).toBe(row?.distinct)
    // A batch whose writer was killed before it was acknowledged may be there, or not; what a log has, the fleet has.
    let total = 0
    for (const [i, home] of homes.entries()) {
      const log = new FileAuditLog({ projectDir: join(home, 'project'), dataDir: join(home, 'data') })
      const here: string[] = []
      for await (const { hash } of log.entries()) here.push(hash)
      const there = await run(fleet.owner, [
        `select encode(r.hash, 'hex') as hash from fleet.record r join fleet.chain c using (chain) join fleet.machine m using (machine) where m.name = 'chaos-${i}' order by r.seq`,
      ])
      expect(there.map(({ hash }) => hash)).toEqual(here)
      expect(here.length).toBeGreaterThanOrEqual(EACH)
      total += here.length
    }
    expect(row?.records).toBe(total)
  })
})
