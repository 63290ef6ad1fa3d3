// Counts per hour in memory and in files keep the contract that a fleet keeps, too.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Counted, Counters } from '../../src/core/hooks/count.js'
import { MemoryStore } from '../../src/core/session/session-store.js'
import { FileStore } from '../../src/store/sessions/file-store.js'
import { runs } from '../property/runs.js'
import { contract } from './contracts/counters.js'
import { MemoryCounters } from './contracts/memory-counters.js'
import { countedBy } from './counted-by.js'

function clock() {
  let now = Date.now()
  return {
    now: () => now,
    pass: (minutes: number) => {
      now += minutes * 60_000
    },
  }
}

contract('counts of a project in memory', () => {
  const { now, pass } = clock()
  const store = new MemoryStore()
  return { fire: () => countedBy(store, now), pass }
})

contract('counts of a project in files', () => {
  const { now, pass } = clock()
  const root = mkdtempSync(join(tmpdir(), 'carabiner-counts-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const [projectDir, stateDir] = [join(root, 'project'), join(root, 'state')]
  return {
    fire: () => countedBy(new FileStore({ projectDir, stateDir, later: () => {} }), now),
    pass,
  }
})

contract('shared counts in memory', () => {
  const { now, pass } = clock()
  const [store, counters] = [new MemoryStore(), new MemoryCounters(now)]
  return { fire: () => countedBy(store, now, counters), pass }
})

const CALL = { key: 'k', per: 'hour', most: 1 } as const

describe('shared counts', () => {
  it('do without a store that fails: a call may count twice, and is never counted too little', async () => {
    const { now } = clock()
    const counters = new MemoryCounters(now)
    const broken = new MemoryStore()
    broken.update = () => {
      throw new Error('the disk is full')
    }
    const fire = () => countedBy(broken, now, counters)({ ...CALL, most: 2, call: 'c' })
    expect([await fire(), await fire(), await fire()]).toEqual([
      { isReached: false },
      { isReached: false },
      { isReached: true },
    ])
  })

  it.each<[string, () => unknown, RegExp]>([
    ['reject', () => Promise.reject(new Error('the gateway is away')), /the gateway is away/],
    ['throw', () => JSON.parse('{'), /JSON/],
    ['answer nothing', async () => undefined, /./],
    ['answer something else', async () => ({ isReached: 'no' }), /the answer says nothing/],
    ['have a problem', async () => ({ problem: 'full' }), /^full$/],
  ])('that %s are a problem, never a yes', async (_, count, problem) => {
    const counters = { count } as unknown as Counters
    expect(await countedBy(new MemoryStore(), Date.now, counters)(CALL)).toEqual({
      problem: expect.stringMatching(problem),
    })
  })

  it('judge a call by each limit on the same key, and count it once', async () => {
    const { now } = clock()
    const counters = new MemoryCounters(now)
    const store = new MemoryStore()
    const found: boolean[][] = []
    for (let i = 0; i < 4; i++) {
      const count = countedBy(store, now, counters)
      const both = await Promise.all([3, 1].map((most) => count({ ...CALL, most })))
      found.push(both.map((one) => 'isReached' in one && one.isReached))
    }
    expect(found).toEqual([
      [false, false],
      [false, true],
      [false, true],
      [true, true],
    ])
  })

  /** What a request or its answer goes through. */
  const fate = fc.constantFrom('answered', 'answered', 'lost on the way', 'answer lost')

  it('never allow more than the limit, in any order of requests and answers, whatever gets lost', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fate), { maxLength: 12 }),
        async (scheduler, most, asked) => {
          const { now } = clock()
          const truth = new MemoryCounters(now)
          const store = new MemoryStore()
          const fire = async (call: number, fate: string): Promise<Counted> => {
            const counters: Counters = {
              async count(counting) {
                await scheduler.schedule(Promise.resolve(), 'request')
                if (fate === 'lost on the way') throw new Error(fate)
                const counted = await truth.count(counting)
                await scheduler.schedule(Promise.resolve(), 'answer')
                if (fate === 'answer lost') throw new Error(fate)
                return counted
              },
            }
            return countedBy(store, now, counters)({ ...CALL, most, call: `c${call}` })
          }
          const all = Promise.all(
            asked.map(async ([call, fate]) => ({ call, counted: await fire(call, fate) })),
          )
          await scheduler.waitFor(all)
          const allowed = (await all).filter(({ counted }) => 'isReached' in counted && !counted.isReached)
          expect(new Set(allowed.map(({ call }) => call)).size).toBeLessThanOrEqual(most)
        },
      ),
      { numRuns: runs(1000) },
    )
  })
})
