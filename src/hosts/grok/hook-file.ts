// Grok's hook file: Claude Code's format. Its payload has some fields in two spellings.

import type { HookFile } from '../hook-files/hook-file.js'
import { CLAUDE_KEYS, likeClaude } from '../hook-files/like-claude.js'
import { definedFields } from '../host.js'

export const hookFile: HookFile = {
  file: '.grok/hooks/hooks.json',
  isAt: /\/\.grok\//,
  layout: 'groups',
  topKeys: ['description', 'version', '$schema'],
  keys: CLAUDE_KEYS,
  unit: 'seconds',
  matching: 'search',
  speaksClaude: 'fully',
  startsInProject: true,
  payload: (sent) => ({
    ...likeClaude(sent),
    ...definedFields({
      hookEventName: sent.as,
      sessionId: sent.sessionId,
      workspaceRoot: sent.projectDir,
      toolName: sent.tool,
      ...(sent.tool !== undefined && { toolInput: sent.input }),
    }),
  }),
  answer: (reply) => reply,
}
