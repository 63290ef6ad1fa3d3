// Questions on the page of a gateway: raised on a machine, answered by people with passkeys, checked and used by the machine.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../src/fleet/database/connection.js'
import { clientOf } from '../../src/fleet/machine/joining.js'
import { Mirror } from '../../src/fleet/machine/mirror.js'
import { fetchPeople } from '../../src/fleet/machine/people.js'
import { FileApprovals } from '../../src/store/approvals/file-approvals.js'
import { madeQuestion } from '../approvals/made-question.js'
import { withProgram } from '../cli/program.js'
import type { Reply } from '../page/visitor.js'
import { type Fleet, joined, madeFleet, opened } from './fleet-scene.js'
import { hasPostgres, Postgres, run } from './postgres.js'
import { cookieIn, type Guest, guest, PeopleList, ServedFleetPage, say } from './served-fleet-page.js'

withProgram()

type Entered = Guest & { readonly cookie: string }

describe.runIf(hasPostgres)('questions on the page of a gateway', () => {
  let server: Postgres
  let fleet: Fleet
  let admin: Database
  let page: ServedFleetPage
  let folder: string
  let made = 0
  let [ann, ben, vic]: Entered[] = []

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carabiner-page-questions-'))
    server = await Postgres.start()
    fleet = await madeFleet(server)
    admin = await opened(fleet.admin)
    page = await ServedFleetPage.start(fleet)
    const guests = [
      guest('ann', 'approver', page.origin),
      guest('ben', 'approver', page.origin),
      guest('vic', 'viewer', page.origin),
    ]
    await new PeopleList(admin).write(...guests.map(({ person }) => person))
    ;[ann, ben, vic] = await Promise.all(
      guests.map(async (one) => ({ ...one, cookie: cookieIn(await one.enter(page)) })),
    )
  })
  afterAll(async () => {
    await page?.close()
    await admin?.close()
    server?.stop()
    rmSync(folder, { recursive: true, force: true })
    expect(page?.problems).toEqual([])
  })

  async function machine() {
    const home = join(folder, `home-${made++}`)
    const member = await joined(fleet, page.url, home, `m${made}`)
    const client = clientOf(member)
    const learnPeople = () => fetchPeople(client, member, { dataDir: home })
    await learnPeople()
    const queue = new FileApprovals({
      stateDir: join(home, 'state'),
      dataDir: home,
      approversFile: join(home, 'none'),
    })
    const troubles: string[] = []
    const onTrouble = (text: string) => void troubles.push(text)
    const mirror = new Mirror({ client, queue, learnPeople, dataDir: home, onTrouble })
    const question = madeQuestion({ session: `s-${made}` })
    const pending = await queue.raise(question, { project: '/work/shop' })
    await mirror.exchange(0)
    return { name: `m${made}`, queue, mirror, question, id: pending.id, troubles }
  }

  const asJson = ({ body }: Reply) => JSON.parse(body)
  const shown = async (one: Entered | undefined) =>
    asJson(await say(page, 'GET', '/api/questions', undefined, one))
  const deny = (one: Entered | undefined, id: string, reason = '') =>
    say(page, 'POST', '/api/deny', { id, reason }, one)

  /** What the browser does when somebody allows. */
  async function signedBy(one: Entered, id: string, signer: Entered = one) {
    const begun = await say(page, 'POST', '/api/challenge', { id }, one)
    if (begun.status !== 200) return { begun, body: {} }
    const { challenge, nonce } = asJson(begun)
    const around = { origin: page.origin, host: 'fleet.localhost' }
    const { id: passkey, ...signature } = signer.passkey.signChallenge(challenge, nonce, around)
    return { begun, body: { id, passkey, ...signature } }
  }
  const allow = (one: Entered, body: object) => say(page, 'POST', '/api/allow', body, one)

  it('shows the question with its machine, and an allow is used once by that machine', async () => {
    const { name, queue, mirror, question, id } = await machine()
    const { questions, hidden } = await shown(vic)
    expect(hidden).toBe(0)
    expect(questions).toContainEqual(
      expect.objectContaining({ id, machine: name, project: '/work/shop', session: question.session }),
    )
    const { body } = await signedBy(ann as Entered, id)
    const reply = await allow(ann as Entered, body)
    expect([reply.status, asJson(reply)]).toEqual([200, { by: 'ann' }])
    expect((await shown(vic)).questions.map((one: { id: string }) => one.id)).not.toContain(id)
    expect(await queue.take(question)).toBeUndefined()
    await mirror.exchange(0)
    expect(await queue.take(question)).toMatchObject({ decision: 'allow', by: 'ann' })
    expect(await queue.take(question)).toBeUndefined()
  })

  it('carries a deny with its reason to the machine, without a signature', async () => {
    const { queue, mirror, question, id } = await machine()
    expect((await deny(ben, id, 'use staging')).status).toBe(200)
    await mirror.exchange(0)
    expect(await queue.take(question)).toMatchObject({
      decision: 'deny',
      by: 'ben (not signed)',
      reason: 'use staging',
    })
    const late = await deny(ann, id)
    expect([late.status, asJson(late).problem]).toEqual([409, 'This was answered already by ben'])
  })

  it('refuses an id that no database takes', async () => {
    expect((await deny(ann, '\0')).status).toBe(400)
    expect(page.problems).toEqual([])
  })

  it('lets a viewer look, and nothing else', async () => {
    const { id } = await machine()
    expect((await deny(vic, id)).status).toBe(403)
    expect((await say(page, 'POST', '/api/challenge', { id }, vic)).status).toBe(403)
    const { body } = await signedBy(ann as Entered, id)
    expect((await allow(vic as Entered, body)).status).toBe(403)
    expect((await shown(vic)).questions.map((one: { id: string }) => one.id)).toContain(id)
  })

  it('takes a signature of the person who is signed in alone, for the question that they were shown', async () => {
    const first = await machine()
    const second = await machine()
    const stolen = await signedBy(ann as Entered, first.id, ben as Entered)
    expect((await allow(ann as Entered, stolen.body)).status).toBe(403)
    const { body } = await signedBy(ann as Entered, first.id)
    expect((await allow(ben as Entered, body)).status).toBe(409)
    expect((await allow(ann as Entered, { ...body, id: second.id })).status).toBe(409)
    expect((await allow(ann as Entered, { ...body, signature: 'AAAA' })).status).toBe(403)
    for (const { mirror, queue, question } of [first, second]) {
      await mirror.exchange(0)
      expect(await queue.take(question)).toBeUndefined()
    }
  })

  it('cannot be forged by whoever has the database', async () => {
    const { queue, mirror, question, id, troubles } = await machine()
    const { body } = (await signedBy(ann as Entered, id)) as { body: Record<string, string> }
    const { id: _, passkey, ...rest } = body
    const forged = JSON.stringify({ ...rest, id: passkey, nonce: 'another' })
    await run(fleet.owner, [
      `insert into fleet.answer (org, id, place, by_name, option, allows, signature) select org, '${id}', 1, 'ann', 'Allow', true, '${forged}' from fleet.question where id = '${id}'`,
    ])
    await mirror.exchange(0)
    expect(await queue.take(question)).toBeUndefined()
    expect(troubles.join()).not.toBe('')
  })

  it('shows the question of a link also if too many others are before it, while it waits', async () => {
    const { id } = await machine()
    const copies = (from: number, to: number) =>
      `insert into fleet.question (org, id, machine, body, people, expires, asked)
        select org, 'zzzz-' || lpad(n::text, 4, '0'), machine, replace(body, id, 'zzzz-' || lpad(n::text, 4, '0')),
          people, expires, asked + n * interval '1 second'
        from fleet.question, generate_series(${from}, ${to}) n where id = '${id}'`
    const linked = async (wanted: string) => {
      const view = asJson(await say(page, 'GET', `/api/questions?id=${wanted}`, undefined, vic))
      const ids: string[] = view.questions.map((one: { id: string }) => one.id)
      return { ...view, ids, has: ids.filter((one) => one === wanted).length }
    }
    try {
      await run(fleet.owner, [copies(1, 150)])
      const before = await linked('')
      expect([before.ids.length, before.ids.includes('zzzz-0150')]).toEqual([100, false])
      const found = await linked('zzzz-0150')
      expect([found.ids.length, found.has]).toEqual([101, 1])
      expect(found.hidden).toBe(before.hidden - 1)
      expect(await linked(before.ids[0])).toMatchObject({ has: 1, questions: before.questions })
      // More than the database lists.
      await run(fleet.owner, [copies(151, 1500)])
      expect((await linked('zzzz-1500')).has).toBe(1)
      await run(fleet.owner, [`update fleet.question set expires = now() where id = 'zzzz-1500'`])
      for (const gone of ['zzzz-1500', 'zzzz-1501', 'nonsense', '%00'])
        expect([gone, (await linked(gone)).has]).toEqual([gone, 0])
    } finally {
      await run(fleet.owner, [`delete from fleet.question where id like 'zzzz-%'`])
    }
  })

  it('shows what a hostile machine sends as text, and leaves out what cannot be read', async () => {
    const { id } = await machine()
    await run(fleet.owner, [`update fleet.question set body = 'nonsense' where id = '${id}'`])
    const { questions, hidden } = await shown(vic)
    expect(hidden).toBe(1)
    expect(questions.map((one: { id: string }) => one.id)).not.toContain(id)
    expect((await deny(ann, id)).status).toBe(409)
  })
})
