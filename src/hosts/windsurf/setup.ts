// Windsurf: hooks.json with a list for each event. It has no time-out, and an event for each kind of tool.

import { jsonForm } from '../forms/json-form.js'
import type { HostSetup } from '../host-setup.js'

const EVENTS = {
  UserPromptSubmit: 'pre_user_prompt',
  PreToolUse: ['pre_read_code', 'pre_write_code', 'pre_run_command', 'pre_mcp_tool_use'],
  PostToolUse: ['post_read_code', 'post_write_code', 'post_run_command', 'post_mcp_tool_use'],
  Stop: 'post_cascade_response',
}

const form = jsonForm({ events: EVENTS, item: ({ command }) => ({ command, show_output: false }) })
const FILE = { name: 'hooks.json', form }

export const setup: HostSetup = {
  programs: ['windsurf'],
  folder: '.codeium/windsurf',
  files: [FILE],
  project: { folder: '.windsurf', files: [FILE] },
  events: EVENTS,
}
