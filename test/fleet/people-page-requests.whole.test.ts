// The page of a gateway, asked without a browser: who gets in, who stays in, and what each role may do.

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Database } from '../../src/fleet/database/connection.js'
import type { MachineView } from '../../src/page/view/fleet.js'
import { withProgram } from '../cli/program.js'
import type { Reply } from '../page/visitor.js'
import { addedMachine, type Fleet, listingIn, madeFleet, madeLines, opened } from './fleet-scene.js'
import { hasPostgres, Postgres, run } from './postgres.js'
import { cookieIn, guest, PeopleList, ServedFleetPage, say } from './served-fleet-page.js'

withProgram()

const LOG = 'b'.repeat(32)

describe.runIf(hasPostgres)('the page of a gateway', () => {
  let server: Postgres
  let fleet: Fleet
  let admin: Database
  let page: ServedFleetPage
  let other: ServedFleetPage
  let people: PeopleList
  let machine: string

  beforeAll(async () => {
    server = await Postgres.start()
    fleet = await madeFleet(server)
    admin = await opened(fleet.admin)
    people = new PeopleList(admin)
    page = await ServedFleetPage.start(fleet)
    other = await ServedFleetPage.start(fleet, page.origin)
    machine = await addedMachine(fleet, 'laptop-7')
    const { first, prev, count, last, text } = madeLines(
      Array.from({ length: 250 }, (_, i) => ({
        event: 'PreToolUse',
        tool: 'Bash',
        session: `s-${i}`,
        action: i % 50 === 0 ? 'deny' : 'continue',
        hooks: [],
        injections: [],
        diagnostics: [],
        reason: i === 249 ? '<img src=x onerror=alert(1)>\u202e' : 'because',
        time: new Date(Date.parse('2026-11-18T06:00:00Z') + i * 1000).toISOString(),
      })),
    )
    const gateway = await opened(fleet.gateway)
    await gateway.rows('select * from fleet.append($1, $2, 1, $3, $4, $5, $6, $7, $8)', [
      ...[machine, LOG, first, prev, count, last.hash, text, listingIn({ text })],
    ])
    await gateway.close()
  })
  afterAll(async () => {
    await page?.close()
    await other?.close()
    await admin?.close()
    server?.stop()
    expect(page?.problems).toEqual([])
  })

  const entered = async (role: 'viewer' | 'approver' | 'admin', name = role as string) => {
    const one = guest(name, role, page.origin)
    await people.write(one.person)
    const reply = await one.enter(page)
    expect([reply.status, reply.body]).toEqual([200, JSON.stringify({ name, role, org: 'acme' })])
    return { ...one, cookie: cookieIn(reply) }
  }
  const asJson = ({ body }: Reply) => JSON.parse(body)

  describe('for strangers', () => {
    it('is the way in, and nothing else', async () => {
      for (const path of ['/', '/sign-in.js', '/page.css'])
        expect([path, (await say(page, 'GET', path)).status]).toEqual([path, 200])
      const files = ['/main.js', '/nothing', '/index.html', '/../main.js', '/%2e%2e/main.js', '//main.js']
      for (const path of files)
        expect([path, (await say(page, 'GET', path)).status >= 400]).toEqual([path, true])
      for (const path of [
        'me',
        'questions',
        'machines',
        'policy',
        'policy/diff?from=1&to=2',
        'records',
        'record?id=1.1',
        'stream',
        'filters',
      ])
        expect([path, (await say(page, 'GET', `/api/${path}`)).status]).toEqual([path, 401])
      for (const path of ['deny', 'challenge', 'allow', 'act', 'act/challenge', 'sign-out'])
        expect([path, (await say(page, 'POST', `/api/${path}`, {})).status]).toEqual([path, 401])
    })

    it('has the same policy as the page of a machine', async () => {
      const { headers } = await say(page, 'GET', '/')
      expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'")
      expect(headers['content-security-policy']).toContain("require-trusted-types-for 'script'")
      expect(headers['cache-control']).toBe('no-store')
    })

    it('does not tell who is on the list', async () => {
      await entered('viewer')
      const { body } = await say(page, 'POST', '/api/sign-in/challenge', {})
      expect(JSON.parse(body).passkeys).toEqual([])
    })

    it('leaves nothing in the database, however often they knock', async () => {
      const rows = () =>
        run(fleet.owner, [
          'select (select count(*) from fleet.page_used) as used, (select count(*) from fleet.page_session) as sessions',
        ])
      const before = await rows()
      for (let i = 0; i < 20; i++) {
        await say(page, 'POST', '/api/sign-in/challenge', {})
        expect((await guest('nobody', 'admin', page.origin).enter(page)).status).toBe(403)
      }
      expect(await rows()).toEqual(before)
    })

    it.each([
      ['another host', { Host: 'evil.example' }, 421],
      ['another site', { 'Sec-Fetch-Site': 'cross-site' }, 403],
      ['a page on another port', { 'Sec-Fetch-Site': 'same-site' }, 403],
    ])('refuses a request with %s', async (_, headers, status) => {
      expect((await say(page, 'GET', '/sign-in.js', undefined, { headers })).status).toBe(status)
    })

    it('refuses a form, and a post of another origin', async () => {
      const headers = { 'Content-Type': 'text/plain' }
      expect((await say(page, 'POST', '/api/sign-in/challenge', {}, { headers })).status).toBe(403)
      const origin = { Origin: 'https://evil.example' }
      expect((await say(page, 'POST', '/api/sign-in/challenge', {}, { headers: origin })).status).toBe(403)
    })

    it('opens from a link in a chat, but loads nothing else from there', async () => {
      const headers = {
        'Sec-Fetch-Site': 'cross-site',
        'Sec-Fetch-Mode': 'navigate',
        'Sec-Fetch-Dest': 'document',
      }
      expect((await say(page, 'GET', '/', undefined, { headers })).status).toBe(200)
      const framed = { ...headers, 'Sec-Fetch-Dest': 'iframe' }
      expect((await say(page, 'GET', '/', undefined, { headers: framed })).status).toBe(403)
      expect((await say(page, 'GET', '/api/me', undefined, { headers })).status).toBe(403)
    })
  })

  describe('signing in', () => {
    it('gives a cookie that scripts and other sites do not get', async () => {
      const one = guest('ann', 'viewer', page.origin)
      await people.write(one.person)
      const { headers } = await one.enter(page)
      expect(headers['set-cookie']).toMatch(
        /^__Host-carabiner=[\w-]{43}; HttpOnly; Secure; SameSite=Strict; Path=\/; Max-Age=28800$/,
      )
    })

    it('works at any copy of the gateway, with a challenge of another one', async () => {
      const one = guest('ann', 'viewer', page.origin)
      await people.write(one.person)
      const { challenge, nonce } = asJson(
        await say(page, 'POST', '/api/sign-in/challenge', {}, { origin: page.origin }),
      )
      const { id, ...signature } = one.passkey.signChallenge(challenge, nonce, {
        origin: page.origin,
        host: 'fleet.localhost',
      })
      const around = { origin: page.origin }
      const reply = await say(other, 'POST', '/api/sign-in', { passkey: id, ...signature }, around)
      expect(reply.status).toBe(200)
      const again = await say(page, 'POST', '/api/sign-in', { passkey: id, ...signature })
      expect([again.status, asJson(again).problem]).toEqual([
        409,
        'Begin again: this took too long, or was done already',
      ])
      expect((await say(page, 'GET', '/api/me', undefined, { cookie: cookieIn(reply) })).status).toBe(200)
    })

    it.each([
      ['on another page', { origin: 'http://fleet.localhost:1' }],
      ['for another host', { host: 'evil.localhost' }],
      ['without verifying the person', { flags: 1 }],
      ['as a new passkey', { type: 'webauthn.create' }],
    ])('refuses a passkey that signed %s', async (_, changes) => {
      const one = guest('ann', 'admin', page.origin)
      await people.write(one.person)
      const reply = await one.enter(page, changes)
      expect([reply.status, reply.headers['set-cookie']]).toEqual([403, undefined])
    })

    it('refuses somebody who is not on the list, or has a passkey of another page', async () => {
      await people.write(guest('ben', 'admin', page.origin).person)
      const stranger = await guest('ann', 'admin', page.origin).enter(page)
      expect([stranger.status, asJson(stranger).problem]).toEqual([
        403,
        expect.stringContaining('not on the list of the fleet'),
      ])
      const elsewhere = guest('ann', 'admin', page.origin)
      const [key] = elsewhere.person.keys
      const moved = { ...key, origin: 'http://fleet.localhost:1' } as NonNullable<typeof key>
      await people.write({ ...elsewhere.person, keys: [moved] })
      expect((await elsewhere.enter(page)).status).toBe(403)
    })

    it('tells a stranger from a passkey that does not count, whatever its browser says', async () => {
      const one = guest('ann', 'admin', page.origin)
      await people.write(one.person)
      const reply = await one.enter(page, { origin: 'http://fleet.localhost/not on the list' })
      expect([reply.status, asJson(reply).problem]).toEqual([
        403,
        'You are not signed in: it was signed on another page (http://fleet.localhost/not on the list)',
      ])
    })

    it('refuses a list that the key of the fleet did not sign', async () => {
      const { cookie } = await entered('admin')
      await run(fleet.owner, [
        `update fleet.people set list = replace(list, '"viewer"', '"admin"') || ' ' where version = (select max(version) from fleet.people)`,
      ])
      const reply = await say(page, 'GET', '/api/me', undefined, { cookie })
      expect(reply.status).toBe(503)
      expect(page.problems).toEqual([expect.stringContaining('is not signed by the key of the fleet')])
      page.problems.length = 0
      await entered('viewer')
    })
  })

  describe('a session', () => {
    it('ends at once when its person is removed, and their role counts as it is now', async () => {
      const one = await entered('admin', 'ann')
      const look = async () => (await say(page, 'GET', '/api/machines', undefined, one)).status
      const retire = async () =>
        (await say(page, 'POST', '/api/act/challenge', { what: 'retire', machine }, one)).status
      expect([await look(), await retire()]).toEqual([200, 200])
      await people.write({ ...one.person, role: 'viewer' })
      expect([await look(), await retire()]).toEqual([200, 403])
      await people.write(guest('ben', 'admin', page.origin).person)
      expect([await look(), await retire()]).toEqual([401, 401])
    })

    it('ends with its time', async () => {
      const one = await entered('viewer')
      await run(fleet.owner, [
        "update fleet.page_session set expires = clock_timestamp() - interval '1 second'",
      ])
      expect((await say(page, 'GET', '/api/me', undefined, one)).status).toBe(401)
    })

    it('ends when its person signs out, here or everywhere', async () => {
      const one = await entered('viewer')
      const second = cookieIn(await one.enter(page))
      const third = cookieIn(await one.enter(page))
      const state = async (cookie: string) =>
        (await say(page, 'GET', '/api/me', undefined, { cookie })).status
      await say(page, 'POST', '/api/sign-out', {}, { cookie: second })
      expect([await state(one.cookie), await state(second), await state(third)]).toEqual([200, 401, 200])
      await say(page, 'POST', '/api/sign-out', { everywhere: true }, one)
      expect([await state(one.cookie), await state(third)]).toEqual([401, 401])
    })

    it('is no other one: a cookie that is changed, doubled or of another organisation', async () => {
      const { cookie } = await entered('viewer')
      const state = async (text: string) =>
        (await say(page, 'GET', '/api/me', undefined, { cookie: text })).status
      expect(await state(`${cookie.slice(0, -1)}${cookie.endsWith('A') ? 'B' : 'A'}`)).toBe(401)
      expect(await state(`${cookie}; ${cookie}`)).toBe(401)
      expect(await state(cookie.replace('__Host-', ''))).toBe(401)
      expect(await state(`a=b; ${cookie}; c=d`)).toBe(200)
      await run(fleet.owner, [
        "update fleet.page_session set org = (select org from fleet.org where name = 'other')",
      ])
      expect(await state(cookie)).toBe(401)
    })
  })

  describe('records', () => {
    it('come the newest first, page by page, each once', async () => {
      const one = await entered('viewer')
      const ids: string[] = []
      let after = ''
      for (;;) {
        const { rows, next } = asJson(await say(page, 'GET', `/api/records?after=${after}`, undefined, one))
        ids.push(...rows.map(({ id }: { id: string }) => id))
        if (next === undefined) break
        after = next
      }
      expect(ids).toHaveLength(250)
      expect(new Set(ids).size).toBe(250)
      expect(ids.map((id) => Number(id.split('.')[1]))).toEqual(
        Array.from({ length: 250 }, (_, i) => 250 - i),
      )
    })

    it('are found by machine, session, outcome and time', async () => {
      const one = await entered('viewer')
      const count = async (query: string) =>
        asJson(await say(page, 'GET', `/api/records?${query}`, undefined, one)).rows?.length
      expect(await count('decision=deny')).toBe(5)
      expect(await count('machine=laptop-7&session=s-3')).toBe(1)
      expect(await count('until=2026-11-18T06:00:09Z')).toBe(10)
      for (const query of ['machine=laptop-8', 'decision=nope', 'since=nope', 'after=nope', 'after=Li4v'])
        expect([query, (await say(page, 'GET', `/api/records?${query}`, undefined, one)).status]).toEqual([
          query,
          400,
        ])
    })

    it('are shown as text, with characters that nobody sees as their numbers', async () => {
      const one = await entered('viewer')
      const { rows } = asJson(await say(page, 'GET', '/api/records', undefined, one))
      expect(rows[0]).toMatchObject({
        machine: 'laptop-7',
        reason: '<img src=x onerror=alert(1)>⟨U+202E⟩',
      })
      const details = asJson(await say(page, 'GET', `/api/record?id=${rows[0].id}`, undefined, one))
      expect(details).toMatchObject({ machine: 'laptop-7', session: 's-249' })
      for (const id of ['', '1', '9.9', '1.x', "1.1';--"]) {
        const reply = await say(page, 'GET', `/api/record?id=${encodeURIComponent(id)}`, undefined, one)
        expect([id, reply.status]).toEqual([id, 404])
      }
    })
  })

  describe('machines', () => {
    const retire = async (
      one: { cookie: string; passkey: ReturnType<typeof guest>['passkey'] },
      id: string,
      changes = {},
    ) => {
      const act = { what: 'retire', machine: id }
      const begun = await say(page, 'POST', '/api/act/challenge', act, one)
      if (begun.status !== 200) return { ...begun, sent: {} }
      const { challenge, nonce } = asJson(begun)
      const { id: passkey, ...signature } = one.passkey.signChallenge(challenge, nonce, {
        origin: page.origin,
        host: 'fleet.localhost',
      })
      const sent = { ...act, passkey, ...signature, ...changes }
      return { ...(await say(page, 'POST', '/api/act', sent, one)), sent }
    }

    it('are listed with what was shipped', async () => {
      const one = await entered('viewer')
      const { machines } = asJson(await say(page, 'GET', '/api/machines', undefined, one))
      expect(machines).toContainEqual(
        expect.objectContaining({
          name: 'laptop-7',
          records: 250,
          evidence: [],
          shipped: expect.any(String),
        }),
      )
    })

    it('are told of if they are too many to list', async () => {
      const one = await entered('viewer')
      const around = { cookie: one.cookie, origin: page.origin }
      const listed = async () => asJson(await say(other, 'GET', '/api/machines', undefined, around))
      const { machines, more } = await listed()
      expect(more).toBe(0)
      await run(fleet.owner, [
        `insert into fleet.machine (org, name, key, token) select org, 'many-' || n, sha256(n::text::bytea), 't'
          from fleet.org, generate_series(1, 10000) n where name = 'acme'`,
      ])
      await vi.waitUntil(async () => (await listed()).more > 0, { timeout: 30_000, interval: 500 })
      const found = await listed()
      expect([found.machines.length, found.more]).toEqual([10_000, machines.length])
      await run(fleet.owner, [`delete from fleet.machine where name like 'many-%'`])
    })

    it('are retired by an admin with a passkey alone, for this machine, once', async () => {
      const id = await addedMachine(fleet, 'old')
      const second = await addedMachine(fleet, 'older')
      for (const role of ['viewer', 'approver'] as const)
        expect([role, (await retire(await entered(role), id)).status]).toEqual([role, 403])
      const one = await entered('admin', 'ann')
      const tried = await retire(one, id, { machine: second })
      expect(tried.status).toBe(409)
      expect((await retire(one, id, { signature: 'AAAA' })).status).toBe(403)
      const gone = async () =>
        asJson(await say(page, 'GET', '/api/machines', undefined, one))
          .machines.filter(({ retired }: MachineView) => retired !== undefined)
          .map(({ name }: MachineView) => name)
      expect(await gone()).toEqual([])
      const done = await retire(one, id)
      expect([done.status, asJson(done)]).toEqual([200, { by: 'ann' }])
      // At once, although what was found a moment ago is shared.
      expect(await gone()).toEqual(['old'])
      expect((await say(page, 'POST', '/api/act', done.sent, one)).status).toBe(409)
      const rows = await run(fleet.owner, [
        "select name, retired is not null as gone, retired_by from fleet.machine where name like 'old%' order by name",
      ])
      expect(rows).toEqual([
        { name: 'old', gone: true, retired_by: 'ann' },
        { name: 'older', gone: false, retired_by: null },
      ])
    })
  })

  it('tells its own users of the database nothing more: a gateway without a page reads no record', async () => {
    const gateway = await opened(fleet.gateway)
    for (const table of ['record', 'page_session', 'page_key', 'page_used'])
      await expect(gateway.rows(`select * from fleet.${table}`)).rejects.toThrow('permission denied')
    await gateway.close()
    const own = await opened(fleet.page)
    for (const what of [
      'select * from fleet.page_key',
      'select * from fleet.page_used',
      'delete from fleet.page_session',
      'insert into fleet.people (org, version, list, signature) values (1, 99, $$$$, $$$$)',
      'update fleet.machine set retired = now()',
    ])
      await expect(own.rows(what)).rejects.toThrow('permission denied')
    await own.close()
  })
})
