// Droid: hooks.json in Claude Code's layout, with seconds.

import { groupItem, jsonForm } from '../forms/json-form.js'
import type { HostSetup } from '../host-setup.js'

const EVENTS = Object.fromEntries(
  [
    'SessionStart',
    'SessionEnd',
    'UserPromptSubmit',
    'PreToolUse',
    'PostToolUse',
    'Stop',
    'SubagentStop',
    'PreCompact',
    'Notification',
  ].map((event) => [event, event]),
)

const FILE = { name: 'hooks.json', form: jsonForm({ events: EVENTS, item: groupItem({ unit: 1 }) }) }

export const setup: HostSetup = {
  programs: ['droid'],
  folder: '.factory',
  files: [FILE],
  project: { folder: '.factory', files: [FILE] },
  events: EVENTS,
}
