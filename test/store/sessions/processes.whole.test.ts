import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nextTurn, together, type Workplace, withWorkers, worker, workplace } from './workplace.js'

withWorkers()

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

/** One more update cleans up after whoever came before. */
function expectClean({ store }: Workplace): void {
  store.update('one', nextTurn)
  const [version, ...others] = readdirSync(store.folderOf('one'))
  expect(version).toMatch(/^\d+\.json$/)
  expect(others).toEqual([])
}

describe('many processes at once', () => {
  it('count exactly', async () => {
    const place = workplace()
    const printed = await together(times(6, () => worker('count', place.root)))
    expect(printed.join('')).toBe('.'.repeat(6 * 200))
    expect(place.store.load('one').turn).toBe(6 * 200)
    expectClean(place)
  })

  it('take what waits exactly once', async () => {
    const place = workplace()
    const sayers = times(3, () => worker('say', place.root))
    const takers = times(3, () => worker('take', place.root))
    const printed = await together([...sayers, ...takers])
    const said = printed.slice(0, 3).join('').trim().split('\n')
    const left = place.store.load('one').pending.messages.map(({ text }) => text)
    const taken = printed.slice(3).join('').split('\n').filter(Boolean)
    expect(said).toHaveLength(300)
    expect([...taken, ...left].sort()).toEqual(said.sort())
    expectClean(place)
  })

  it('lose no grant and revive none', async () => {
    const place = workplace()
    const printed = await together(times(4, () => worker('grant', place.root)))
    expect(printed.join('')).toBe('')
    const numbers = place.store.grants().map(({ id }) => Number(id.split('-')[1]))
    expect(numbers).toHaveLength(4 * 10)
    expect(numbers.filter((i) => i % 2 === 1)).toEqual([])
  })

  it('may forget the session while others update it', async () => {
    const place = workplace()
    const printed = await together(times(4, () => worker('releaseAndCount', place.root)))
    expect(printed.join('')).toBe('')
    place.store.update('one', nextTurn)
    expect(place.store.load('one').turn).toBeLessThanOrEqual(4 * 100)
    place.store.release('one')
    // Where two removed at once, something may be left for the sweep, which a new session begins.
    place.store.update('two', nextTurn)
    place.store.release('two')
    expect(readdirSync(dirname(place.store.folderOf('one')))).toEqual([])
  })
})

describe('processes that are killed', () => {
  it('at any moment: no update that returned is lost, and the next works at once', async () => {
    const place = workplace()
    let returned = 0
    let killed = 0
    for (let round = 0; round < 8; round++) {
      const workers = times(4, () => worker('countForever', place.root))
      await Promise.all(workers.map(({ ready }) => ready))
      for (const one of workers) one.go()
      await Promise.all(workers.map((one) => killedAfter(one, 1 + Math.random() * 40, Math.random() * 2)))
      for (const one of workers) returned += (await one.ended).length
      killed += workers.length
      const { turn } = place.store.load('one')
      expect(turn).toBeGreaterThanOrEqual(returned)
      expect(turn).toBeLessThanOrEqual(returned + killed)
      place.store.update('one', nextTurn)
      expect(place.store.load('one').turn).toBe(turn + 1)
      returned++
    }
    expectClean(place)
  })

  it('or stopped: nobody waits for them, and what they do later counts once', async () => {
    const place = workplace()
    const stopped = times(3, () => worker('count', place.root))
    await Promise.all(stopped.map(({ ready }) => ready))
    for (const one of stopped) one.go()
    for (const one of stopped) {
      await printedDots(one, 20)
      one.child.kill('SIGSTOP')
    }
    for (let i = 0; i < 300; i++) place.store.update('one', nextTurn)
    for (const one of stopped) one.child.kill('SIGCONT')
    await Promise.all(stopped.map(({ ended }) => ended))
    expect(place.store.load('one').turn).toBe(3 * 200 + 300)
    expectClean(place)
  })
})

type Running = ReturnType<typeof worker>

function printedDots({ child, printed }: Running, dots: number): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (printed().length - 'ready\n'.length < dots) return
      child.stdout?.off('data', look)
      resolve()
    }
    child.stdout?.on('data', look)
    look()
  })
}

/** So many updates and a moment later, to hit every place of an update. */
async function killedAfter(one: Running, updates: number, ms: number): Promise<void> {
  await printedDots(one, updates)
  setTimeout(() => one.child.kill('SIGKILL'), ms)
  await one.ended
}
