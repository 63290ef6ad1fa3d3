// Qwen Code: hooks in settings.json, in Gemini CLI's layout with Claude Code's names, with milliseconds.

import type { HostSetup } from '../host-setup.js'
import { groupItem, jsonForm } from '../json-form.js'

const EVENTS = Object.fromEntries(
  [
    'SessionStart',
    'UserPromptSubmit',
    'PreToolUse',
    'PermissionRequest',
    'PostToolUse',
    'PostToolUseFailure',
    'Stop',
    'SubagentStop',
  ].map((event) => [event, event]),
)

const FILE = { name: 'settings.json', form: jsonForm({ events: EVENTS, item: groupItem({ unit: 1000 }) }) }

export const setup: HostSetup = {
  standing: 'proven',
  programs: ['qwen'],
  folder: '.qwen',
  files: [FILE],
  project: { folder: '.qwen', files: [FILE] },
  events: EVENTS,
}
