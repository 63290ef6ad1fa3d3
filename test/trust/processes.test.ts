// Resident hooks and modules from a project: not started until trusted, started from their copy, and never as they are after a change.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../../src/config/load.js'
import { unitsOf } from '../../src/config/units.js'
import type { Outcome } from '../../src/core/hooks/outcome.js'
import { keepBy, WarmKeeper } from '../../src/runners/keeper.js'
import { createHooks } from '../../src/runtime.js'
import { trustStore } from '../../src/trust/trust-store.js'
import type { Unit } from '../../src/trust/unit.js'
import { hook, type Project, project } from './hostile-project.js'

/** Records where it was started from, and denies. */
const HOOK = `
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
appendFileSync(process.env.CANARY, import.meta.dirname + '\\n')
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line)
  const result = method === 'hook.hello' ? { ok: true } : { action: 'deny_tool', reason: 'reviewed' }
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
}
`

type Kind = 'process' | 'module'

/** The same as a module. */
const moduleText = (canary: string) => `
import { appendFileSync } from 'node:fs'
import { reason } from './reason.mjs'
appendFileSync(${JSON.stringify(canary)}, import.meta.dirname + '\\n')
export default () => ({ action: 'deny', reason })
`

/** A project with the hook in a plugin or in the root file, and the user's home beside it. */
function withProcess(isPlugin: boolean, kind: Kind = 'process') {
  const place = project()
  const canary = join(place.root, 'canary')
  const below = isPlugin ? '.amplifier/hooks/guard' : '.amplifier/hooks'
  const folder = isPlugin ? below : 'tools'
  const text = kind === 'module' ? moduleText(canary) : HOOK
  const script = place.write(`${folder}/hook.mjs`, text)
  const imported = place.write(`${folder}/reason.mjs`, 'export const reason = "reviewed"')
  const where = isPlugin ? { dir: '.' } : { dir: 'tools' }
  const entry = {
    command: [process.execPath, 'hook.mjs'],
    ...where,
    env: { CANARY: canary },
    intercept: ['before_tool'],
    observe: ['*'],
    // How fast the machine is must not matter.
    timeouts: { observe: 60, intercept: 60, hello: 60 },
  }
  const module = { type: 'module', module: isPlugin ? './hook.mjs' : '../../tools/hook.mjs', timeout: 60 }
  const json =
    kind === 'module' ? { hooks: { PreToolUse: [{ hooks: [module] }] } } : { processes: { guard: entry } }
  place.write(`${below}/hooks.json`, JSON.stringify(json))
  const home = join(place.root, 'home')
  mkdirSync(home)
  const starts = () => (existsSync(canary) ? readFileSync(canary, 'utf8').trimEnd().split('\n') : [])
  return { place, script, imported, home, canary, starts, text }
}

async function opened({ place, home }: ReturnType<typeof withProcess>) {
  process.env.CARABINER_HOME = place.dataDir
  const hooks = await createHooks({ projectDir: place.dir, home, globals: false })
  onTestFinished(async () => {
    await hooks.close()
    delete process.env.CARABINER_HOME
  })
  const fire = () => hooks.session().fire('PreToolUse', { tool_name: 'bash', tool_input: {} })
  return { hooks, fire }
}

async function unitIn({ place, home }: ReturnType<typeof withProcess>): Promise<Unit> {
  const { specs } = await loadConfig({ projectDir: place.dir, homeDir: home, dataDir: place.dataDir })
  return [...unitsOf(specs).keys()][0] as Unit
}

async function trust(made: ReturnType<typeof withProcess>): Promise<void> {
  const store = trustStore({ dataDir: made.place.dataDir })
  const unit = await unitIn(made)
  store.trust(unit, store.look(unit).digest)
}

describe.each([
  ['process', 'in a plugin', true],
  ['process', 'named by the root file', false],
  ['module', 'in a plugin', true],
  ['module', 'named by the root file', false],
] as const)('a %s %s', (kind, _, isPlugin) => {
  it('is not started before it was trusted, neither to be asked nor to be told', async () => {
    const made = withProcess(isPlugin, kind)
    const { hooks, fire } = await opened(made)
    expect(hooks.untrusted()).toHaveLength(1)
    const { action, hooks: trace, messages } = await fire()
    expect(action).toBe('continue')
    expect(trace[0]).toMatchObject({ status: 'skipped', why: 'untrusted' })
    expect(messages).toMatchObject([{ level: 'warning', text: expect.stringContaining('carabiner trust') }])
    await hooks.close()
    expect(made.starts()).toEqual([])
  })

  it('runs once it was, from its copy if it has one', async () => {
    const made = withProcess(isPlugin, kind)
    await trust(made)
    const { fire, hooks } = await opened(made)
    expect(await fire()).toMatchObject({ action: 'deny', reason: 'reviewed' })
    await hooks.close()
    const [from] = made.starts()
    expect(made.starts()).toHaveLength(1)
    if (isPlugin) expect(from).toContain(made.place.dataDir)
    else expect(from).toBe(join(made.place.dir, 'tools'))
  })

  it('goes on as it was trusted once a byte of it changed, and the changed one never starts', async () => {
    const made = withProcess(isPlugin, kind)
    await trust(made)
    const { fire } = await opened(made)
    expect(await fire()).toMatchObject({ action: 'deny' })
    writeFileSync(made.script, `${made.text}// evil\n`)
    expect(await fire()).toMatchObject({ action: 'deny', reason: 'reviewed' })
    expect(made.starts()).toHaveLength(1)
    // What a command names and appears is a change, too.
    rmSync(made.canary)
    // Only a plugin has a copy to start from.
    const later = await (await opened(made)).fire()
    expect(later.action).toBe('deny')
    expect(later.messages.map(({ text }) => text).join()).toContain('carabiner trust')
    if (isPlugin) expect(later.reason).toBe('reviewed')
    else expect(later.hooks[0]).toMatchObject({ status: 'failed', why: 'HOOK_NOT_TRUSTED' })
    expect(made.starts()).toEqual(isPlugin ? [expect.stringContaining(made.place.dataDir)] : [])
  })
})

it('several processes of one trusted file all run', async () => {
  const made = withProcess(false)
  const path = join(made.place.dir, '.amplifier/hooks/hooks.json')
  const { guard } = (JSON.parse(readFileSync(path, 'utf8')) as { processes: { guard: object } }).processes
  writeFileSync(path, JSON.stringify({ processes: { first: guard, second: guard } }))
  writeFileSync(made.script, HOOK.replace(/^appendFileSync.*$/m, '').replace('deny_tool', 'continue'))
  await trust(made)
  const { hooks } = await (await opened(made)).fire()
  expect(hooks.map(({ status }) => status)).toEqual(['ran', 'ran', 'detached', 'detached'])
})

it.each(['process', 'module'] as const)('a warm %s answers as a cold one would', async (kind) => {
  const made = withProcess(false, kind)
  const text = made.text.replace(/^appendFileSync.*$/m, '')
  writeFileSync(made.script, text)
  const keeper = new WarmKeeper()
  keepBy(() => keeper)
  onTestFinished(async () => {
    keepBy(() => undefined)
    await keeper.close()
  })
  const fired = async () => (await (await opened(made)).fire()) as Outcome
  await trust(made)
  expect(await fired()).toMatchObject({ action: 'deny', reason: 'reviewed' })
  writeFileSync(made.script, text.replace('reviewed', 'edited').replace("'./reason.mjs'", "'./other.mjs'"))
  writeFileSync(join(made.script, '..', 'other.mjs'), 'export const reason = "edited"')
  expect((await fired()).hooks[0]).toMatchObject({ status: 'failed', why: 'HOOK_NOT_TRUSTED' })
  await trust(made)
  expect(await fired()).toMatchObject({ action: 'deny', reason: 'edited' })
})

describe('what a module imports by a relative path', () => {
  it('is reviewed with it, and closes the gate when it changes', async () => {
    const made = withProcess(false, 'module')
    const { scripts } = trustStore({ dataDir: made.place.dataDir }).look(await unitIn(made))
    expect(scripts.map(({ path }) => path)).toEqual([made.script, made.imported])
    await trust(made)
    writeFileSync(made.imported, 'export const reason = undefined')
    const { action, hooks } = await (await opened(made)).fire()
    expect([action, hooks[0]?.why]).toEqual(['deny', 'HOOK_NOT_TRUSTED'])
    expect(made.starts()).toEqual([])
  })

  it('says that it cannot know files that are named at run time', async () => {
    const made = withProcess(false, 'module')
    writeFileSync(made.imported, 'export const { reason } = await import(process.env.X)')
    const { unseen } = trustStore({ dataDir: made.place.dataDir }).look(await unitIn(made))
    expect(unseen.join()).toContain('decides while it runs which files it imports')
  })
})

describe('what a process names', () => {
  const named = ({ store, file, dir }: Project, more: object) => {
    const { scripts, unseen } = store.look(file([hook('sh', { type: 'process', ...more })]))
    return { scripts: scripts.map(({ path }) => path.slice(dir.length + 1)), unseen }
  }

  it('is looked for in its folder', () => {
    const place = project()
    place.write('tools/a.sh', 'true\n')
    expect(named(place, { args: ['a.sh'], dir: 'tools' }).scripts).toEqual(['tools/a.sh'])
    expect(named(place, { args: ['tools/a.sh'] }).scripts).toEqual(['tools/a.sh'])
  })

  it('is also what its variables load', () => {
    const place = project()
    place.write('evil.sh', 'true\n')
    const { scripts, unseen } = named(place, { args: ['-c', 'true'], env: { BASH_ENV: './evil.sh' } })
    expect(scripts).toEqual(['evil.sh'])
    expect(unseen.join()).toContain('BASH_ENV')
  })

  it('a word of the shell’s own is a word', () => {
    const place = project()
    place.write('if', 'true\n', 0o755)
    const { scripts } = place.store.look(place.file([hook('./if', { type: 'process', args: ['then', ';'] })]))
    expect(scripts.map(({ path }) => path)).toEqual([join(place.dir, 'if')])
  })
})
