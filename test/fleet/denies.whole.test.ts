// A deny is never lost: any order of answers and rejections at the gateway, and what the machine makes of them.

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addAnswer, questionsOfMachine, reject } from '../../src/fleet/database/approvals.js'
import type { Database } from '../../src/fleet/database/connection.js'
import { runs, seeded } from '../property/runs.js'
import { addedMachine, type Fleet, madeFleet, opened } from './fleet-scene.js'
import { hasPostgres, Postgres } from './postgres.js'

interface Step {
  readonly what: 'allow' | 'deny' | 'reject'
  readonly by: string
}

describe.runIf(hasPostgres)('a deny at the gateway', () => {
  let server: Postgres
  let fleet: Fleet
  let database: Database
  let machine: string
  let made = 0

  beforeAll(async () => {
    server = await Postgres.start()
    fleet = await madeFleet(server)
    database = await opened(fleet.gateway)
    machine = await addedMachine(fleet, 'laptop')
  })
  afterAll(async () => {
    await database?.close()
    server?.stop()
  })

  const asked = async (people: number) => {
    const id = `${(made++).toString(36).padStart(4, '0')}-zzzz`
    const until = new Date(Date.now() + 3_600_000)
    await database.rows('select fleet.ask($1, $2, $3, $4, $5)', [machine, id, '{}', people, until])
    return id
  }
  const give = (id: string, by: string, allows: boolean, nonce: string) =>
    addAnswer(database, machine, {
      ...{ id, by, option: allows ? 'Allow' : 'Deny', allows },
      ...(allows && { signature: { kind: 'ed25519', id: by, signature: 's', nonce } }),
    })
  const answersTo = async (id: string) => (await questionsOfMachine(database, machine, { [id]: 0 })).answers

  /** What the machine does with the answers, in their order. */
  const outcomeOf = async (id: string, people: number) => {
    const allowed = new Set<string>()
    for (const { by, option } of await answersTo(id)) {
      if (option === 'Deny') return 'deny'
      if (allowed.add(by).size >= people) return 'allow'
    }
    return 'open'
  }

  const played = async (people: number, steps: readonly Step[]) => {
    const id = await asked(people)
    let isDenied = false
    for (const [n, { what, by }] of steps.entries()) {
      if (what === 'reject') {
        const last = (await answersTo(id)).findLast(({ option }) => option === 'Allow')
        if (last) await reject(database, machine, { id, place: last.place, why: 'no' })
      } else {
        const wasOpen = (await outcomeOf(id, people)) === 'open'
        const { status } = await give(id, by, what === 'allow', String(n))
        isDenied ||= what === 'deny' && wasOpen
        if (what === 'deny' && wasOpen) expect(status).toBe('answered')
      }
      if (isDenied) expect(await outcomeOf(id, people)).toBe('deny')
    }
    return outcomeOf(id, people)
  }

  const step: fc.Arbitrary<Step> = fc.record({
    what: fc.constantFrom('allow', 'allow', 'deny', 'reject'),
    by: fc.constantFrom('ann', 'ben', 'cat'),
  })

  it('counts while the question is open, in any order of answers and rejections', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(step, { maxLength: 7 }),
        async (people, steps) => {
          await played(people, steps)
        },
      ),
      { numRuns: runs(150), ...seeded(41) },
    )
  })

  it('counts from somebody who has allowed', async () => {
    const id = await asked(2)
    expect(await give(id, 'ann', true, '1')).toEqual({ status: 'counted', more: 1 })
    expect(await give(id, 'ann', false, '2')).toEqual({ status: 'answered' })
    expect(await give(id, 'ann', false, '3')).toEqual({ status: 'answered' })
    expect(await give(id, 'ben', true, '4')).toEqual({ status: 'too-late', by: 'ann' })
    expect(await give(id, 'ann', true, '1')).toEqual({ status: 'too-late', by: 'ann' })
    expect(await outcomeOf(id, 2)).toBe('deny')
  })

  it('counts if it came after an allow that the machine then rejects', async () => {
    const id = await asked(1)
    expect(await give(id, 'ann', true, '1')).toEqual({ status: 'answered' })
    expect(await give(id, 'ben', false, '2')).toEqual({ status: 'too-late', by: 'ann' })
    expect(await outcomeOf(id, 1)).toBe('allow')
    await reject(database, machine, { id, place: 1, why: 'no' })
    expect(await give(id, 'cat', true, '3')).toEqual({ status: 'too-late', by: 'ben' })
    expect(await outcomeOf(id, 1)).toBe('deny')
  })
})
