// Factory's Droid: Claude Code's answers; it merges a changed input over the old one.

import { answerLikeClaude } from '../claude-code/host.js'
import { type Host, keepsIn, same, tool } from '../host.js'
import { callsOfPatch } from '../patch.js'

const MODES: readonly unknown[] = ['off', 'spec', 'auto-low', 'auto-medium', 'auto-high']

export const droid: Host<'droid'> = {
  name: 'droid',
  title: 'Droid',
  guarded: ['.factory/hooks/', '.factory/hooks.json', '.factory/settings*.json'],
  projectVariable: 'FACTORY_PROJECT_DIR',
  sends: (payload) => keepsIn(payload, '.factory') || MODES.includes(payload.permission_mode),
  events: same(
    'PreToolUse PostToolUse UserPromptSubmit Notification Stop SubagentStop PreCompact SessionStart SessionEnd',
  ),
  tools: {
    Execute: tool('Bash'),
    Create: tool('Write'),
    Edit: tool('Edit'),
    ApplyPatch: { names: ['Edit'], parts: callsOfPatch },
  },
  can: {
    PreToolUse: ['block', 'input', 'ask', 'stop', 'allow'],
    PostToolUse: ['block', 'context', 'stop'],
    UserPromptSubmit: ['block', 'context', 'stop'],
    SessionStart: ['context'],
    Stop: ['block', 'stop'],
    SubagentStop: ['block', 'stop'],
  },
  mergesInput: true,
  answer: answerLikeClaude,
  timeout: 60,
}
