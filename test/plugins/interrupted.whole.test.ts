// Killed at every step, and two at once: afterwards the old or the new version is there, never a mix, and nothing is left over.

import { spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/load.js'
import { resolveSource } from '../../src/plugins/catalog/resolve.js'
import { installPrepared, isTrusted, preparePlugin } from '../../src/plugins/install-plugin.js'
import { finishInterrupted, listInstalled } from '../../src/plugins/installed.js'
import { readLock } from '../../src/plugins/lock-file.js'
import { acceptedSource } from '../../src/plugins/sources/accepted-source.js'
import { parseSource } from '../../src/plugins/sources/source.js'
import { lockPath } from '../../src/plugins/target.js'
import { trustStore } from '../../src/trust/trust-store.js'
import { ended, programFile, withProgram } from '../cli/program.js'
import { withDriver } from './driver.js'
import { treeOf, withHome } from './plugin-sources.js'

const bench = withHome()
const driver = bench.path('driver.mjs')

withDriver(new URL('./crash-driver.ts', import.meta.url), driver)
withProgram()

const env = () => ({ ...process.env, CARABINER_HOME: bench.path('carabiner') })

/** The steps it took. Undefined if it was killed. */
function run(what: string, source = '', at = ''): readonly string[] | undefined {
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    [driver, what, bench.project, source, at],
    { env: env(), encoding: 'utf8' },
  )
  if (signal === 'SIGKILL') return undefined
  expect(status, stderr).toBe(0)
  return JSON.parse(stdout) as string[]
}

const hooks = () => join(bench.project, '.amplifier', 'hooks')
const text = () => treeOf(join(hooks(), 'guard'))['guard.sh']

beforeEach(() => {
  rmSync(join(bench.project, '.amplifier'), { recursive: true, force: true })
  rmSync(bench.path('carabiner'), { recursive: true, force: true })
  rmSync(bench.path('guard'), { recursive: true, force: true })
  bench.plugin('guard', { body: 'echo old' })
})

const INSTALL_STEPS = ['begun', 'staged', 'decided', 'placed', 'done', 'accepted', 'trusted']
const UPDATE_STEPS = ['begun', 'staged', 'decided', 'room', 'aside', 'placed', 'done', 'accepted', 'trusted']
const UNINSTALL_STEPS = ['begun', 'aside', 'forgotten', 'unlocked', 'done']

it('these are the steps', () => {
  expect(run('install', bench.path('guard'))).toEqual(INSTALL_STEPS)
  bench.plugin('guard', { body: 'echo new' })
  expect(run('update')).toEqual(UPDATE_STEPS)
  expect(run('uninstall')).toEqual(UNINSTALL_STEPS)
})

/** After somebody has changed something there, no unfinished work is left. */
async function looked() {
  await finishInterrupted(bench.here)
  const plugins = listInstalled({ projectDir: bench.project }).plugins
  const left = existsSync(hooks()) ? readdirSync(hooks()).filter((name) => name.startsWith('.')) : []
  expect(left).toEqual([])
  return plugins
}

describe('killed while it installs', () => {
  it.each(INSTALL_STEPS)('at %s', async (at) => {
    expect(run('install', bench.path('guard'), at)).toBeUndefined()
    const plugins = await looked()
    const isNew = INSTALL_STEPS.indexOf(at) >= INSTALL_STEPS.indexOf('decided')
    expect(plugins.map(({ name, state }) => [name, state])).toEqual(isNew ? [['guard', 'ok']] : [])
    expect(readLock(lockPath(bench.here)).has('guard')).toBe(isNew)
    // Running the same command again ends as the first would have.
    type('install', bench.path('guard'), '--here', '--yes')
    expect((await looked()).map(({ name, state }) => [name, state])).toEqual([['guard', 'ok']])
    expect(await isTrusted('guard', bench.here)).toBe(true)
    expect(acceptedSource(bench.here, 'guard')).toMatchObject({ source: bench.path('guard') })
  })
})

/** Runs the real program. */
function type(...args: readonly string[]): void {
  const { status, stderr } = spawnSync(process.execPath, [programFile(), ...args], {
    cwd: bench.project,
    env: { ...env(), HOME: bench.home },
    encoding: 'utf8',
  })
  expect(status, stderr).toBe(0)
}

describe('killed while it replaces', () => {
  it.each(UPDATE_STEPS)('at %s', async (at) => {
    run('install', bench.path('guard'))
    bench.plugin('guard', { body: 'echo new' })
    bench.file('guard/added.txt', 'x')
    expect(run('update', '', at)).toBeUndefined()
    // Before anything is finished, the hook is there for every event, old or new.
    expect((await loadConfig({ projectDir: bench.project })).specs).toHaveLength(1)
    expect((await looked()).map(({ name, state }) => [name, state])).toEqual([['guard', 'ok']])
    const isNew = UPDATE_STEPS.indexOf(at) >= UPDATE_STEPS.indexOf('decided')
    expect(text()).toContain(isNew ? 'echo new' : 'echo old')
    expect('added.txt' in treeOf(join(hooks(), 'guard'))).toBe(isNew)
    expect(await isTrusted('guard', bench.here)).toBe(!isNew || at === 'trusted')
  })
})

describe('killed while it removes', () => {
  it.each(UNINSTALL_STEPS)('at %s', async (at) => {
    run('install', bench.path('guard'))
    expect(run('uninstall', '', at)).toBeUndefined()
    const plugins = await looked()
    const isOld = at === 'begun'
    expect(plugins.map(({ name, state }) => [name, state])).toEqual(isOld ? [['guard', 'ok']] : [])
    expect(trustStore().records()).toHaveLength(isOld ? 1 : 0)
    expect(Object.keys(treeOf(bench.project)).length > 0).toBe(isOld)
  })
})

describe('two at once', () => {
  it('both plugins are installed, and both are in the lock file', async () => {
    const sources = ['a', 'b', 'c', 'd'].map((name) => bench.plugin(name))
    const runs = sources.map((source) =>
      ended(
        spawn(process.execPath, [driver, 'install', bench.project, source, '', basename(source)], {
          env: env(),
        }),
      ),
    )
    for (const { code, stderr } of await Promise.all(runs)) expect(code, stderr).toBe(0)
    const plugins = await looked()
    expect(plugins.map(({ name, state }) => [name, state])).toEqual(
      ['a', 'b', 'c', 'd'].map((name) => [name, 'ok']),
    )
  })

  it('one after the other', async () => {
    const log = bench.file('steps', '')
    const runs = ['a', 'b'].map((name) => {
      const args = [driver, 'install', bench.project, bench.plugin(name), '', name]
      return ended(spawn(process.execPath, args, { env: { ...env(), STEPS: log, LINGER: 'staged' } }))
    })
    for (const { code, stderr } of await Promise.all(runs)) expect(code, stderr).toBe(0)
    // Trusting a plugin does not need the mutex.
    const names = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .filter((line) => !line.endsWith(' trusted'))
      .map((line) => line.split(' ')[0])
    expect(names).toEqual([...names].sort((x, y) => (x === y ? 0 : x === names[0] ? -1 : 1)))
  })

  it('with the same name: one is installed completely and the others are refused', async () => {
    const bodies = ['echo 1', 'echo 2', 'echo 3']
    const runs = bodies.map((body, i) => {
      const source = bench.plugin(`same-${i}`, { body })
      return ended(spawn(process.execPath, [driver, 'install', bench.project, source], { env: env() }))
    })
    const results = await Promise.all(runs)
    expect(results.filter(({ code }) => code === 0)).toHaveLength(1)
    for (const { stderr } of results.filter(({ code }) => code !== 0))
      expect(stderr).toContain('guard already exists')
    const [plugin] = await looked()
    expect(plugin).toMatchObject({ name: 'guard', state: 'ok' })
  })
})

describe('what a project brings along', () => {
  it('under names of half done work does no harm elsewhere', async () => {
    mkdirSync(join(hooks(), '.gone-0123456789abcdef', 'guard'), { recursive: true })
    mkdirSync(join(hooks(), '.old-0123456789abcdef', '..x'), { recursive: true })
    mkdirSync(join(hooks(), '.staging-0123456789abcdef', 'guard'), { recursive: true })
    writeFileSync(join(hooks(), '.staging-0123456789abcdef', 'guard', 'hooks.json'), '{}')
    const outside = bench.file('outside/file', 'x')
    symlinkSync(bench.path('outside'), join(hooks(), '.old-fedcba9876543210'))
    writeFileSync(join(hooks(), '.old-00000000000000ff'), '')
    const before = readdirSync(hooks(), { recursive: true }).sort()
    expect((await loadConfig({ projectDir: bench.project })).diagnostics).toEqual([])
    expect(await finishInterrupted(bench.here)).toEqual([])
    expect(listInstalled({ projectDir: bench.project }).plugins).toEqual([])
    expect(readdirSync(hooks(), { recursive: true }).sort()).toEqual(before)
    expect(existsSync(outside)).toBe(true)
  })

  it('is not obeyed: what the user trusts, and what the lock file has, stays', async () => {
    run('install', bench.path('guard'))
    const planted = join(hooks(), '.gone-0123456789abcdef')
    mkdirSync(planted)
    renameSync(join(hooks(), 'guard'), join(planted, 'guard'))
    const draft = `${lockPath(bench.here)}.0123456789abcdef.tmp`
    writeFileSync(draft, 'x')
    const other = parseSource(bench.plugin('other'))
    const prepared = await preparePlugin(await resolveSource(other), bench.here, 'other')
    prepared.staged.remove()
    await installPrepared(prepared, bench.here)
    expect(Object.keys(treeOf(planted)).some((path) => path.endsWith('guard.sh'))).toBe(true)
    expect(existsSync(draft)).toBe(true)
    expect(trustStore().records()).toHaveLength(1)
    expect(readLock(lockPath(bench.here)).has('guard')).toBe(true)
  })
})
