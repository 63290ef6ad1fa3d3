// Grok: Claude Code's names of events and tools. It is only known by its hook files.

import { type Agent, same } from '../host.js'

export const grok: Agent<'grok'> = {
  name: 'grok',
  title: 'Grok',
  events: {
    ...same(`SessionStart SessionEnd UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PermissionDenied Stop
      StopFailure Notification SubagentStart SubagentStop PreCompact PostCompact`),
    StopCancelled: null,
  },
  timeout: 5,
}
