// The reference servers of the Model Context Protocol behind `carabiner mcp`, called by the official client.

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cacheFolder, installPackage } from '../../../scripts/runtimes.mjs'
import { Project, programFile, withProgram } from '../../cli/program.js'

withProgram()

const VERSION = '2026.8.31'
const NAMES = ['everything', 'filesystem', 'memory'] as const
const folder = cacheFolder('mcp-servers', VERSION)
const programOf = (name: string) =>
  join(folder, 'node_modules', '@modelcontextprotocol', `server-${name}`, 'dist', 'index.js')

/** Why they are not here. */
const missing = installed()

function installed(): string | undefined {
  if (NAMES.every((name) => existsSync(programOf(name)))) return undefined
  try {
    installPackage(
      NAMES.map((name) => `@modelcontextprotocol/server-${name}@${VERSION}`),
      folder,
    )
    return undefined
  } catch (error) {
    return String(error)
  }
}

let project: Project
let client: Client

beforeEach(() => {
  project = new Project()
  client = new Client({ name: 'test', version: '1' }, { capabilities: { sampling: {}, roots: {} } })
})
afterEach(async () => {
  await client.close()
  project.remove()
})

async function guardedServer(name: string, ...args: string[]): Promise<void> {
  const server = [process.execPath, programOf(name), ...args]
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [programFile(), 'mcp', '--trust-all', '--name', name, '--', ...server],
    cwd: project.folder,
    env: project.env({ MEMORY_FILE_PATH: join(project.base, 'memory.json') }),
    stderr: 'ignore',
  })
  await client.connect(transport)
}

async function text(name: string, args: Record<string, unknown>): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args })
  return (content as { text?: string }[]).map((one) => one.text ?? '').join('\n')
}

if (missing) console.error(`SKIPPED: the reference servers cannot be installed: ${missing}`)

describe.skipIf(missing !== undefined)('the reference server', { timeout: 120_000 }, () => {
  it('filesystem reads what hooks let it read', async () => {
    project.hooks({
      PreToolUse: [['mcp__filesystem__.*', 'grep -q secret && { echo Secret >&2; exit 2; } || true']],
    })
    writeFileSync(project.path('open.txt'), 'hello')
    writeFileSync(project.path('secret.txt'), 'hidden')
    await guardedServer('filesystem', project.folder)
    expect((await client.listTools()).tools.length).toBeGreaterThan(5)
    expect(await text('read_text_file', { path: project.path('open.txt') })).toBe('hello')
    expect(await text('read_text_file', { path: project.path('secret.txt') })).toContain('Secret')
  })

  it('memory keeps what it is told', async () => {
    await guardedServer('memory')
    await client.callTool({
      name: 'create_entities',
      arguments: { entities: [{ name: 'Ada', entityType: 'person', observations: ['wrote programs'] }] },
    })
    expect(await text('search_nodes', { query: 'Ada' })).toContain('wrote programs')
  })

  it('everything offers tools, prompts and resources', async () => {
    await guardedServer('everything')
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('echo')
    expect(await text('echo', { message: 'hello' })).toContain('hello')
    expect((await client.listPrompts()).prompts.length).toBeGreaterThan(0)
    const { resources } = await client.listResources()
    const [first] = resources
    if (first) expect((await client.readResource({ uri: first.uri })).contents.length).toBeGreaterThan(0)
    const all = await Promise.all(Array.from({ length: 64 }, (_, i) => text('echo', { message: `m${i}` })))
    expect(all.every((one, i) => one.includes(`m${i}`))).toBe(true)
  })
})
