// Requests that wait at a gateway: few of each machine, and none keeps what it was sent.

import { expect, it } from 'vitest'
import { Bells } from '../../src/fleet/gateway/bells.js'
import { type GatewayRequest, read } from '../../src/fleet/gateway/request.js'

const LONG = 60_000

it('the oldest of too many requests of one machine is answered at once, and those of others wait', async () => {
  const bells = new Bells()
  const done: string[] = []
  const wait = (machine: string, name: string) => {
    const waiter = bells.waiter(machine)
    return waiter.rung(LONG, new AbortController().signal).then(() => {
      done.push(name)
      waiter.end()
    })
  }
  const other = wait('quiet', 'quiet')
  const all = Array.from({ length: 40 }, (_, i) => wait('loud', String(i)))
  await Promise.all(all.slice(0, 24))
  expect(done).toEqual(Array.from({ length: 24 }, (_, i) => String(i)))
  bells.ring('quiet')
  await other
  expect(done.slice(24)).toEqual(['quiet'])
  bells.ring('loud')
  await Promise.all(all)
})

it('a request that was read keeps no body', () => {
  const request = { body: Buffer.from('{"a":1}') } as GatewayRequest
  expect(read(request, (value) => value)).toEqual({ a: 1 })
  expect(request.body).toHaveLength(0)
})
