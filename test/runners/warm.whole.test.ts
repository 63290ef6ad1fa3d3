// Hooks that outlast one createHooks(), as in the service: edited code answers the next event, and nothing piles up.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createHooks, type HooksOptions } from 'carabiner'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { keepBy, WarmKeeper } from '../../src/runners/keeper.js'
import { isThere, until } from './until.js'

let folder: string
let keeper: WarmKeeper
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner warm ')))
  keeper = new WarmKeeper()
  keepBy(() => keeper)
})
afterEach(async () => {
  vi.restoreAllMocks()
  keepBy(() => undefined)
  await keeper.close()
  rmSync(folder, { recursive: true })
})

const at = (name: string) => join(folder, name)
function write(name: string, content: string | object): string {
  mkdirSync(dirname(at(name)), { recursive: true })
  writeFileSync(at(name), typeof content === 'string' ? content : JSON.stringify(content))
  return at(name)
}

/** So much that every file is old enough for a stamp. */
function later(): void {
  const now = Date.now()
  vi.spyOn(Date, 'now').mockReturnValue(now + 60_000)
}

/** One event as the service judges it. */
async function reason(options: HooksOptions): Promise<string> {
  const hooks = await createHooks({ globals: false, trust: 'all', ...options })
  try {
    const outcome = await hooks.session().fire('PreToolUse', { tool_name: 'Bash', tool_input: {} })
    return outcome.reason ?? outcome.messages.map(({ text }) => text).join()
  } finally {
    await hooks.close()
  }
}

const LIB = (word: string) => `export const word = ${JSON.stringify(word)}`
const MODULE = `
  import { word } from '../lib/word.mjs'
  export default () => ({ action: 'deny', reason: word + ' ' + process.pid })`
const PROCESS = `
  import { createInterface } from 'node:readline'
  import { word } from '../lib/word.mjs'
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, method } = JSON.parse(line)
    const result =
      method === 'hook.hello' ? { ok: true } : { action: 'deny_tool', reason: word + ' ' + process.pid }
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
  }`

const ENTRY = { type: 'module', module: './hook.mjs', timeout: 60 }
const RESIDENT = {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the file
  command: [process.execPath, '${AMPLIFIER_HOOKS_DIR}/hooks/hook.mjs'],
  intercept: ['before_tool'],
  timeouts: { intercept: 60, hello: 60 },
}

describe.each([
  ['module', MODULE, { hooks: { PreToolUse: [{ hooks: [ENTRY] }] } }],
  ['resident hook', PROCESS, { processes: { gate: RESIDENT } }],
])('a %s', (_, text, json) => {
  const options = () => ({ plugins: [at('hooks')] })
  beforeEach(() => {
    write('hooks/hooks.json', json)
    write('hooks/hook.mjs', text)
    write('lib/word.mjs', LIB('first'))
  })

  test('answers from one process until a file above its folder is edited', async () => {
    later()
    const first = await reason(options())
    expect(first).toMatch(/^first \d+$/)
    expect(await reason(options())).toBe(first)
    write('lib/word.mjs', LIB('second'))
    const second = await reason(options())
    expect(second).toMatch(/^second \d+$/)
    expect(await reason(options())).toBe(second)
    await until('the old process is gone', () => !isThere(Number(first.split(' ')[1])))
  })

  test('answers from its new code at once, even if that changed just now', async () => {
    expect(await reason(options())).toMatch(/^first /)
    write('hooks/hook.mjs', text.replace('word +', '"edited" +'))
    expect(await reason(options())).toMatch(/^edited /)
  })

  test('ends when nobody has needed it for long, and starts again', async () => {
    later()
    const first = await reason(options())
    keeper.endIdle(60_000)
    expect(await reason(options())).toBe(first)
    keeper.endIdle(-1)
    await until('it is gone', () => !isThere(Number(first.split(' ')[1])))
    expect(await reason(options())).toMatch(/^first /)
  })

  test('leaves one process at most, if each event needs a new one', async () => {
    const pids: number[] = []
    for (let i = 0; i < 3; i++) pids.push(Number((await reason(options())).split(' ')[1]))
    expect(new Set(pids).size).toBe(3)
    await until('the older ones are gone', () => pids.filter(isThere).length === 1)
  })
})

describe.each([['module', MODULE, { PreToolUse: [{ hooks: [{ ...ENTRY, module: './hook.mjs' }] }] }]])(
  'a %s of a skill',
  (_, text, hooks) => {
    test('leaves one process at most, if each event needs a new one', async () => {
      write('skill/hook.mjs', text)
      write('lib/word.mjs', LIB('skill'))
      mkdirSync(at('project'))
      const pids: number[] = []
      for (let i = 0; i < 3; i++) {
        const all = await createHooks({
          projectDir: at('project'),
          home: at('project'),
          globals: false,
          trust: 'all',
        })
        const session = all.session()
        await session.fire('skill:loaded', { skill_name: 'mine', hooks, skill_directory: at('skill') })
        const { reason: said = '' } = await session.fire('PreToolUse', { tool_name: 'Bash', tool_input: {} })
        pids.push(Number(said.split(' ')[1]))
        await all.close()
      }
      expect(new Set(pids).size).toBe(3)
      await until('the older ones are gone', () => pids.filter(isThere).length === 1)
    })
  },
)
