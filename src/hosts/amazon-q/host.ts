// Amazon Q CLI, and Kiro's CLI after it: exit codes; stdout is context for prompts.

import { byExitCode } from '../answer.js'
import { EDITOR_FIELDS, type Host, tool } from '../host.js'

const EVENTS = {
  agentSpawn: 'SessionStart',
  userPromptSubmit: 'UserPromptSubmit',
  preToolUse: 'PreToolUse',
  postToolUse: 'PostToolUse',
  stop: 'Stop',
} as const

export const amazonQ: Host<'amazon-q'> = {
  name: 'amazon-q',
  title: 'Amazon Q',
  guarded: ['.amazonq/cli-agents/', '.aws/amazonq/cli-agents/'],
  sends: (payload) => Object.hasOwn(EVENTS, String(payload.hook_event_name)) && !('session_id' in payload),
  events: EVENTS,
  tools: {
    execute_bash: tool('Bash'),
    shell: tool('Bash'),
    fs_read: tool('Read', EDITOR_FIELDS),
    read: tool('Read', EDITOR_FIELDS),
    fs_write: tool('Write Edit', EDITOR_FIELDS),
    write: tool('Write', EDITOR_FIELDS),
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
