// A call that a gate judged, for tests.

import type { JudgedCall } from '../../../src/core/session/audit-record.js'

export function judged(id: string, more: Partial<JudgedCall> = {}): JudgedCall {
  const data = { tool_name: 'Bash', tool_input: { command: `echo ${id}` } }
  const outcome = {
    action: 'continue',
    data,
    modified: false,
    injections: [],
    messages: [],
    hooks: [],
    diagnostics: [],
  } as const
  const time = new Date().toISOString()
  return { id, time, session: 's1', event: 'PreToolUse', data, outcome, action: 'continue', ...more }
}
