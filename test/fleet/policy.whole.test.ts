import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { newKeyPair } from '../../src/files/ed25519.js'
import { bundleFolder, readInForce } from '../../src/files/fleet/policy.js'
import { policyPlace } from '../../src/files/fleet-places.js'
import type { Database } from '../../src/fleet/database/connection.js'
import { gateway } from '../../src/fleet/gateway/gateway.js'
import { type Listening, listen } from '../../src/fleet/gateway/listener.js'
import { clientOf } from '../../src/fleet/machine/joining.js'
import type { Member } from '../../src/fleet/machine/membership.js'
import { fetchPolicy } from '../../src/fleet/machine/policy.js'
import { firstSigners, rolloutOf } from '../../src/fleet/policy/publication.js'
import { type Fleet, joined, madeFleet, opened, ROOT } from './fleet-scene.js'
import { change, numbered, ONE_RING, publish } from './policy-scene.js'
import { hasPostgres, Postgres, run } from './postgres.js'

const DAY_MS = 24 * 3_600_000

describe.skipIf(!hasPostgres)('the policy of a fleet', () => {
  let server: Postgres
  let fleet: Fleet
  let served: Database
  let admin: Database
  let listening: Listening
  let home: string
  let member: Member

  beforeAll(async () => {
    server = await Postgres.start()
  }, 60_000)
  afterAll(() => server?.stop())

  beforeEach(async () => {
    fleet = await madeFleet(server)
    served = await opened(fleet.gateway)
    admin = await opened(fleet.admin)
    listening = await listen({ host: '127.0.0.1', port: 0 }, gateway({ database: served }))
    home = mkdtempSync(join(tmpdir(), 'policy-machine-'))
    member = await joined(fleet, listening.url, home, 'ann')
  }, 60_000)
  afterEach(async () => {
    await listening.close()
    await served.close()
    await admin.close()
    rmSync(home, { recursive: true, force: true })
  })

  async function fetched(now?: () => number) {
    const client = clientOf(member)
    try {
      return await fetchPolicy(client, member, now ? { now } : {})
    } finally {
      client.close()
    }
  }
  const inForce = () => readInForce(policyPlace(member.place))

  it('has none until somebody publishes one', async () => {
    expect(await fetched()).toEqual({ status: 'none' })
    expect(inForce()).toBeUndefined()
  })

  it('is unpacked as it was built, and nothing is done while nothing is new', async () => {
    const bundle = numbered(1, {
      ...ONE_RING,
      'hooks/guard/run.sh': '#!/bin/sh\nexit 0\n',
      'hooks/empty': '',
    })
    await publish(admin, bundle)
    expect(await fetched()).toMatchObject({ status: 'changed', group: 'all', ring: '1' })
    expect(inForce()).toMatchObject({ rollout: 1, enforced: { digest: bundle.digest, version: 1 } })
    const folder = bundleFolder(member.place.policy, bundle.digest)
    for (const { path, bytes } of bundle.files) expect(readFileSync(join(folder, path))).toEqual(bytes)
    expect(await fetched()).toMatchObject({ status: 'same' })
  })

  it('comes with its bundle in one request', async () => {
    await publish(admin, numbered(1, ONE_RING))
    const client = clientOf(member)
    const asked = vi.spyOn(client, 'ask')
    try {
      expect(await fetchPolicy(client, member)).toMatchObject({ status: 'changed' })
      expect(asked.mock.calls.map(([route]) => route)).toEqual(['policy'])
    } finally {
      client.close()
    }
  })

  it('replaces the bundle, and keeps the one before it', async () => {
    const [one, two, three] = [1, 2, 3].map((n) => numbered(n, ONE_RING))
    for (const bundle of [one, two, three]) {
      if (bundle) await publish(admin, bundle)
      await fetched()
    }
    expect(inForce()?.enforced?.version).toBe(3)
    const has =
      (digest = '') =>
      () =>
        readFileSync(join(bundleFolder(member.place.policy, digest), 'rules.json'))
    expect(has(two?.digest)).not.toThrow()
    expect(has(one?.digest)).toThrow('ENOENT')
  })

  it('mends a bundle that was damaged on the machine', async () => {
    const bundle = numbered(1, ONE_RING)
    await publish(admin, bundle)
    await fetched()
    const folder = bundleFolder(member.place.policy, bundle.digest)
    rmSync(join(folder, 'rules.json'))
    expect(await fetched()).toMatchObject({ status: 'changed' })
    expect(readFileSync(join(folder, 'rules.json'), 'utf8')).toContain('policy 1')
  })

  describe('against whoever has the database', () => {
    beforeEach(async () => {
      await publish(admin, numbered(1, ONE_RING))
      await fetched()
      await publish(admin, numbered(2, ONE_RING))
    })

    it('refuses what others signed', async () => {
      await run(fleet.owner, ['delete from fleet.policy_file', 'delete from fleet.policy_bundle'])
      const thief = newKeyPair()
      const before = inForce()
      await run(fleet.owner, [`update fleet.org set root_key = '\\x${thief.publicKey.toString('hex')}'`])
      await expect(publish(admin, numbered(3, ONE_RING), { key: thief })).rejects.toThrow(
        'belongs to no signer',
      )
      await expect(fetched()).rejects.toThrow('somebody removed the newer ones')
      expect(inForce()).toEqual(before)
    })

    it('refuses metadata that is older than what it has had', async () => {
      await fetched()
      const before = inForce()
      await run(fleet.owner, [
        "delete from fleet.policy_file where version > 1 and role in ('timestamp', 'snapshot', 'targets', 'rollout')",
      ])
      await expect(fetched()).rejects.toThrow('version 2 was there before')
      expect(inForce()).toEqual(before)
    })

    it('refuses a roll-out that is put back under a new number', async () => {
      await fetched()
      await run(fleet.owner, [
        `update fleet.policy_file f set target = (select target from fleet.policy_file o where o.org = f.org and o.role = 'rollout' and o.version = 1) where role = 'rollout' and version = 2`,
      ])
      await expect(publish(admin, numbered(3, ONE_RING))).rejects.toThrow('cannot be relied on')
    })

    it.each(['bundle', 'timestamp', 'snapshot', 'targets', 'rollout', 'trust'])(
      'stays on what it has when any byte of %s is another one',
      async (role) => {
        const before = inForce()
        const [table, where] =
          role === 'bundle'
            ? ['fleet.policy_bundle', 'true']
            : [
                'fleet.policy_file',
                `role = '${role}' and version = (select max(version) from fleet.policy_file where role = '${role}')`,
              ]
        const [row] = await run(fleet.owner, [
          `select content from ${table} where ${where} order by at desc limit 1`,
        ])
        const text = String(row?.content)
        for (let i = 0; i < 25; i++) {
          const at = Math.floor((i * text.length) / 25)
          const other = String.fromCharCode(text.charCodeAt(at) ^ (1 + (i % 7)))
          const changed = `${text.slice(0, at)}${other}${text.slice(at + 1)}`
          await run(fleet.owner, [
            `update ${table} set content = convert_from('\\x${Buffer.from(changed).toString('hex')}', 'UTF8') where ${where} and content = convert_from('\\x${Buffer.from(text).toString('hex')}', 'UTF8')`,
          ])
          await expect(fetched(), `byte ${at}`).rejects.toThrow('stays in force')
          expect(inForce()).toEqual(before)
          await run(fleet.owner, [
            `update ${table} set content = convert_from('\\x${Buffer.from(text).toString('hex')}', 'UTF8') where content = convert_from('\\x${Buffer.from(changed).toString('hex')}', 'UTF8')`,
          ])
        }
        expect(await fetched()).toMatchObject({ status: 'changed', inForce: { enforced: { version: 2 } } })
      },
      120_000,
    )
  })

  it('refuses what has expired, and takes it after it was renewed', async () => {
    await publish(admin, numbered(1, ONE_RING), { now: Date.now() - 8 * DAY_MS })
    await expect(fetched()).rejects.toThrow('expired')
    expect(inForce()).toBeUndefined()
    await change(admin, {})
    expect(await fetched()).toMatchObject({ status: 'changed', inForce: { enforced: { version: 1 } } })
  })

  it('does not judge expiry with a clock that was set back', async () => {
    await publish(admin, numbered(1, ONE_RING))
    await expect(fetched(() => Date.now() - DAY_MS)).rejects.toThrow('the clock of this machine')
  })

  it.each([{ roles: ['policy', 'rollout'] as const }, { roles: ['policy'] as const }])(
    'stops a key that was stolen, with the roles $roles',
    async ({ roles }) => {
      const [ann, thief] = [newKeyPair(), newKeyPair()]
      const { signers } = firstSigners(ROOT.publicKey)
      const stolen = {
        name: 'eve',
        roles,
        key: thief.publicKey.toString('base64url'),
      }
      const good = {
        name: 'ann',
        roles: ['policy', 'rollout'] as const,
        key: ann.publicKey.toString('base64url'),
      }
      await publish(admin, numbered(1, ONE_RING))
      await change(admin, { signers: { signers: [...signers, stolen, good], threshold: 1 } })
      await publish(admin, numbered(2, ONE_RING), { key: ROOT, keys: [thief] })
      expect(await fetched()).toMatchObject({ inForce: { enforced: { version: 2 } } })
      await change(admin, { signers: { signers: [...signers, good], threshold: 1 } })
      expect(await fetched()).toMatchObject({ status: 'changed' })
      await expect(publish(admin, numbered(3, ONE_RING), { key: thief })).rejects.toThrow(
        'belongs to no signer',
      )
      await publish(admin, numbered(4, ONE_RING), { key: ann })
      expect(await fetched()).toMatchObject({ inForce: { enforced: { version: 3 } } })
    },
  )

  it('needs as many signatures as the threshold says', async () => {
    const [ann, bob] = [newKeyPair(), newKeyPair()]
    const { signers } = firstSigners(ROOT.publicKey)
    const roles = ['policy', 'rollout'] as const
    const all = [
      ...signers,
      { name: 'ann', roles, key: ann.publicKey.toString('base64url') },
      { name: 'bob', roles, key: bob.publicKey.toString('base64url') },
    ]
    await publish(admin, numbered(1, ONE_RING))
    await change(admin, { signers: { signers: all, threshold: 1 } })
    await publish(admin, numbered(2, ONE_RING), { key: ann, keys: [ann, bob] })
    await change(admin, { signers: { signers: all, threshold: 2 } })
    expect(await fetched()).toMatchObject({ inForce: { enforced: { version: 2 } } })
    await expect(publish(admin, numbered(3, ONE_RING), { key: ann })).rejects.toThrow('1/2')
    await publish(admin, numbered(4, ONE_RING), { key: bob, keys: [bob, ann] })
    expect(await fetched()).toMatchObject({ inForce: { enforced: { version: 3 } } })
    expect(rolloutOf(undefined)).toHaveLength(1)
  })
})
