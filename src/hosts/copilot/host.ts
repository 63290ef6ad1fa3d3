// GitHub Copilot CLI as the one that asks: flat answers, or Claude Code's shape where its configuration uses those names.

import { type Data, isObject } from '../../core/base/json.js'
import { inClaudeShape } from '../claude-code/host.js'
import {
  type Abilities,
  abilityOn,
  type Feasible,
  feasible,
  type HostAnswer,
  type HostEvent,
  type HostVerdict,
  printed,
  signalled,
  textOfResponse,
} from '../host-answer.js'
import { fieldsOf, type HostDialect, isIsoTime, keepsIn } from '../host-dialect.js'

const CAN: Abilities = {
  PreToolUse: 'BIAGC',
  PermissionRequest: 'BGA',
  PostToolUse: 'OC',
  PostToolUseFailure: 'C',
  UserPromptSubmit: 'C',
  SessionStart: 'C',
  SubagentStart: 'C',
  Notification: 'C',
  Stop: 'B',
  SubagentStop: 'B',
  PreCompact: '',
  SessionEnd: '',
}

export const copilot: HostDialect<'copilot'> = {
  name: 'copilot',
  title: 'Copilot CLI',
  sends: (payload) =>
    keepsIn(payload, '.copilot') ||
    ('sessionId' in payload && typeof payload.timestamp === 'number') ||
    (isIsoTime(payload.timestamp) && !('permission_mode' in payload) && !('transcript_path' in payload)),
  events: {
    userpromptsubmitted: 'UserPromptSubmit',
    agentstop: 'Stop',
    erroroccurred: 'StopFailure',
  },
  read: ({ error }) => (isObject(error) ? fieldsOf({ error: (error as Data).message }) : {}),
  patience: 30,
  encode,
}

function encode(event: HostEvent, verdict: HostVerdict): HostAnswer {
  const told = feasible(copilot.title, abilityOn(CAN, event), event, verdict)
  // Not with exit code 2, by which the reason would be lost.
  if (isClaudeShaped(event)) return inClaudeShape(event, told)
  if (told.act === 'signal') return signalled(told)
  // It has no place for a word to the user.
  if (told.act !== 'refuse' || !isUnread(event)) return printed(flat(event, told), 0, told.message)
  return printed(flat(event, told), 2, [told.reason, told.message].filter(Boolean).join('\n'))
}

/** How it spells the event nobody knows then, and the exit code is a refusal in both spellings. */
function isUnread({ sentAs, data }: HostEvent): boolean {
  return sentAs === '' && Object.keys(data).length === 0
}

/** How its configuration spells an event decides about everything; where it sends no name, it is its own. */
function isClaudeShaped({ sentAs }: HostEvent): boolean {
  return /^[A-Z]/.test(sentAs)
}

function flat({ name }: HostEvent, told: Feasible): object {
  return {
    ...decisionOf(name, told),
    ...(told.input && { modifiedArgs: told.input }),
    ...(told.output !== undefined && {
      modifiedResult: { resultType: 'success', textResultForLlm: textOfResponse(told.output) },
    }),
    ...(told.context && { additionalContext: told.context }),
  }
}

function decisionOf(name: string, { act, reason }: Feasible): object {
  if (act === 'go' || act === 'signal') return {}
  if (name === 'PreToolUse') {
    const permissionDecision = act === 'refuse' ? 'deny' : act
    return { permissionDecision, ...(reason && { permissionDecisionReason: reason }) }
  }
  if (name === 'PermissionRequest') {
    if (act === 'ask') return {}
    return act === 'allow' ? { behavior: 'allow' } : { behavior: 'deny', message: reason }
  }
  return { decision: 'block', reason }
}
