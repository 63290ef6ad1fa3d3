// Antigravity: hooks.json, with groups for tools and a plain list for Stop.

import { groupItem, jsonForm } from '../forms/json-form.js'
import type { HostSetup } from '../host-setup.js'

const EVENTS = { PreToolUse: 'PreToolUse', PostToolUse: 'PostToolUse', Stop: 'Stop' }

const group = groupItem({ unit: 1, group: { matcher: '*' } })
const handler = groupItem({ unit: 1 })

const form = jsonForm({
  events: EVENTS,
  item: (entry) =>
    entry.event === 'Stop' ? (handler(entry) as { hooks: unknown[] }).hooks[0] : group(entry),
})

const FILE = { name: 'hooks.json', form }

export const setup: HostSetup = {
  programs: ['agy'],
  folder: '.gemini/config',
  files: [FILE],
  project: { folder: '.agents', files: [FILE] },
  events: EVENTS,
}
