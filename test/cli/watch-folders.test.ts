import { expect, it } from 'vitest'
import { HookWrites } from '../../src/cli/test-cases/watch-folders.js'

/** Of each run, from 10 to 19, 20 to 29 …: whether a change at that time is taken for one by a hook. */
function seen(writes: HookWrites, run: number, changedAt: number | undefined): boolean | undefined {
  writes.begin(run * 10)
  writes.end(run * 10 + 9)
  return changedAt === undefined ? undefined : writes.isByHook('log', changedAt)
}

it('what changes in three runs in a row is written by a hook', () => {
  const writes = new HookWrites()
  expect([1, 2, 3, 4].map((run) => seen(writes, run, run * 10 + 5))).toEqual([false, false, true, true])
})

it('a source that is saved in every run is edited, too', () => {
  const writes = new HookWrites()
  const seenIn = (run: number) => {
    writes.begin(run * 10)
    writes.end(run * 10 + 9)
    return writes.isByHook('/gate/hook.sh', run * 10 + 5)
  }
  expect([1, 2, 3, 4].map(seenIn)).toEqual([false, false, false, false])
})

it('what changes between runs is edited', () => {
  const writes = new HookWrites()
  expect([1, 2, 3, 4].map((run) => seen(writes, run, run * 10 + 9.5))).toEqual([false, false, false, false])
})

it('several changes in one run are one, and a run without any ends the row', () => {
  const writes = new HookWrites()
  seen(writes, 1, 15)
  for (const at of [15, 16, 17]) expect(writes.isByHook('log', at)).toBe(false)
  seen(writes, 2, 25)
  seen(writes, 3, undefined)
  expect(seen(writes, 4, 45)).toBe(false)
  expect(writes.isByHook('other', 45)).toBe(false)
})

it('while a run goes on, every change since it began is in it', () => {
  const writes = new HookWrites()
  for (const run of [1, 2]) seen(writes, run, run * 10)
  writes.begin(30)
  expect(writes.isByHook('log', 1000)).toBe(true)
  expect(writes.isByHook('log', 29)).toBe(false)
})
