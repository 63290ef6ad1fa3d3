// Connections are kept from one call to the next; one that was closed meanwhile is replaced, and nothing is ever sent twice.

import { setImmediate as nextRound } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DENY, Station } from './station.js'

let station: Station

beforeEach(() => {
  station = new Station()
})

afterEach(async () => {
  await station.close()
})

const answered = `HTTP/1.1 200 OK\r\nContent-Length: ${DENY.length}\r\n\r\n${DENY}`

test('consecutive calls share a connection, even of different hooks', async () => {
  const url = await station.says(DENY)
  for (let i = 0; i < 5; i++) await station.ask(`${url}/${i % 2}`)
  expect(station.seen).toHaveLength(5)
  expect(station.connections).toBe(1)
})

test('calls at once have connections of their own', async () => {
  const waiting: (() => void)[] = []
  const url = await station.serve((_, response) => {
    waiting.push(() => response.end(DENY))
    if (waiting.length === 8) for (const one of waiting) one()
  })
  const answers = await Promise.all(Array.from({ length: 8 }, () => station.ask(url)))
  expect(answers).toHaveLength(8)
  expect(station.connections).toBe(8)
})

test('a kept connection that was closed in the meantime is replaced without a failure', async () => {
  let asked = 0
  let closeFirst = () => {}
  const url = await station.raw((socket) => {
    asked++
    socket.write(answered)
    if (asked === 1) closeFirst = () => socket.destroy()
  })
  await station.ask(url)
  const later = performance.now() + 60_000
  const clock = vi.spyOn(performance, 'now').mockReturnValue(later)
  closeFirst() // at once for the system; Node hears of it in the next round of its loop
  const answer = station.ask(url)
  expect(await answer).toMatchObject({ action: 'deny' })
  clock.mockRestore()
  expect(asked).toBe(2)
  expect(station.connections).toBe(2)
})

test('a request that was written is not written again', async () => {
  let asked = 0
  const url = await station.raw((socket) => {
    asked++
    if (asked === 1) socket.write(answered)
    else socket.resetAndDestroy()
  })
  await station.ask(url)
  await nextRound()
  expect(await station.failure(url)).toMatch(/^HOOK_FAILED: .*ECONNRESET/)
  expect(asked).toBe(2)
  expect(station.connections).toBe(1)
})

test('what a server sends unasked is not the answer to the next call', async () => {
  let asked = 0
  const approve = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'
  const url = await station.raw((socket) => {
    asked++
    socket.write(asked === 1 ? answered + approve : answered)
  })
  await station.ask(url)
  await nextRound()
  expect(await station.ask(url)).toMatchObject({ action: 'deny' })
})

test('a connection on which an answer was not read to its end is not used again', async () => {
  let asked = 0
  const url = await station.raw((socket) => {
    asked++
    socket.write(
      asked === 1 ? 'HTTP/1.1 200 OK\r\nContent-Length: 50\r\nContent-Encoding: br\r\n\r\n{' : answered,
    )
  })
  expect(await station.failure(url)).toMatch(/compressed/)
  expect(await station.ask(url)).toMatchObject({ action: 'deny' })
  expect(station.connections).toBe(2)
})
