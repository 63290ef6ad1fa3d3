// goose: a plugin with hooks.json in Claude Code's layout, with seconds.

import { groupItem } from '../forms/json-form.js'
import { jsonFile } from '../forms/own-file.js'
import type { HostSetup } from '../host-setup.js'

const EVENTS = Object.fromEntries(
  [
    'SessionStart',
    'SessionEnd',
    'UserPromptSubmit',
    'PreToolUse',
    'PostToolUse',
    'PostToolUseFailure',
    'Stop',
  ].map((event) => [event, event]),
)

const FILE = {
  name: 'carabiner/hooks/hooks.json',
  form: jsonFile({ events: EVENTS, item: groupItem({ unit: 1 }) }),
}

export const setup: HostSetup = {
  programs: ['goose'],
  folder: '.agents/plugins',
  files: [FILE],
  project: { folder: '.agents/plugins', files: [FILE] },
  events: EVENTS,
}
