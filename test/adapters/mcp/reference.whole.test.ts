// The reference servers of the Model Context Protocol behind `carabiner mcp`, called by the official client.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cacheFolder, installPackage } from '../../../scripts/runtimes.mjs'
import { Project, programFile, programWithPackages, withProgram } from '../../cli/program.js'

withProgram()

const VERSION = '2026.8.31'
const NAMES = ['everything', 'filesystem', 'memory', 'sequential-thinking'] as const
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
  await guarded(programFile(), name, '--', process.execPath, programOf(name), ...args)
}

/** A server at an address needs the packages beside the program. */
async function guarded(program: string, name: string, ...server: string[]): Promise<void> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, 'mcp', '--trust-all', '--name', name, ...server],
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
    await readsAndPrompts()
    const all = await Promise.all(Array.from({ length: 64 }, (_, i) => text('echo', { message: `m${i}` })))
    expect(all.every((one, i) => one.includes(`m${i}`))).toBe(true)
  })

  it('sequential-thinking counts thoughts', async () => {
    await guardedServer('sequential-thinking')
    const thought = { thought: 'First', thoughtNumber: 1, totalThoughts: 2, nextThoughtNeeded: true }
    expect(await text('sequentialthinking', thought)).toContain('"thoughtNumber": 1')
  })

  it('everything over streamable HTTP is judged, and offers the same', async () => {
    project.hooks({
      PreToolUse: [['mcp__everything__echo', 'grep -q secret && { echo Secret >&2; exit 2; } || true']],
    })
    await using server = await listening('everything')
    await guarded(programWithPackages(), 'everything', '--url', `http://127.0.0.1:${server.port}/mcp`)
    expect(await text('echo', { message: 'hello' })).toContain('hello')
    expect(await text('echo', { message: 'a secret' })).toContain('Secret')
    await readsAndPrompts()
  })
})

async function readsAndPrompts(): Promise<void> {
  const { resources } = await client.listResources()
  const { contents } = await client.readResource({ uri: resources[0]?.uri ?? '' })
  expect(contents.length).toBeGreaterThan(0)
  const { prompts } = await client.listPrompts()
  const simple = prompts.find(({ arguments: args = [] }) => args.every(({ required }) => !required))
  const { messages } = await client.getPrompt({ name: simple?.name ?? '' })
  expect(messages.length).toBeGreaterThan(0)
}

/** The reference server on a free port, until it is disposed of. */
async function listening(name: string): Promise<AsyncDisposable & { readonly port: number }> {
  const free = createServer().listen(0, '127.0.0.1')
  await once(free, 'listening')
  const { port } = free.address() as AddressInfo
  free.close()
  await once(free, 'close')
  const child = spawn(process.execPath, [programOf(name), 'streamableHttp'], {
    env: project.env({ PORT: String(port) }),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  for await (const chunk of child.stderr) {
    said += String(chunk)
    if (said.includes(String(port))) break
  }
  return {
    port,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}
