// GitHub Copilot CLI: a file of our own among its hooks. Its own names of events, because others lose context.

import { join } from 'node:path'
import { namesIn } from '../../files/folder.js'
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
  alsoReads: (project) => {
    const folder = join(project, '.github', 'hooks')
    const names = namesIn(folder).filter((name) => name.endsWith('.json'))
    return names.slice(0, MOST_FILES).map((name) => ({ path: join(folder, name), form }))
  },
  events: EVENTS,
}

/** In a folder of a project, which anybody may have filled. */
const MOST_FILES = 100
