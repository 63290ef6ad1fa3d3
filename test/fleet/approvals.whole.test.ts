// Approvals anywhere: a question of one machine, answered by people elsewhere, and what neither gateway nor database can forge.

import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type KeyPair, newKeyPair } from '../../src/files/ed25519.js'
import { type Person, type Role, type SignedPeople, signedPeople } from '../../src/files/fleet/people.js'
import {
  addAnswer,
  claimTelling,
  openQuestions,
  untoldQuestions,
} from '../../src/fleet/database/approvals.js'
import type { Database } from '../../src/fleet/database/connection.js'
import { addPeople } from '../../src/fleet/database/people.js'
import { Bells } from '../../src/fleet/gateway/bells.js'
import { gateway } from '../../src/fleet/gateway/gateway.js'
import { type Listening, listen } from '../../src/fleet/gateway/listener.js'
import { Webhook } from '../../src/fleet/gateway/webhook.js'
import { GatewayRefusal } from '../../src/fleet/gateway-refusal.js'
import { GatewayClient } from '../../src/fleet/machine/gateway-client.js'
import { clientOf } from '../../src/fleet/machine/joining.js'
import { Mirror } from '../../src/fleet/machine/mirror.js'
import { fetchPeople } from '../../src/fleet/machine/people.js'
import type { QuestionsAnswer, RouteName } from '../../src/fleet/protocol.js'
import { addressOf } from '../../src/page/browser/route.js'
import { FileApprovals } from '../../src/store/approvals/file-approvals.js'
import { challengeOf, signedWith } from '../../src/store/approvals/signature.js'
import type { Asker } from '../../src/store/approvers.js'
import { madeQuestion } from '../approvals/made-question.js'
import { type Fleet, joined, madeFleet, opened, ROOT } from './fleet-scene.js'
import { hasPostgres, Postgres, run } from './postgres.js'

const project = '/somewhere/project'

describe.runIf(hasPostgres)('approvals of a fleet', () => {
  let server: Postgres
  let fleet: Fleet
  let database: Database
  let admin: Database
  let listening: Listening
  let folder: string
  let version = 0
  let made = 0
  const over = new AbortController()
  const [ann, ben, eve] = [newKeyPair(), newKeyPair(), newKeyPair()]

  const person = (name: string, key: KeyPair, role: Role = 'approver'): Person => ({
    name,
    role,
    keys: [{ kind: 'ed25519', publicKey: key.publicKey.toString('base64url') }],
  })
  const write = async (...people: readonly Person[]) => {
    version++
    expect(await addPeople(admin, version, signedPeople({ version, people }, ROOT))).toBe(true)
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carabiner-approvals-'))
    server = await Postgres.start()
    fleet = await madeFleet(server)
    database = await opened(fleet.gateway)
    admin = await opened(fleet.admin)
    const bells = new Bells()
    void bells.listen(database, 1, over.signal)
    listening = await listen({ host: '127.0.0.1', port: 0 }, gateway({ database, bells }))
    await write(person('ann', ann), person('ben', ben), person('vic', eve, 'viewer'))
  })
  afterAll(async () => {
    over.abort()
    await listening?.close()
    await database?.close()
    await admin?.close()
    server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function machine(clock: { now: number } = { now: 0 }) {
    const home = join(folder, `home-${made++}`)
    const member = await joined(fleet, listening.url, home, `m${made}`)
    const client = clientOf(member)
    const troubles: string[] = []
    const records: string[] = []
    const onTrouble = (text: string) => void troubles.push(text)
    const queue = new FileApprovals({
      stateDir: join(home, 'state'),
      dataDir: home,
      approversFile: join(home, 'none'),
      now: () => Date.now() + clock.now,
      onTrouble,
    })
    const learnPeople = (sent?: SignedPeople) => fetchPeople(client, member, { dataDir: home, sent })
    await learnPeople()
    const onAnswer = async (_: unknown, { by, option }: { by: string; option: string }) =>
      void records.push(`${by}: ${option}`)
    const startedMirror = () => new Mirror({ client, queue, learnPeople, dataDir: home, onAnswer, onTrouble })
    const mirror = startedMirror()
    const raise = (session: string) => {
      const question = madeQuestion({ session })
      return { question, pending: queue.raise(question, { project }) }
    }
    return { member, mirror, startedMirror, queue, troubles, records, raise, clock, client }
  }

  const as = (key: KeyPair) => new GatewayClient({ url: listening.url, sender: { key } })
  /** What a person does: reads the question from the gateway, signs it, and sends the answer. */
  async function answered(key: KeyPair, id: string, option = 'Allow', changes: object = {}, nonce = 'n1') {
    const client = as(key)
    try {
      const { questions } = await client.ask<QuestionsAnswer>('questions')
      const found = questions.find((one) => one.id === id)
      if (!found) return { status: 'not-open' }
      const challenge = challengeOf(found.pending, { option, nonce, asker: found })
      const body = { id, option, signature: signedWith(key, challenge, nonce), ...changes }
      return await client.ask<{ status: string }>('answer', { body })
    } finally {
      client.close()
    }
  }
  const rows = (table: string, id: string) =>
    run(fleet.owner, [`select * from fleet.${table} where id = '${id}'`])

  it('reach people, and their signed allow is used once and reported', async () => {
    const { mirror, queue, raise, records, member } = await machine()
    const { question, pending } = raise('flow')
    expect(await mirror.exchange(0)).toBe(1)
    expect((await openQuestions(database)).rows).toContainEqual(
      expect.objectContaining({ id: pending.id, machine: member.machine, people: 1, allowed: 0 }),
    )
    expect(await queue.take(question)).toBeUndefined()
    expect(await answered(ann, pending.id)).toEqual({ status: 'answered' })
    expect(await answered(ben, pending.id, 'Deny')).toEqual({ status: 'not-open' })
    expect(await mirror.exchange(0)).toBe(0)
    expect(await queue.take(question)).toMatchObject({ decision: 'allow', by: 'ann' })
    expect(await queue.take(question)).toBeUndefined()
    expect(records).toEqual(['ann: Allow'])
    await mirror.exchange(0)
    expect(await rows('settled', pending.id)).toMatchObject([{ how: 'used', by_name: 'ann' }])
  })

  it('that were allowed and used are allowed by nobody again, also not by the same person', async () => {
    const { mirror, queue, raise } = await machine()
    const { question, pending } = raise('again')
    await mirror.exchange(0)
    const client = as(ann)
    const allowed = async (nonce: string) => {
      const { questions } = await client.ask<QuestionsAnswer>('questions', { query: `id=${pending.id}` })
      const asker = questions[0] ?? expect.unreachable('no question')
      const challenge = challengeOf(asker.pending, { option: 'Allow', nonce, asker })
      const body = { id: pending.id, option: 'Allow', signature: signedWith(ann, challenge, nonce) }
      return client.ask<object>('answer', { body })
    }
    expect(await allowed('n1')).toEqual({ status: 'answered' })
    // It got lost on its way back.
    expect(await allowed('n1')).toEqual({ status: 'answered' })
    await mirror.exchange(0)
    expect(await queue.take(question)).toMatchObject({ decision: 'allow', by: 'ann' })
    await mirror.exchange(0)
    expect(await allowed('n2')).toEqual({ status: 'too-late', by: 'ann' })
    client.close()
  })

  it('keep of what a machine says of who answered only what looks like a name', async () => {
    const { mirror, raise, client } = await machine()
    const { pending } = raise('odd name')
    await mirror.exchange(0)
    const by = `ann (not signed) <img src=x>\u202e${'x'.repeat(5000)}`
    await client.ask('settle', { body: { settled: [{ id: pending.id, how: 'denied', by }] } })
    const [row] = await rows('settled', pending.id)
    expect(row?.by_name).toBe(`ann (not signed) ·img src·x·${'x'.repeat(92)}`)
  })

  it('say who answered on the machine itself, and that it was there', async () => {
    const { mirror, queue, raise, client } = await machine()
    const { pending } = raise('at the machine')
    await mirror.exchange(0)
    const [question] = (await openQuestions(database)).rows.filter(({ id }) => id === pending.id)
    await queue.answer(pending.id, { decision: 'deny', by: 'root' })
    await mirror.exchange(0)
    expect(question?.machine).toBeDefined()
    const late = { id: pending.id, by: 'ann', option: 'Allow', allows: true }
    expect(await addAnswer(database, question?.machine ?? '', late)).toEqual({
      ...{ status: 'too-late', by: 'root', atMachine: true },
    })
    client.close()
  })

  it('wake a machine that waits, for an answer and for a new question', async () => {
    const { mirror, queue, raise } = await machine()
    const first = raise('waiting-1')
    const running = mirror.run(over.signal, async (error) => Promise.reject(error))
    await until(async () => (await rows('question', first.pending.id)).length === 1)
    const second = raise('waiting-2')
    await until(async () => (await rows('question', second.pending.id)).length === 1)
    const began = performance.now()
    expect(await answered(ann, first.pending.id)).toEqual({ status: 'answered' })
    expect(await answered(ben, second.pending.id, 'Deny')).toEqual({ status: 'answered' })
    await running
    // A wait lasts 25 s if nothing wakes it.
    expect(performance.now() - began).toBeLessThan(20_000)
    expect(await queue.take(first.question)).toMatchObject({ decision: 'allow' })
    expect(await queue.take(second.question)).toMatchObject({ decision: 'deny', by: 'ben' })
  })

  it('count once: the first of many answers, and it is the one that the machine uses', async () => {
    const { mirror, queue, raise } = await machine()
    const { question, pending } = raise('race')
    await mirror.exchange(0)
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, i) => answered(i % 2 ? ann : ben, pending.id, i % 2 ? 'Allow' : 'Deny')),
    )
    const won = new Set(results.flatMap(({ status }, i) => (status === 'answered' ? [i % 2] : [])))
    expect(won.size).toBe(1)
    await mirror.exchange(0)
    const taken = await queue.take(question)
    expect(taken?.decision).toBe(won.has(1) ? 'allow' : 'deny')
    // A deny that came later is kept: it counts if the machine does not accept the allow.
    const allows = (await rows('answer', pending.id)).map((row) => row.allows)
    expect(won.has(1) ? [[true], [true, false]] : [[false]]).toContainEqual(allows)
  })

  it('for two people need both, each once, and the machine checks both', async () => {
    const { mirror, startedMirror, queue, troubles, records } = await machine()
    const question = madeQuestion({ session: 'two', answer: { approvalPeople: 2 } })
    const pending = queue.raise(question, { project })
    await mirror.exchange(0)
    expect(await answered(ann, pending.id)).toEqual({ status: 'counted', more: 1 })
    expect(await answered(ann, pending.id)).toEqual({ status: 'counted', more: 1 })
    await mirror.exchange(0)
    expect(await queue.take(question)).toBeUndefined()
    expect(await answered(ben, pending.id)).toEqual({ status: 'answered' })
    // A process that has just started learns both again.
    await startedMirror().exchange(0)
    expect(await queue.take(question)).toMatchObject({ decision: 'allow', people: ['ann', 'ben'] })
    expect(await queue.take(question)).toBeUndefined()
    expect([troubles, records]).toEqual([[], ['ben: Allow']])
  })

  it('for two people are denied by one', async () => {
    const { mirror, queue } = await machine()
    const question = madeQuestion({ session: 'two-deny', answer: { approvalPeople: 2 } })
    const pending = queue.raise(question, { project })
    await mirror.exchange(0)
    expect(await answered(ann, pending.id)).toEqual({ status: 'counted', more: 1 })
    expect(await answered(ben, pending.id, 'Deny')).toEqual({ status: 'answered' })
    await mirror.exchange(0)
    expect(await queue.take(question)).toMatchObject({ decision: 'deny', by: 'ben' })
  })

  it('for two people are denied by somebody who has allowed', async () => {
    const { mirror, queue } = await machine()
    const question = madeQuestion({ session: 'two-minds', answer: { approvalPeople: 2 } })
    const pending = queue.raise(question, { project })
    await mirror.exchange(0)
    expect(await answered(ann, pending.id)).toEqual({ status: 'counted', more: 1 })
    await mirror.exchange(0)
    expect(await answered(ann, pending.id, 'Deny')).toEqual({ status: 'answered' })
    expect(await answered(ben, pending.id)).toEqual({ status: 'not-open' })
    await mirror.exchange(0)
    expect(await queue.take(question)).toMatchObject({ decision: 'deny', by: 'ann' })
  })

  it('are open to nobody else: viewers see, strangers and machines do not, and neither answers', async () => {
    const { mirror, raise, client } = await machine()
    const { pending } = raise('roles')
    await mirror.exchange(0)
    await expect(answered(eve, pending.id)).rejects.toThrow('Only an approver may answer')
    await expect(answered(newKeyPair(), pending.id)).rejects.toThrow('not one of a person on the list')
    await expect(client.ask('questions')).rejects.toThrow('no signature of a person')
    const other = as(ann)
    await expect(other.ask('sync', { body: { waiting: {} } })).rejects.toThrow('no signature of a machine')
    other.close()
    const body = { id: pending.id, option: 'Allow' }
    const unsigned = as(ann)
    await expect(unsigned.ask('answer', { body })).rejects.toThrow('needs the signature of an approver')
    unsigned.close()
    for (const option of ['Deny', 'Allow']) {
      const forged = { signature: signedWith(ben, 'another challenge', 'n1') }
      await expect(answered(ann, pending.id, option, forged)).rejects.toThrow('does not count')
    }
    expect(await rows('answer', pending.id)).toEqual([])
  })

  it('of one machine are never given to another', async () => {
    const [one, two] = [await machine(), await machine()]
    const { pending } = one.raise('mine')
    await one.mirror.exchange(0)
    expect(await two.client.ask('sync', { body: { waiting: { [pending.id]: 0 } } })).toEqual({
      missing: [pending.id],
      unsettled: [],
      answers: [],
    })
    expect(await two.client.ask('ask', { body: pending })).toEqual({ status: 'taken' })
    await two.client.ask('settle', { body: { settled: [{ id: pending.id, how: 'used' }] } })
    expect(await rows('settled', pending.id)).toEqual([])
  })

  it.each([
    ['somebody else', 1, 'ann'],
    ['the same person', 1, 'zoe'],
    ['the same person, as one of two', 2, 'zoe'],
  ] as const)('stay answerable by %s if the machine does not accept an answer', async (_, people, next) => {
    const everybody = [person('ann', ann), person('ben', ben), person('vic', eve, 'viewer')]
    const { queue, mirror, client, troubles } = await machine()
    const zoe = newKeyPair()
    await write(...everybody, person('zoe', zoe))
    // Somebody keeps the new list from the machine.
    const onTrouble = (text: string) => void troubles.push(text)
    const behind = new Mirror({ client, queue, learnPeople: async () => {}, onTrouble })
    const several = people > 1 && { answer: { approvalPeople: people } }
    const question = madeQuestion({ session: `rejected ${people} ${next}`, ...several })
    const { id } = queue.raise(question, { project })
    await behind.exchange(0)
    const status = people > 1 ? 'counted' : 'answered'
    expect(await answered(zoe, id)).toMatchObject({ status })
    expect(await behind.exchange(0)).toBe(1)
    expect(await queue.take(question)).toBeUndefined()
    expect(await rows('answer', id)).toMatchObject([{ place: 1, rejected: expect.stringMatching(/not on/) }])
    const { rows: open } = await openQuestions(database)
    expect(open.find((one) => one.id === id)).toMatchObject({ allowed: 0, rejected: expect.any(String) })
    // The same answer again is no other one.
    expect(await answered(zoe, id)).toEqual({ status: 'too-late', by: 'zoe' })
    expect(await answered(next === 'ann' ? ann : zoe, id, 'Allow', {}, 'n2')).toMatchObject({ status })
    if (people > 1) expect(await answered(ann, id)).toEqual({ status: 'answered' })
    await mirror.exchange(0)
    expect(await queue.take(question)).toMatchObject({ decision: 'allow', by: people > 1 ? 'ann' : next })
    expect(troubles).toEqual([expect.stringMatching(/answer of zoe .* does not count/)])
    await write(...everybody)
  })

  it('of another machine, or denied, cannot be opened again by a rejection', async () => {
    const [one, two] = [await machine(), await machine()]
    const [allowed, denied] = [one.raise('reject-allow'), one.raise('reject-deny')]
    await one.mirror.exchange(0)
    await answered(ann, allowed.pending.id)
    await answered(ben, denied.pending.id, 'Deny')
    const rejected = [allowed, denied].map(({ pending: { id } }) => ({ id, place: 1, why: 'no' }))
    await two.client.ask('settle', { body: { settled: [], rejected } })
    await one.client.ask('settle', { body: { settled: [], rejected: rejected.slice(1) } })
    for (const { id } of rejected) expect(await rows('answer', id)).toMatchObject([{ rejected: null }])
  })

  it('expire on the machine, which no longer uses an answer that it gets, and reports that', async () => {
    const clock = { now: 0 }
    const { mirror, queue, raise } = await machine(clock)
    const { question, pending } = raise('late')
    await mirror.exchange(0)
    expect(await answered(ann, pending.id)).toEqual({ status: 'answered' })
    clock.now = 3_600_001
    await mirror.exchange(0)
    expect(await queue.take(question)).toBeUndefined()
    await mirror.exchange(0)
    expect(await rows('settled', pending.id)).toMatchObject([{ how: 'expired' }])
  })

  it.each([
    ['allow', 'Allow', 1],
    ['deny', 'Deny', 1],
    ['second allow', 'Allow', 2],
  ])(
    'are refused by the gateway when a %s arrives after the question has expired',
    async (_, option, people) => {
      const { mirror, queue, records } = await machine()
      const answer = { approvalPeople: people }
      const question = madeQuestion({ session: `expired ${option} ${people}`, answer })
      const { id } = queue.raise(question, { project })
      await mirror.exchange(0)
      if (people > 1) expect(await answered(ben, id)).toEqual({ status: 'counted', more: 1 })
      const client = as(ann)
      try {
        const { questions } = await client.ask<QuestionsAnswer>('questions')
        const found = questions.find((one) => one.id === id)
        if (!found) throw new Error('the question is not shown')
        const signature = signedWith(
          ann,
          challengeOf(found.pending, { option, nonce: 'n1', asker: found }),
          'n1',
        )
        // It was signed in time.
        await run(fleet.owner, [
          `update fleet.question set expires = now() - interval '1 second' where id = '${id}'`,
        ])
        for (const body of [{ id, option, signature }, ...(option === 'Deny' ? [{ id, option }] : [])])
          expect(await client.ask('answer', { body })).toEqual({ status: 'expired' })
        const { questions: later } = await client.ask<QuestionsAnswer>('questions')
        expect(later.map((one) => one.id)).not.toContain(id)
      } finally {
        client.close()
      }
      expect((await rows('answer', id)).map((row) => row.by_name)).toEqual(people > 1 ? ['ben'] : [])
      await mirror.exchange(0)
      expect(records.filter((one) => one.startsWith('ann'))).toEqual([])
      expect(await queue.take(question)).toBeUndefined()
    },
  )

  it('stay unanswered while the gateway is away, and catch up when it is back', async () => {
    const { mirror, queue, raise } = await machine()
    const { question, pending } = raise('offline')
    const { url } = listening
    await listening.close()
    await expect(mirror.exchange(0)).rejects.toThrow(/cannot be reached/)
    expect(await queue.take(question)).toBeUndefined()
    listening = await listen({ host: '127.0.0.1', port: Number(new URL(url).port) }, gateway({ database }))
    await mirror.exchange(0)
    await answered(ann, pending.id)
    await mirror.exchange(0)
    expect(await queue.take(question)).toMatchObject({ decision: 'allow', by: 'ann' })
  })

  describe('of a machine that asks too much', () => {
    const LONG = 1_500_000
    const long = (at: Awaited<ReturnType<typeof machine>>, session: string) => {
      const call = { tool_name: 'Bash', tool_input: { command: 'x'.repeat(LONG) } }
      return at.queue.raise(madeQuestion({ session, call }), { project })
    }
    const listed = async () => {
      const client = as(ann)
      const answer = await client.ask<QuestionsAnswer>('questions')
      client.close()
      return answer
    }

    it('hide none of another, and are answered by their ids', async () => {
      const [loud, quiet] = [await machine(), await machine()]
      const many = [1, 2, 3, 4].map((n) => long(loud, `long ${n}`))
      await loud.mirror.exchange(0)
      const { pending } = quiet.raise('short')
      await quiet.mirror.exchange(0)
      const { questions, hidden } = await listed()
      expect(JSON.stringify(questions).length).toBeLessThan(2 * LONG)
      expect(questions.map(({ id }) => id)).toContain(pending.id)
      expect(hidden).toBeGreaterThanOrEqual(3)
      const client = as(ann)
      for (const { id } of many) {
        const { questions: found } = await client.ask<QuestionsAnswer>('questions', { query: `id=${id}` })
        expect(found).toMatchObject([{ id, machine: loud.member.machine }])
      }
      client.close()
      for (const { id } of many) await loud.queue.answer(id, { decision: 'deny', by: 'test' })
      await loud.mirror.exchange(0)
    })

    it('are too many at some point, and close by themselves after a day', async () => {
      const [loud, quiet] = [await machine(), await machine()]
      const { pending } = loud.raise('first')
      const forever = { ...pending, id: 'aaaa-aaaa', expires: '9999-01-01T00:00:00.000Z' }
      expect(await loud.client.ask('ask', { body: forever })).toEqual({ status: 'asked' })
      const [row] = await rows('question', forever.id)
      expect(Number(row?.expires)).toBeLessThan(Date.now() + 26 * 3_600_000)
      await run(fleet.owner, [
        `insert into fleet.question (org, id, machine, body, people, expires, asked)
          select org, 'b' || lpad(n::text, 3, '0') || '-zzzz', machine, body, people, expires, now() - interval '1 hour'
          from fleet.question, generate_series(1, 999) n where id = '${forever.id}'`,
      ])
      expect(await loud.client.ask('ask', { body: pending })).toEqual({ status: 'full' })
      await loud.mirror.exchange(0)
      expect(loud.troubles.join()).toContain(`${pending.id}: this machine has too many open`)
      const other = quiet.raise('not hidden')
      await quiet.mirror.exchange(0)
      const { questions } = await listed()
      expect(questions.map(({ id }) => id)).toContain(other.pending.id)
      await run(fleet.owner, [
        `insert into fleet.settled (org, id, how) select org, id, 'expired' from fleet.question where id = '${forever.id}' or id like '%-zzzz'`,
      ])
    })

    it('are taken with a look for answers, but for those that are refused', async () => {
      const { raise, client } = await machine()
      const [bad, good] = [raise('bad-along').pending, raise('good-along').pending]
      const changed = { ...bad, question: { ...bad.question, digest: 'another' } }
      const asks = ['nonsense', JSON.stringify(changed), JSON.stringify(good)]
      const waiting = { [bad.id]: 0, [good.id]: 0 }
      expect(await client.ask('sync', { body: { waiting, asks } })).toMatchObject({ missing: [bad.id] })
      expect(await rows('question', good.id)).toHaveLength(1)
      expect(await rows('question', bad.id)).toEqual([])
    })

    it('keep none of its others from the fleet if one is refused', async () => {
      const { queue, raise, client, troubles } = await machine()
      const [bad, good] = [raise('bad').pending, raise('good').pending]
      const sent: string[] = []
      const refusing = {
        ask: async (name: RouteName, given: { body?: { id?: string; waiting?: object } } = {}) => {
          if (name === 'ask' && given.body?.id === bad.id) throw new GatewayRefusal('INVALID', 'not this one')
          if (name === 'ask') sent.push(given.body?.id ?? '')
          // An older gateway does not read what comes with it.
          const { waiting } = given.body ?? {}
          return client.ask(name, name === 'sync' ? { ...given, body: { waiting } } : given)
        },
      } as unknown as GatewayClient
      const onTrouble = (text: string) => void troubles.push(text)
      await new Mirror({ client: refusing, queue, learnPeople: async () => {}, onTrouble }).exchange(0)
      expect(sent).toEqual([good.id])
      expect(troubles).toEqual([expect.stringContaining(`cannot answer ${bad.id}: not this one`)])
    })
  })

  describe('and a webhook', () => {
    const messages: { readonly text: string; readonly signature: unknown }[] = []
    const troubles: string[] = []
    /** What the chat answers. */
    let status = 200
    let chat: Server
    const webhooks: Webhook[] = []
    /** One of a gateway. */
    const webhook = (port = (chat.address() as AddressInfo).port) => {
      const made = new Webhook(database, {
        url: `http://127.0.0.1:${port}/`,
        secret: 's3cret',
        page: 'https://fleet.example',
        onTrouble: (text) => void troubles.push(text),
      })
      webhooks.push(made)
      return made
    }
    const told = (id: string) => messages.filter(({ text }) => text.includes(id)).length
    const isTold = async (id: string) => (await rows('told', id))[0]?.at instanceof Date

    beforeAll(async () => {
      chat = createServer((request, response) => {
        request.setEncoding('utf8')
        let text = ''
        request.on('data', (part: string) => {
          text += part
        })
        request.on('end', () => {
          messages.push({ text, signature: request.headers['x-carabiner-signature'] })
          response.writeHead(status).end()
        })
      })
      await new Promise<void>((resolve) => chat.listen(0, '127.0.0.1', resolve))
      // Questions of other tests.
      await run(fleet.owner, ['update fleet.question set expires = clock_timestamp()'])
    })
    afterEach(async () => {
      for (const one of webhooks.splice(0)) await one.end()
      await run(fleet.owner, ['update fleet.question set expires = clock_timestamp()'])
      status = 200
      messages.length = 0
      troubles.length = 0
    })
    afterAll(() => new Promise((resolve) => chat.close(resolve)))

    it('that is told once, signed, without the call, however many gateways there are', async () => {
      const { mirror, raise, queue } = await machine()
      const { pending } = raise('webhook')
      await mirror.exchange(0)
      for (let i = 0; i < 5; i++) webhook().look()
      await until(() => isTold(pending.id))
      for (const one of webhooks) one.look()
      const [{ text, signature } = { text: '', signature: '' }, ...more] = messages
      expect(more).toEqual([])
      expect(signature).toBe(`sha256=${createHmac('sha256', 's3cret').update(text).digest('hex')}`)
      expect(JSON.parse(text)).toMatchObject({
        id: pending.id,
        text: expect.stringMatching(/^m\d+ asks about Bash \(guard\): https:\/\/fleet\.example\//),
        link: `https://fleet.example/${addressOf('approvals', pending.id)}`,
      })
      expect(text).not.toContain('make deploy')
      const hostile = `<https://evil.example|Allow> [Allow](https://evil.example) @everyone <!here> *x* ${'y'.repeat(500)}`
      const call = { tool_name: hostile, tool_input: {} }
      const other = queue.raise(madeQuestion({ session: 'hostile', call, hook: hostile }), { project })
      await mirror.exchange(0)
      for (const one of webhooks) one.look()
      await until(() => isTold(other.id))
      const [said, ...links] = JSON.parse(messages[1]?.text ?? '{}').text.split('https://')
      expect(said).toMatch(/^[\p{L}\p{N}_:#, ()·…-]{1,300}$/u)
      expect(links).toEqual([`fleet.example/#/approvals/${other.id}`])
      expect(messages).toHaveLength(2)
      expect(troubles).toEqual([])
    })

    it('that does not answer with 2xx is told again, also by another gateway, until it does', async () => {
      status = 500
      const { mirror, raise } = await machine()
      const { pending } = raise('refusing')
      await mirror.exchange(0)
      const one = webhook()
      one.look()
      await until(async () => troubles.length > 0)
      expect(troubles[0]).toContain(
        `not told of ${pending.id}: it answers with status 500; it is tried again in 1 s`,
      )
      expect(await isTold(pending.id)).toBe(false)
      await one.end()
      status = 200
      webhook().look()
      await until(() => isTold(pending.id))
      expect(told(pending.id)).toBeGreaterThan(1)
      expect(await rows('told', pending.id)).toMatchObject([{ tries: told(pending.id) }])
    })

    it('that nobody serves is named with the reason', async () => {
      const { mirror, raise } = await machine()
      raise('away')
      await mirror.exchange(0)
      const closed = createServer()
      await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
      const { port } = closed.address() as AddressInfo
      await new Promise((resolve) => closed.close(resolve))
      webhook(port).look()
      await until(async () => troubles.length > 0)
      expect(troubles[0]).toMatch(/: fetch failed \(ECONNREFUSED\); it is tried again/)
    })

    it('is told nothing of a question that is over', async () => {
      status = 500
      const { mirror, raise } = await machine()
      const { pending } = raise('over')
      await mirror.exchange(0)
      webhook().look()
      await until(async () => troubles.length > 0)
      expect(await untoldQuestions(database, 10)).toMatchObject([{ id: pending.id }])
      await run(fleet.owner, [
        `update fleet.question set expires = clock_timestamp() where id = '${pending.id}'`,
      ])
      expect(await untoldQuestions(database, 10)).toEqual([])
    })

    it('that a gateway was about to tell when it ended is told by another', async () => {
      const { mirror, raise } = await machine()
      const { pending } = raise('ended')
      await mirror.exchange(0)
      expect(await claimTelling(database, pending.id, 30_000)).toBe(1)
      expect(await claimTelling(database, pending.id, 30_000)).toBeUndefined()
      expect((await untoldQuestions(database, 10))[0]?.inMs).toBeGreaterThan(0)
      await run(fleet.owner, [`update fleet.told set again = clock_timestamp() where id = '${pending.id}'`])
      webhook().look()
      await until(() => isTold(pending.id))
      expect(told(pending.id)).toBe(1)
      expect(await claimTelling(database, pending.id, 0)).toBeUndefined()
    })

    it('is told of what was asked while no notification arrived', async () => {
      const { mirror, raise } = await machine()
      const { pending } = raise('missed')
      await mirror.exchange(0)
      const own = new Bells()
      const end = new AbortController()
      const one = webhook()
      own.onAsked(() => one.look())
      const listens = own.listen(database, 1, end.signal)
      await until(() => isTold(pending.id))
      end.abort()
      await listens
      expect(told(pending.id)).toBe(1)
    })
  })

  describe('forged by a gateway or an administrator of the database', () => {
    const insert = (id: string, by: string, option: string, signature: object | undefined) =>
      run(fleet.owner, [
        `insert into fleet.answer (org, id, place, by_name, option, allows, signature) values ((select org from fleet.question where id = '${id}'), '${id}', 1, '${by}', '${option}', ${option === 'Allow'}, ${signature ? `'${JSON.stringify(signature)}'` : 'null'})`,
      ])
    type At = Awaited<ReturnType<typeof machine>>
    type Raised = ReturnType<At['raise']>
    const signature = (
      key: KeyPair,
      { pending }: Raised,
      asker: Asker,
      option = 'Allow',
      changes: object = {},
    ) => signedWith(key, challengeOf({ ...pending, ...changes }, { option, nonce: 'n1', asker }), 'n1')

    const FORGED: Readonly<Record<string, (at: At, raised: Raised) => Promise<object | undefined>>> = {
      'without a signature': async () => undefined,
      'with the signature of a stranger': async (at, raised) => signature(newKeyPair(), raised, at.member),
      'with the signature of a viewer': async (at, raised) => signature(eve, raised, at.member),
      'with the signature of a deny': async (at, raised) => signature(ann, raised, at.member, 'Deny'),
      'with a signature for another machine': async (at, raised) =>
        signature(ann, raised, { ...at.member, machine: '11111111-2222-4333-8444-555555555555' }),
      'with a signature for a machine that was shown under another name': async (at, raised) =>
        signature(ann, raised, { ...at.member, name: 'sandbox' }),
      'with a signature for another question': async (at, raised) => {
        const other = at.raise('other')
        return signature(ann, raised, at.member, 'Allow', { id: other.pending.id })
      },
      'with a signature for another call': async (at, raised) => {
        const question = madeQuestion({
          session: 'forged',
          call: { tool_name: 'Bash', tool_input: { command: 'ls' } },
        })
        return signature(ann, raised, at.member, 'Allow', { question })
      },
      'with a signature for a longer time': async (at, raised) =>
        signature(ann, raised, at.member, 'Allow', { expires: '2099-01-01T00:00:00.000Z' }),
    }

    it.for(Object.entries(FORGED))('an allow %s does not count', async ([, forged]) => {
      const at = await machine()
      const raised = at.raise('forged')
      await at.mirror.exchange(0)
      await insert(raised.pending.id, 'ann', 'Allow', await forged(at, raised))
      await at.mirror.exchange(0)
      expect(await at.queue.take(raised.question)).toBeUndefined()
      expect(at.queue.open().map(({ id }) => id)).toContain(raised.pending.id)
      expect(at.troubles.join()).toMatch(/the answer of ann to .* does not count/)
    })

    it('the allow of somebody who was removed does not count, also if an older list comes back', async () => {
      const at = await machine()
      const raised = at.raise('removed')
      await at.mirror.exchange(0)
      expect(await answered(ann, raised.pending.id)).toEqual({ status: 'answered' })
      await write(person('ben', ben), person('vic', eve, 'viewer'))
      await at.mirror.exchange(0)
      expect(await at.queue.take(raised.question)).toBeUndefined()
      await run(fleet.owner, [`delete from fleet.people where version = ${version}`])
      const again = at.raise('removed-again')
      await at.mirror.exchange(0)
      expect(await answered(ann, again.pending.id)).toEqual({ status: 'answered' })
      await at.mirror.exchange(0)
      expect(await at.queue.take(again.question)).toBeUndefined()
      expect(at.troubles.join()).toMatch(/somebody removed the newer ones/)
      version--
      await write(person('ann', ann), person('ben', ben), person('vic', eve, 'viewer'))
    })

    it('an answer that was used does not count again', async () => {
      const at = await machine()
      const first = at.raise('replay')
      await at.mirror.exchange(0)
      await answered(ann, first.pending.id)
      await at.mirror.exchange(0)
      expect(await at.queue.take(first.question)).toMatchObject({ decision: 'allow' })
      const [row] = await rows('answer', first.pending.id)
      await run(fleet.owner, [`delete from fleet.settled where id = '${first.pending.id}'`])
      const second = at.raise('replay')
      expect(second.pending.id).not.toBe(first.pending.id)
      await at.mirror.exchange(0)
      await insert(second.pending.id, 'ann', 'Allow', JSON.parse(String(row?.signature)))
      await at.mirror.exchange(0)
      expect(await at.queue.take(second.question)).toBeUndefined()
    })

    it('a deny counts, but names nobody who did not sign it', async () => {
      const at = await machine()
      const raised = at.raise('deny')
      await at.mirror.exchange(0)
      await insert(raised.pending.id, 'ann', 'Deny', undefined)
      await at.mirror.exchange(0)
      expect(await at.queue.take(raised.question)).toMatchObject({ decision: 'deny', by: 'ann (not signed)' })
    })

    it('a question that looks different to people is not allowed by their answer', async () => {
      const at = await machine()
      const raised = at.raise('shown')
      await at.mirror.exchange(0)
      const harmless = madeQuestion({
        session: 'shown',
        call: { tool_name: 'Bash', tool_input: { command: 'ls' } },
      })
      const body = JSON.stringify({ ...raised.pending, question: harmless })
      await run(fleet.owner, [`update fleet.question set body = '${body}' where id = '${raised.pending.id}'`])
      expect(await answered(ann, raised.pending.id)).toEqual({ status: 'answered' })
      await at.mirror.exchange(0)
      expect(await at.queue.take(raised.question)).toBeUndefined()
    })
  })
})

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setImmediate(resolve))
}
