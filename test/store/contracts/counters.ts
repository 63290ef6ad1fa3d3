// The contract of counts per hour: those of a project in memory and in files, and those of a fleet, run through it.

import { describe, expect, it } from 'vitest'
import type { Count, Counting } from '../../../src/core/hooks/count.js'

export interface Counted {
  /** Counts as one fire does, each time in another process. */
  readonly fire: () => Count
  readonly pass: (minutes: number) => Promise<void> | void
}

const TWO: Counting = { key: 'k', per: 'hour', most: 2 }

/** `make` answers counts that begin anew. */
export function contract(name: string, make: () => Promise<Counted> | Counted): void {
  const reached = async ({ fire }: Counted, ...all: readonly Partial<Counting>[]) => {
    const found: unknown[] = []
    for (const one of all) {
      const counted = await fire()({ ...TWO, ...one })
      found.push('isReached' in counted ? counted.isReached : counted.problem)
    }
    return found
  }

  describe(name, () => {
    it('counts until there is as much as may be, whoever counts', async () => {
      expect(await reached(await make(), {}, {}, {}, {})).toEqual([false, false, true, true])
    })

    it('adds nothing that is refused, so that a higher limit goes on', async () => {
      expect(await reached(await make(), {}, {}, {}, {}, { most: 3 }, { most: 3 })).toEqual([
        ...[false, false, true, true],
        ...[false, true],
      ])
    })

    it('only looks with 0', async () => {
      const look = { add: 0 }
      expect(await reached(await make(), look, look, look, {}, look, {}, look)).toEqual([
        ...[false, false, false, false, false, false],
        true,
      ])
    })

    it('adds amounts, and everything where there is no limit', async () => {
      const all = { most: Number.POSITIVE_INFINITY, add: Number.MAX_SAFE_INTEGER }
      const most = 100
      expect(
        await reached(await make(), { most, add: 99 }, { most, add: 99 }, { most, add: 1 }, all, all, {
          most: Number.MAX_SAFE_INTEGER,
          add: 0,
        }),
      ).toEqual([false, false, true, false, false, true])
    })

    it('counts keys apart', async () => {
      const other = { key: 'other' }
      expect(await reached(await make(), {}, other, {}, {}, other, other)).toEqual([
        ...[false, false, false],
        ...[true, false, true],
      ])
    })

    it('counts once what two ask for in one fire', async () => {
      const scene = await make()
      const count = scene.fire()
      expect(await Promise.all([count(TWO), count(TWO), count(TWO)])).toEqual(
        Array(3).fill({ isReached: false }),
      )
      expect(await reached(scene, {}, {})).toEqual([false, true])
    })

    it('counts a call once that several processes see, and again once it is over', async () => {
      const scene = await make()
      const call = { call: 'c1' }
      const all = await Promise.all([1, 2, 3].map(() => scene.fire()({ ...TWO, ...call })))
      expect(all).toEqual(Array(3).fill({ isReached: false }))
      expect(await reached(scene, { call: 'c2' }, { call: 'c3' }, call)).toEqual([false, true, false])
      expect(await reached(scene, { ...call, isOver: true }, call)).toEqual([false, true])
    })

    it('takes an id for another call after two minutes', async () => {
      const scene = await make()
      const call = { call: 'c1' }
      expect(await reached(scene, call)).toEqual([false])
      await scene.pass(2)
      expect(await reached(scene, call, call)).toEqual([false, false])
      await scene.pass(2)
      expect(await reached(scene, call)).toEqual([true])
    })

    it('loses nothing if many count at one time', async () => {
      const scene = await make()
      const all = await Promise.all(Array.from({ length: 20 }, () => scene.fire()({ ...TWO, most: 10 })))
      expect(all.filter((one) => 'isReached' in one && !one.isReached)).toHaveLength(10)
      expect(all.filter((one) => 'problem' in one)).toEqual([])
    })

    it('forgets what was more than an hour ago, and nothing else', async () => {
      const scene = await make()
      expect(await reached(scene, {})).toEqual([false])
      await scene.pass(30)
      expect(await reached(scene, {}, {})).toEqual([false, true])
      await scene.pass(29)
      expect(await reached(scene, {})).toEqual([true])
      await scene.pass(3)
      expect(await reached(scene, {}, {})).toEqual([false, true])
    })

    it('goes on if the clock is set back, and not for good', async () => {
      const scene = await make()
      expect(await reached(scene, {}, {})).toEqual([false, false])
      await scene.pass(-5000)
      expect(await reached(scene, {})).toEqual([true])
      await scene.pass(59)
      expect(await reached(scene, {})).toEqual([true])
      await scene.pass(3)
      expect(await reached(scene, {})).toEqual([false])
    })
  })
}
