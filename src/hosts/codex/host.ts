// Codex as the one that asks: Claude Code's shape, of which it refuses every answer that holds a key too many.

import { inClaudeShape } from '../claude-code/host.js'
import {
  type Abilities,
  abilityOn,
  type Feasible,
  feasible,
  type HostAnswer,
  type HostEvent,
  type HostVerdict,
} from '../host-answer.js'
import { type HostDialect, keepsIn } from '../host-dialect.js'

const CAN: Abilities = {
  PreToolUse: 'BIC',
  PermissionRequest: 'BGA',
  PostToolUse: 'BCS',
  UserPromptSubmit: 'BCS',
  SessionStart: 'CS',
  SubagentStart: 'C',
  Stop: 'BS',
  SubagentStop: 'BS',
  PreCompact: 'S',
  PostCompact: 'S',
  SessionEnd: '',
}

export const codex: HostDialect<'codex'> = {
  name: 'codex',
  title: 'Codex',
  sends: (payload) => keepsIn(payload, '.codex') || ('turn_id' in payload && 'model' in payload),
  patience: 600,
  patienceWith: { SessionEnd: 1 },
  encode,
}

function encode(event: HostEvent, verdict: HostVerdict): HostAnswer {
  const told = feasible(codex.title, abilityOn(CAN, event), event, verdict)
  return inClaudeShape(event, strict(event, { ...told, host: {} }))
}

/** A changed input must come with an allow; where nothing can be blocked, a stop must come without a decision. */
function strict(event: HostEvent, told: Feasible): Feasible {
  if (told.stops && !abilityOn(CAN, event)?.includes('B')) return { ...told, act: 'go' }
  return told.input ? { ...told, act: 'allow' } : told
}
