// VS Code's agent as the one that asks: Claude Code's shape, with tool inputs of its own.

import { isObject } from '../../core/base/json.js'
import { inClaudeShape } from '../claude-code/host.js'
import { type Abilities, abilityOn, feasible } from '../host-answer.js'
import { type HostDialect, isIsoTime } from '../host-dialect.js'

const CAN: Abilities = {
  PreToolUse: 'BIACSG',
  PostToolUse: 'BCS',
  UserPromptSubmit: 'S',
  SessionStart: 'CS',
  SubagentStart: 'C',
  Stop: 'BS',
  SubagentStop: 'BS',
  PreCompact: 'S',
}

export const vscode: HostDialect<'vscode'> = {
  name: 'vscode',
  title: 'VS Code',
  sends: ({ timestamp, tool_use_id: id, tool_input: input, permission_mode: mode }) =>
    isIsoTime(timestamp) &&
    mode === undefined &&
    id !== undefined &&
    isObject(input) &&
    Object.keys(input).some((key) => /^[a-z]+[A-Z]/.test(key)),
  patience: 30,
  encode: (event, verdict) => {
    const told = feasible(vscode.title, abilityOn(CAN, event), event, verdict)
    return inClaudeShape(event, told)
  },
}
