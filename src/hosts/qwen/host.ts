// Qwen Code: Claude Code's answers; before a tool, a changed input and context have no effect.

import { answerLikeClaude } from '../claude-code/host.js'
import { gemini } from '../gemini/host.js'
import { definedFields, type Host, keepsIn, same, tool } from '../host.js'

const MODES: readonly unknown[] = ['yolo', 'auto_edit', 'auto-edit']

export const qwen: Host<'qwen'> = {
  name: 'qwen',
  title: 'Qwen Code',
  guarded: ['.qwen/hooks/', '.qwen/settings.json', '.qwen/extensions/'],
  moved: { variable: 'QWEN_HOME', folder: '.qwen' },
  projectVariable: 'QWEN_PROJECT_DIR',
  sends: (payload) =>
    keepsIn(payload, '.qwen') || ('timestamp' in payload && MODES.includes(payload.permission_mode)),
  events: {
    ...same(`PreToolUse PostToolUse PostToolUseFailure PostToolBatch Notification UserPromptSubmit UserPromptExpansion
      SessionStart SessionEnd Stop StopFailure MessageDisplay SubagentStart SubagentStop PreCompact PostCompact
      PermissionRequest PermissionDenied InstructionsLoaded`),
    SessionDelete: null,
    TodoCreated: 'TaskCreated',
    TodoCompleted: 'TaskCompleted',
  },
  read: ({ delta, displayed_text: text, final, is_final: isFinal }) =>
    definedFields({ delta: delta ?? text, final: final ?? isFinal }),
  tools: { edit: tool('Edit'), ...gemini.tools },
  can: {
    PreToolUse: ['block', 'ask', 'allow', 'stop'],
    PermissionRequest: ['block', 'allow', 'ask'],
    PostToolUse: ['context', 'stop'],
    PostToolUseFailure: ['context'],
    UserPromptSubmit: ['block', 'context', 'stop'],
    SessionStart: ['context'],
    Stop: ['block'],
    SubagentStop: ['block'],
  },
  answer: answerLikeClaude,
  timeout: 60,
}
