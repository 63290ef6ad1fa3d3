// A command loads what it uses, and nothing that only others need.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { LoopbackModel } from '../runners/model/loopback-model.js'
import { BASH, Project, programFile, programWithPackages, withProgram } from './program.js'

withProgram()

const MCP_SERVER = fileURLToPath(new URL('../runners/mcp-tool/servers/stdio.mjs', import.meta.url))

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
  await project.carabiner(['trust', '--yes'])
  const { stdout } = await project.carabiner(['list'])
  expect(stdout).toContain('1 hook: 1 ready')
  const loaded = await modulesOf('list')
  const others = [
    'child_process',
    'crypto',
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
    'stream',
    'worker_threads',
  ]
  expect(others.filter((name) => loaded.includes(name))).toEqual([])
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

describe('compiled code loads what it needs late', () => {
  const fired = (program = programFile()) =>
    project.run(process.execPath, [program, 'fire', 'PreToolUse', '--trust-all', '--json'], { input: BASH })

  const inForce = (hooks: object) => project.file('../home/.amplifier/settings.json', { hooks })
  const blocked = async (program = programFile()) => {
    const { code, stdout } = await fired(program)
    return [code, JSON.parse(stdout).reason]
  }

  it('of Node: an http hook answers', async () => {
    const server = createServer((_, response) =>
      response.end(JSON.stringify({ decision: 'block', reason: 'No' })),
    )
    onTestFinished(() => void server.close())
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const { port } = server.address() as AddressInfo
    inForce({ allowed_private_hosts: [`127.0.0.1:${port}`] })
    addHook({ type: 'http', url: `http://127.0.0.1:${port}/` })
    expect(await blocked()).toEqual([2, 'No'])
  })

  it.each([
    ['prompt', { prompt: 'Is it fine?' }],
    ['mcp_tool', { server: 's', tool: 't' }],
  ])('of a package that is not there: a hook of type %s fails, and says which', async (type, fields) => {
    inForce({
      model: { provider: 'anthropic', name: 'm', api_key_env: 'HOME' },
      mcp_servers: { s: { command: 'true' } },
    })
    addHook({ type, ...fields, onFailure: 'block' })
    const { code, stdout } = await fired()
    expect([code, stdout]).toEqual([2, expect.stringContaining('is not installed')])
  })

  it('of packages beside it: models and MCP servers answer', async () => {
    const model = await LoopbackModel.start()
    onTestFinished(() => model.close())
    model.answers('{"ok": false, "reason": "The model says no"}')
    inForce({
      model: { provider: 'openai', name: 'm', base_url: model.url },
      mcp_servers: { s: { command: process.execPath, args: [MCP_SERVER] } },
    })
    addHook({ type: 'prompt', prompt: 'Is it fine?' })
    expect(await blocked(programWithPackages())).toEqual([4, 'The model says no'])
    addHook({
      type: 'mcp_tool',
      server: 's',
      tool: 'say',
      input: { text: '{"decision":"block","reason":"No tool"}' },
    })
    expect(await blocked(programWithPackages())).toEqual([2, 'No tool'])
  })
})
