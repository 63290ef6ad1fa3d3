// Devin: Claude Code's names of events, with tools of its own. It is only known by its hook files.

import { type Agent, same, tool } from '../host.js'

export const devin: Agent<'devin'> = {
  name: 'devin',
  title: 'Devin',
  projectVariable: 'DEVIN_PROJECT_DIR',
  events: {
    ...same('PreToolUse PostToolUse PermissionRequest UserPromptSubmit Stop SessionStart SessionEnd'),
    PostCompaction: 'PostCompact',
  },
  tools: { exec: tool('Bash'), read: tool('Read'), write: tool('Write'), edit: tool('Edit Write') },
  timeout: 60,
}
