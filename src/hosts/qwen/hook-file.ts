// Qwen Code's hook file: settings.json in Claude Code's format, with milliseconds for commands.

import { hookFile as gemini } from '../gemini/hook-file.js'
import type { HookFile } from '../hook-files/hook-file.js'
import { byCodeToo, CLAUDE_KEYS, likeClaude } from '../hook-files/like-claude.js'

export const hookFile: HookFile = {
  file: '.qwen/settings.json',
  isAt: /\/\.qwen\//,
  layout: 'groups',
  keys: [...CLAUDE_KEYS, 'name', 'description'],
  unit: 'milliseconds',
  inSeconds: ['http', 'prompt'],
  hasSequential: true,
  tools: { ...gemini.tools },
  matching: 'search',
  grants: ['PreToolUse', 'PermissionRequest'],
  speaksClaude: 'partly',
  payload: likeClaude,
  answer: byCodeToo,
}
