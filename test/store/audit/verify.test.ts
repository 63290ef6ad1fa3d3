// Whatever is done to a log, verify names the first record it was done to.

import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { segmentPath } from '../../../src/store/audit/segments.js'
import { verify } from '../../../src/store/audit/verify.js'
import type { Verification } from '../../../src/store/audit-log.js'
import { runs } from '../../property/runs.js'
import { appendBytes, RECORDS, sealed, smallLog, times, writeLines } from './workplace.js'

/** Where the first problem is. */
function named({ ok, problems }: Verification) {
  const [first] = problems
  return { ok, seq: first?.seq, line: first?.line }
}

const numbers = times(RECORDS, (i) => i + 1)

describe('of a small log', () => {
  it.for(numbers)('record %i edited', (n) => {
    const { folder, lines } = smallLog()
    writeLines(folder, lines.with(n - 1, lines[n - 1]?.replace('record', 'Record') ?? ''))
    expect(named(verify(folder))).toEqual({ ok: false, seq: n, line: n })
  })

  it.for(numbers)('record %i edited, and its hash made anew', (n) => {
    const { folder, lines } = smallLog()
    writeLines(folder, lines.with(n - 1, sealed(lines[n - 1]?.replace('record', 'Record') ?? '')))
    expect(named(verify(folder))).toMatchObject({ ok: false, seq: n })
  })

  it.for(numbers)('record %i deleted', (n) => {
    const { folder, lines } = smallLog()
    writeLines(folder, lines.toSpliced(n - 1, 1))
    expect(named(verify(folder))).toMatchObject({ ok: false, seq: n })
  })

  it.for(numbers)('record %i replaced by what is none', (n) => {
    const { folder, lines } = smallLog()
    writeLines(folder, lines.with(n - 1, 'no record'))
    const { problems } = verify(folder)
    expect(problems[0]).toMatchObject({ seq: n, line: n })
    // What follows is as it was.
    if (n < RECORDS) expect(problems).toHaveLength(1)
  })

  it.for(numbers)('a line put in before record %i', (n) => {
    const { folder, lines } = smallLog()
    writeLines(folder, lines.toSpliced(n - 1, 0, 'no record'))
    const { problems } = verify(folder)
    expect(problems[0]).toMatchObject({ seq: n, line: n })
  })

  it.for(numbers)('record %i doubled', (n) => {
    const { folder, lines } = smallLog()
    writeLines(folder, lines.toSpliced(n, 0, lines[n - 1] ?? ''))
    expect(named(verify(folder))).toEqual({ ok: false, seq: n, line: n + 1 })
  })

  it.for(numbers)('a forged record %i put in, as if it belonged there', (n) => {
    const { folder, lines } = smallLog()
    writeLines(folder, lines.toSpliced(n - 1, 0, sealed(lines[n - 1]?.replace('record', 'Record') ?? '')))
    expect(named(verify(folder))).toMatchObject({ ok: false, seq: n })
  })

  it.for(numbers.slice(1))('record %i moved to where the one before was', (n) => {
    const { folder, lines } = smallLog()
    const [one = ''] = lines.splice(n - 1, 1)
    writeLines(folder, lines.toSpliced(n - 2, 0, one))
    expect(named(verify(folder))).toMatchObject({ ok: false, seq: n - 1 })
  })

  it.for(numbers)('cut off before record %i', (n) => {
    const { folder, lines } = smallLog()
    writeLines(folder, lines.slice(0, n - 1))
    expect(named(verify(folder))).toEqual({ ok: false, seq: n, line: n })
  })

  it.for(numbers)('cut off within record %i', (n) => {
    const { folder, lines } = smallLog()
    writeLines(folder, lines.slice(0, n - 1))
    appendBytes(folder, lines[n - 1]?.slice(0, 100) ?? '')
    expect(named(verify(folder))).toMatchObject({ ok: false, seq: n })
    expect(verify(folder).torn).toEqual({ file: '00000001.jsonl', bytes: 100 })
  })
})

it('no byte of a log can be another without being noticed, in the record that it is of', () => {
  const { folder } = smallLog()
  const path = segmentPath(folder, 1)
  const bytes = readFileSync(path)
  const anyByte = fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }))
  fc.assert(
    fc.property(anyByte, ([at, difference]) => {
      const changed = Buffer.from(bytes)
      changed[at] = (bytes[at] as number) ^ difference
      writeFileSync(path, changed)
      const line = bytes.subarray(0, at).filter((byte) => byte === 10).length + 1
      expect(named(verify(folder))).toMatchObject({ ok: false, seq: line })
    }),
    { numRuns: runs(400) },
  )
})

it('no cut is taken for anything but a loss', () => {
  const { folder } = smallLog()
  const path = segmentPath(folder, 1)
  const bytes = readFileSync(path)
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), (length) => {
      writeFileSync(path, bytes)
      truncateSync(path, length)
      const whole = bytes.subarray(0, length).filter((byte) => byte === 10).length
      expect(named(verify(folder))).toMatchObject({ ok: false, seq: whole + 1 })
    }),
    { numRuns: runs(200) },
  )
})

it('lines in any other order are noticed', () => {
  const { folder, lines } = smallLog()
  const anyOrder = fc.shuffledSubarray(lines, { minLength: 0, maxLength: lines.length })
  fc.assert(
    fc.property(anyOrder, (others) => {
      writeLines(folder, others)
      const same = others.length === lines.length && others.every((line, i) => line === lines[i])
      expect(verify(folder).ok).toBe(same)
    }),
    { numRuns: runs(300) },
  )
})

it('a line that is being written is no problem', () => {
  const { folder } = smallLog()
  appendBytes(folder, '{"seq":9,"prev":')
  expect(verify(folder)).toMatchObject({
    ok: true,
    records: RECORDS,
    torn: { file: '00000001.jsonl', bytes: 16 },
  })
})

it('a log with any number of problems is told of in little', () => {
  const { folder } = smallLog()
  appendFileSync(segmentPath(folder, 1), 'no record\n'.repeat(5000))
  const { problems, problemCount } = verify(folder)
  expect([problems.length, problemCount]).toEqual([100, 5000])
})

it('a line without an end that is larger than memory should hold is no record', () => {
  const { folder } = smallLog()
  appendFileSync(segmentPath(folder, 1), `${'x'.repeat(20 * 1024 * 1024)}\n`)
  expect(named(verify(folder))).toEqual({ ok: false, seq: RECORDS + 1, line: RECORDS + 1 })
})
