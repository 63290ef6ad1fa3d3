import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { hurry, unwatch, Watched, watch } from '../../src/core/base/deadlines.js'

/** Writes down when it was overdue, and ends its watch. */
class Waiting extends Watched {
  readonly told: number[] = []

  constructor(inMs: number) {
    super()
    this.dueAt = performance.now() + inMs
    watch(this)
    hurry(this.dueAt)
  }

  overdue(now: number): void {
    this.told.push(now)
    this.leave()
  }

  leave(): void {
    this.dueAt = Infinity
    unwatch(this, performance.now())
  }
}

let start = 0

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  // A turn of the event loop takes no time on this clock.
  vi.stubGlobal('setImmediate', (work: () => void) => work())
  start = performance.now()
})

afterEach(() => {
  if (vi.isFakeTimers()) vi.runAllTimers()
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

describe('a deadline', () => {
  it.each([0, 3, 10, 11, 500, 60_000])('in %d ms is kept: not before, not after', (ms) => {
    const waiting = new Waiting(ms)
    if (ms > 0) vi.advanceTimersByTime(ms - 1)
    expect(waiting.told).toEqual([])
    vi.advanceTimersByTime(1)
    expect(waiting.told).toHaveLength(1)
    expect((waiting.told[0] ?? 0) - start).toBeGreaterThanOrEqual(ms)
  })

  it('that is met never fires', () => {
    const waiting = new Waiting(50)
    vi.advanceTimersByTime(49)
    waiting.leave()
    vi.advanceTimersByTime(1000)
    expect(waiting.told).toEqual([])
  })

  it('beyond what a timer can hold is kept, and asks no timer for more than it can hold', () => {
    const { setTimeout: fake } = globalThis
    const asked = vi.fn(fake)
    // A spy on it would put it back once more, when the timers are real again.
    vi.stubGlobal('setTimeout', asked)
    const waiting = new Waiting(2 ** 31 + 1000)
    vi.advanceTimersByTime(2 ** 31)
    expect(waiting.told).toEqual([])
    vi.advanceTimersByTime(1000)
    expect(waiting.told).toHaveLength(1)
    const delays = asked.mock.calls.map(([, delay]) => delay ?? 0)
    expect(Math.max(...delays)).toBe(2 ** 31 - 1)
    vi.unstubAllGlobals()
  })

  it('that never comes needs no timer', () => {
    const waiting = new Waiting(Infinity)
    expect(vi.getTimerCount()).toBe(0)
    waiting.leave()
  })
})

describe('several deadlines', () => {
  it('are each kept, whatever the order they came in', () => {
    const waiting = [300, 100, 200, 100].map((ms) => new Waiting(ms))
    const told = () => waiting.map((one) => one.told.length)
    vi.advanceTimersByTime(99)
    expect(told()).toEqual([0, 0, 0, 0])
    vi.advanceTimersByTime(1)
    expect(told()).toEqual([0, 1, 0, 1])
    vi.advanceTimersByTime(100)
    expect(told()).toEqual([0, 1, 1, 1])
    vi.advanceTimersByTime(100)
    expect(told()).toEqual([1, 1, 1, 1])
  })

  it('share one timer', () => {
    const waiting = [300, 100, 200].map((ms) => new Waiting(ms))
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(50)
    expect(vi.getTimerCount()).toBe(1)
    for (const one of waiting) one.leave()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('go on when the first, the last or one in between is met', () => {
    for (const gone of [0, 1, 2]) {
      const waiting = [100, 200, 300].map((ms) => new Waiting(ms))
      waiting[gone]?.leave()
      vi.advanceTimersByTime(300)
      expect(waiting.map((one) => one.told.length)).toEqual([0, 1, 2].map((i) => (i === gone ? 0 : 1)))
    }
  })

  it('a new one that is due earlier is kept as well', () => {
    const late = new Waiting(10_000)
    vi.advanceTimersByTime(5000)
    const early = new Waiting(20)
    vi.advanceTimersByTime(19)
    expect(early.told).toEqual([])
    vi.advanceTimersByTime(1)
    expect([early.told.length, late.told.length]).toEqual([1, 0])
    vi.advanceTimersByTime(4980)
    expect(late.told).toHaveLength(1)
  })

  it('one that is overdue may move its deadline on', () => {
    class Patient extends Waiting {
      override overdue(now: number): void {
        this.told.push(now)
        if (this.told.length === 3) this.leave()
        else this.dueAt = now + 100
      }
    }
    const patient = new Patient(100)
    for (const times of [1, 2, 3, 3]) {
      vi.advanceTimersByTime(100)
      expect(patient.told).toHaveLength(times)
    }
  })

  it('one that is overdue may end the watch of another, which is then not called', () => {
    class Selfish extends Waiting {
      other: Waiting | undefined
      override overdue(now: number): void {
        super.overdue(now)
        this.other?.leave()
      }
    }
    const rivals = [new Selfish(100), new Selfish(100)] as const
    rivals[0].other = rivals[1]
    rivals[1].other = rivals[0]
    vi.advanceTimersByTime(200)
    expect(rivals[0].told.length + rivals[1].told.length).toBe(1)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('in a process that was not running when its timer was due', () => {
  /** The clock goes on, but no timer fires. */
  function suspend(ms: number): void {
    const { now } = performance
    performance.now = () => now.call(performance) + ms
  }

  it.each([
    [100, 0],
    [201, 201],
    [1000, 1000],
    [3_600_000, 5000],
  ])('a deadline that is noticed %d ms late moves on by %d ms', (late, more) => {
    const waiting = new Waiting(50)
    vi.advanceTimersByTime(49)
    suspend(late)
    vi.advanceTimersByTime(more)
    expect(waiting.told).toEqual([])
    vi.advanceTimersByTime(1)
    expect(waiting.told).toHaveLength(1)
  })

  it('it moves on only once, so that a hook that hangs is given up', () => {
    const waiting = new Waiting(50)
    vi.advanceTimersByTime(49)
    suspend(1000)
    vi.advanceTimersByTime(1000)
    suspend(1000)
    vi.advanceTimersByTime(1)
    expect(waiting.told).toHaveLength(1)
  })

  it('a deadline that is still to come stays', () => {
    const [due, later] = [new Waiting(50), new Waiting(2000)]
    vi.advanceTimersByTime(49)
    suspend(1000)
    vi.advanceTimersByTime(951)
    expect([due.told.length, later.told.length]).toEqual([0, 1])
  })

  it('an answer that has arrived is read before the deadline counts', async () => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const near = connect((server.address() as AddressInfo).port, '127.0.0.1')
    const [[far]] = (await Promise.all([once(server, 'connection'), once(near, 'connect')])) as [
      [Socket],
      unknown,
    ]
    const waiting = new Waiting(20)
    const read = once(near, 'data').then(() => waiting.leave())
    far.write('an answer')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60)
    await read
    for (const one of [near, far]) one.destroy()
    server.close()
    expect(waiting.told).toEqual([])
  })
})
