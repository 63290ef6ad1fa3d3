// A plugin being moved, killed at every step and several at once: it is there whole or not at all, and nothing is left over.

import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../../src/config/load.js'
import { ended } from '../../cli/program.js'
import { withDriver } from '../driver.js'
import { treeOf, withHome } from '../plugin-sources.js'

const bench = withHome()
const driver = bench.path('driver.mjs')

withDriver(new URL('./move-driver.ts', import.meta.url), driver)

const env = () => ({ ...process.env, HOME: bench.home, CARABINER_HOME: bench.path('carabiner') })

/** The steps it took. Undefined if it was killed. */
function run(args: readonly string[], at = ''): readonly string[] | undefined {
  const all = [driver, ...args, at]
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, all, {
    env: env(),
    encoding: 'utf8',
  })
  if (signal === 'SIGKILL') return undefined
  expect(status, stderr).toBe(0)
  return JSON.parse(stdout) as string[]
}

const STEPS = ['begun', 'staged', 'placed', 'done']
const PLACES = [
  ['carabiner', () => join(bench.project, '.amplifier', 'hooks')],
  ['claude-code', () => bench.path('out')],
] as const

beforeEach(() => {
  for (const path of [join(bench.project, '.amplifier'), bench.path('carabiner'), bench.path('out')])
    rmSync(path, { recursive: true, force: true })
  bench.plugin('guard')
})

describe.each(PLACES)('to %s', (direction, into) => {
  const args = () => [direction, bench.path('guard'), into()]

  it.each(STEPS)('killed at %s', async (at) => {
    expect(run(args(), at)).toBeUndefined()
    const isNew = STEPS.indexOf(at) >= STEPS.indexOf('placed')
    expect(existsSync(join(into(), 'guard'))).toBe(isNew)
    if (isNew) expect(treeOf(join(into(), 'guard'))).toEqual(treeOf(bench.path('guard')))
    const { specs } = await loadConfig({ projectDir: bench.project })
    expect(specs).toHaveLength(isNew && direction === 'carabiner' ? 1 : 0)
    // The next process finishes the work, and leaves what others brought.
    mkdirSync(join(into(), '.staging-0123456789abcdef'), { recursive: true })
    bench.plugin('next')
    expect(run([direction, bench.path('next'), into()])).toEqual(STEPS)
    const found = isNew ? ['guard', 'next'] : ['next']
    expect(readdirSync(into()).sort()).toEqual(['.staging-0123456789abcdef', ...found])
    expect(readdirSync(join(bench.path('carabiner'), 'state', 'plugins')).join()).not.toContain('under-way')
  })

  it('several at once: one after the other, and one of a name', async () => {
    const log = bench.file('steps', '')
    const runs = ['a', 'b', 'c', 'c', 'c'].map((name, i) => {
      const source = bench.plugin(`${name}-${i}`, { says: name, body: `echo ${i}` })
      return ended(
        spawn(process.execPath, [driver, direction, source, into(), '', name], {
          env: { ...env(), STEPS: log },
        }),
      )
    })
    const results = await Promise.all(runs)
    expect(results.filter(({ code }) => code === 0)).toHaveLength(3)
    for (const { stderr } of results.filter(({ code }) => code !== 0))
      expect(stderr).toContain('already exists')
    expect(readdirSync(into()).sort()).toEqual(['a', 'b', 'c'])
    const who = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[0])
    const changes = who.filter((pid, i) => pid !== who[i - 1])
    expect(changes).toEqual([...new Set(who)])
  })
})
