// Deadlines and a clock that people set: what is over stays over.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Deadline, isOver, momentIn } from '../../src/files/moment.js'
import { runs } from '../property/runs.js'

const START = Date.parse('2030-01-01T12:00:00Z')
const HOUR = 3_600_000

function folder(): string {
  const own = mkdtempSync(join(tmpdir(), 'carabiner-moment-'))
  onTestFinished(() => rmSync(own, { recursive: true, force: true }))
  return own
}

function deadlineAt(dataDir: string, now: number, ms: number): Deadline {
  return { ends: new Date(now + ms).toISOString(), era: momentIn(dataDir, now).era }
}

describe('A6: a deadline', () => {
  it('that was seen to be over is over for ever, and a new one lasts at most its time', () => {
    const move = fc.integer({ min: -5 * HOUR, max: 5 * HOUR })
    const steps = fc.array(fc.record({ move, isRemoved: fc.boolean() }), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(steps, (moves) => {
        const dataDir = mkdtempSync(join(tmpdir(), 'carabiner-moment-'))
        try {
          let now = START
          const all: { readonly deadline: Deadline; ran: number; over: boolean }[] = []
          for (const { move, isRemoved } of moves) {
            all.push({ deadline: deadlineAt(dataDir, now, HOUR), ran: 0, over: false })
            now += move
            if (isRemoved) rmSync(join(dataDir, 'clock'), { recursive: true })
            for (const one of all) {
              // Time that really passed: the clock only jumps back, and runs ahead.
              one.ran += Math.max(0, move)
              const over = isOver(one.deadline, momentIn(dataDir, now))
              if (one.over) expect(over).toBe(true)
              if (one.ran >= HOUR) expect(over).toBe(true)
              one.over ||= over
            }
          }
        } finally {
          rmSync(dataDir, { recursive: true, force: true })
        }
      }),
      { numRuns: runs(300) },
    )
  })

  it('counts its time where the clock is right', () => {
    const dataDir = folder()
    const deadline = deadlineAt(dataDir, START, HOUR)
    expect(isOver(deadline, momentIn(dataDir, START + HOUR - 1))).toBe(false)
    expect(isOver(deadline, momentIn(dataDir, START + HOUR))).toBe(true)
  })

  it('without an era, as 0.1.0 wrote it, is ended by time', () => {
    const dataDir = folder()
    const old = { ends: new Date(START + HOUR).toISOString() }
    expect(isOver(old, momentIn(dataDir, START))).toBe(false)
    expect(isOver(old, momentIn(dataDir, START + HOUR))).toBe(true)
  })

  it('that was over stays over when the file of the latest time is removed, or changed in any field', () => {
    const changes: readonly ((mark: { latest: number; era: number }) => object)[] = [
      ({ era }) => ({ latest: START, era }),
      ({ latest, era }) => ({ latest, era: era + 1 }),
      ({ latest }) => ({ latest, era: 0 }),
    ]
    for (const change of [undefined, ...changes]) {
      const dataDir = folder()
      const deadline = deadlineAt(dataDir, START, HOUR)
      expect(isOver(deadline, momentIn(dataDir, START + HOUR))).toBe(true)
      const clock = join(dataDir, 'clock')
      const [name = ''] = readdirSync(clock).filter((one) => one.endsWith('.json'))
      const { format, value } = JSON.parse(readFileSync(join(clock, name), 'utf8'))
      rmSync(join(clock, name))
      if (change)
        writeFileSync(
          join(clock, name),
          JSON.stringify({ format, value: { ...value, mark: change(value.mark) } }),
        )
      expect(isOver(deadline, momentIn(dataDir, START))).toBe(true)
    }
  })
})

describe('a clock that answers', () => {
  it.each([Number.NaN, Infinity, -Infinity, -1, 0.5, 1e300, START + 0.25])('%s does no harm', (now) => {
    const dataDir = folder()
    expect(Number.isSafeInteger(momentIn(dataDir, now).now)).toBe(true)
    expect(Number.isSafeInteger(momentIn(dataDir, now).now)).toBe(true)
  })
})

describe('the latest time', () => {
  it('is written every ten seconds at most', () => {
    const dataDir = folder()
    const versions = () => readdirSync(join(dataDir, 'clock')).join()
    momentIn(dataDir, START)
    const first = versions()
    for (let ms = 0; ms <= 10_000; ms += 1000) momentIn(dataDir, START + ms)
    expect(versions()).toBe(first)
    momentIn(dataDir, START + 10_001)
    expect(versions()).not.toBe(first)
  })

  it('that cannot be read is told once, and ends what was open', () => {
    const dataDir = folder()
    momentIn(dataDir, START)
    const deadline = deadlineAt(dataDir, START - HOUR, HOUR)
    writeFileSync(join(dataDir, 'clock', '99.json'), 'oops')
    expect(() => momentIn(dataDir, START)).toThrow(/the latest time starts fresh/)
    expect(isOver(deadline, momentIn(dataDir, START - HOUR))).toBe(true)
  })

  it('of a newer version is refused, and left as it is', () => {
    const dataDir = folder()
    momentIn(dataDir, START)
    writeFileSync(join(dataDir, 'clock', '99.json'), '{"format":2}')
    for (let i = 0; i < 2; i++) expect(() => momentIn(dataDir, START)).toThrow(/newer version of Carabiner/)
  })
})
