// Letta Code's hook file: settings.json in Claude Code's layout, with milliseconds. Only exit codes count.

import type { HookFile } from '../hook-files/hook-file.js'
import { likeClaude } from '../hook-files/like-claude.js'
import { onlyClosing } from '../hook-files/spoken.js'
import { definedFields } from '../host.js'

export const hookFile: HookFile = {
  file: '.letta/settings.json',
  isAt: /\/\.letta\//,
  layout: 'groups',
  keys: [],
  unit: 'milliseconds',
  matching: 'whole',
  payload: (sent) =>
    definedFields({
      ...likeClaude(sent),
      event_type: sent.as,
      working_directory: sent.data.cwd ?? sent.projectDir,
    }),
  answer: onlyClosing,
}
