// A command loads what it uses, and nothing that only others need.

import { afterEach, beforeEach, expect, it } from 'vitest'
import { Project, programFile, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

/** Prints at the end which of Node's own modules were loaded. */
const WATCH = `
  const before = new Set(process.moduleLoadList)
  process.on('exit', () => {
    const loaded = process.moduleLoadList.filter((name) => !before.has(name))
    require('node:fs').writeSync(2, JSON.stringify(loaded))
  })
`

async function modulesOf(...args: readonly string[]): Promise<readonly string[]> {
  const watch = project.file('watch.cjs', WATCH)
  const { stderr } = await project.run(process.execPath, ['--require', watch, programFile(), ...args])
  const loaded: readonly string[] = JSON.parse(stderr)
  return loaded
    .map((name) => name.replace(/^NativeModule /, ''))
    .filter((name) => !name.startsWith('Internal'))
}

function addHook(hook: object): void {
  const hooks = { PreToolUse: [{ matcher: 'Bash', hooks: [hook] }] }
  project.file('.amplifier/hooks/hooks.json', { hooks })
}

it('list starts no program, opens no connection, and needs no loader of modules', async () => {
  addHook({ type: 'command', command: 'true' })
  const loaded = await modulesOf('list')
  expect(loaded).toContain('crypto') // for the digests of trust: the list is not empty
  const others = [
    'child_process',
    'net',
    'http',
    'https',
    'tls',
    'dns',
    'tty',
    'readline',
    'fs/promises',
    'module',
    'zlib',
  ]
  expect(others.filter((name) => loaded.includes(name))).toEqual([])
})

it('list hashes nothing where there is nothing', async () => {
  expect(await modulesOf('list')).not.toContain('crypto')
})

it.each(['http', 'prompt', 'agent', 'mcp_tool'])(
  'list opens no connection for a hook of type %s',
  async (type) => {
    const fields = { url: 'https://example.com/', prompt: 'Is it fine?', server: 's', tool: 't' }
    addHook({ type, ...fields })
    const loaded = await modulesOf('list')
    expect(['child_process', 'net', 'http', 'https'].filter((name) => loaded.includes(name))).toEqual([])
  },
)
