// Crush: crush.json with a list of hooks. Only tools raise an event.

import { jsonForm } from '../forms/json-form.js'
import type { HostSetup } from '../host-setup.js'

const EVENTS = { PreToolUse: 'PreToolUse' }

const form = jsonForm({
  events: EVENTS,
  item: ({ command, timeout }) => ({
    name: 'carabiner',
    command,
    ...(timeout !== undefined && { timeout: Math.ceil(timeout) }),
  }),
})

const FILE = { name: 'crush.json', form }

export const setup: HostSetup = {
  programs: ['crush'],
  folder: '.config/crush',
  files: [FILE],
  project: { folder: '', files: [FILE] },
  events: EVENTS,
}
