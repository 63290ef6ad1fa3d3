// How much memory does an open session hold?

import { createHooks } from 'carabiner'
import { figure } from './measure.mjs'

const SESSIONS = 10_000
const LIMIT_KB = 8

export async function bench() {
  const hooks = await createHooks({ globals: false })
  hooks.register('PreToolUse', async () => undefined)
  const open = []
  const before = heap()
  for (let i = 0; i < SESSIONS; i++) {
    const session = hooks.session({ id: `session-${i}`, cwd: '/project' })
    await session.fire('UserPromptSubmit', { prompt: 'hello' })
    await session.fire('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'ls' } })
    open.push(session)
  }
  const kb = (heap() - before) / SESSIONS / 1024
  return [figure(`heap of a session, ${open.length} open / ${LIMIT_KB} KB`, 'KB', kb, LIMIT_KB, 1)]
}

function heap() {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}
