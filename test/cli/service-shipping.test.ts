// While the service runs, it ships the records of its user each minute, without an event.

import { afterEach, expect, it, vi } from 'vitest'
import { runService } from '../../src/cli/service/run-service.js'
import { shipSoon } from '../../src/cli/ship-soon.js'

vi.mock('../../src/cli/ship-soon.js', () => ({ shipSoon: vi.fn() }))
vi.mock('../../src/service/socket/listener.js', () => ({ listen: () => new Promise(() => {}) }))

const before = {
  env: { ...process.env },
  umask: process.umask(),
  listeners: process.listeners('uncaughtException'),
}

afterEach(() => {
  vi.useRealTimers()
  for (const name of Object.keys(process.env)) if (!(name in before.env)) delete process.env[name]
  Object.assign(process.env, before.env)
  process.umask(before.umask)
  for (const one of process.listeners('uncaughtException'))
    if (!before.listeners.includes(one)) process.off('uncaughtException', one)
})

it('ships each minute, from the home that it was started for', async () => {
  vi.useFakeTimers()
  void runService('/nowhere', 'name', ['CARABINER_HOME=/home/ann/data'])
  await vi.advanceTimersByTimeAsync(59_999)
  expect(shipSoon).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(shipSoon).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(180_000)
  expect(shipSoon).toHaveBeenCalledTimes(4)
  expect(shipSoon).toHaveBeenLastCalledWith(expect.objectContaining({ CARABINER_HOME: '/home/ann/data' }))
})
