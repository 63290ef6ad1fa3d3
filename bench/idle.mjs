// What does an event cost that nobody listens to?

import { createHooks, HookRegistry } from 'carabiner'
import { race } from './measure.mjs'

export async function bench() {
  const data = { tool_name: 'Bash', tool_input: { command: 'npm test' } }
  const registry = new HookRegistry()
  const hooks = await createHooks({ globals: false })
  const session = hooks.session({ id: 's1', cwd: '/project' })
  const us = await race({
    bare: async () => freshOutcome(data),
    emit: () => registry.emit('PreToolUse', data),
    fire: () => session.fire('PreToolUse', data),
  })
  return [
    { name: 'emit, no handler / async function', unit: 'us', value: us.emit, baseline: us.bare, limit: 1.5 },
    {
      name: 'session.fire, no handler / async function',
      unit: 'us',
      value: us.fire,
      baseline: us.bare,
      limit: 10,
    },
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
