// `carabiner mcp` as a process, in front of servers that misbehave, and for clients that vanish.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Project, programFile, programWithPackages, withProgram } from '../../cli/program.js'
import { httpServer } from './servers/http.mjs'

withProgram()

let project: Project
const started: ChildProcess[] = []

beforeEach(() => {
  project = new Project()
})
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
  project.remove()
})

const HOSTILE = fileURLToPath(new URL('./servers/hostile.mjs', import.meta.url))

interface Answer {
  readonly id?: unknown
  readonly method?: string
  readonly result?: { readonly content?: readonly { readonly text: string }[]; readonly isError?: boolean }
  readonly error?: { readonly message: string }
}

/** A client over pipes. */
class RawClient {
  readonly child: ChildProcess
  readonly messages: Answer[] = []
  stderr = ''
  readonly #waiting = new Map<unknown, (answer: Answer) => void>()

  constructor(fault: string, args: readonly string[] = []) {
    const server = [process.execPath, HOSTILE, fault, join(project.base, 'pids')]
    const command = [programFile(), 'mcp', ...args, '--name', 'hostile', '--', ...server]
    this.child = spawn(process.execPath, command, { cwd: project.folder, env: project.env({}) })
    started.push(this.child)
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr = `${this.stderr}${text}`.slice(-10_000)
    })
    createInterface({ input: this.child.stdout as never }).on('line', (line) => {
      const message = JSON.parse(line) as Answer
      if (message.method === undefined) this.messages.push(message)
      this.#waiting.get(message.id)?.(message)
    })
  }

  request(id: number, method: string, params: object = {}): Promise<Answer> {
    this.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return new Promise((resolve) => this.#waiting.set(id, resolve))
  }

  async call(id = 2): Promise<string> {
    const { result, error } = await this.request(id, 'tools/call', { name: 'any', arguments: {} })
    return error?.message ?? result?.content?.map(({ text }) => text).join() ?? ''
  }

  async ended(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit')
    return this.child.exitCode
  }
}

function pids(): readonly number[] {
  const file = join(project.base, 'pids')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as number[]) : []
}

function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

async function allGone(): Promise<void> {
  expect(pids()).toHaveLength(2)
  while (pids().some(isAlive)) await setTimeout(10)
}

describe('a server', () => {
  it.each([
    ['dies', 'The MCP server exited with code 7'],
    ['is killed', 'The MCP server was killed by SIGKILL'],
    ['closes its output', 'The MCP server closed its output'],
  ])('that %s fails the calls that wait, and ends the proxy', async (fault, text) => {
    const client = new RawClient(fault)
    expect(await client.call()).toBe(text)
    expect(await client.ended()).toBe(1)
    await allGone()
  })

  it.each(['hangs', 'floods with garbage', 'floods without a line', 'floods with notifications'])(
    'that %s has its call ended in time',
    async (fault) => {
      const client = new RawClient(fault, ['--timeout', '2'])
      expect(await client.call()).toMatch(/did not answer tools\/call within 2 s|more than \d+ bytes/)
      client.child.stdin?.end()
      await client.ended()
      await allGone()
    },
    60_000,
  )

  it('that floods with requests gets most of them back', async () => {
    const client = new RawClient('floods with requests')
    expect(await client.call()).toBe('9744 were refused')
    client.child.stdin?.end()
    await client.ended()
  })

  it.each(['lies about ids', 'answers twice', 'sends garbage'])(
    'that %s reaches only who waits',
    async (fault) => {
      const client = new RawClient(fault)
      expect(await client.call()).toBe('fine')
      await client.request(3, 'ping')
      expect(client.messages.map(({ id }) => id)).toEqual([2, 3])
    },
  )

  it.each([
    ['sends too much', 'more than 67108864 bytes'],
    ['answers nothing that can be read', 'cannot be read'],
  ])('that %s fails its call, and goes on', async (fault, text) => {
    const client = new RawClient(fault)
    expect(await client.call()).toContain(text)
    expect(await client.request(3, 'ping')).toMatchObject({ result: {} })
  })

  it('that does not end is ended, with everything that it started', async () => {
    const client = new RawClient('does not end')
    expect(await client.call()).toBe('fine')
    client.child.stdin?.end()
    expect(await client.ended()).toBe(0)
    await allGone()
  })
})

describe('a client', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('that sends %s leaves nothing behind', async (signal) => {
    const client = new RawClient('hangs')
    const call = client.call()
    await client.request(3, 'ping')
    client.child.kill(signal)
    await client.ended()
    await allGone()
    void call
  })

  it('that kills the proxy leaves no server that ignores the end of its input', async () => {
    const client = new RawClient('does not end')
    expect(await client.call()).toBe('fine')
    client.child.kill('SIGKILL')
    await client.ended()
    await allGone()
  })

  it('that vanishes in a call takes the server with it', async () => {
    const client = new RawClient('hangs')
    void client.call()
    await client.request(3, 'ping')
    client.child.stdout?.destroy()
    client.child.stdin?.destroy()
    await client.ended()
    await allGone()
  })

  it('that does not read stops a flood, and gets all of it later', async () => {
    const client = new RawClient('floods, then answers')
    await client.request(1, 'ping')
    client.child.stdout?.pause()
    const call = client.call()
    // Another client reads the whole flood meanwhile: that is how long a proxy takes to read it.
    const other = new RawClient('floods, then answers')
    expect(await other.call()).toBe('fine')
    expect(bytesRead(client)).toBeLessThan(bytesRead(other) / 2)
    client.child.stdout?.resume()
    expect(await call).toBe('fine')
    for (const { child } of [client, other]) child.stdin?.end()
    await Promise.all([client.ended(), other.ended()])
  }, 120_000)
})

/** What its proxy has read, from the server and from files. */
function bytesRead({ child }: RawClient): number {
  return Number(/rchar: (\d+)/.exec(readFileSync(`/proc/${child.pid}/io`, 'utf8'))?.[1])
}

describe('hooks', () => {
  it('that cannot be read close the gate, until they are repaired', async () => {
    const hooks = project.file('.amplifier/hooks/hooks.json', '{ "hooks": { "PreToolUse": [ { "matcher": ')
    const client = new RawClient('none')
    expect(await client.call()).toContain(`${hooks}:1`)
    project.file('.amplifier/hooks/hooks.json', '{ "hooks": {} }')
    for (let id = 10; (await client.call(id)) !== 'fine'; id++) await setTimeout(10)
  })

  it('that ask are answered through the queue, and the same call is tried again', async () => {
    project.file('ask.mjs', 'console.log(JSON.stringify({ action: "ask_user", approvalPrompt: "May it?" }))')
    project.hooks({ PreToolUse: [['mcp__hostile__any', 'node ask.mjs']] })
    const client = new RawClient('none', ['--trust-all'])
    const refused = await client.call()
    const [id = ''] = await project.openIds()
    expect(refused).toContain(`carabiner approvals allow ${id}`)
    await project.call(['approvals', 'allow', id])
    expect(await client.call(3)).toBe('fine')
  })
})

describe('a server at an address', () => {
  const SECRET = 's3cret-of-the-user'
  const header = ['--header', 'Authorization: Bearer $' + '{TOKEN}']

  it('gets the header with the variable, which nobody else sees', async () => {
    project.hooks({
      PreToolUse: [['mcp__remote__add', 'grep -q a.:13 && { echo Not 13 >&2; exit 2; } || true']],
    })
    const server = await httpServer()
    const client = new Client({ name: 'test', version: '1' })
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [
        programWithPackages(),
        'mcp',
        '--trust-all',
        '--name',
        'remote',
        '--url',
        server.url.href,
        ...header,
      ],
      cwd: project.folder,
      env: project.env({ TOKEN: SECRET }),
      stderr: 'pipe',
    })
    let stderr = ''
    transport.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    await client.connect(transport)
    const add = async (a: number) =>
      JSON.stringify(await client.callTool({ name: 'add', arguments: { a, b: 2 } }))
    expect(await add(1)).toContain('"3"')
    expect(await add(13)).toContain('Not 13')
    await client.close()
    expect(new Set(server.seen)).toEqual(new Set([`Bearer ${SECRET}`]))
    await server.close()
    expect(stderr).not.toContain(SECRET)
    const audit = await project.call(['audit', '--json'])
    expect(audit.stdout).toContain('mcp__remote__add')
    for (const file of readdirSync(project.base, { recursive: true, withFileTypes: true }))
      if (file.isFile()) expect(readFileSync(join(file.parentPath, file.name), 'utf8')).not.toContain(SECRET)
  })

  it.each([
    [header, 'TOKEN'],
    [['--header', 'no value'], 'NAME:VALUE'],
  ])('is not asked with %j', async (words, why) => {
    const url = ['--name', 'remote', '--url', 'http://127.0.0.1:9/mcp']
    const { code, stderr, stdout } = await project.call(['mcp', ...url, ...words])
    expect(code).toBe(64)
    expect(stderr).toContain(why)
    expect(stdout).toBe('')
  })
})
