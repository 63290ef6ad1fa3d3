// VS Code's agent: Claude Code's answers, with tool inputs of its own.

import { isObject } from '../../core/base/json.js'
import { answerLikeClaude } from '../claude-code/host.js'
import { type Host, isIsoTime } from '../host.js'

export const vscode: Host<'vscode'> = {
  name: 'vscode',
  title: 'VS Code',
  sends: ({ timestamp, tool_use_id: id, tool_input: input, permission_mode: mode }) =>
    isIsoTime(timestamp) &&
    mode === undefined &&
    id !== undefined &&
    isObject(input) &&
    Object.keys(input).some((key) => /^[a-z]+[A-Z]/.test(key)),
  tools: { runTerminalCommand: ['Bash'], create_file: ['Write'], replace_string_in_file: ['Edit'] },
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
