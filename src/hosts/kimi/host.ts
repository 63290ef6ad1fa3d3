// Kimi Code: Claude Code's names. Only exit codes and plain text are sure to be understood.

import { byExitCode } from '../answer.js'
import { definedFields, EDITOR_FIELDS, type Host, same, tool } from '../host.js'

export const kimi: Host<'kimi'> = {
  name: 'kimi',
  title: 'Kimi Code',
  guarded: ['.kimi/config.toml', '.kimi-code/config.toml'],
  moved: { variable: 'KIMI_CODE_HOME', folder: '.kimi-code' },
  sends: ({ client_type: type }) => typeof type === 'string' && type.startsWith('kimi'),
  read: ({ agent_type: type, agent_name: name }) => definedFields({ agent_type: type ?? name }),
  events: {
    ...same(`PreToolUse PostToolUse PostToolUseFailure UserPromptSubmit Stop StopFailure SessionStart SessionEnd
      SubagentStart SubagentStop PreCompact PostCompact Notification PermissionRequest`),
    PermissionResult: null,
    Interrupt: null,
    TurnStarted: null,
  },
  tools: {
    Read: tool('Read', EDITOR_FIELDS),
    Write: tool('Write', EDITOR_FIELDS),
    Edit: tool('Edit', EDITOR_FIELDS),
  },
  can: {
    PreToolUse: ['block'],
    UserPromptSubmit: ['block', 'context'],
    Stop: ['block'],
    SubagentStop: ['block'],
  },
  answer: byExitCode,
  unawaited: [
    'PostToolUse',
    'PostToolUseFailure',
    'PermissionRequest',
    'StopFailure',
    'PostCompact',
    'Notification',
  ],
  timeout: 30,
}
