// What does asking a resident hook cost over a bare line of JSON there and back, over vscode-jsonrpc, over a command?

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createHooks } from 'carabiner'
import rpc from 'vscode-jsonrpc/node'
import { source } from '../scripts/source.mjs'
import { race } from './measure.mjs'

const { Connection } = await source('rpc/connection.ts')

const PYTHON = '/usr/bin/python3'
const IN_FLIGHT = 64
const CALL = { tool_name: 'Bash', tool_input: { command: 'npm test' }, cwd: process.cwd() }
/** What the engine sends for that call. */
const PARAMS = {
  meta: {
    AgentID: '',
    TurnID: 'turn-1',
    ParentTurnID: '',
    SessionKey: 'node',
    Iteration: 0,
    TracePath: 'runTurn',
    Source: 'turn.tool.before',
  },
  tool: CALL.tool_name,
  arguments: CALL.tool_input,
  channel: '',
  chat_id: '',
}

export async function bench() {
  const folder = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
  const node = await contestants(folder, 'node', [process.execPath, program('answer.mjs')])
  const python = existsSync(PYTHON)
    ? await contestants(folder, 'python', [PYTHON, program('answer.py')])
    : undefined
  const module = await opened(folder, 'module', { hooks: { PreToolUse: [{ hooks: [MODULE] }] } })
  const vscode = vscodeCalls()
  const shell = await opened(folder, 'shell', { hooks: { PreToolUse: [{ hooks: [ECHO] }] } })
  const rounds = await race({
    bare: node.bare,
    engine: node.engine,
    module: module.fire,
    vscode: vscode.call,
    bareMany: many(node.bare),
    rpcMany: many(node.rpc),
    engineMany: many(node.engine),
    ...(python && { barePython: python.bare, enginePython: python.engine }),
  })
  const slow = await race({ shell: shell.fire, resident: node.engine }, { calls: 8 })
  await Promise.all([
    node.close(),
    python?.close(),
    vscode.close(),
    shell.hooks.close(),
    module.hooks.close(),
  ])
  rmSync(folder, { recursive: true })
  return [
    rounds.row('resident Node hook / bare echo', 'engine', 'bare', { limit: 1.3 }),
    rounds.row('vscode-jsonrpc / bare echo', 'vscode', 'bare', { peer: true }),
    rounds.row('module hook / bare echo', 'module', 'bare'),
    ...(python
      ? [
          rounds.row('resident Python hook / bare echo of Python', 'enginePython', 'barePython', {
            limit: 1.3,
          }),
        ]
      : []),
    rounds.row('64 calls at once, rpc connection / 64 bare echoes', 'rpcMany', 'bareMany', { limit: 1.4 }),
    rounds.row('64 calls at once, through the engine / 64 bare echoes', 'engineMany', 'bareMany'),
    slow.row('the same hook as a shell command / resident', 'shell', 'resident'),
  ]
}

/** Answers as answer.mjs does. */
const MODULE = { type: 'module', module: program('answer-module.mjs') }

const ECHO = { type: 'command', command: `echo '{"decision": "approve"}'` }

function program(name) {
  return fileURLToPath(new URL(`programs/${name}`, import.meta.url))
}

/** The same program three times: asked by a bare echo, by the rpc connection, and through the engine. */
async function contestants(folder, name, command) {
  const echo = bareEcho(command)
  const child = spawn(command[0], command.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] })
  const connection = new Connection({ input: child.stdout, output: child.stdin })
  const entry = { command, intercept: ['before_tool'] }
  const { hooks, fire } = await opened(folder, name, { processes: { [name]: entry } })
  return {
    bare: echo.call,
    rpc: () => connection.call('hook.before_tool', PARAMS, { timeoutMs: 5000 }),
    engine: fire,
    close: async () => {
      echo.close()
      connection.close()
      child.kill()
      await hooks.close()
    },
  }
}

/** A line there, a line back: no bounds, no deadlines, no checks. */
function bareEcho([file, ...args]) {
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting = new Map()
  let id = 0
  let rest = ''
  child.stdout.setEncoding('utf8')
  child.stdout.on('data', (text) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()
    for (const line of lines) {
      const answer = JSON.parse(line)
      waiting.get(answer.id)(answer.result)
      waiting.delete(answer.id)
    }
  })
  return {
    call: () =>
      new Promise((resolve) => {
        waiting.set(++id, resolve)
        child.stdin.write(
          `${JSON.stringify({ jsonrpc: '2.0', id, method: 'hook.before_tool', params: PARAMS })}\n`,
        )
      }),
    close: () => child.kill(),
  }
}

function vscodeCalls() {
  const child = spawn(process.execPath, [program('answer-vscode.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(child.stdout),
    new rpc.StreamMessageWriter(child.stdin),
  )
  connection.listen()
  return {
    call: () => connection.sendRequest('hook.before_tool', PARAMS),
    close: () => {
      connection.dispose()
      child.kill()
    },
  }
}

function many(call) {
  return () => Promise.all(Array.from({ length: IN_FLIGHT }, call))
}

async function opened(folder, name, file) {
  const plugin = join(folder, name)
  mkdirSync(plugin)
  writeFileSync(join(plugin, 'hooks.json'), JSON.stringify(file))
  const hooks = await createHooks({ plugins: [plugin], trust: 'all', globals: false })
  const session = hooks.session({ id: name })
  const { hooks: trace } = await session.fire('PreToolUse', CALL)
  if (trace[0]?.status !== 'ran') throw new Error(`the hook of ${name} did not run: ${trace[0]?.detail}`)
  return { hooks, fire: () => session.fire('PreToolUse', CALL) }
}
