// Kimi Code as the one that asks: Claude Code's names, and nothing but exit codes and plain text understood for certain.

import { byExitCode } from '../exit-code.js'
import type { HostDialect } from '../host-dialect.js'

export const kimi: HostDialect<'kimi'> = {
  name: 'kimi',
  title: 'Kimi Code',
  sends: ({ client_type: type }) => typeof type === 'string' && type.startsWith('kimi'),
  patience: 30,
  encode: byExitCode('Kimi Code', { PreToolUse: 'B', UserPromptSubmit: 'BC', Stop: 'B', SubagentStop: 'B' }),
}
