// OpenHands: one flat answer for every event, and exit code 2 where that has no way to refuse.

import { printed, signalled, withMessage } from '../answer.js'
import { EDITOR_FIELDS, type Host, same, tool } from '../host.js'
import { callsOfPatch } from '../patch.js'

export const openhands: Host<'openhands'> = {
  name: 'openhands',
  title: 'OpenHands',
  guarded: ['.openhands/hooks/', '.openhands/hooks.json'],
  projectVariable: 'OPENHANDS_PROJECT_DIR',
  sends: (payload) => 'event_type' in payload,
  events: {
    ...same('PreToolUse PostToolUse UserPromptSubmit SessionStart SessionEnd Stop'),
    pre_tool_use: 'PreToolUse',
    post_tool_use: 'PostToolUse',
    user_prompt_submit: 'UserPromptSubmit',
    session_start: 'SessionStart',
    session_end: 'SessionEnd',
    stop: 'Stop',
  },
  tools: {
    terminal: tool('Bash'),
    execute_bash: tool('Bash'),
    file_editor: tool('Write Edit', EDITOR_FIELDS),
    str_replace_editor: tool('Write Edit', EDITOR_FIELDS),
    apply_patch: { names: ['Write', 'Edit'], parts: callsOfPatch },
    read_file: tool('Read', EDITOR_FIELDS),
    write_file: tool('Write', EDITOR_FIELDS),
    edit: tool('Edit', EDITOR_FIELDS),
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
