// While a trusted plugin of a project is updated, its gate is never missing, wherever the update is killed.

import { spawn, spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createHooks } from 'carabiner'
import { beforeEach, expect, it } from 'vitest'
import { resolveSource } from '../../src/plugins/catalog/resolve.js'
import { installPrepared, preparePlugin, trustInstalled } from '../../src/plugins/install-plugin.js'
import { finishInterrupted } from '../../src/plugins/installed.js'
import { parseSource } from '../../src/plugins/sources/source.js'
import { trustStore } from '../../src/trust/trust-store.js'
import { withDriver } from './driver.js'
import { withHome } from './plugin-sources.js'

const bench = withHome()
const driver = bench.path('driver.mjs')

withDriver(new URL('./update-driver.ts', import.meta.url), driver)

const env = () => ({ ...process.env, CARABINER_HOME: bench.path('carabiner') })

beforeEach(async () => {
  rmSync(bench.path('project/.amplifier'), { recursive: true, force: true })
  rmSync(bench.path('carabiner'), { recursive: true, force: true })
  rmSync(bench.path('guard'), { recursive: true, force: true })
  const source = parseSource(bench.plugin('guard', { body: 'echo old' }))
  const prepared = await preparePlugin(await resolveSource(source), bench.here, 'guard')
  const { digest } = trustStore().look(prepared.staged.unit)
  await installPrepared(prepared, bench.here)
  await trustInstalled('guard', bench.here, digest)
  prepared.staged.remove()
})

const drive = (times: number, at = '') => [driver, bench.project, bench.path('guard'), String(times), at]

const STEPS = [
  'agreed',
  'begun',
  'staged',
  'decided',
  'room',
  'aside',
  'placed',
  'done',
  'accepted',
  'trusted',
]

it('these are the steps', () => {
  const { stdout, stderr } = spawnSync(process.execPath, drive(1), { env: env(), encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual(STEPS)
})

/** The gates that an event finds now. */
async function gates(): Promise<readonly string[]> {
  const hooks = await createHooks({ projectDir: bench.project, globals: false })
  // Gives another process time between reading and asking.
  await new Promise(setImmediate)
  const states = hooks.list().map(({ state, why = '' }) => `${state}${why && `: ${why}`}`)
  const told = hooks.diagnostics.map(({ text }) => text)
  await hooks.close()
  return [...states, ...told]
}

it.each(STEPS)('killed at %s, before and after recovery', async (at) => {
  const { signal } = spawnSync(process.execPath, drive(1, at), { env: env() })
  expect(signal).toBe('SIGKILL')
  expect(await gates()).toEqual(['ready'])
  await finishInterrupted(bench.here)
  expect(await gates()).toEqual(['ready'])
})

it('what is refused is not trusted for later', async () => {
  const source = parseSource(bench.plugin('guard', { body: 'echo next' }))
  const prepared = await preparePlugin(await resolveSource(source), bench.here, 'guard')
  const { digest: agreed } = trustStore().look(prepared.staged.unit)
  const update = installPrepared(prepared, bench.here, { replaces: 'sha256-other', agreed })
  await expect(update).rejects.toThrow('was changed in the meantime')
  prepared.staged.remove()
  expect(
    trustStore()
      .records()
      .map(({ next }) => next),
  ).toEqual([undefined])
})

it('hooks that were read before run as they were, until they are read again', async () => {
  const hooks = await createHooks({ projectDir: bench.project, globals: false })
  const said = async () => {
    const call = { tool_name: 'Bash', tool_input: { command: 'ls' } }
    const { hooks: ran } = await hooks.session().fire('PreToolUse', call)
    return ran.map(({ status }) => status)
  }
  try {
    expect(await said()).toEqual(['ran'])
    expect(spawnSync(process.execPath, drive(1), { env: env() }).status).toBe(0)
    expect(await said()).toEqual(['ran'])
    await hooks.reload()
    expect(await said()).toEqual(['ran'])
  } finally {
    await hooks.close()
  }
})

it('asked all the time while it is updated again and again', async () => {
  const child = spawn(process.execPath, drive(20), { env: env(), stdio: 'ignore' })
  const end = new Promise<number | null>((resolve) => void child.once('close', resolve))
  let code: number | null | undefined
  void end.then((value) => {
    code = value
  })
  let asked = 0
  while (code === undefined) {
    expect(await gates()).toEqual(['ready'])
    asked++
    // Lets the end of the process be noticed.
    await new Promise(setImmediate)
  }
  expect([code, asked > 0]).toEqual([0, true])
})
