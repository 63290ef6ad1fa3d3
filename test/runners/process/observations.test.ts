// Events that wait for an observer, and those that are dropped.

import type { Diagnostic, Json } from 'carabiner'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Observations } from '../../../src/runners/process/observations.js'

let sent: Json[]
let takes: number
let reports: Diagnostic[]
let observations: Observations

beforeEach(() => {
  vi.useFakeTimers()
  sent = []
  takes = Infinity
  reports = []
  observations = new Observations({
    send: (one) => takes-- > 0 && sent.push(one) > 0,
    patienceMs: 500,
    report: (d) => reports.push(d),
  })
})

afterEach(() => {
  vi.useRealTimers()
})

const push = (...events: readonly Json[]) => {
  for (const one of events) observations.push(one)
}
const texts = () => reports.map(({ code, text }) => `${code} ${text}`)

describe('before the hello', () => {
  test('they wait, however long it takes, and keep their order', () => {
    push(1, 2)
    vi.advanceTimersByTime(60_000)
    expect(sent).toEqual([])
    observations.open()
    push(3)
    expect([sent, reports]).toEqual([[1, 2, 3], []])
  })

  test('too many do not: that is reported at once, and the number at the end', () => {
    for (let i = 0; i < 1003; i++) push(i)
    expect(texts()).toEqual([
      'observer-dropped events for it are dropped: too many events arrived before it had started',
    ])
    observations.open()
    expect(sent.length).toBe(1000)
    expect(texts().slice(1)).toEqual(['observer-dropped it was not told of 3 events'])
  })

  test('nor do large ones, beyond a mebibyte', () => {
    push('x'.repeat(600_000), 'y'.repeat(600_000), 'z')
    observations.open()
    expect(sent.map((one) => String(one)[0])).toEqual(['x', 'z'])
  })
})

describe('while it does not read', () => {
  test('they wait for a while, and go on in order', () => {
    takes = 0
    observations.open()
    push(1, 2)
    takes = 1
    observations.flush()
    push(3)
    expect(sent).toEqual([1])
    takes = Infinity
    observations.flush()
    expect([sent, reports]).toEqual([[1, 2, 3], []])
  })

  test('they are dropped when their time is over, the oldest first', () => {
    takes = 0
    observations.open()
    push(1)
    vi.advanceTimersByTime(300)
    push(2)
    vi.advanceTimersByTime(200)
    takes = Infinity
    observations.flush()
    expect(sent).toEqual([2])
    expect(texts()).toEqual(['observer-dropped events for it are dropped: it does not read them in time'])
    observations.close('closed')
    expect(texts().slice(1)).toEqual(['observer-dropped it was not told of 1 event'])
  })

  test('none of them keeps a timer when all are gone', async () => {
    takes = 0
    observations.open()
    push(1)
    const empty = observations.empty()
    vi.advanceTimersByTime(500)
    await empty
    expect(vi.getTimerCount()).toBe(0)
  })
})

test('without a process they are dropped, and counted until there is one', () => {
  observations.refuse('it is down')
  observations.refuse('it is down')
  expect(texts()).toEqual(['observer-dropped events for it are dropped: it is down'])
  push(1)
  observations.close('it could not be started')
  expect(texts().slice(1)).toEqual(['observer-dropped it was not told of 3 events'])
  observations.close('it could not be started')
  expect(reports.length).toBe(2)
})
