// GitHub Copilot CLI: a file of our own among its hooks. Its own names of events, because others lose context.

import type { HostSetup } from '../host-setup.js'
import { jsonFile } from '../own-file.js'

const EVENTS = {
  SessionStart: 'sessionStart',
  SessionEnd: 'sessionEnd',
  UserPromptSubmit: 'userPromptSubmitted',
  PreToolUse: 'preToolUse',
  PermissionRequest: 'permissionRequest',
  PostToolUse: 'postToolUse',
  PostToolUseFailure: 'postToolUseFailure',
  Stop: 'agentStop',
  SubagentStart: 'subagentStart',
  SubagentStop: 'subagentStop',
  PreCompact: 'preCompact',
  Notification: 'notification',
}

const form = jsonFile({
  events: EVENTS,
  top: { version: 1 },
  item: ({ command, timeout }) => ({
    type: 'command',
    bash: command,
    ...(timeout !== undefined && { timeoutSec: Math.ceil(timeout) }),
  }),
})

export const setup: HostSetup = {
  standing: 'proven',
  programs: ['copilot'],
  folder: '.copilot',
  variable: 'COPILOT_HOME',
  files: [{ name: 'hooks/carabiner.json', form }],
  events: EVENTS,
}
