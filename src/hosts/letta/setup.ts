// Letta Code: hooks in settings.json, in Claude Code's layout, with milliseconds and a matcher. Only tools raise events.

import type { HostSetup } from '../host-setup.js'
import { groupItem, jsonForm } from '../json-form.js'

const EVENTS = { PreToolUse: 'PreToolUse', PostToolUse: 'PostToolUse' }

const item = groupItem({ unit: 1000, group: { matcher: '*' } })
const FILE = { name: 'settings.json', form: jsonForm({ events: EVENTS, item }) }

export const setup: HostSetup = {
  standing: 'proven',
  programs: ['letta'],
  folder: '.letta',
  files: [FILE],
  project: { folder: '.letta', files: [FILE] },
  events: EVENTS,
}
