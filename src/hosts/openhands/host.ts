// OpenHands: one flat answer for every event, and exit code 2 where that has no way to refuse.

import { printed, signalled, withMessage } from '../answer.js'
import type { Host } from '../host.js'

export const openhands: Host<'openhands'> = {
  name: 'openhands',
  title: 'OpenHands',
  sends: (payload) => 'event_type' in payload,
  tools: {
    terminal: ['Bash'],
    execute_bash: ['Bash'],
    file_editor: ['Write', 'Edit'],
    str_replace_editor: ['Write', 'Edit'],
    apply_patch: ['Write', 'Edit'],
    read_file: ['Read'],
    write_file: ['Write'],
    edit: ['Edit'],
  },
  can: {
    PreToolUse: ['block', 'context'],
    PostToolUse: ['context'],
    UserPromptSubmit: ['block', 'context'],
    Stop: ['block'],
    SessionStart: [],
    SessionEnd: [],
  },
  answer: (_, told) => {
    if (told.act === 'signal') return signalled(told)
    const context = told.context && { additionalContext: told.context }
    if (told.act !== 'refuse') return printed({ ...context }, 0, told.message)
    return printed({ decision: 'deny', reason: told.reason, ...context }, 2, withMessage(told))
  },
  timeout: 60,
}
