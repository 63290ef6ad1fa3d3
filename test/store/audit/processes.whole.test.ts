// Many processes write to one log, and are killed or stopped at any moment.

import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ownSelf } from '../../../src/files/mutex.js'
import { verify } from '../../../src/store/audit/verify.js'
import {
  entriesOf,
  entry,
  type Plain,
  times,
  type Workplace,
  withWorkers,
  worker,
  workplace,
} from './workplace.js'

withWorkers()

const WRITERS = 20

/** Names of records, by what the workers printed. */
function acknowledged(printed: readonly string[]): string[] {
  return printed.flatMap((line) => {
    const [pid, first, count] = line.split(' ').map(Number) as [number, number, number]
    return times(count, (i) => `${pid}-${first + i}`)
  })
}

function writtenNames(folder: string): string[] {
  return entriesOf(folder).flatMap((one) => (one as unknown as Plain).name ?? [])
}

/** One more record cleans up after whoever came before. */
function expectClean({ log, folder }: Workplace): void {
  log.append([entry('the last')])
  const left = readdirSync(folder).filter((name) => !/^(?:\d{8}\.jsonl|torn\.\d+|head\.json)$/.test(name))
  expect(left).toEqual([`owner.${ownSelf().id}`])
}

describe('twenty processes', () => {
  it('write 50,000 records while they are killed: none that was acknowledged is lost', async () => {
    const place = workplace({ lockTimeoutMs: 60_000 })
    const options = { batch: 50, lockTimeoutMs: 60_000, maxSegmentBytes: 2 * 1024 * 1024 }
    const printed: string[] = []
    let [records, killed] = [0, 0]
    /** Until there are enough: each is killed after some batches, at any place of the next one. */
    const writer = async () => {
      while (records < 50_000) {
        const one = worker('write', place, options)
        await one.lines(1 + Math.floor(Math.random() * 60))
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 4))
        one.child.kill('SIGKILL')
        const { signal } = await one.ended
        if (signal === 'SIGKILL') killed++
        printed.push(...one.printed())
        records += one.printed().length * options.batch
      }
    }
    await Promise.all(times(WRITERS, writer))
    const names = acknowledged(printed)
    expect(names.length).toBeGreaterThanOrEqual(50_000)
    expect(killed).toBeGreaterThanOrEqual(WRITERS)
    const written = writtenNames(place.folder)
    const all = new Set(written)
    expect(all.size).toBe(written.length)
    expect(names.filter((name) => !all.has(name))).toEqual([])
    expect(verify(place.folder)).toMatchObject({ ok: true, problems: [] })
    expect(readdirSync(place.folder).filter((name) => name.endsWith('.jsonl')).length).toBeGreaterThan(2)
    expectClean(place)
    expect(verify(place.folder).ok).toBe(true)
  })

  it('that are not killed write exactly what they were given, over many files', async () => {
    const place = workplace()
    const options = { batch: 10, count: 200, maxSegmentBytes: 20_000, lockTimeoutMs: 60_000 }
    const workers = times(WRITERS, () => worker('write', place, options))
    for (const { code } of await Promise.all(workers.map(({ ended }) => ended))) expect(code).toBe(0)
    const names = acknowledged(workers.flatMap(({ printed }) => printed()))
    expect(writtenNames(place.folder).sort()).toEqual(names.sort())
    expect(verify(place.folder)).toMatchObject({ ok: true, records: 4000, notes: [] })
    expectClean(place)
  })

  it('keep to the bound together', async () => {
    const place = workplace()
    const options = {
      batch: 10,
      count: 200,
      maxSegmentBytes: 20_000,
      maxBytes: 100_000,
      lockTimeoutMs: 60_000,
    }
    const workers = times(6, () => worker('write', place, options))
    for (const { code } of await Promise.all(workers.map(({ ended }) => ended))) expect(code).toBe(0)
    const { ok, problems, first, last } = verify(place.folder)
    expect({ ok, problems }).toEqual({ ok: true, problems: [] })
    expect(first?.seq).toBeGreaterThan(1)
    expect(last?.seq).toBeGreaterThan(1200)
  })
})
