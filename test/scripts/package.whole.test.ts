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
import { allPages } from '../docs/markdown.js'

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

/** A tool of the user's own: its input has a type wherever a matcher names it. */
const OWN_TOOL = `
import { createHooks, isTool } from 'carabiner'

declare module 'carabiner' {
  interface ToolInputs {
    release: { readonly stage: Stage }
  }
}
type Stage = 'test' | 'production'
const hooks = await createHooks()
export const seen: Stage[] = []
hooks.register('PreToolUse', (_event, { tool_input }) => void seen.push(tool_input.stage), { matcher: 'release' })
hooks.register('PreToolUse', (_event, data) => {
  if (isTool(data, 'release')) seen.push(data.tool_input.stage)
})
`

/** Every block of README and docs/, as somebody pastes it into a project. */
const SNIPPETS = allPages().flatMap(({ path, blocks }) =>
  blocks.flatMap(({ language, line, text }) => {
    const code = language === 'sh' ? /<<'TS'\n([\s\S]*?)^TS$/m.exec(text)?.[1] : text
    const isCode = ['js', 'ts', 'sh'].includes(language) && code !== undefined
    return isCode ? [[`${path.replace(/\W/g, '-')}-${line}.ts`, code] as const] : []
  }),
)

const FILES = Object.fromEntries([['use.ts', USE], ['own-tool.ts', OWN_TOOL], ...SNIPPETS])

describe('the types', () => {
  it.each([
    ['nodenext', 'nodenext'],
    ['preserve', 'bundler'],
  ])('compile strictly under %s, libraries checked, with every snippet of the docs', (module, resolution) => {
    const compilerOptions = {
      ...{ module, moduleResolution: resolution, target: 'es2022', lib: ['es2023'], types: ['node'] },
      ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
      ...{ skipLibCheck: false, noEmit: true, moduleDetection: 'force' },
    }
    for (const [name, code] of Object.entries(FILES)) writeFileSync(join(consumer, name), code)
    const files = Object.keys(FILES)
    writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', consumer], { encoding: 'utf8' })
    expect({ stdout, status }).toEqual({ stdout: '', status: 0 })
    expect(SNIPPETS.length).toBeGreaterThan(20)
  })
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
      ['carabiner', 'carabiner/core'],
      ['carabiner/core', 'carabiner'],
    ]
    for (const order of orders) {
      const shared = run(`
        const loaded = {}
        for (const name of ${JSON.stringify(order)}) loaded[name] = await import(name)
        const { carabiner, 'carabiner/core': core } = loaded
        const names = (one, other) => Object.keys(one).filter((name) => name in other)
        const differing = (one, other) => names(one, other).filter((name) => one[name] !== other[name])
        const error = await core.globalHooks.emit('', {}).catch((error) => error)
        console.log(JSON.stringify({
          shared: names(carabiner, core).filter((name) => ['globalHooks', 'HookError', 'HookRegistry'].includes(name)).sort(),
          core: differing(carabiner, core),
          caught: error instanceof carabiner.HookError,
        }))`)
      expect(shared).toEqual({
        shared: ['HookError', 'HookRegistry', 'globalHooks'],
        core: [],
        caught: true,
      })
    }
  })

  it('take the answers and errors of carabiner/author, which is a bundle by itself', () => {
    const taken = run(`
      const [carabiner, author] = [await import('carabiner'), await import('carabiner/author')]
      const hooks = await carabiner.createHooks()
      hooks.register('PreToolUse', () => author.deny('not here'))
      const { action, reason } = await hooks.session().fire('PreToolUse', { tool_name: 'Bash', tool_input: {} })
      const thrown = (read) => { try { read() } catch (error) { return error } }
      const [its, ours] = [thrown(() => author.parseHookInput('[]')), thrown(() => carabiner.eventFrom('claude-code', []))]
      console.log(JSON.stringify({
        action, reason,
        errors: [its, ours].map((error) => [error instanceof carabiner.InvalidHookInput, error instanceof author.InvalidHookInput]),
        others: new TypeError('x') instanceof author.InvalidHookInput,
      }))`)
    expect(taken).toEqual({
      action: 'deny',
      reason: 'not here',
      errors: [
        [true, true],
        [true, true],
      ],
      others: false,
    })
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
