// Kimi Code's hook file: a list of tables in config.toml. Only exit codes count.

import type { HookFile } from '../hook-files/hook-file.js'
import { likeClaude } from '../hook-files/like-claude.js'
import { onlyClosing } from '../hook-files/spoken.js'

export const hookFile: HookFile = {
  file: '.kimi-code/config.toml',
  isAt: /\/\.kimi(?:-code)?\//,
  layout: 'toml',
  keys: ['event'],
  unit: 'seconds',
  matching: 'search',
  payload: likeClaude,
  answer: onlyClosing,
}
