// What does an event cost that nobody listens to?

import { createHooks, HookRegistry } from 'carabiner'
import { cpuClock, race } from './measure.mjs'

export async function bench() {
  const data = { tool_name: 'Bash', tool_input: { command: 'npm test' } }
  const registry = new HookRegistry()
  const hooks = await createHooks({ globals: false })
  const session = hooks.session({ id: 's1', cwd: '/project' })
  const contestants = {
    bare: async () => freshOutcome(data),
    emit: () => registry.emit('PreToolUse', data),
    fire: () => session.fire('PreToolUse', data),
  }
  const rounds = await race(contestants, { clock: cpuClock })
  return [
    rounds.row('emit, no handler / async function', 'emit', 'bare', { limit: 1.5 }),
    rounds.row('session.fire, no handler / async function', 'fire', 'bare', { limit: 10 }),
  ]
}

function freshOutcome(data) {
  return {
    action: 'continue',
    data,
    modified: false,
    injections: [],
    messages: [],
    hooks: [],
    diagnostics: [],
  }
}
