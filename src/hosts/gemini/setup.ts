// Gemini CLI: hooks in settings.json, with milliseconds. In a project it loads them only from folders that it trusts.

import type { HostSetup } from '../host-setup.js'
import { groupItem, jsonForm } from '../json-form.js'

const EVENTS = {
  SessionStart: 'SessionStart',
  SessionEnd: 'SessionEnd',
  UserPromptSubmit: 'BeforeAgent',
  PreToolUse: 'BeforeTool',
  PostToolUse: 'AfterTool',
  Stop: 'AfterAgent',
  Notification: 'Notification',
  // PreCompress comes before every request to the model, not only if it compresses.
}

const form = jsonForm({ events: EVENTS, item: groupItem({ unit: 1000, handler: { name: 'carabiner' } }) })

export const setup: HostSetup = {
  standing: 'proven',
  programs: ['gemini'],
  folder: '.gemini',
  files: [{ name: 'settings.json', form }],
  events: EVENTS,
}
