// Amazon Q CLI, and Kiro's CLI after it, as the one that asks: exit codes; what is printed is context for prompts.

import { byExitCode } from '../exit-code.js'
import type { HostDialect } from '../host-dialect.js'

const NAMES: readonly unknown[] = ['agentSpawn', 'userPromptSubmit', 'preToolUse', 'postToolUse', 'stop']

export const amazonQ: HostDialect<'amazon-q'> = {
  name: 'amazon-q',
  title: 'Amazon Q',
  sends: (payload) => NAMES.includes(payload.hook_event_name) && !('session_id' in payload),
  events: { agentspawn: 'SessionStart' },
  patience: 30,
  encode: byExitCode('Amazon Q', {
    SessionStart: 'C',
    UserPromptSubmit: 'C',
    PreToolUse: 'B',
    PostToolUse: '',
    Stop: '',
  }),
}
