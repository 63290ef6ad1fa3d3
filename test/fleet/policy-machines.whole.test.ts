// A thousand machines of one fleet, with a real gateway and PostgreSQL: rings, shadow, promote, rollback, and one that is killed.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fleetPolicies } from '../../src/files/fleet/bundles.js'
import { type InForce, readInForce } from '../../src/files/fleet/policy.js'
import { policyPlace } from '../../src/files/fleet-places.js'
import type { Database } from '../../src/fleet/database/connection.js'
import { policyAfter } from '../../src/fleet/database/policy.js'
import { gateway } from '../../src/fleet/gateway/gateway.js'
import { type Listening, listen } from '../../src/fleet/gateway/listener.js'
import { clientOf } from '../../src/fleet/machine/joining.js'
import { type Member, writeKey, writeMembership } from '../../src/fleet/machine/membership.js'
import { fetchPolicy } from '../../src/fleet/machine/policy.js'
import { promoted, type Rollout, ringOf, rolledBack, rolloutIn } from '../../src/fleet/policy/rollout.js'
import { type Fleet, madeFleet, opened } from './fleet-scene.js'
import { bundled } from './gateway-copies.js'
import { addedMembers, change, numbered, publish } from './policy-scene.js'
import { hasPostgres, Postgres } from './postgres.js'

const MACHINES = 1000
const AT_ONCE = 16
/** So many files take long on a disk. */
const MEMORY = '/dev/shm'
const RINGS = {
  'policy.json': JSON.stringify({
    rings: [{ name: '1', machines: ['ann-*'] }, { name: '2', percent: 30 }, { name: '3' }],
  }),
}

describe.skipIf(!hasPostgres)('a thousand machines', () => {
  let server: Postgres
  let fleet: Fleet
  let served: Database
  let admin: Database
  let listening: Listening
  let folder: string
  let members: readonly Member[]

  beforeAll(async () => {
    server = await Postgres.start()
    fleet = await madeFleet(server)
    served = await opened(fleet.gateway)
    admin = await opened(fleet.admin)
    listening = await listen({ host: '127.0.0.1', port: 0 }, gateway({ database: served }))
    folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'policy-machines-'))
    members = await addedMembers(fleet, {
      ...{ url: listening.url, folder, count: MACHINES },
      nameOf: (i) => `${i % 20 === 0 ? 'ann' : 'bob'}-${i}`,
    })
  }, 120_000)
  afterAll(async () => {
    await listening?.close()
    await served?.close()
    await admin?.close()
    server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function fetched(member: Member): Promise<string> {
    const client = clientOf(member)
    try {
      return (await fetchPolicy(client, member)).status
    } finally {
      client.close()
    }
  }

  async function allFetched(): Promise<void> {
    const left = [...members]
    const statuses = new Set<string>()
    const work = async () => {
      for (let member = left.pop(); member; member = left.pop()) statuses.add(await fetched(member))
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    expect([...statuses]).toEqual(['changed'])
  }

  const inForce = ({ place }: Member): InForce | undefined => readInForce(policyPlace(place))

  async function rolloutNow(): Promise<Rollout> {
    const rows = await policyAfter(admin)
    return rolloutIn(rows.find(({ role }) => role === 'rollout')?.target ?? '')
  }

  /** By ring, and by the versions that a machine enforces and tries: how many machines. */
  async function seen(): Promise<Record<string, number>> {
    const rollout = await rolloutNow()
    const counts: Record<string, number> = {}
    for (const member of members) {
      const { enforced, shadow } = inForce(member) ?? {}
      const ring = ringOf(rollout, member)?.ring.name
      const key = `${ring}: ${enforced?.version ?? '-'}/${shadow?.version ?? '-'}`
      counts[key] = (counts[key] ?? 0) + 1
    }
    return counts
  }

  it('try, enforce and take back a version ring by ring, and none goes back to an older roll-out', async () => {
    const [one, two] = [numbered(1, RINGS), numbered(2, RINGS)]
    await publish(admin, one, { ring: '3' })
    await change(admin, { rollout: promoted(await rolloutNow(), one.digest, { ring: '3' }) })
    await allFetched()
    const first = await seen()
    expect(Object.keys(first).sort()).toEqual(['1: 1/-', '2: 1/-', '3: 1/-'])
    const [ring1, ring2 = 0, ring3 = 0] = [first['1: 1/-'], first['2: 1/-'], first['3: 1/-']]
    expect(ring1).toBe(MACHINES / 20)
    expect(ring2 + ring3).toBe(MACHINES - MACHINES / 20)

    await publish(admin, two, { ring: '1', shadow: true })
    await allFetched()
    expect(await seen()).toEqual({ '1: 1/2': ring1, '2: 1/-': ring2, '3: 1/-': ring3 })

    await change(admin, { rollout: promoted(await rolloutNow(), two.digest, { ring: '2' }) })
    await allFetched()
    expect(await seen()).toEqual({ '1: 2/-': ring1, '2: 2/-': ring2, '3: 1/-': ring3 })

    const before = members.map((member) => inForce(member)?.rollout ?? 0)
    await change(admin, { rollout: rolledBack(await rolloutNow(), two.digest, {}) })
    await allFetched()
    expect(await seen()).toEqual(first)
    expect(members.every((member, i) => (inForce(member)?.rollout ?? 0) > (before[i] ?? 0))).toBe(true)
  }, 300_000)

  it('can rely on the old version or the new one after kill -9 at any change, and the next fetch leaves nothing behind', async () => {
    const [member] = members.filter(({ name }) => name.startsWith('ann-'))
    if (!member) throw new Error('no machine')
    const home = join(folder, String(members.indexOf(member)))
    writeKey(member.key, member.place)
    writeMembership(member, member.place)
    await bundled(folder, ['policy-machine.ts'])
    const hooks = Object.fromEntries([1, 2, 3].map((n) => [`hooks/h${n}/run.sh`, `exit ${n}\n`]))
    let [killed, isOver] = [0, false]
    for (let changes = 0; !isOver; changes += 4) {
      await publish(admin, numbered(10 + changes, { ...RINGS, ...hooks }))
      const old = inForce(member)?.rollout ?? 0
      const child = spawn(process.execPath, [join(folder, 'policy-machine.mjs'), home, String(changes)], {
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      const [code, signal] = await once(child, 'exit')
      isOver = code === 0
      expect(isOver || signal === 'SIGKILL').toBe(true)
      if (!isOver) killed++
      expect([old, old + 1]).toContain(inForce(member)?.rollout)
      const policies = fleetPolicies(policyPlace(member.place))
      expect(policies.map(({ problem }) => problem)).toEqual([undefined])
      await fetched(member)
      expect(inForce(member)?.rollout).toBe(old + 1)
      const names = readdirSync(member.place.policy, { recursive: true }).map(String)
      expect(names.filter((name) => /\.(tmp|gone)$/.test(name))).toEqual([])
    }
    expect(killed).toBeGreaterThan(4)
  }, 300_000)
})
