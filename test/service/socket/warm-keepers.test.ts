// Which warm processes the service keeps, and when it ends them.

import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { WarmKeepers } from '../../../src/service/socket/warm-keepers.js'
import { until } from '../../runners/until.js'

/** More than it keeps. */
const MANY = 40

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'carabiner keepers '))
  vi.stubEnv('CARABINER_HOME', home)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(home, { recursive: true })
})

/** A call that ends when it is told to. */
function begun() {
  let end = () => {}
  const over = new Promise<void>((resolve) => {
    end = resolve
  })
  return { over, end }
}

function kept() {
  let isClosed = false
  return {
    get isClosed() {
      return isClosed
    },
    async close() {
      isClosed = true
    },
  }
}

const ended = Promise.resolve()

describe('a keeper that had to make room', () => {
  test('closes what a call that holds it starts later, once that call is over', async () => {
    const keepers = new WarmKeepers()
    const { over, end } = begun()
    const keeper = keepers.of('slow', over)
    for (let i = 0; i < MANY; i++) keepers.of(`other ${i}`, ended)
    const late = keeper.keep('process', kept)
    await Promise.resolve()
    expect(late.isClosed).toBe(false)
    end()
    await until('it is closed', () => late.isClosed)
  })

  test('does not wait for calls of other places', async () => {
    const keepers = new WarmKeepers()
    const { over, end } = begun()
    keepers.of('of a long call', over)
    const one = keepers.of('quick', ended).keep('process', kept)
    for (let i = 0; i < MANY; i++) keepers.of(`other ${i}`, ended)
    await until('it is closed', () => one.isClosed)
    end()
  })
})

test('a decision about trust ends processes, but not under a call', async () => {
  const keepers = new WarmKeepers()
  const { over, end } = begun()
  const one = keepers.of('here', over).keep('process', kept)
  mkdirSync(join(home, 'trust'))
  keepers.look()
  const next = keepers.of('here', ended)
  expect(next.keep('process', kept)).not.toBe(one)
  expect(one.isClosed).toBe(false)
  end()
  await until('it is closed', () => one.isClosed)
})

test('a decision about one unit of several in a project ends processes, too', async () => {
  const records = join(home, 'trust', 'project')
  mkdirSync(records, { recursive: true })
  for (const name of ['one', 'two']) writeFileSync(join(records, name), '')
  utimesSync(records, 1, 1)
  const keepers = new WarmKeepers()
  const one = keepers.of('here', ended).keep('process', kept)
  keepers.look()
  expect(one.isClosed).toBe(false)
  rmSync(join(records, 'two'))
  keepers.look()
  await until('it is closed', () => one.isClosed)
})

test('its end waits for calls, and then for processes', async () => {
  const keepers = new WarmKeepers()
  const { over, end } = begun()
  const one = keepers.of('here', over).keep('process', kept)
  const closed = keepers.close()
  end()
  await closed
  expect(one.isClosed).toBe(true)
})
