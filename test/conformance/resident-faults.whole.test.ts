// A resident hook that is killed again and again while it is asked: every call gets an outcome, and the right one.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Outcome } from '../../src/core/hooks/outcome.js'
import { createHooks } from '../../src/runtime.js'

const CALLS = 10_000
const AT_ONCE = 64
/** Of every so many answers the process is killed after one, at random. */
const ANSWERS_PER_KILL = 200

/** Answers with its own number, and with what it was asked: an answer to another call would show. */
const HOOK = `
import { createInterface } from 'node:readline'
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  const result = method === 'hook.hello'
    ? { ok: true }
    : method === 'hook.approve_tool'
      ? { approved: true }
      : { action: 'modify', call: { arguments: { ...params.arguments, pid: process.pid } } }
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
}
`

test(`${CALLS} calls to a hook that is killed at random: none is lost`, async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-faults-')))
  writeFileSync(join(folder, 'hook.mjs'), HOOK)
  const restart = { delay: 0, maxDelay: 0, attempts: 1_000_000 }
  const entry = { command: [process.execPath, join(folder, 'hook.mjs')], restart }
  mkdirSync(join(folder, '.amplifier/hooks'), { recursive: true })
  const file = { processes: { victim: { ...entry, intercept: ['before_tool', 'approve_tool'] } } }
  writeFileSync(join(folder, '.amplifier/hooks/hooks.json'), JSON.stringify(file))
  const hooks = await createHooks({
    projectDir: folder,
    home: join(folder, 'home'),
    trust: 'all',
    globals: false,
  })
  onTestFinished(async () => {
    await hooks.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const session = hooks.session()
  const random = generator(7)
  const killed = new Set<number>()
  const counts = { answered: 0, blocked: 0 }
  let asked = 0

  const oneAfterAnother = async () => {
    while (asked < CALLS) {
      const n = asked++
      const outcome = await session.fire('PreToolUse', { tool_name: 'bash', tool_input: { n } })
      const pid = judge(outcome, n)
      counts[outcome.action === 'continue' ? 'answered' : 'blocked']++
      if (pid === undefined || killed.has(pid) || random() > 1 / ANSWERS_PER_KILL) continue
      killed.add(pid)
      process.kill(pid, 'SIGKILL')
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, oneAfterAnother))

  expect(counts.answered + counts.blocked).toBe(CALLS)
  expect(killed.size).toBeGreaterThan(10)
  expect(counts.answered).toBeGreaterThan(CALLS / 2)
  expect(counts.blocked).toBeGreaterThan(0)
  await hooks.close()
  for (const pid of killed) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
})

/** Who answered, if it was asked in vain by nobody. An approver that cannot be asked blocks, and both say why. */
function judge({ action, data, hooks, messages, reason }: Outcome, n: number): number | undefined {
  const input = data.tool_input as { readonly n: number; readonly pid?: number }
  expect(input.n).toBe(n)
  const [intercept, approve] = hooks
  for (const one of hooks) {
    expect(['ran', 'failed']).toContain(one.status)
    if (one.status === 'failed') expect(['HOOK_FAILED', 'HOOK_NOT_STARTED']).toContain(one.why)
  }
  expect(input.pid !== undefined).toBe(intercept?.status === 'ran')
  expect(action).toBe(approve?.status === 'ran' ? 'continue' : 'deny')
  if (action === 'deny') expect(reason).not.toBe('')
  const failures = hooks.filter(({ status }) => status === 'failed').length
  expect(messages.filter(({ level }) => level === 'warning').length).toBeGreaterThanOrEqual(
    Math.min(1, failures),
  )
  return input.pid
}

/** The same every time, so that a failure can be repeated. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
