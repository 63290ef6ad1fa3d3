// Files of a log that are lost, exchanged or changed, its head, and a record that is expected.

import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readEntries } from '../../../src/store/audit/read.js'
import { segmentName, segmentPath, segmentsIn } from '../../../src/store/audit/segments.js'
import { verify } from '../../../src/store/audit/verify.js'
import { witnessPath } from '../../../src/store/audit/witness.js'
import { appendBytes, entry, linesIn, RECORDS, smallLog, times, workplace, writeLines } from './workplace.js'

describe('files', () => {
  function longLog() {
    const place = workplace({ maxSegmentBytes: 1000 })
    for (let i = 0; i < 20; i++) place.log.append([entry(`record ${i + 1}`)])
    const firstOf = (segment: number) =>
      Number(/"seq":(\d+)/.exec(linesIn(place.folder, segment)[0] ?? '')?.[1])
    return { ...place, firstOf }
  }

  it('the first is lost', () => {
    const { folder, firstOf } = longLog()
    const second = firstOf(2)
    rmSync(segmentPath(folder, 1))
    expect(verify(folder).problems[0]).toMatchObject({
      seq: 1,
      what: expect.stringContaining(`records 1 to ${second - 1} are missing`),
    })
  })

  const INSTEAD: Readonly<Record<string, (path: string) => void>> = {
    'a link to what it was': (path) => {
      renameSync(path, `${path}.moved`)
      symlinkSync(`${path}.moved`, path)
    },
    'a folder': (path) => {
      rmSync(path)
      mkdirSync(path)
    },
  }
  const everyPlace = Object.entries(INSTEAD).flatMap(([what, change]) =>
    [1, 2, 'newest' as const].map((which) => [what, which, change] as const),
  )

  it.each(everyPlace)('%s stands in place of one: %s', (_, which, change) => {
    const { folder } = longLog()
    const number = which === 'newest' ? (segmentsIn(folder).at(-1) ?? 0) : which
    change(segmentPath(folder, number))
    for (const mostBytes of which === 'newest' ? [Infinity, 1] : [Infinity]) {
      const { ok, problems } = verify(folder, { mostBytes })
      expect(ok).toBe(false)
      expect(problems).toContainEqual({
        file: segmentName(number),
        line: 0,
        what: expect.stringMatching(
          /is not part of the log: .* is (?:a link|not a regular file); move it away/,
        ),
      })
    }
    const damaged: unknown[] = []
    const left = [...readEntries(folder, { onDamaged: (where) => damaged.push(where) })]
    expect(damaged).toEqual([{ file: segmentName(number), offset: 0 }])
    expect(left.length).toBeGreaterThan(0)
  })

  it('one in the middle is lost', () => {
    const { folder, firstOf } = longLog()
    const first = firstOf(2)
    rmSync(segmentPath(folder, 2))
    const [problem] = verify(folder).problems
    expect(problem).toMatchObject({ seq: first, file: '00000003.jsonl', line: 1 })
    expect(problem?.what).toMatch(/missing with the file 00000002.jsonl/)
  })

  it('the last is lost', () => {
    const { folder, firstOf } = longLog()
    const [newest = 0] = times(9, (i) => 9 - i).filter((n) => safely(() => linesIn(folder, n)) !== undefined)
    const first = firstOf(newest)
    rmSync(segmentPath(folder, newest))
    expect(verify(folder).problems[0]).toMatchObject({ seq: first, what: expect.stringMatching(/missing/) })
  })

  it('the first line that was left after the oldest were removed is no record any more', () => {
    const { folder, log } = workplace({ maxSegmentBytes: 1000, maxBytes: 3000 })
    for (let i = 0; i < 40; i++) log.append([entry(`${i}`)])
    const oldest = times(99, (i) => i + 1).find((n) => safely(() => linesIn(folder, n)) !== undefined) ?? 0
    writeLines(folder, linesIn(folder, oldest).with(0, 'no record'), oldest)
    expect(verify(folder).problems).toEqual([
      { file: expect.stringContaining(`${oldest}.jsonl`), line: 1, what: 'this line is not a record' },
    ])
  })

  it('two are exchanged', () => {
    const { folder, firstOf } = longLog()
    const first = firstOf(2)
    const [two, three] = [linesIn(folder, 2), linesIn(folder, 3)]
    writeLines(folder, three, 2)
    writeLines(folder, two, 3)
    expect(verify(folder).problems[0]).toMatchObject({ seq: first, file: '00000002.jsonl' })
  })

  it('one that is not the last ends within a line', () => {
    const { folder, firstOf } = longLog()
    appendBytes(folder, '{"seq":', 1)
    expect(verify(folder).problems).toMatchObject([{ seq: firstOf(2), file: '00000001.jsonl' }])
  })

  it('all are gone', () => {
    const { folder } = smallLog()
    rmSync(segmentPath(folder, 1))
    expect(verify(folder).problems[0]).toMatchObject({
      seq: 1,
      what: expect.stringMatching(/records 1 to 8 are missing/),
    })
    rmSync(folder, { recursive: true })
    expect(verify(folder)).toMatchObject({
      ok: false,
      records: 0,
      problems: [{ what: expect.stringMatching(/the log was removed/) }],
    })
  })
})

describe('the head', () => {
  const head = (folder: string) => join(folder, 'head.json')
  const changed = (folder: string, more: object) =>
    writeFileSync(
      head(folder),
      JSON.stringify({ ...JSON.parse(readFileSync(head(folder), 'utf8')), ...more }),
    )

  it('is lost', () => {
    const { folder } = smallLog()
    rmSync(head(folder))
    expect(verify(folder)).toMatchObject({ ok: false, head: undefined, problems: [{ file: 'head.json' }] })
  })

  it.for([
    ['another hash', { hash: 'a'.repeat(64) }, RECORDS],
    ['another size', { size: 1 }, RECORDS],
    ['another file', { segment: 2 }, RECORDS],
    ['a record that is not there', { seq: RECORDS + 3 }, RECORDS + 1],
    ['the hash of another record', { seq: 3 }, 3],
  ] as const)('says %s', ([, more, seq]) => {
    const { folder } = smallLog()
    changed(folder, more)
    expect(verify(folder).problems[0]).toMatchObject({ seq })
  })

  it.for([
    ['no JSON', '{'],
    ['something else', '[]'],
    ['a number below 0', JSON.stringify({ seq: -1, hash: 'a'.repeat(64), segment: 1, size: 1 })],
  ] as const)('is %s', ([, text]) => {
    const { folder } = smallLog()
    writeFileSync(head(folder), text)
    expect(verify(folder).problems).toMatchObject([
      { file: 'head.json', what: expect.stringMatching(/not the head/) },
    ])
  })

  it('is behind, as a kill leaves it: no problem', () => {
    const place = workplace()
    place.log.append([entry('one')])
    const before = [head(place.folder), witnessPath(place.folder)].map(
      (path) => [path, readFileSync(path)] as const,
    )
    place.log.append([entry('two')])
    for (const [path, bytes] of before) writeFileSync(path, bytes)
    expect(verify(place.folder)).toMatchObject({ ok: true, records: 2, head: { seq: 1 } })
  })
})

describe('a record that is expected', () => {
  it('may be any that is there', () => {
    const { folder, lines } = smallLog()
    for (const [i, line] of lines.entries()) {
      const hash = /"hash":"([0-9a-f]{64})"\}$/.exec(line)?.[1] ?? ''
      expect(verify(folder, { expect: { seq: i + 1, hash } }).ok).toBe(true)
    }
  })

  it('shows a log that was made anew, and one that was cut off with its head', () => {
    const { folder } = smallLog()
    const { last } = verify(folder)
    if (!last) throw new Error('no record')
    const other = smallLog()
    other.log.append([entry('more')])
    expect(verify(other.folder, { expect: { ...last, hash: 'b'.repeat(64) } }).problems[0]).toMatchObject({
      seq: last.seq,
    })
    const short = workplace()
    short.log.append([entry('record 1')])
    expect(verify(short.folder).ok).toBe(true)
    expect(verify(short.folder, { expect: last }).problems[0]).toMatchObject({
      seq: last.seq,
      what: expect.stringMatching(/is missing/),
    })
  })

  it('may be the last that was removed to save space, and none before', () => {
    const place = workplace({ maxSegmentBytes: 1000, maxBytes: 3000 })
    const hashes: string[] = []
    for (let i = 0; i < 40; i++) {
      place.log.append([entry(`${i}`)])
      const { last } = verify(place.folder)
      hashes[last?.seq ?? 0] = last?.hash ?? ''
    }
    const before = (verify(place.folder).first?.seq ?? 0) - 1
    const expected = (seq: number) => verify(place.folder, { expect: { seq, hash: hashes[seq] ?? '' } })
    expect(expected(before).ok).toBe(true)
    expect(expected(before - 1).problems[0]?.what).toMatch(/was removed: expect a newer one/)
  })
})

function safely<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
