// Reading a long log leaves time for everything else that the process does.

import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { entry, times, workplace } from './workplace.js'

/** More than is read in a single turn on any machine. */
const ENTRIES = 30_000

function longLog() {
  const { log } = workplace()
  for (let i = 0; i < ENTRIES; i += 1000) log.append(times(1000, (n) => entry(`${i + n}`)))
  return log
}

/** How often something else had its turn until the work was done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let isDone = false
  const end = () => {
    isDone = true
  }
  work.then(end, end)
  let turns = 0
  for (; !isDone; turns++) await setImmediate()
  await work
  return turns
}

describe('a long log', () => {
  it('is verified in turns, and says how far it is', async () => {
    const log = longLog()
    const parts: number[] = []
    const work = log.verify({ onProgress: (part) => void parts.push(part) })
    expect(await turnsDuring(work)).toBeGreaterThan(5)
    expect(await work).toMatchObject({ ok: true, records: ENTRIES })
    expect(parts.length).toBe(ENTRIES / 200)
    expect(parts).toEqual(parts.toSorted((a, b) => a - b))
    expect(parts.at(-1)).toBe(1)
  })

  it('is not verified any further when nobody waits', async () => {
    const log = longLog()
    const controller = new AbortController()
    let lines = 0
    const onLine = () => {
      if (++lines === 1000) controller.abort(new Error('nobody waits'))
    }
    await expect(log.verify({ signal: controller.signal, onLine })).rejects.toThrow('nobody waits')
    expect(lines).toBeLessThan(1500)
  })

  it('is searched in turns for an entry that is not there', async () => {
    const log = longLog()
    const search = async () => {
      for await (const _ of log.entries({ newestFirst: true, filter: () => false })) throw new Error('found')
    }
    expect(await turnsDuring(search())).toBeGreaterThan(5)
  })
})
