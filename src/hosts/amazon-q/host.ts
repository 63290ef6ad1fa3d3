// Amazon Q CLI, and Kiro's CLI after it: exit codes; stdout is context for prompts.

import { byExitCode } from '../answer.js'
import { EDITOR_FIELDS, type Host, tool } from '../host.js'

const NAMES: readonly unknown[] = ['agentSpawn', 'userPromptSubmit', 'preToolUse', 'postToolUse', 'stop']

export const amazonQ: Host<'amazon-q'> = {
  name: 'amazon-q',
  title: 'Amazon Q',
  guarded: ['.amazonq/cli-agents/', '.aws/amazonq/cli-agents/'],
  setup: () => import('./setup.js'),
  sends: (payload) => NAMES.includes(payload.hook_event_name) && !('session_id' in payload),
  events: { agentspawn: 'SessionStart' },
  tools: {
    execute_bash: tool('Bash'),
    fs_read: tool('Read', EDITOR_FIELDS),
    fs_write: tool('Write Edit', EDITOR_FIELDS),
  },
  can: {
    SessionStart: ['context'],
    UserPromptSubmit: ['context'],
    PreToolUse: ['block'],
    PostToolUse: [],
    Stop: [],
  },
  answer: byExitCode,
  timeout: 30,
}
