// What does a command hook cost over spawning its command, and what do others make of the same?

import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHooks } from 'carabiner'
import { execa } from 'execa'
import { race } from './measure.mjs'
import { peerFile } from './peers.mjs'

const COMMAND = 'true'
const MANY = 10
const CALL = { tool_name: 'Bash', tool_input: { command: 'npm test' }, cwd: process.cwd() }
const PAYLOAD = `${JSON.stringify({ hook_event_name: 'PreToolUse', ...CALL })}\n`

/** Without a helper, so that the engine is all that differs. bench/spawner.mjs measures it with one. */
process.env.CARABINER_SPAWNER = 'off'

export async function bench() {
  const folder = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
  const one = await opened(folder, 'one', 1)
  const ten = await opened(folder, 'ten', MANY)
  const gemini = await geminiHooks(folder)
  const rounds = await race(
    {
      bare: bareSpawn,
      carabiner: () => one.session.fire('PreToolUse', CALL),
      execa: () => execa('/bin/sh', ['-c', COMMAND], { input: PAYLOAD }),
      ...(gemini && { gemini }),
      bareMany: () => Promise.all(Array.from({ length: MANY }, bareSpawn)),
      carabinerMany: () => ten.session.fire('PreToolUse', CALL),
    },
    { calls: 8 },
  )
  await Promise.all([one.hooks.close(), ten.hooks.close()])
  rmSync(folder, { recursive: true })
  return [
    rounds.row('one command hook / bare spawn', 'carabiner', 'bare', { limit: 1.15 }),
    rounds.row('execa / bare spawn', 'execa', 'bare', { peer: true }),
    ...(gemini
      ? [rounds.row('gemini-cli-core, one command hook / bare spawn', 'gemini', 'bare', { peer: true })]
      : []),
    rounds.row('10 command hooks / 10 bare spawns at once', 'carabinerMany', 'bareMany', { limit: 1.3 }),
  ]
}

/** The same command with the same pipes, and nothing else: no group, no deadline, no bound, no answer. */
function bareSpawn() {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', COMMAND], { stdio: 'pipe' })
    const output = []
    child.stdout.on('data', (chunk) => output.push(chunk))
    child.stderr.on('data', (chunk) => output.push(chunk))
    child.on('error', reject)
    child.on('close', resolve)
    child.stdin.on('error', () => {})
    child.stdin.end(PAYLOAD)
  })
}

async function opened(folder, name, count) {
  const plugin = join(folder, name)
  mkdirSync(plugin)
  const handlers = Array.from({ length: count }, (_, i) => ({
    type: 'command',
    command: count === 1 ? COMMAND : `${COMMAND} ${i}`,
  }))
  const groups = [{ matcher: 'Bash', hooks: handlers }]
  writeFileSync(join(plugin, 'hooks.json'), JSON.stringify({ hooks: { PreToolUse: groups } }))
  const hooks = await createHooks({ plugins: [plugin], trust: 'all', globals: false })
  return { hooks, session: hooks.session({ id: name }) }
}

async function geminiHooks(folder) {
  const file = peerFile('@google/gemini-cli-core', '0.61.0', 'dist/index.js')
  if (file === undefined) return undefined
  // It writes into the home folder.
  process.env.GEMINI_CLI_HOME = folder
  const core = await import(file)
  const config = new core.Config({
    sessionId: 'bench',
    targetDir: folder,
    cwd: folder,
    debugMode: false,
    model: 'none',
    enableHooks: true,
    hooks: { BeforeTool: [{ matcher: 'Bash', hooks: [{ type: 'command', command: COMMAND }] }] },
  })
  await config.storage.initialize()
  core.debugLogger.debug = core.debugLogger.log = core.debugLogger.warn = () => {} // it logs every hook
  const system = new core.HookSystem(config)
  await system.initialize()
  const fire = () => system.getEventHandler().fireBeforeToolEvent('Bash', CALL.tool_input)
  const { success, errors } = await fire()
  if (!success) throw new Error(`gemini-cli-core did not run its hook: ${errors.join(', ')}`)
  return fire
}
