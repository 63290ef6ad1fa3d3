// The gateway: who may speak to it, joining, leaving, and what it takes.

import { mkdtempSync, rmSync, statSync, unlinkSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newKeyPair, signatureOf } from '../../src/files/ed25519.js'
import { userPlace } from '../../src/files/fleet-places.js'
import type { Database } from '../../src/fleet/database/connection.js'
import { gateway } from '../../src/fleet/gateway/gateway.js'
import { type Listening, listen } from '../../src/fleet/gateway/listener.js'
import { tokenFrom, tokenText } from '../../src/fleet/join-token.js'
import { GatewayClient } from '../../src/fleet/machine/gateway-client.js'
import { clientOf, joinFleet, tellLeaving } from '../../src/fleet/machine/joining.js'
import { type Member, readMember, removeMember } from '../../src/fleet/machine/membership.js'
import { joinText, ROUTES, type RouteName } from '../../src/fleet/protocol.js'
import { SIGNATURE_HEADER, signedHeader } from '../../src/fleet/signed-request.js'
import { madeAuthority } from './authority.js'
import { type Fleet, joined, madeFleet, madeLines, madeToken, opened } from './fleet-scene.js'
import { hasPostgres, Postgres, run } from './postgres.js'

const LOG = 'a'.repeat(32)
/** What the ids of the logs of its user begin with. */
const HOME = 'a'.repeat(16)

describe.runIf(hasPostgres)('the gateway', () => {
  let server: Postgres
  let fleet: Fleet
  let database: Database
  let listening: Listening
  let folder: string
  let clock = 0
  const trouble: string[] = []
  const handle = () =>
    gateway({ database, now: () => Date.now() + clock, onTrouble: (text) => trouble.push(text) })

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carabiner-gateway-'))
    server = await Postgres.start()
    fleet = await madeFleet(server)
    database = await opened(fleet.gateway)
    listening = await listen({ host: '127.0.0.1', port: 0 }, handle())
  })
  afterAll(async () => {
    await listening?.close()
    await database?.close()
    server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  let made = 0
  const home = () => join(folder, `home-${made++}`)
  const member = (name = `m${made}`): Promise<Member> => joined(fleet, listening.url, home(), name)
  const append = (one: Member, text: string, path = `log=${LOG}&epoch=1`) => {
    const client = clientOf(one)
    return client.ask('append', { query: path, body: Buffer.from(text) }).finally(() => client.close())
  }

  describe('joining', () => {
    it('works once with a token, and leaves a key that only its user can read', async () => {
      const token = await madeToken(fleet)
      expect(tokenFrom(tokenText(token))).toEqual(token)
      const place = userPlace(home())
      const one = await joinFleet({ url: listening.url, token, name: 'first', place })
      expect(readMember(place)).toMatchObject({ name: 'first', machine: one.machine, url: listening.url })
      expect(statSync(place.key).mode & 0o777).toBe(0o600)
      const again = joinFleet({ url: listening.url, token, name: 'second', place: userPlace(home()) })
      await expect(again).rejects.toThrow('The token was used already')
    })

    it('works once when many try at the same time', async () => {
      const token = await madeToken(fleet)
      const tries = Array.from({ length: 8 }, (_, i) =>
        joinFleet({ url: listening.url, token, name: `racer-${i}`, place: userPlace(home()) }),
      )
      const results = await Promise.allSettled(tries)
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    })

    it.each([
      ['expired', 'has expired', async () => madeToken(fleet, { lasts: '-1 second' })],
      [
        'unknown',
        'is not a token of this fleet',
        async () => ({ ...(await madeToken(fleet)), id: '0'.repeat(12) }),
      ],
      [
        'guessed',
        'is not a token of this fleet',
        async () => ({ ...(await madeToken(fleet)), secret: 'x'.repeat(43) }),
      ],
      [
        'revoked',
        'was revoked',
        async () => {
          const token = await madeToken(fleet)
          await run(fleet.admin, [
            `select fleet.enter('acme')`,
            `update fleet.join_token set revoked = now() where token = '${token.id}'`,
          ])
          return token
        },
      ],
    ])('is refused with a token that is %s', async (_, why, make) => {
      const place = userPlace(home())
      const token = await make()
      await expect(joinFleet({ url: listening.url, token, name: 'x', place })).rejects.toThrow(
        `The token ${why}`,
      )
      expect(readMember(place)).toBeUndefined()
    })

    it('is refused under a name that a machine has, and leaves the token usable', async () => {
      await member('taken')
      const token = await madeToken(fleet)
      const join = (name: string) => joinFleet({ url: listening.url, token, name, place: userPlace(home()) })
      await expect(join('taken')).rejects.toThrow('Another machine of the fleet has this name')
      await expect(join('free')).resolves.toMatchObject({ name: 'free' })
    })

    it('is answered again when the answer was lost, also if the machine was retired in between', async () => {
      const [token, place] = [await madeToken(fleet), userPlace(home())]
      const options = { url: listening.url, name: 'lost-answer', place }
      const first = await joinFleet({ ...options, token })
      unlinkSync(place.marker)
      expect(await joinFleet({ ...options, token })).toMatchObject({ machine: first.machine, key: first.key })
      unlinkSync(place.marker)
      await run(fleet.admin, [
        `select fleet.enter('acme')`,
        `select fleet.retire_machine('${first.machine}')`,
      ])
      const again = await joinFleet({ ...options, token: await madeToken(fleet) })
      expect(again.machine).not.toBe(first.machine)
      expect(readMember(place)?.key.publicKey).toEqual(again.key.publicKey)
      expect(again.key.publicKey).not.toEqual(first.key.publicKey)
    })

    it('with a key needs the key: nobody joins in the name of another', async () => {
      const token = await madeToken(fleet)
      const key = newKeyPair().publicKey.toString('base64url')
      const client = new GatewayClient({ url: listening.url })
      const body = { token: token.id, secret: token.secret, name: 'thief', key, signature: 'A'.repeat(86) }
      await expect(client.ask('join', { body })).rejects.toThrow('not signed by the key')
      client.close()
    })
  })

  describe('a signed request', () => {
    const raw = async (name: RouteName, headers: Record<string, string>, body = '', query = '') => {
      const { method, path } = ROUTES[name]
      const response = await fetch(`${listening.url}${path}${query}`, {
        method,
        headers,
        ...(method === 'POST' && { body }),
      })
      const { error } = (await response.json()) as { error?: { code: string } }
      return [response.status, error?.code]
    }
    const header = (one: Member, name: RouteName, body = '', time = Date.now()) => {
      const { method, path } = ROUTES[name]
      return { [SIGNATURE_HEADER]: signedHeader({ method, path, body: Buffer.from(body) }, one, time) }
    }

    it('is answered', async () => {
      const one = await member()
      expect(await raw('machine', header(one, 'machine'))).toEqual([200, undefined])
    })

    it.each((Object.keys(ROUTES) as RouteName[]).filter((name) => ROUTES[name].signed))(
      'is needed for %s',
      async (name) => {
        expect(await raw(name, {})).toEqual([401, 'UNSIGNED'])
        expect(await raw(name, { [SIGNATURE_HEADER]: 'Bearer x' })).toEqual([401, 'UNSIGNED'])
      },
    )

    it('counts only for its own bytes, route, query and machine', async () => {
      const [one, other] = [await member(), await member()]
      const body = JSON.stringify({ home: HOME })
      const good = header(one, 'heads', body)
      expect(await raw('heads', good, body)).toEqual([200, undefined])
      const denied = [403, 'UNKNOWN_MACHINE']
      expect(await raw('heads', good, `${body} `)).toEqual(denied)
      expect(await raw('heads', good, body, '?x=1')).toEqual(denied)
      expect(await raw('evidence', good, body)).toEqual(denied)
      const stolen = good[SIGNATURE_HEADER]?.replace(one.machine, other.machine) ?? ''
      expect(await raw('heads', { [SIGNATURE_HEADER]: stolen }, body)).toEqual(denied)
      const forged = header({ ...one, key: newKeyPair() }, 'heads', body)
      expect(await raw('heads', forged, body)).toEqual(denied)
    })

    it('must be new, and a machine with a wrong clock is told the time once', async () => {
      const one = await member()
      expect(await raw('machine', header(one, 'machine', '', Date.now() - 600_000))).toEqual([401, 'CLOCK'])
      for (const off of [-3_500_000, 3_500_000]) {
        const client = clientOf(one, () => Date.now() + off)
        expect(await client.ask('machine')).toMatchObject({ machine: one.machine })
        client.close()
      }
      clock = 3_500_000
      const client = clientOf(one)
      expect(await client.ask('machine')).toMatchObject({ machine: one.machine })
      client.close()
      clock = 0
    })

    it('of a machine that left counts until an administrator retires it, because an agent may have asked', async () => {
      const one = await member('leaver')
      await tellLeaving(one)
      removeMember(one.place)
      expect(readMember(one.place)).toBeUndefined()
      expect(await raw('machine', header(one, 'machine'))).toEqual([200, undefined])
      await run(fleet.admin, [`select fleet.enter('acme')`, `select fleet.retire_machine('${one.machine}')`])
      expect(await raw('machine', header(one, 'machine'))).toEqual([403, 'UNKNOWN_MACHINE'])
    })

    it('of a machine that left no longer counts when another one joins under its name', async () => {
      const one = await member('twice')
      await tellLeaving(one)
      removeMember(one.place)
      await member('twice')
      expect(await raw('machine', header(one, 'machine'))).toEqual([403, 'UNKNOWN_MACHINE'])
    })
  })

  describe('records', () => {
    it('are taken, and asked about', async () => {
      const one = await member()
      const lines = madeLines([{ session: 'a' }, { session: 'b' }])
      expect(await append(one, `${lines.text}\n`)).toEqual({ status: 'added', ...lines.last })
      const client = clientOf(one)
      const heads = (home: string, after?: string) => client.ask('heads', { body: { home, after } })
      const head = { log: LOG, epoch: 1, ...lines.last, told: false }
      expect(await heads(HOME)).toEqual({ heads: [head] })
      expect(await heads('b'.repeat(16))).toEqual({ heads: [] })
      expect(await heads(HOME, LOG)).toEqual({ heads: [] })
      for (const home of ['', 'a', '%'.repeat(16)]) await expect(heads(home)).rejects.toThrow('The request')
      client.close()
    })

    const { text } = madeLines([{ session: 'a' }, { session: 'b' }])
    const [first = '', second = ''] = text.split('\n')
    it.each([
      ['a changed byte', `${first.replace('"a"', '"x"')}\n`],
      ['a changed hash', `${first.replace(/[0-9a-f]{64}"\}$/, `${'0'.repeat(64)}"}`)}\n`],
      ['lines in another order', `${second}\n${first}\n`],
      ['a line twice', `${first}\n${first}\n`],
      ['no newline at the end', first],
      ['an empty line', `${first}\n\n`],
      ['nothing', ''],
      ['a NUL', `${first}\0\n`],
      ['no record', '{}\n'],
    ])('are refused with %s', async (_, body) => {
      const one = await member()
      await expect(append(one, body)).rejects.toThrow(/The request|Line \d of the request/)
      expect(await run(fleet.owner, [`select from fleet.chain where machine = '${one.machine}'`])).toEqual([])
    })

    it.each(['', 'log=x&epoch=1', `log=${LOG}`, `log=${LOG}&epoch=0`, `log=${LOG}&epoch=1.5`])(
      'are refused for %j',
      async (query) => {
        await expect(append(await member(), `${text}\n`, query)).rejects.toThrow('needs a log and an epoch')
      },
    )
  })

  it('says nothing about the database when it fails, and goes on', async () => {
    const one = await member()
    await run(fleet.owner, ['alter function fleet.saw(uuid) rename to was'])
    const client = clientOf(one)
    await expect(client.ask('machine')).rejects.toThrow('The gateway cannot do this now; ask again later')
    expect(trouble.at(-1)).toContain('fleet.saw')
    await run(fleet.owner, ['alter function fleet.was(uuid) rename to saw'])
    expect(await client.ask('machine')).toMatchObject({ machine: one.machine })
    client.close()
  })

  describe('a value that PostgreSQL does not take', () => {
    const REPORT = {
      ...{ carabiner: '1.0.0', time: '2026-11-18T10:00:00Z', binding: true, agents: [], missing: [] },
    }
    const HASH = '0'.repeat(64)
    it.each<[string, RouteName, object]>([
      ['a NUL', 'report', { ...REPORT, problem: 'a\0b' }],
      ['half a character', 'report', { ...REPORT, problem: 'a\ud800b' }],
      ['half a character in a list', 'report', { ...REPORT, missing: ['\udc00'] }],
      ['a NUL in a name', 'settle', { settled: [{ id: 'k7f3-9qxd', how: 'used', by: '\0' }] }],
      ['a large number', 'evidence', { log: LOG, epoch: 2 ** 40, kind: 'fork', seq: 1, held: HASH }],
      ['a large version', 'policy', { root: 2 ** 40, timestamp: 1 }],
    ])('is refused for good: %s', async (_, route, body) => {
      const before = trouble.length
      const client = clientOf(await member())
      await expect(client.ask(route, { body })).rejects.toMatchObject({ code: 'INVALID' })
      client.close()
      expect(trouble.slice(before)).toEqual([])
    })

    it('is refused for good to somebody who wants to join', async () => {
      const key = newKeyPair()
      const asked = { token: '\0', name: 'odd', key: key.publicKey.toString('base64url') }
      const signature = signatureOf(key, joinText(asked)).toString('base64url')
      const response = await fetch(`${listening.url}/v1/join`, {
        method: 'POST',
        body: JSON.stringify({ ...asked, secret: 's', signature }),
      })
      expect(response.status).toBe(400)
    })

    it('is taken as the text that it is where it only looks like one', async () => {
      const client = clientOf(await member())
      expect(await client.ask('report', { body: { ...REPORT, problem: 'C:\\u0000 😀' } })).toEqual({})
      client.close()
    })
  })

  it('says what to do about a chain that cannot begin', async () => {
    const one = await member()
    const { text } = madeLines([{ session: 's' }])
    await expect(append(one, `${text}\n`, `log=${LOG}&epoch=5`)).rejects.toThrow(
      'has no chain 5 that could go on or begin now. Ship again: carabiner fleet ship.',
    )
  })

  it('refuses unknown routes and requests that are too large', async () => {
    const before = trouble.length
    expect((await fetch(`${listening.url}/v1/other`)).status).toBe(404)
    expect(await (await fetch(listening.url)).text()).toContain('serves no page for people')
    for (const path of ['//', '//v1/machine', '///', 'http://%', '*']) {
      const status = new Promise((resolve, reject) => {
        const sent = httpRequest(listening.url, { path }, (response) => resolve(response.resume().statusCode))
        sent.on('error', reject).end()
      })
      expect([path, await status]).toEqual([path, 404])
    }
    expect(trouble.slice(before)).toEqual([])
    const response = await fetch(`${listening.url}/v1/join`, { method: 'POST', body: 'x'.repeat(20_000) })
    expect(response.status).toBe(413)
  })

  it('holds little of requests that are not complete, whoever they say to be from', async () => {
    const { machine } = await member()
    const { most, path } = ROUTES.append
    const authorization = `Carabiner-Fleet machine=${machine}, time=1, signature=${'A'.repeat(86)}`
    const sent = Array.from({ length: 6 }, () => {
      const options = { method: 'POST', headers: { authorization, 'content-length': most } }
      return httpRequest(`${listening.url}${path}?log=${'0'.repeat(32)}&epoch=1`, options)
    })
    const refused = new Promise((resolve) => {
      for (const one of sent) {
        one.on('error', () => {})
        one.on('response', (response) => resolve(response.statusCode))
        one.write(Buffer.alloc(most - 1))
      }
    })
    expect(await refused).toBe(503)
    for (const one of sent) one.destroy()
  })

  it('speaks TLS, which shows machines that it is the right one', async () => {
    const { ca, cert, key } = madeAuthority(folder)
    const secure = await listen({ host: '127.0.0.1', port: 0, tls: { cert, key } }, handle())
    try {
      const token = await madeToken(fleet)
      const options = { url: secure.url, token, name: 'over-tls' }
      await expect(joinFleet({ ...options, place: userPlace(home()) })).rejects.toThrow(/certificate/)
      const place = userPlace(home())
      await joinFleet({ ...options, ca, place })
      const client = clientOf(readMember(place) ?? expect.unreachable())
      expect(await client.ask('machine')).toMatchObject({ name: 'over-tls' })
      client.close()
    } finally {
      await secure.close()
    }
  })
})

describe('without a certificate', () => {
  it('the gateway listens on the loopback only', async () => {
    await expect(listen({ host: '0.0.0.0', port: 0 }, () => {})).rejects.toThrow('on the loopback only')
  })
})
