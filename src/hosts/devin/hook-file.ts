// Devin's hook file: Claude Code's format, without a key around the events.

import { type HookFile, named } from '../hook-files/hook-file.js'
import { byCodeToo, likeClaude } from '../hook-files/like-claude.js'

export const hookFile: HookFile = {
  file: '.devin/hooks.v1.json',
  isAt: /\/\.devin\//,
  layout: 'groups',
  bare: true,
  keys: ['prompt', 'model'],
  unit: 'seconds',
  tools: named('Grep=grep Glob=glob'),
  matching: 'search',
  speaksClaude: 'fully',
  payload: likeClaude,
  answer: byCodeToo,
}
