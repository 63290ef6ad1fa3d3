// hook-host.mjs MEGABYTES: a process of this size that runs command hooks, and says how long they take.

import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createHooks } from 'carabiner'
import { race } from '../measure.mjs'

const COMMAND = 'true'
const MANY = 10
const CALL = { tool_name: 'Bash', tool_input: { command: 'npm test' }, cwd: process.cwd() }
const PAYLOAD = `${JSON.stringify({ hook_event_name: 'PreToolUse', ...CALL })}\n`

const folder = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
const [one, ten] = [await opened('one', 1), await opened('ten', MANY)]
const wanted = Number(process.argv[2]) * 1e6
/** Ten starts at once would take most of a second in a large one. */
const isLarge = wanted > 500e6
const calls = isLarge ? 1 : 4
const ballast = Buffer.alloc(Math.max(0, wanted - process.memoryUsage.rss()), 1)

const hook = () => one.session.fire('PreToolUse', CALL)
while (!isHelped()) {
  await hook()
  await setTimeout(10)
}
const many = {
  bares: () => Promise.all(Array.from({ length: MANY }, bareSpawn)),
  hooks: () => ten.session.fire('PreToolUse', CALL),
}
const { times } = await race({ bare: bareSpawn, hook, ...(isLarge ? {} : many) }, { calls })
const { times: blocks } = await race({ bare: bareSpawn, hook }, { calls, clock: activeClock })
await Promise.all([one.hooks.close(), ten.hooks.close()])
rmSync(folder, { recursive: true })
console.log(JSON.stringify({ times, blocks, bytes: ballast.length }))

/** Whether a helper starts the hooks. */
function isHelped() {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ')
  return children.some((pid) => pid !== '' && commandLine(pid).includes('--spawner'))
}

function commandLine(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return '' // It has ended.
  }
}

/** Microseconds in which the event loop did not wait. */
function activeClock() {
  return performance.eventLoopUtilization().active * 1000
}

/** The same command with the same pipes, and nothing else: no group, no deadline, no bound, no answer. */
function bareSpawn() {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', COMMAND], { stdio: 'pipe' })
    child.stdout.resume()
    child.stderr.resume()
    child.on('error', reject)
    child.on('close', resolve)
    child.stdin.on('error', () => {})
    child.stdin.end(PAYLOAD)
  })
}

async function opened(name, count) {
  const plugin = join(folder, name)
  mkdirSync(plugin)
  const handlers = Array.from({ length: count }, (_, i) => ({ type: 'command', command: `${COMMAND} ${i}` }))
  const groups = [{ matcher: 'Bash', hooks: handlers }]
  writeFileSync(join(plugin, 'hooks.json'), JSON.stringify({ hooks: { PreToolUse: groups } }))
  const hooks = await createHooks({ plugins: [plugin], trust: 'all', globals: false })
  return { hooks, session: hooks.session({ id: name }) }
}
