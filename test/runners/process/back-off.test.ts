// When a process that ended is started again.

import { describe, expect, test } from 'vitest'
import { BackOff } from '../../../src/runners/process/back-off.js'

const RESTART = { delay: 1, maxDelay: 5, attempts: 4 }

describe('a process that dies again and again', () => {
  test('is started at once the first time', () => {
    expect(new BackOff(RESTART).wait(0)).toBe(0)
  })

  test('waits twice as long each time, up to the longest pause, and then is left alone', () => {
    const backOff = new BackOff(RESTART)
    const waits = [1, 2, 3, 4, 5].map((now) => {
      backOff.ended(0, now)
      return backOff.wait(now)
    })
    expect(waits).toEqual([1000, 2000, 4000, 5000, Infinity])
    expect(backOff.ends).toBe(5)
  })

  test('may be started when the pause is over', () => {
    const backOff = new BackOff(RESTART)
    backOff.ended(0, 100)
    expect([backOff.wait(600), backOff.wait(1100), backOff.wait(9999)]).toEqual([500, 0, 0])
  })

  test('starts a new row when it lived as long as the longest pause, and not before', () => {
    const backOff = new BackOff(RESTART)
    backOff.ended(0, 0)
    backOff.ended(4999, 0)
    expect(backOff.ends).toBe(2)
    backOff.ended(5000, 0)
    expect([backOff.ends, backOff.wait(0)]).toEqual([1, 1000])
  })

  test('comes to the end of its attempts also where no pause is wanted', () => {
    const backOff = new BackOff({ delay: 0, maxDelay: 0, attempts: 1 })
    backOff.ended(10, 0)
    expect(backOff.wait(0)).toBe(0)
    backOff.ended(10, 0)
    expect(backOff.wait(0)).toBe(Infinity)
  })

  test('is never started again without attempts', () => {
    const backOff = new BackOff({ ...RESTART, attempts: 0 })
    backOff.ended(1e9, 0)
    expect(backOff.wait(1e9)).toBe(Infinity)
  })

  test('is forgiven', () => {
    const backOff = new BackOff({ ...RESTART, attempts: 0 })
    backOff.ended(0, 0)
    backOff.forgive()
    expect([backOff.wait(0), backOff.ends]).toEqual([0, 0])
  })
})
