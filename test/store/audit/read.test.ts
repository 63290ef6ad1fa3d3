import { rmSync, statSync, utimesSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { filterOf } from '../../../src/store/audit/filter.js'
import { followEntries, readEntries } from '../../../src/store/audit/read.js'
import { segmentPath } from '../../../src/store/audit/segments.js'
import type { ReadOptions, StoredEntry } from '../../../src/store/audit-log.js'
import {
  appendBytes,
  entry,
  linesIn,
  type Plain,
  times,
  withWorkers,
  worker,
  workplace,
  writeLines,
} from './workplace.js'

withWorkers()

const names = (entries: Iterable<StoredEntry>) => [...entries].map((one) => (one as unknown as Plain).name)
const read = (folder: string, more: ReadOptions = {}) => names(readEntries(folder, more))

/** Over several files, with lines of many sizes: shorter and longer than what is read at once. */
function log() {
  const place = workplace({ maxSegmentBytes: 700_000 })
  const sizes = [0, 10, 8000, 300_000, 1, 600_000, 2, 700_000, 3, 4, 5, 8192, 16_384]
  // Long texts are cut.
  const filler = (size: number) => times(Math.ceil(size / 200), () => 'ü'.repeat(Math.min(size, 200) / 2))
  for (const [i, size] of sizes.entries()) place.log.append([entry(`${i}`, { filler: filler(size) })])
  return { ...place, all: sizes.map((_, i) => `${i}`) }
}

describe('reading', () => {
  it('from either end', () => {
    const { folder, all } = log()
    expect(statSync(segmentPath(folder, 3)).size).toBeGreaterThan(0)
    expect(read(folder)).toEqual(all)
    expect(read(folder, { newestFirst: true })).toEqual(all.toReversed())
  })

  it('so many as are wanted', () => {
    const { folder, all } = log()
    for (const limit of [0, 1, 5, 100]) {
      expect(read(folder, { limit })).toEqual(all.slice(0, limit))
      expect(read(folder, { limit, newestFirst: true })).toEqual(all.toReversed().slice(0, limit))
    }
  })

  it('the newest without opening older files', () => {
    const { folder, all } = log()
    rmSync(segmentPath(folder, 1))
    appendBytes(folder, 'x'.repeat(100), 1)
    expect(read(folder, { limit: 2, newestFirst: true })).toEqual(all.toReversed().slice(0, 2))
  })

  it('what fits', () => {
    const { folder } = log()
    const filter = (one: unknown) => Number((one as Plain).name) % 3 === 0
    expect(read(folder, { filter })).toEqual(['0', '3', '6', '9', '12'])
    expect(read(folder, { filter, newestFirst: true, limit: 2 })).toEqual(['12', '9'])
  })

  it('past lines that are none, which are told of, and not what is being written', () => {
    const { folder, log } = workplace()
    log.append(times(4, (i) => entry(`${i}`)))
    const lines = linesIn(folder)
    writeLines(folder, [lines[0] ?? '', 'no record', '', '{}', ...lines.slice(1)])
    appendBytes(folder, '{"seq":5')
    for (const newestFirst of [false, true]) {
      const damaged: object[] = []
      expect(read(folder, { newestFirst, onDamaged: (where) => damaged.push(where) }).sort()).toEqual([
        '0',
        '1',
        '2',
        '3',
      ])
      expect(damaged).toHaveLength(3)
      expect(damaged).toContainEqual({ file: '00000001.jsonl', offset: (lines[0]?.length ?? 0) + 1 })
    }
  })

  it('nothing where there is nothing', () => {
    expect(read('/nowhere/at/all')).toEqual([])
    const { folder, log } = workplace()
    log.append([entry('a')])
    writeLines(folder, [])
    expect([read(folder), read(folder, { newestFirst: true })]).toEqual([[], []])
  })

  it('leaves out files that were last written long before', () => {
    const { folder } = log()
    utimesSync(segmentPath(folder, 1), 0, Date.now() / 1000 - 7200)
    const filter = Object.assign(() => true, { since: Date.now() - 60_000 })
    const left = read(folder, { filter })
    expect(left.length).toBeGreaterThan(0)
    expect(left).not.toContain('0')
  })
})

describe('following', () => {
  async function* following(folder: string, more: object = {}) {
    for await (const one of followEntries(folder, { everyMs: 1, ...more }))
      yield (one as unknown as Plain).name
  }

  it('shows what is written from now on, from one file to the next, by other processes', async () => {
    const place = workplace()
    place.log.append([entry('before')])
    const end = new AbortController()
    const seen: string[] = []
    const shown = (async () => {
      for await (const name of following(place.folder, { signal: end.signal })) {
        seen.push(name)
        if (seen.length === 600) end.abort()
      }
    })()
    const options = { batch: 3, count: 300, maxSegmentBytes: 5000 }
    const workers = times(2, () => worker('write', place, options))
    await shown
    const pids = workers.map(({ child }) => child.pid)
    await Promise.all(workers.map(({ ended }) => ended))
    expect(seen.toSorted()).toEqual(pids.flatMap((pid) => times(300, (i) => `${pid}-${i}`)).toSorted())
    expect(seen).toEqual(read(place.folder).slice(1))
  })

  it('from a known entry on', async () => {
    const { folder, log } = workplace({ maxSegmentBytes: 600 })
    for (let i = 1; i <= 12; i++) log.append([entry(`${i}`)])
    for (const after of [0, 1, 6, 7, 11]) {
      const end = new AbortController()
      const seen: string[] = []
      for await (const name of following(folder, { after, signal: end.signal })) {
        seen.push(name)
        if (name === '12') end.abort()
      }
      expect(seen).toEqual(times(12 - after, (i) => `${after + i + 1}`))
    }
  })

  it('a log that is not there yet, and a line that was taken back', async () => {
    const { folder, log } = workplace()
    const end = new AbortController()
    const entries = following(folder, { signal: end.signal, filter: filterOf({ kind: 'fire' }) })
    const first = entries.next()
    log.append([entry('a')])
    expect((await first).value).toBe('a')
    const second = entries.next()
    appendBytes(folder, '{"seq":2')
    log.append([entry('b')])
    expect((await second).value).toBe('b')
    end.abort()
    expect((await entries.next()).done).toBe(true)
  })
})
