// OpenHands: hooks.json in Claude Code's layout, with seconds.

import { groupItem, jsonForm } from '../forms/json-form.js'
import type { HostSetup } from '../host-setup.js'

const EVENTS = Object.fromEntries(
  ['SessionStart', 'SessionEnd', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'].map((event) => [
    event,
    event,
  ]),
)

const item = groupItem({ unit: 1, group: { matcher: '*' } })
const FILE = { name: 'hooks.json', form: jsonForm({ events: EVENTS, item }) }

export const setup: HostSetup = {
  programs: ['openhands'],
  folder: '.openhands',
  files: [FILE],
  project: { folder: '.openhands', files: [FILE] },
  events: EVENTS,
}
