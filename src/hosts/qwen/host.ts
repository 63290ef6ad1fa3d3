// Qwen Code as the one that asks: Claude Code's shape; a changed input and context before a tool have no effect.

import { inClaudeShape } from '../claude-code/host.js'
import { type Abilities, abilityOn, feasible } from '../host-answer.js'
import { type HostDialect, keepsIn } from '../host-dialect.js'

const CAN: Abilities = {
  PreToolUse: 'BAGS',
  PermissionRequest: 'BGA',
  PostToolUse: 'CS',
  PostToolUseFailure: 'C',
  UserPromptSubmit: 'BCS',
  SessionStart: 'C',
  Stop: 'B',
  SubagentStop: 'B',
}

const MODES: readonly unknown[] = ['yolo', 'auto_edit', 'auto-edit']

export const qwen: HostDialect<'qwen'> = {
  name: 'qwen',
  title: 'Qwen Code',
  sends: (payload) =>
    keepsIn(payload, '.qwen') || ('timestamp' in payload && MODES.includes(payload.permission_mode)),
  events: { todocreated: 'TaskCreated', todocompleted: 'TaskCompleted' },
  patience: 60,
  encode: (event, verdict) => {
    const told = feasible(qwen.title, abilityOn(CAN, event), event, verdict)
    return inClaudeShape(event, told)
  },
}
