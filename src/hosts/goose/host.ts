// goose as the one that asks: exit code 2 before a tool, and nothing else that it would act on.

import { byExitCode } from '../exit-code.js'
import type { HostDialect } from '../host-dialect.js'

export const goose: HostDialect<'goose'> = {
  name: 'goose',
  title: 'goose',
  sends: (payload) => typeof payload.event === 'string' && 'matcher_context' in payload,
  // Asked beside PreToolUse about the same calls.
  events: {
    beforeshellexecution: 'PreToolUse',
    beforereadfile: 'PreToolUse',
    aftershellexecution: 'PostToolUse',
    afterfileedit: 'PostToolUse',
  },
  patience: 30,
  encode: byExitCode('goose', { PreToolUse: 'B' }),
}
