// Files of tests share a process: each must leave the environment, the folder, the clock and the globals as they were.

import { afterAll, beforeAll, expect, vi } from 'vitest'
import { unwatch, Watched } from '../src/core/base/deadlines.js'

const { env: shared } = process
const { setTimeout: timer } = globalThis
/** Watches nothing. */
class Nobody extends Watched {
  overdue(): void {}
}
let env: NodeJS.ProcessEnv = {}
let folder = ''

beforeAll(() => {
  env = { ...process.env }
  folder = process.cwd()
})

afterAll(() => {
  // A spy on a fake timer puts the fake back.
  vi.restoreAllMocks()
  vi.useRealTimers()
  // The timer of all deadlines may be a fake one that never fires. Nobody waits for it any more, so it goes.
  unwatch(new Nobody(), -Infinity)
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
  vi.resetConfig()
  const left = { env: { ...process.env }, folder: process.cwd() }
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  Object.assign(process.env, env)
  process.chdir(folder)
  const isReal = globalThis.setTimeout === timer
  globalThis.setTimeout = timer
  expect(isReal, 'the timers are still fake').toBe(true)
  // Vitest and Node go on with the first one.
  expect(process.env, 'process.env was replaced by another object').toBe(shared)
  expect(left, 'what this file of tests changed and did not restore').toEqual({ env, folder })
})
