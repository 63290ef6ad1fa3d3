// 200 questions at once, answered exactly once and used exactly once, while backends are terminated and gateways killed with -9.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type KeyPair, newKeyPair } from '../../src/files/ed25519.js'
import { signedPeople } from '../../src/files/fleet/people.js'
import type { GiveResult } from '../../src/fleet/database/approvals.js'
import { addPeople } from '../../src/fleet/database/people.js'
import { GatewayClient, Unreachable } from '../../src/fleet/machine/gateway-client.js'
import { clientOf } from '../../src/fleet/machine/joining.js'
import { Mirror } from '../../src/fleet/machine/mirror.js'
import { fetchPeople } from '../../src/fleet/machine/people.js'
import type { QuestionsAnswer } from '../../src/fleet/protocol.js'
import { FileApprovals } from '../../src/store/approvals/file-approvals.js'
import { challengeOf, signedWith } from '../../src/store/approvals/signature.js'
import type { Pending, Taken } from '../../src/store/approvals.js'
import { madeQuestion } from '../approvals/made-question.js'
import { type Fleet, joined, madeFleet, ORG, opened, ROOT } from './fleet-scene.js'
import { Balancer, bundled, GatewayCopy } from './gateway-copies.js'
import { isOurServer, Postgres, run } from './postgres.js'

const MACHINES = 10
const EACH = 20
/** Processes that try to use the answer to each question. */
const TAKERS = 3
const project = '/somewhere/project'
const AGAIN_MS = 50
const WAIT_S = 25

describe.runIf(isOurServer('200 questions at once'))('200 questions at once', () => {
  let server: Postgres
  let fleet: Fleet
  let folder: string
  let address: string
  let balancer: Balancer
  const copies: GatewayCopy[] = []
  const people = new Map<string, KeyPair>(['ann', 'ben'].map((name) => [name, newKeyPair()]))
  let rounds = 0

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carabiner-questions-'))
    await bundled(folder, ['chaos-gateway.ts'])
    server = await Postgres.start()
    fleet = await madeFleet(server)
    const admin = await opened(fleet.admin)
    const list = [...people].map(([name, key]) => ({
      ...{ name, role: 'approver' as const },
      keys: [{ kind: 'ed25519' as const, publicKey: key.publicKey.toString('base64url') }],
    }))
    await addPeople(admin, 1, signedPeople({ version: 1, people: list }, ROOT))
    await admin.close()
    copies.push(new GatewayCopy(folder, fleet.gateway, ORG), new GatewayCopy(folder, fleet.gateway, ORG))
    for (const one of copies) await one.start()
    balancer = new Balancer(copies)
    address = await balancer.start()
  })
  afterAll(async () => {
    await balancer?.end()
    for (const one of copies) await one.end()
    server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** What may be better later is tried again, as people and machines do. */
  async function again<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error
        await setTimeout(AGAIN_MS)
      }
    }
  }

  async function machine(name: string, signal: AbortSignal, troubles: string[]) {
    const home = join(folder, name)
    const member = await again(() => joined(fleet, address, home, name))
    const client = clientOf(member)
    const onTrouble = (text: string) => void troubles.push(text)
    const places = { stateDir: join(home, 'state'), dataDir: home, approversFile: join(home, 'none') }
    const process = () => new FileApprovals({ ...places, onTrouble })
    const queue = process()
    const learnPeople = () => fetchPeople(client, member, { dataDir: home })
    await again(learnPeople)
    const questions = Array.from({ length: EACH }, (_, i) => madeQuestion({ session: `${name}-${i}` }))
    const raised = questions.map((question) => queue.raise(question, { project }))
    const uses = new Map<string, Promise<readonly (Taken | undefined)[]>>()
    /** Several processes try to use the answer as soon as it is there. */
    const onAnswer = async ({ id }: Pending) => {
      const question = questions[raised.findIndex((one) => one.id === id)] ?? madeQuestion()
      expect(uses.has(id)).toBe(false)
      uses.set(id, Promise.all(Array.from({ length: TAKERS }, async () => process().take(question))))
    }
    const mirror = new Mirror({ client, queue, learnPeople, dataDir: home, onAnswer, onTrouble })
    /** Until the fleet knows what became of everything. */
    const told = async () => {
      while ((await again(() => mirror.exchange(WAIT_S))) > 0) expect(signal.aborted).toBe(false)
      await Promise.all(uses.values())
      await again(() => mirror.exchange(0))
      client.close()
    }
    return { ids: raised.map(({ id }) => id), uses, told }
  }

  /** Answers whatever is open, each person in their own way, until the signal. Returns what they were told. */
  async function person(name: string, key: KeyPair, signal: AbortSignal) {
    const told = new Map<string, { readonly option: string; readonly status: string }>()
    const client = new GatewayClient({ url: address, sender: { key } })
    while (!signal.aborted) {
      const { questions } = await again(() => client.ask<QuestionsAnswer>('questions'))
      for (const asker of questions) {
        const { id, pending } = asker
        const option = (id.charCodeAt(0) + name.charCodeAt(0)) % 2 === 0 ? 'Allow' : 'Deny'
        const challenge = challengeOf(pending, { option, nonce: 'n1', asker })
        const body = { id, option, signature: signedWith(key, challenge, 'n1') }
        const { status } = await again(() => client.ask<GiveResult>('answer', { body }))
        told.set(id, { option, status })
      }
      await setTimeout(AGAIN_MS)
    }
    client.close()
    return told
  }

  const terminate = () =>
    run(fleet.owner, [
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'carabiner fleet'`,
    ])

  /** Disturbs at most so often: on a busy machine, more would only take longer. */
  async function play(disturb: (turn: number) => Promise<unknown>, most = 50): Promise<void> {
    const round = rounds++
    const over = new AbortController()
    const troubles: string[] = []
    let disturbed = 0
    const disturbing = (async () => {
      while (!over.signal.aborted && disturbed < most) {
        await setTimeout(2 * AGAIN_MS)
        await disturb(disturbed++)
      }
    })()
    const machines = await Promise.all(
      Array.from({ length: MACHINES }, (_, i) => machine(`r${round}-m${i}`, over.signal, troubles)),
    )
    const answering = [...people].map(([name, key]) => person(name, key, over.signal))
    await Promise.all(machines.map(({ told }) => told()))
    const uses = new Map(machines.flatMap((one) => [...one.uses]))
    over.abort()
    await disturbing
    const told = await Promise.all(answering)
    const names = [...people.keys()]

    const ids = machines.flatMap((one) => one.ids)
    expect(new Set(ids).size).toBe(MACHINES * EACH)
    const rows = await run(fleet.owner, [
      `select a.id, a.place, a.by_name as by, a.option, s.how, s.by_name as used_by
        from fleet.question q join fleet.machine m using (org, machine)
        join fleet.answer a on a.id = q.id and a.place = 1 join fleet.settled s on s.id = q.id where m.name like 'r${round}-%'`,
    ])
    expect(rows.map(({ id }) => id).sort()).toEqual([...ids].sort())
    for (const { id, by, option, how, used_by } of rows) {
      const taken = ((await uses.get(String(id))) ?? []).filter((one) => one !== undefined)
      const won = told.flatMap((one, i) => (one.get(String(id))?.status === 'answered' ? [names[i]] : []))
      expect(won).toEqual([by])
      const counts = option === 'Allow' ? 1 : TAKERS
      expect(taken.map((one) => [one.by, one.option])).toEqual(Array(counts).fill([by, option]))
      expect([how, used_by]).toEqual([option === 'Allow' ? 'used' : 'denied', by])
    }
    expect(new Set(rows.map(({ option }) => option))).toEqual(new Set(['Allow', 'Deny']))
    expect(troubles).toEqual([])
    expect(disturbed).toBeGreaterThan(0)
    console.log(`${ids.length} questions, disturbed ${disturbed} times`)
  }

  it('are answered once and used once', () => play(async () => {}))

  it('also while all backends are terminated again and again', () => play(terminate))

  it('also while gateways are killed with -9 in turn', () =>
    play(async (turn) => {
      await setTimeout(3000)
      await copies[turn % 2]?.replace()
    }, 4))

  it('and then a gateway still has all its connections', async () => {
    for (const { url } of copies) {
      const client = new GatewayClient({ url, sender: { key: people.get('ann') ?? newKeyPair() } })
      await Promise.all(Array.from({ length: 8 }, () => client.ask<QuestionsAnswer>('questions')))
      client.close()
    }
  })
})
