// Factory's Droid as the one that asks: Claude Code's shape; a changed input is merged over the old one.

import { inClaudeShape } from '../claude-code/host.js'
import { type Abilities, abilityOn, feasible, mergesInto } from '../host-answer.js'
import { type HostDialect, keepsIn } from '../host-dialect.js'

const CAN: Abilities = {
  PreToolUse: 'BIASG',
  PostToolUse: 'BCS',
  UserPromptSubmit: 'BCS',
  SessionStart: 'C',
  Stop: 'BS',
  SubagentStop: 'BS',
}

const MODES: readonly unknown[] = ['off', 'spec', 'auto-low', 'auto-medium', 'auto-high']

export const droid: HostDialect<'droid'> = {
  name: 'droid',
  title: 'Droid',
  sends: (payload) => keepsIn(payload, '.factory') || MODES.includes(payload.permission_mode),
  patience: 60,
  encode: (event, verdict) => {
    const told = feasible(droid.title, mergesInto(event, verdict, abilityOn(CAN, event)), event, verdict)
    return inClaudeShape(event, told)
  },
}
