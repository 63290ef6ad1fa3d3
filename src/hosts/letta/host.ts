// Letta Code as the one that asks: only exit code 2 is a deny, and JSON is ignored.

import { byExitCode } from '../exit-code.js'
import type { HostDialect } from '../host-dialect.js'

export const letta: HostDialect<'letta'> = {
  name: 'letta',
  title: 'Letta Code',
  sends: (payload) => 'event_type' in payload && 'working_directory' in payload,
  patience: 30,
  encode: byExitCode('Letta Code', { PreToolUse: 'B' }),
}
