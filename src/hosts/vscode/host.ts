// VS Code's agent: Claude Code's answers, with tool inputs of its own.

import { isObject } from '../../core/base/json.js'
import { answerLikeClaude } from '../claude-code/host.js'
import { CAMEL_FIELDS, type Host, isIsoTime, tool } from '../host.js'
import { callsOfPatch } from '../patch.js'

export const vscode: Host<'vscode'> = {
  name: 'vscode',
  title: 'VS Code',
  guarded: ['.github/hooks/', '.copilot/hooks/'],
  sends: ({ timestamp, tool_use_id: id, tool_input: input, permission_mode: mode }) =>
    isIsoTime(timestamp) &&
    mode === undefined &&
    id !== undefined &&
    isObject(input) &&
    Object.keys(input).some((key) => /^[a-z]+[A-Z]/.test(key)),
  tools: {
    runTerminalCommand: tool('Bash'),
    run_in_terminal: tool('Bash'),
    create_file: tool('Write', CAMEL_FIELDS),
    replace_string_in_file: tool('Edit', CAMEL_FIELDS),
    read_file: tool('Read', CAMEL_FIELDS),
    apply_patch: { names: ['Write', 'Edit'], parts: callsOfPatch },
    multi_replace_string_in_file: tool('Edit', CAMEL_FIELDS),
    insert_edit_into_file: tool('Edit', CAMEL_FIELDS),
    edit_notebook_file: tool('Edit', CAMEL_FIELDS),
    editFiles: tool('Edit', CAMEL_FIELDS),
  },
  can: {
    PreToolUse: ['block', 'input', 'ask', 'context', 'stop', 'allow'],
    PostToolUse: ['block', 'context', 'stop'],
    UserPromptSubmit: ['stop'],
    SessionStart: ['context', 'stop'],
    SubagentStart: ['context'],
    Stop: ['block', 'stop'],
    SubagentStop: ['block', 'stop'],
    PreCompact: ['stop'],
  },
  answer: answerLikeClaude,
  timeout: 30,
}
