// The package as somebody gets it who has none of its optional peers: packed, and used from an empty folder.

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as author from '../../src/author/index.js'
import * as core from '../../src/core/index.js'
import * as index from '../../src/index.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

let consumer = ''

beforeAll(() => {
  consumer = mkdtempSync(join(tmpdir(), 'carabiner-consumer-'))
  const packed = npm('pack', '--json', '--ignore-scripts', '--pack-destination', consumer)
  const [{ filename }] = JSON.parse(packed)
  const home = join(consumer, 'node_modules/carabiner')
  mkdirSync(home, { recursive: true })
  execFileSync('tar', ['-xzf', join(consumer, filename), '-C', home, '--strip-components=1'])
  for (const name of [...Object.keys(MANIFEST.dependencies), '@types/node']) {
    const link = join(consumer, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), link)
  }
  writeFileSync(join(consumer, 'package.json'), '{ "type": "module" }')
}, 120_000)
afterAll(() => rmSync(consumer, { recursive: true, force: true }))

function npm(...args: string[]): string {
  return execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}

function run(code: string): unknown {
  const args = ['--input-type=module', '-e', code]
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: consumer, encoding: 'utf8' })
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
  return JSON.parse(stdout)
}

const USE = `
import { createHooks, globalHooks, HookError, deny, type Hooks, type Outcome, type HooksOptions } from 'carabiner'
import { CATALOGUE, HookRegistry, type EventName } from 'carabiner/core'
import { runHook, serveHook, type HookInput, type ResidentHook } from 'carabiner/author'

const options: HooksOptions = { projectDir: '.', approver: 'deny' }
const hooks: Hooks = await createHooks(options)
const off: () => void = hooks.register('PreToolUse', (_event, { tool_name }) =>
  tool_name === 'Bash' ? deny('no') : undefined,
)
const outcome: Outcome = await hooks.session().fire('PreToolUse', { tool_name: 'Bash', tool_input: {} })
const names: EventName[] = Object.keys(CATALOGUE) as EventName[]
const registry: HookRegistry = globalHooks
const resident: ResidentHook = { name: 'mine', beforeTool: ({ tool }) => void tool }
export const input = (text: HookInput) => text.event
export { off, outcome, names, registry, resident, runHook, serveHook, HookError }
`

describe('the types', () => {
  for (const [module, moduleResolution] of [
    ['nodenext', 'nodenext'],
    ['preserve', 'bundler'],
  ]) {
    it(`compile strictly under ${moduleResolution}, libraries checked`, () => {
      writeFileSync(join(consumer, 'use.ts'), USE)
      const compilerOptions = {
        ...{ module, moduleResolution, target: 'es2022', lib: ['es2022'], types: ['node'] },
        ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true },
      }
      writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }))
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
      const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', consumer], { encoding: 'utf8' })
      expect({ stdout, status }).toEqual({ stdout: '', status: 0 })
    })
  }
})

describe('the entries', () => {
  it('export the public names, and no other', () => {
    const names = run(`
      const names = async (name) => Object.keys(await import(name)).sort()
      console.log(JSON.stringify([await names('carabiner'), await names('carabiner/core'), await names('carabiner/author')]))`)
    expect(names).toEqual([index, core, author].map((entry) => Object.keys(entry).sort()))
  })

  it('share their instances, in whichever order they are imported', () => {
    const orders = [
      ['carabiner', 'carabiner/core', 'carabiner/author'],
      ['carabiner/author', 'carabiner/core', 'carabiner'],
    ]
    for (const order of orders) {
      const shared = run(`
        const loaded = {}
        for (const name of ${JSON.stringify(order)}) loaded[name] = await import(name)
        const { carabiner, 'carabiner/core': core, 'carabiner/author': author } = loaded
        const names = (one, other) => Object.keys(one).filter((name) => name in other)
        const differing = (one, other) => names(one, other).filter((name) => one[name] !== other[name])
        const error = await core.globalHooks.emit('', {}).catch((error) => error)
        console.log(JSON.stringify({
          shared: names(carabiner, core).filter((name) => ['globalHooks', 'HookError', 'HookRegistry'].includes(name)).sort(),
          core: differing(carabiner, core),
          author: differing(carabiner, author),
          caught: error instanceof carabiner.HookError,
        }))`)
      expect(shared).toEqual({
        shared: ['HookError', 'HookRegistry', 'globalHooks'],
        core: [],
        author: [],
        caught: true,
      })
    }
  })

  it('load late what configured hooks need', () => {
    const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: 'echo no >&2; exit 2' }] }] }
    writeFileSync(join(consumer, 'hooks.json'), JSON.stringify({ hooks }))
    const outcome = run(`
      const { createHooks } = await import('carabiner')
      const hooks = await createHooks({ configs: ['hooks.json'], trust: 'all' })
      const { action, reason } = await hooks.session().fire('PreToolUse', { tool_name: 'Bash', tool_input: {} })
      await hooks.close()
      console.log(JSON.stringify({ action, reason }))`)
    expect(outcome).toEqual({ action: 'deny', reason: 'no' })
  })
})
