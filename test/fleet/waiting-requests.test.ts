// Requests that wait at a gateway: few of each machine, and none keeps what it was sent.

import { afterEach, expect, it, vi } from 'vitest'
import { Bells } from '../../src/fleet/gateway/bells.js'
import { type GatewayRequest, read } from '../../src/fleet/gateway/request.js'

const LONG = 60_000

afterEach(() => vi.useRealTimers())

it('more than sixteen requests of one machine wait for a while, and no others are sent away for them', async () => {
  vi.useFakeTimers()
  const bells = new Bells()
  const done: string[] = []
  const wait = (machine: string, name: string) => {
    const waiter = bells.waiter(machine)
    return waiter.rung(LONG, new AbortController().signal).then(() => {
      done.push(name)
      waiter.end()
    })
  }
  const names = Array.from({ length: 40 }, (_, i) => String(i))
  const all = [wait('quiet', 'quiet'), ...names.map((name) => wait('loud', name))]
  await vi.advanceTimersByTimeAsync(4999)
  expect(done).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(done).toEqual(names.slice(16))
  bells.ring('loud')
  await vi.advanceTimersByTimeAsync(0)
  expect(done).toEqual([...names.slice(16), ...names.slice(0, 16)])
  bells.ring('quiet')
  await Promise.all(all)
})

it('a request that was read keeps no body', () => {
  const request = { body: Buffer.from('{"a":1}') } as GatewayRequest
  expect(read(request, (value) => value)).toEqual({ a: 1 })
  expect(request.body).toHaveLength(0)
})
