// Antigravity: hooks.json, with groups for tools and a plain list for Stop.

import type { HostSetup } from '../host-setup.js'
import { groupItem, jsonForm } from '../json-form.js'

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
