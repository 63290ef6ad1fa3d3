// Codex: Claude Code's answers, but it rejects an answer with a key that it does not expect.

import { answerLikeClaude } from '../claude-code/host.js'
import { type Abilities, type FittedVerdict, type Host, type HostEvent, keepsIn, same } from '../host.js'
import { callsOfPatch } from '../patch.js'

const CAN: Abilities = {
  PreToolUse: ['block', 'input', 'context'],
  PermissionRequest: ['block', 'allow', 'ask'],
  PostToolUse: ['block', 'context', 'stop'],
  UserPromptSubmit: ['block', 'context', 'stop'],
  SessionStart: ['context', 'stop'],
  SubagentStart: ['context'],
  Stop: ['block', 'stop'],
  SubagentStop: ['block', 'stop'],
  PreCompact: ['stop'],
  PostCompact: ['stop'],
  SessionEnd: [],
}

export const codex: Host<'codex'> = {
  name: 'codex',
  title: 'Codex',
  guarded: [
    '.codex/hooks/',
    '.codex/hooks.json',
    '.codex/config.toml',
    '.codex/requirements.toml',
    '.codex/plugins/',
  ],
  moved: { variable: 'CODEX_HOME', folder: '.codex' },
  sends: (payload) => keepsIn(payload, '.codex') || ('turn_id' in payload && 'model' in payload),
  events: same(Object.keys(CAN).join(' ')),
  tools: { apply_patch: { names: ['Write', 'Edit'], parts: callsOfPatch } },
  can: CAN,
  answer: (event, told) => answerLikeClaude(event, { ...told, host: {}, act: actOf(event, told) }),
  timeout: 600,
  timeouts: { SessionEnd: 1 },
}

/** A changed input needs an allow. On an event that cannot be blocked, a stop must not have a decision. */
function actOf({ name }: HostEvent, { act, stops, input }: FittedVerdict): FittedVerdict['act'] {
  const blocks = Object.hasOwn(CAN, name) && CAN[name]?.includes('block')
  if (stops && !blocks) return 'go'
  return input ? 'allow' : act
}
