// The list of people on its way from the administrator through database and gateway to a machine.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newKeyPair } from '../../src/files/ed25519.js'
import { type People, signedPeople } from '../../src/files/fleet/people.js'
import type { Database } from '../../src/fleet/database/connection.js'
import { addPeople, readList } from '../../src/fleet/database/people.js'
import { gateway } from '../../src/fleet/gateway/gateway.js'
import { type Listening, listen } from '../../src/fleet/gateway/listener.js'
import { GatewayClient } from '../../src/fleet/machine/gateway-client.js'
import { clientOf, tellLeaving } from '../../src/fleet/machine/joining.js'
import { type Member, removeMember } from '../../src/fleet/machine/membership.js'
import { fetchPeople } from '../../src/fleet/machine/people.js'
import { Visitors } from '../../src/page/fleet/visitors.js'
import { signersOf } from '../../src/store/approvers.js'
import { type Fleet, joined, madeFleet, opened, ROOT } from './fleet-scene.js'
import { hasPostgres, Postgres, run } from './postgres.js'

type List = Pick<People, 'version' | 'people'>

describe.runIf(hasPostgres)('people of a fleet', () => {
  let server: Postgres
  let fleet: Fleet
  let database: Database
  let admin: Database
  let listening: Listening
  let folder: string
  let made = 0

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carabiner-people-'))
    server = await Postgres.start()
  })
  beforeEach(async () => {
    await listening?.close()
    await database?.close()
    await admin?.close()
    fleet = await madeFleet(server)
    database = await opened(fleet.gateway)
    admin = await opened(fleet.admin)
    listening = await listen({ host: '127.0.0.1', port: 0 }, gateway({ database }))
  })
  afterAll(async () => {
    await listening?.close()
    await database?.close()
    await admin?.close()
    server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const list = (version: number, ...names: readonly string[]): List => ({
    version,
    people: names.map((name) => ({
      name,
      role: 'approver' as const,
      keys: [{ kind: 'ed25519' as const, publicKey: newKeyPair().publicKey.toString('base64url') }],
    })),
  })
  const write = (people: List, { key = ROOT, now = Date.now() } = {}) =>
    addPeople(admin, people.version, signedPeople(people, key, now))
  const machine = async () => {
    const home = join(folder, `home-${made++}`)
    const member: Member = await joined(fleet, listening.url, home, `m${made}`)
    const fetch = async () => {
      const client = clientOf(member)
      return fetchPeople(client, member, { dataDir: home }).finally(() => client.close())
    }
    return { member, home, fetch }
  }
  const namesOf = (home: string) =>
    signersOf({ dataDir: home, approversFile: '/none' })?.approvers.map(({ name }) => name)

  it('reach a machine, and each new list replaces the one before', async () => {
    const { home, fetch, member } = await machine()
    expect(await fetch()).toBeUndefined()
    expect(() => namesOf(home)).toThrow(/is missing; no call is allowed/)
    await write(list(1, 'ann', 'ben'))
    await fetch()
    expect(namesOf(home)).toEqual(['ann', 'ben'])
    expect(signersOf({ dataDir: home, approversFile: '/none' })?.asker).toEqual({
      machine: member.machine,
      name: member.name,
    })
    await write(list(2, 'ben'))
    await fetch()
    expect(namesOf(home)).toEqual(['ben'])
  })

  it('are written one version at a time, by an administrator alone', async () => {
    expect(await write(list(1, 'ann'))).toBe(true)
    expect(await write(list(1, 'eve'))).toBe(false)
    expect((await readList(database))?.signed.list).toContain('ann')
    await expect(addPeople(database, 2, signedPeople(list(2, 'eve'), ROOT))).rejects.toThrow(
      /permission denied/,
    )
    const other = await opened(fleet.admin, 'other')
    expect(await readList(other)).toBeUndefined()
    await other.close()
  })

  const forged = JSON.stringify({ format: 1, ...list(3, 'eve') })
  it.each([
    [
      'forges a list',
      `insert into fleet.people (org, version, list, signature) select org, 3, '${forged}', signature from fleet.people where version = 2`,
      /not signed by the key of the fleet/,
    ],
    ['puts an older list back', 'delete from fleet.people where version = 2', /has version 1 .* has had 2/],
    ['removes every list', 'delete from fleet.people', /has version 0 .* has had 2/],
  ])('stay as they were when an administrator of the database %s', async (_, attack, why) => {
    const { home, fetch } = await machine()
    await write(list(1, 'ann', 'gone'))
    await write(list(2, 'ann'))
    await fetch()
    await run(fleet.owner, [attack])
    await expect(fetch()).rejects.toThrow(why)
    expect(namesOf(home)).toEqual(['ann'])
  })

  it('allow no longer when their list is over, anywhere, until it is renewed', async () => {
    const { home, fetch } = await machine()
    const key = newKeyPair()
    const publicKey = key.publicKey.toString('base64url')
    const people = [
      { name: 'ann', role: 'approver' as const, keys: [{ kind: 'ed25519' as const, publicKey }] },
    ]
    const ann = new GatewayClient({ url: listening.url, sender: { key } })
    await write({ version: 1, people }, { now: Date.now() - 31 * 24 * 3_600_000 })
    await expect(fetch()).rejects.toThrow(/expired on .* fleet people renew/)
    expect(() => namesOf(home)).toThrow(/has expired|expired on/)
    await expect(ann.ask('questions')).rejects.toThrow(/has expired|expired on/)
    await write({ version: 2, people })
    await fetch()
    expect(namesOf(home)).toEqual(['ann'])
    expect(await ann.ask('questions')).toMatchObject({ questions: [] })
    ann.close()
    // A list that is over still keeps an older one out.
    await write({ version: 3, people: [] }, { now: Date.now() - 31 * 24 * 3_600_000 })
    await expect(fetch()).rejects.toThrow(/has expired|expired on/)
    await run(fleet.owner, ['delete from fleet.people where version = 3'])
    await expect(fetch()).rejects.toThrow(/has version 2 .* has had 3/)
  })

  it('who were removed do not come back with an old list under a higher number', async () => {
    const key = newKeyPair()
    const publicKey = key.publicKey.toString('base64url')
    const gone = { name: 'gone', role: 'admin' as const, keys: [{ kind: 'ed25519' as const, publicKey }] }
    const others = list(2, 'ann').people
    await write({ version: 1, people: [gone, ...others] })
    const client = new GatewayClient({ url: listening.url, sender: { key } })
    expect(await client.ask('questions')).toMatchObject({ questions: [] })
    await write({ version: 2, people: others })
    await expect(client.ask('questions')).rejects.toThrow('not one of a person on the list')
    await run(fleet.owner, [
      'insert into fleet.people (org, version, list, signature) select org, 3, list, signature from fleet.people where version = 1',
    ])
    await expect(client.ask('questions')).rejects.toThrow('not one of a person on the list')
    client.close()
    const page = await opened(fleet.page)
    await expect(new Visitors(page, 'https://fleet.example').owners()).rejects.toThrow('copy of version 1')
    await page.close()
  })

  it('are forgotten by a machine that leaves', async () => {
    const { member, fetch } = await machine()
    await write(list(1, 'ann'))
    await fetch()
    expect(existsSync(member.place.people)).toBe(true)
    await tellLeaving(member)
    removeMember(member.place)
    expect(existsSync(member.place.people)).toBe(false)
  })
})
