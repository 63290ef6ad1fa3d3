// Crush: one event, one flat answer; it merges a changed input over the old one.

import { printed, signalled } from '../answer.js'
import { type Host, same, tool } from '../host.js'

export const crush: Host<'crush'> = {
  name: 'crush',
  title: 'Crush',
  guarded: ['crush.json', '.crush.json', '.config/crush/'],
  runsEqualOnce: true,
  projectVariable: 'CRUSH_PROJECT_DIR',
  sends: (payload) =>
    typeof payload.event === 'string' && 'tool_name' in payload && !('hook_event_name' in payload),
  events: same('PreToolUse'),
  tools: {
    bash: tool('Bash'),
    view: tool('Read'),
    write: tool('Write'),
    edit: tool('Edit'),
    multiedit: tool('Edit'),
  },
  can: { PreToolUse: ['block', 'input', 'context', 'stop', 'allow'] },
  mergesInput: true,
  answer: (_, told) => {
    if (told.act === 'signal') return signalled(told)
    const decision = told.act === 'refuse' ? 'deny' : told.act === 'allow' ? 'allow' : undefined
    const answer = {
      ...(decision && { decision }),
      ...(told.stops && { halt: true }),
      ...(told.reason && { reason: told.reason }),
      ...(told.input && { updated_input: told.input }),
      ...(told.context && { context: told.context }),
    }
    // Its answer has no place for a message to the user.
    return printed(answer, 0, told.message)
  },
  timeout: 30,
}
