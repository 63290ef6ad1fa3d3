// What does a tool call pay for the proxy, over the same call to the server itself? And does the proxy grow?
// The limit is for a call that no hook hears. Every proxy pays for the two processes more on the way, so a program that does
// nothing but copy bytes is measured beside it.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { figure, quick, race } from './measure.mjs'

const SERVER = [process.execPath, file('programs/mcp-server.mjs')]
const PROXY = [process.execPath, file('../dist/bin/carabiner.js'), 'mcp', '--name', 'bench', '--']
const PIPE = [process.execPath, file('programs/pipe.mjs')]
/** A function in a process that stays. It lets each call pass that it hears. */
const GATE = { hooks: [{ type: 'module', module: './gate.mjs' }] }
const ADD = { name: 'add', arguments: { a: 1, b: 2 } }
const AT_ONCE = 64
/** Calls before the memory is looked at first, and after that. */
const [WARM, MORE] = quick ? [640, 1280] : [20_000, 100_000]

export async function bench() {
  const folder = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
  const direct = await connected(SERVER, home(folder, 'direct'))
  const piped = await connected([...PIPE, ...SERVER], home(folder, 'piped'))
  const proxied = await connected([...PROXY, ...SERVER], home(folder, 'proxied'))
  const hooked = await connected([...PROXY, ...SERVER], withHook(home(folder, 'hooked'), GATE))
  const other = { matcher: 'Bash', ...GATE }
  const passedBy = await connected([...PROXY, ...SERVER], withHook(home(folder, 'other'), other))
  const rounds = await race({
    direct: () => direct.client.callTool(ADD),
    piped: () => piped.client.callTool(ADD),
    proxied: () => proxied.client.callTool(ADD),
    hooked: () => hooked.client.callTool(ADD),
    passedBy: () => passedBy.client.callTool(ADD),
    directAtOnce: () => many(direct.client, AT_ONCE),
    proxiedAtOnce: () => many(proxied.client, AT_ONCE),
  })
  await calls(proxied.client, WARM)
  const before = memoryOf(proxied.pid)
  await calls(proxied.client, MORE)
  const after = memoryOf(proxied.pid)
  await Promise.all([direct, piped, proxied, hooked, passedBy].map(({ client }) => client.close()))
  rmSync(folder, { recursive: true })
  const row = (name, of, more) => rounds.row(`${name} / the server itself`, of, 'direct', more)
  return [
    row('carabiner mcp, a small tool over stdio', 'proxied', { limit: 1.5 }),
    row('a program that copies bytes', 'piped', { peer: true }),
    row('carabiner mcp with a hook for another tool', 'passedBy'),
    row('carabiner mcp with a module hook', 'hooked'),
    rounds.row(
      `carabiner mcp, ${AT_ONCE} calls at once / ${AT_ONCE} calls of the server itself`,
      'proxiedAtOnce',
      'directAtOnce',
      { limit: 1.5 },
    ),
    ...memoryRow(before, after),
  ]
}

function home(folder, name) {
  const own = join(folder, name)
  mkdirSync(own)
  return own
}

/** Nothing where the system does not say. */
function memoryRow(baseline, value) {
  if (baseline === undefined || value === undefined) return []
  const name = `carabiner mcp, memory after ${MORE} more calls / before`
  return [figure(name, 'MB', value, baseline, 1.15)]
}

function withHook(own, hook) {
  const hooks = join(own, '.amplifier/hooks')
  mkdirSync(hooks, { recursive: true })
  writeFileSync(join(hooks, 'hooks.json'), JSON.stringify({ hooks: { PreToolUse: [hook] } }))
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

/** In megabytes. */
function memoryOf(pid) {
  try {
    return Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024
  } catch {
    return undefined
  }
}

function file(path) {
  return fileURLToPath(new URL(path, import.meta.url))
}
