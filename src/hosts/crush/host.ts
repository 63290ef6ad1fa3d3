// Crush as the one that asks: one event, one flat answer; a changed input is merged over the old one.

import { type Abilities, abilityOn, feasible, mergesInto, printed, signalled } from '../host-answer.js'
import type { HostDialect } from '../host-dialect.js'

const CAN: Abilities = { PreToolUse: 'BICSG' }

export const crush: HostDialect<'crush'> = {
  name: 'crush',
  title: 'Crush',
  sends: (payload) =>
    typeof payload.event === 'string' && 'tool_name' in payload && !('hook_event_name' in payload),
  patience: 30,
  encode: (event, verdict) => {
    const told = feasible(crush.title, mergesInto(event, verdict, abilityOn(CAN, event)), event, verdict)
    if (told.act === 'signal') return signalled(told)
    const decision = told.act === 'refuse' ? 'deny' : told.act === 'allow' ? 'allow' : undefined
    const answer = {
      ...(decision && { decision }),
      ...(told.stops && { halt: true }),
      ...(told.reason && { reason: told.reason }),
      ...(told.input && { updated_input: told.input }),
      ...(told.context && { context: told.context }),
    }
    // It has no place for a word to the user.
    return printed(answer, 0, told.message)
  },
}
