// What becomes of an answer of the fleet that this machine cannot store at once.

import { expect, it } from 'vitest'
import { GatewayRefusal } from '../../src/fleet/gateway-refusal.js'
import type { GatewayClient } from '../../src/fleet/machine/gateway-client.js'
import { Mirror } from '../../src/fleet/machine/mirror.js'
import {
  type FleetAnswer,
  ROUTES,
  type RouteName,
  type SettleRequest,
  type SyncAnswer,
} from '../../src/fleet/protocol.js'
import type { Pending } from '../../src/store/approvals.js'
import { madeQuestion } from '../approvals/made-question.js'
import { MemoryApprovals } from '../store/contracts/memory-approvals.js'

/** A disk that is full until so many answers were tried. */
class FullApprovals extends MemoryApprovals {
  tries = 0

  constructor(readonly failures: number) {
    super()
  }

  override answer(...given: Parameters<MemoryApprovals['answer']>): ReturnType<MemoryApprovals['answer']> {
    if (this.tries++ < this.failures) return Promise.reject(new Error('no space left on device'))
    return super.answer(...given)
  }
}

/** A gateway where Ann has answered, which sends her answer until the machine has seen it. */
class Answered {
  readonly rejected: unknown[] = []
  readonly answer: FleetAnswer

  constructor(id: string, option: string) {
    this.answer = { id, place: 1, by: 'ann', option }
  }

  readonly client = {
    ask: async (
      name: string,
      { body }: { body: { waiting?: Record<string, number> } & Partial<SettleRequest> },
    ) => {
      this.rejected.push(...(body.rejected ?? []))
      const isWanted = (body.waiting?.[this.answer.id] ?? this.answer.place) < this.answer.place
      return name === 'sync'
        ? ({ missing: [], unsettled: [], answers: isWanted ? [this.answer] : [] } satisfies SyncAnswer)
        : {}
    },
  } as unknown as GatewayClient
}

async function scene(option: string, failures: number, onAnswer?: () => Promise<void>) {
  const queue = new FullApprovals(failures)
  const question = madeQuestion({ session: 's' })
  const pending: Pending = await queue.raise(question, { project: '/project' })
  const gateway = new Answered(pending.id, option)
  const told: string[] = []
  const mirror = new Mirror({
    ...{
      client: gateway.client,
      queue,
      learnPeople: async () => {},
      onTrouble: (text) => void told.push(text),
    },
    ...(onAnswer && { onAnswer }),
  })
  return { queue, question, gateway, mirror, told }
}

it('a deny that cannot be stored is fetched until it is, and never rejected', async () => {
  const { queue, question, gateway, mirror, told } = await scene('Deny', 3)
  for (let turn = 0; turn < 3; turn++) {
    await mirror.exchange(0)
    expect(await queue.take(question)).toBeUndefined()
  }
  await mirror.exchange(0)
  expect(await queue.take(question)).toMatchObject({ decision: 'deny' })
  expect(gateway.rejected).toEqual([])
  expect(told).toHaveLength(3)
  expect(told[0]).toMatch(/the deny of ann .* cannot be stored yet: no space left/)
})

it('an allow that cannot be stored is rejected, so that somebody may answer again', async () => {
  const { queue, question, gateway, mirror } = await scene('Allow', 1)
  await mirror.exchange(0)
  await mirror.exchange(0)
  expect(await queue.take(question)).toBeUndefined()
  expect(gateway.rejected).toMatchObject([{ id: gateway.answer.id, place: 1 }])
})

it('an answer that counts is not rejected because it could not be put on record', async () => {
  const { queue, question, gateway, mirror, told } = await scene('Allow', 0, () =>
    Promise.reject(new Error('the log is full')),
  )
  await mirror.exchange(0)
  expect(await queue.take(question)).toMatchObject({ decision: 'allow' })
  expect(gateway.rejected).toEqual([])
  expect(told).toEqual([expect.stringMatching(/counts, but the log is full/)])
})

/** A gateway that refuses what is too large, and names questions of other users that nobody settles. */
function strict(unsettled: (turn: number) => readonly string[], limit?: number) {
  const asked: { readonly name: RouteName; readonly bytes: number; readonly body: object }[] = []
  let turn = 0
  const ask = async (name: RouteName, { body = {} }: { body?: object }) => {
    const bytes = Buffer.byteLength(JSON.stringify(body))
    const isTaken = bytes <= (limit ?? ROUTES[name].most)
    asked.push({ name, bytes, body })
    if (!isTaken) throw new GatewayRefusal('TOO_LARGE', `more than ${limit} bytes`)
    return name === 'sync' ? { missing: [], answers: [], unsettled: unsettled(turn++) } : {}
  }
  return { asked, client: { ask } as unknown as GatewayClient }
}

function idsFrom(first: number, count: number): readonly string[] {
  return Array.from(
    { length: count },
    (_, i) =>
      `${String(first + i)
        .padStart(8, '0')
        .slice(0, 4)}-${String(first + i)
        .padStart(8, '0')
        .slice(4)}`,
  )
}

it('any number of questions of other users never makes a request too large', async () => {
  const { asked, client } = strict((turn) => idsFrom(turn * 1000, 1000))
  const mirror = new Mirror({ client, queue: new MemoryApprovals(), learnPeople: async () => {} })
  for (let turn = 0; turn < 20; turn++) await mirror.exchange(0)
  expect(asked.filter(({ name }) => name === 'sync')).toHaveLength(20)
  const { waiting = {} } = (asked.at(-1)?.body ?? {}) as { waiting?: object }
  expect(Object.keys(waiting)).toHaveLength(3000)
  expect(Object.keys(waiting)).toContain(idsFrom(18_999, 1)[0])
})

it('a question of somebody else that is settled is not asked for again', async () => {
  const asked: object[] = []
  const ask = async (name: RouteName, { body = {} }: { body?: { waiting?: object } }) => {
    if (name !== 'sync') return {}
    asked.push(body.waiting ?? {})
    const isFirst = asked.length === 1
    return {
      missing: isFirst ? [] : Object.keys(body.waiting ?? {}),
      answers: [],
      unsettled: isFirst ? ['othr-0001'] : [],
    }
  }
  const client = { ask } as unknown as GatewayClient
  const mirror = new Mirror({ client, queue: new MemoryApprovals(), learnPeople: async () => {} })
  for (let turn = 0; turn < 3; turn++) await mirror.exchange(0)
  expect(asked.map((waiting) => Object.keys(waiting))).toEqual([[], ['othr-0001'], []])
})

it('a gateway that takes less is asked for less', async () => {
  const { asked, client } = strict((turn) => idsFrom(turn * 1000, 1000), 10_000)
  const queue = new MemoryApprovals()
  await queue.raise(madeQuestion({ session: 's' }), { project: '/project' })
  const mirror = new Mirror({ client, queue, learnPeople: async () => {} })
  for (let turn = 0; turn < 5; turn++) expect(await mirror.exchange(0)).toBe(1)
  expect(asked.at(-1)?.bytes).toBeLessThan(10_000)
  const { client: deaf } = strict(() => [], 10)
  await expect(
    new Mirror({ client: deaf, queue, learnPeople: async () => {} }).exchange(0),
  ).rejects.toMatchObject({ name: 'Unavailable' })
})

it('what became of very many questions is told in parts', async () => {
  const queue = new MemoryApprovals()
  const ids: string[] = []
  const by = 'x'.repeat(200)
  for (let i = 0; i < 700; i++) {
    const { id } = await queue.raise(madeQuestion({ session: `s${i}` }), { project: '/project' })
    await queue.answer(id, { decision: 'deny', by })
    ids.push(id)
  }
  const { asked, client } = strict(() => ids)
  await new Mirror({ client, queue, learnPeople: async () => {} }).exchange(0)
  const told = asked
    .filter(({ name }) => name === 'settle')
    .map(({ body }) => (body as SettleRequest).settled)
  expect(told.length).toBeGreaterThan(1)
  expect(told.flat().map(({ id }) => id)).toEqual(ids)
})

it('says of a question that its fleet refuses that it can only be denied on this machine', async () => {
  const told: string[] = []
  const queue = new MemoryApprovals()
  const { id } = await queue.raise(madeQuestion({ session: 's' }), { project: '/project' })
  const ask = async (name: string) =>
    name === 'sync'
      ? ({ missing: [id], unsettled: [], answers: [] } satisfies SyncAnswer)
      : { status: 'full' as const }
  const client = { ask } as unknown as GatewayClient
  const onTrouble = (text: string) => void told.push(text)
  await new Mirror({ client, queue, learnPeople: async () => {}, onTrouble }).exchange(0)
  expect(told).toEqual([
    `the fleet cannot answer ${id}: this machine has too many open; it can only be denied on this machine; when it has expired, let the agent ask again`,
  ])
})
