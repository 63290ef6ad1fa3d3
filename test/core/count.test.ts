import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Counting,
  countIn,
  type Moment,
  NO_COUNTS,
  type StoredCounts,
} from '../../src/core/hooks/count.js'
import { runs } from '../property/runs.js'

const NOW: Moment = { minute: 1000, second: 60_000, turn: 1 }
const CALL: Counting = { key: 'k', per: 'session', most: 2 }

/** Whether the limit was reached, for one moment after the other. */
function reached(counting: Counting, moments: readonly Moment[], start: StoredCounts = NO_COUNTS) {
  let counts = start
  return moments.map((moment) => {
    const made = countIn(counts, counting, moment)
    counts = made.counts
    return 'isReached' in made.counted ? made.counted.isReached : made.counted.problem
  })
}

const at = (minute: number, turn = 1): Moment => ({ minute, second: minute * 60, turn })

describe('counts', () => {
  it('of a session go on', () => {
    expect(reached(CALL, [NOW, at(9999), at(99_999, 7), NOW])).toEqual([false, false, true, true])
  })

  it('of a turn begin anew with the next', () => {
    const counting = { ...CALL, per: 'turn' } as const
    expect(reached(counting, [at(1), at(1), at(1), at(1, 2), at(1, 2), at(1, 2)])).toEqual([
      false,
      false,
      true,
      false,
      false,
      true,
    ])
  })

  it('of an hour are those of the last 60 minutes', () => {
    const counting = { ...CALL, per: 'hour' } as const
    expect(reached(counting, [at(0), at(30), at(60), at(61), at(62), at(92)])).toEqual([
      false,
      false,
      true,
      false,
      true,
      false,
    ])
  })

  it('of an hour do not go away if the clock is set back, and do not stay for good', () => {
    const counting = { ...CALL, per: 'hour' } as const
    expect(reached(counting, [at(5000), at(5000), at(10), at(70), at(71)])).toEqual([
      false,
      false,
      true,
      true,
      false,
    ])
    const later = { ...counting, most: 3 }
    expect(reached(later, [at(5000), at(5000), at(10), at(60), at(71)])).toEqual([
      false,
      false,
      false,
      true,
      false,
    ])
  })

  it('add a call once, whoever counts it', () => {
    const call = { ...CALL, call: 'toolu_1' }
    expect(reached(call, [NOW, NOW, NOW, NOW])).toEqual([false, false, false, false])
    const { counts } = countIn(NO_COUNTS, call, NOW)
    expect(reached(CALL, [NOW, NOW], counts)).toEqual([false, true])
  })

  it('only look if nothing is added', () => {
    const { counts, counted } = countIn(NO_COUNTS, { ...CALL, add: 0 }, NOW)
    expect(counts).toBe(NO_COUNTS)
    expect(counted).toEqual({ isReached: false })
  })

  it('that are lost are not taken for zero: in a session never, in a turn and an hour until the next', () => {
    const lost = { ...NO_COUNTS, lost: { minute: 1000, turn: 2, why: 'gone' } }
    const gone = 'earlier counts were lost: gone'
    expect(reached(CALL, [at(1000, 2), at(9000, 9)], lost)).toEqual([gone, gone])
    expect(reached({ ...CALL, per: 'turn' }, [at(1000, 2), at(1000, 3)], lost)).toEqual([gone, false])
    expect(reached({ ...CALL, per: 'hour' }, [at(1060, 9), at(1061, 9)], lost)).toEqual([gone, false])
  })

  it('of many different calls forget the oldest', () => {
    let counts: StoredCounts = NO_COUNTS
    for (let i = 0; i < 1200; i++) counts = countIn(counts, { ...CALL, key: `k${i}`, among: 'k' }, NOW).counts
    expect(counts.list).toHaveLength(1000)
    expect(counts.list.at(-1)?.key).toBe('k1199')
  })

  it('say so when there are too many of them', () => {
    const list = Array.from({ length: 5000 }, (_, i) => ({ key: `x${i}`, at: 0, n: 1 }))
    expect(countIn({ ...NO_COUNTS, list }, CALL, NOW).counted).toEqual({
      problem: 'too much is counted already',
    })
  })

  it('let exactly so many pass, in any order of keys and turns', () => {
    const step = fc.record({ key: fc.constantFrom('a', 'b', 'c'), turn: fc.integer({ min: 1, max: 3 }) })
    const property = fc.property(
      fc.array(step, { maxLength: 60 }),
      fc.integer({ min: 1, max: 5 }),
      (steps, most) => {
        let counts: StoredCounts = NO_COUNTS
        const passed = new Map<string, number>()
        const sorted = steps.toSorted((a, b) => a.turn - b.turn)
        for (const { key, turn } of sorted) {
          const made = countIn(counts, { key, per: 'turn', most }, at(1, turn))
          counts = made.counts
          const name = `${key} ${turn}`
          if ('isReached' in made.counted && !made.counted.isReached)
            passed.set(name, (passed.get(name) ?? 0) + 1)
        }
        for (const [name, n] of passed) {
          const asked = sorted.filter((one) => `${one.key} ${one.turn}` === name).length
          expect(n).toBe(Math.min(asked, most))
        }
      },
    )
    fc.assert(property, { numRuns: runs(500) })
  })
})
