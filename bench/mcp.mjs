// What does a tool call pay for the proxy, over the same call to the server itself? And does the proxy grow?
// The limit is for a call that no hook hears. Every proxy pays for the two processes more on the way, so a program that does
// nothing but copy bytes is measured beside it.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { race } from './measure.mjs'

const SERVER = [process.execPath, file('programs/mcp-server.mjs')]
const PROXY = [process.execPath, file('../dist/bin/carabiner.js'), 'mcp', '--name', 'bench', '--']
const PIPE = [process.execPath, file('programs/pipe.mjs')]
/** A function in a process that stays. It hears each call and lets it pass. */
const HOOKS = { PreToolUse: [{ hooks: [{ type: 'module', module: './gate.mjs' }] }] }
const ADD = { name: 'add', arguments: { a: 1, b: 2 } }
const AT_ONCE = 64
const QUICK = process.argv.includes('--quick')
/** Calls before the memory is looked at first, and after that. */
const [WARM, MORE] = QUICK ? [640, 1280] : [20_000, 100_000]

export async function bench() {
  const folder = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
  const direct = await connected(SERVER, home(folder, 'direct'))
  const piped = await connected([...PIPE, ...SERVER], home(folder, 'piped'))
  const proxied = await connected([...PROXY, ...SERVER], home(folder, 'proxied'))
  const hooked = await connected([...PROXY, ...SERVER], withHook(home(folder, 'hooked')))
  const us = await race({
    direct: () => direct.client.callTool(ADD),
    piped: () => piped.client.callTool(ADD),
    proxied: () => proxied.client.callTool(ADD),
    hooked: () => hooked.client.callTool(ADD),
    directAtOnce: () => many(direct.client, AT_ONCE),
    proxiedAtOnce: () => many(proxied.client, AT_ONCE),
  })
  await calls(proxied.client, WARM)
  const before = memoryOf(proxied.pid)
  await calls(proxied.client, MORE)
  const after = memoryOf(proxied.pid)
  await Promise.all([direct, piped, proxied, hooked].map(({ client }) => client.close()))
  rmSync(folder, { recursive: true })
  return [
    row('carabiner mcp, a small tool over stdio / the server itself', us.proxied, us.direct, 1.5),
    row('a program that copies bytes / the server itself', us.piped, us.direct),
    row('carabiner mcp with a module hook / the server itself', us.hooked, us.direct),
    row(
      `carabiner mcp, ${AT_ONCE} calls at once / the server itself`,
      us.proxiedAtOnce,
      us.directAtOnce,
      1.5,
    ),
    {
      name: `carabiner mcp, memory after ${MORE} more calls / before`,
      unit: 'MB',
      value: after,
      baseline: before,
      limit: 1.15,
    },
  ]
}

function home(folder, name) {
  const own = join(folder, name)
  mkdirSync(own)
  return own
}

function withHook(own) {
  const hooks = join(own, '.amplifier/hooks')
  mkdirSync(hooks, { recursive: true })
  writeFileSync(join(hooks, 'hooks.json'), JSON.stringify({ hooks: HOOKS }))
  writeFileSync(join(hooks, 'gate.mjs'), 'export default () => undefined\n')
  return own
}

async function connected([command, ...args], cwd) {
  const env = { PATH: process.env.PATH, HOME: cwd, CARABINER_HOME: join(cwd, 'carabiner') }
  const transport = new StdioClientTransport({ command, args, cwd, env })
  const client = new Client({ name: 'bench', version: '1' })
  await client.connect(transport)
  return { client, pid: transport.pid }
}

function many(client, count) {
  return Promise.all(Array.from({ length: count }, () => client.callTool(ADD)))
}

async function calls(client, count) {
  for (let done = 0; done < count; done += AT_ONCE) await many(client, AT_ONCE)
}

/** In megabytes. 1 where the system does not say. */
function memoryOf(pid) {
  try {
    return Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024
  } catch {
    return 1
  }
}

function file(path) {
  return fileURLToPath(new URL(path, import.meta.url))
}

function row(name, value, baseline, limit) {
  return { name, unit: 'us', value, baseline, limit }
}
