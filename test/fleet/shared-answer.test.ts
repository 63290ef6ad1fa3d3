// What many tabs ask for at once is looked up once.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Database } from '../../src/fleet/database/connection.js'
import type { Challenges } from '../../src/page/fleet/challenges.js'
import { machineAnswers } from '../../src/page/fleet/machine-answers.js'
import { policyAnswers } from '../../src/page/fleet/policy-answers.js'
import { SharedAnswer } from '../../src/page/fleet/shared-answer.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Each query takes three seconds. */
function slowDatabase() {
  const asked: string[] = []
  const rows = (sql: string) => {
    asked.push(sql)
    return new Promise((resolve) => setTimeout(() => resolve([]), 3000))
  }
  return { asked, database: { rows } as unknown as Database }
}

describe.each([
  ['api/machines', (database: Database) => machineAnswers(database, {} as Challenges, '')],
  ['api/policy', (database: Database) => policyAnswers(database)],
] as const)('%s', (path, answersOf) => {
  it('is looked up once for all who ask at the same time, and within two seconds after', async () => {
    const { asked, database } = slowDatabase()
    const table = answersOf(database)[`GET ${path}`] ?? expect.unreachable()
    const ask = () => table.answer({} as never)
    const first = ask()
    await vi.advanceTimersByTimeAsync(2500)
    const second = ask()
    await vi.advanceTimersByTimeAsync(30_000)
    expect(await second).toEqual(await first)
    const once = asked.length
    void ask()
    await vi.advanceTimersByTimeAsync(30_000)
    expect([asked.length, once > 0]).toEqual([2 * once, true])
  })
})

describe('a shared answer', () => {
  it('is found again two seconds after it was found', async () => {
    let count = 0
    const shared = new SharedAnswer(async () => ++count)
    expect([await shared.get(), await shared.get()]).toEqual([1, 1])
    await vi.advanceTimersByTimeAsync(1999)
    expect(await shared.get()).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(await shared.get()).toBe(2)
  })

  it('is found again at once after a change, also while the one before is still being found', async () => {
    const given: ((value: number) => void)[] = []
    const shared = new SharedAnswer(() => new Promise<number>((resolve) => given.push(resolve)))
    const old = shared.get()
    shared.forget()
    const fresh = shared.get()
    given[0]?.(1)
    given[1]?.(2)
    expect(await Promise.all([old, fresh])).toEqual([1, 2])
    // The old one ends, and takes nothing away.
    expect(await shared.get()).toBe(2)
  })

  it('keeps no failure', async () => {
    let count = 0
    const shared = new SharedAnswer(async () => {
      if (++count === 1) throw new Error('not now')
      return count
    })
    await expect(shared.get()).rejects.toThrow('not now')
    expect(await shared.get()).toBe(2)
  })
})
