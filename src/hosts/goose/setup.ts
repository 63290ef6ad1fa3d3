// goose: a plugin with hooks.json in Claude Code's layout, with seconds.

import type { HostSetup } from '../host-setup.js'
import { groupItem } from '../json-form.js'
import { jsonFile } from '../own-file.js'

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
