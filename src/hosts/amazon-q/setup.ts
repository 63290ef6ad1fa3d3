// Amazon Q: hooks belong to an agent of its own kind, so setup writes one.

import { jsonFile } from '../forms/own-file.js'
import type { HostSetup } from '../host-setup.js'

const EVENTS = {
  SessionStart: 'agentSpawn',
  UserPromptSubmit: 'userPromptSubmit',
  PreToolUse: 'preToolUse',
  PostToolUse: 'postToolUse',
  Stop: 'stop',
}

const form = jsonFile({
  events: EVENTS,
  top: { name: 'carabiner', description: 'The default agent, guarded by Carabiner.', tools: ['*'] },
  item: ({ command, timeout }) => ({
    command,
    ...(timeout !== undefined && { timeout_ms: Math.ceil(timeout * 1000) }),
  }),
})

export const setup: HostSetup = {
  programs: ['q'],
  folder: '.aws/amazonq',
  files: [{ name: 'cli-agents/carabiner.json', form }],
  events: EVENTS,
  onlyIf: 'with --agent carabiner',
  notes: ['Amazon Q runs these hooks only in the agent carabiner: q chat --agent carabiner'],
}
