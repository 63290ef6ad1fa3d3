// Cursor: hooks.json with a list for each event. A gate says that it is closed if its command fails.

import { jsonForm } from '../forms/json-form.js'
import type { HostSetup } from '../host-setup.js'

const EVENTS = {
  SessionStart: 'sessionStart',
  SessionEnd: 'sessionEnd',
  UserPromptSubmit: 'beforeSubmitPrompt',
  PreToolUse: 'preToolUse',
  PostToolUse: 'postToolUse',
  PostToolUseFailure: 'postToolUseFailure',
  SubagentStart: 'subagentStart',
  SubagentStop: 'subagentStop',
  PreCompact: 'preCompact',
  Stop: 'stop',
}

const form = jsonForm({
  events: EVENTS,
  top: { version: 1 },
  item: ({ command, timeout, onFailure }) => ({
    command,
    ...(timeout !== undefined && { timeout: Math.ceil(timeout) }),
    ...(onFailure === 'block' && { failClosed: true }),
  }),
})

const FILE = { name: 'hooks.json', form }

export const setup: HostSetup = {
  programs: ['cursor', 'cursor-agent'],
  folder: '.cursor',
  files: [FILE],
  project: { folder: '.cursor', files: [FILE] },
  events: EVENTS,
}
