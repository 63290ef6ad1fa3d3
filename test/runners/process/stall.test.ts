// A process that does not read is noticed.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Stall } from '../../../src/runners/process/child-pipes.js'

const stream = { bytesWritten: 0, writableLength: 0 }
const onStall = vi.fn()

beforeEach(() => {
  vi.useFakeTimers()
  Object.assign(stream, { bytesWritten: 100, writableLength: 100 })
  onStall.mockClear()
})

afterEach(() => {
  vi.useRealTimers()
})

test('when it took nothing of what was written', () => {
  new Stall(stream, onStall).watch()
  vi.advanceTimersByTime(9_999)
  expect(onStall).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(onStall).toHaveBeenCalledOnce()
})

test('but not while it takes some of it, and not when it took all', () => {
  new Stall(stream, onStall).watch()
  stream.writableLength = 60
  vi.advanceTimersByTime(10_000)
  expect(onStall).not.toHaveBeenCalled()
  stream.writableLength = 0
  vi.advanceTimersByTime(60_000)
  expect(onStall).not.toHaveBeenCalled()
  expect(vi.getTimerCount()).toBe(0)
})

test('if it read some data and then stopped', () => {
  new Stall(stream, onStall).watch()
  stream.writableLength = 60
  vi.advanceTimersByTime(20_000)
  expect(onStall).toHaveBeenCalledOnce()
})

test('and an idle or ended process is not watched', () => {
  const stall = new Stall(stream, onStall)
  stall.watch()
  stall.watch()
  expect(vi.getTimerCount()).toBe(1)
  stall.end()
  stream.writableLength = 0
  stall.watch()
  expect(vi.getTimerCount()).toBe(0)
})
