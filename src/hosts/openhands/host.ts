// OpenHands as the one that asks: one flat answer for every event, and exit code 2 for what it has no word for.

import { type Abilities, abilityOn, feasible, printed, signalled } from '../host-answer.js'
import type { HostDialect } from '../host-dialect.js'

const CAN: Abilities = {
  PreToolUse: 'BC',
  PostToolUse: 'C',
  UserPromptSubmit: 'BC',
  Stop: 'B',
  SessionStart: '',
  SessionEnd: '',
}

export const openhands: HostDialect<'openhands'> = {
  name: 'openhands',
  title: 'OpenHands',
  sends: (payload) => 'event_type' in payload,
  patience: 60,
  encode: (event, verdict) => {
    const told = feasible(openhands.title, abilityOn(CAN, event), event, verdict)
    if (told.act === 'signal') return signalled(told)
    const context = told.context && { additionalContext: told.context }
    const denied = told.act === 'refuse' && { decision: 'deny', reason: told.reason }
    const said = [denied ? told.reason : '', told.message].filter(Boolean).join('\n')
    return printed({ ...denied, ...context }, denied ? 2 : 0, said)
  },
}
