// Cline as the one that asks: what happened lies in an object of its own, and only `cancel`, with exit code 0, refuses.

import { type Data, isObject } from '../../core/base/json.js'
import {
  type Abilities,
  abilityOn,
  feasible,
  type HostAnswer,
  type HostEvent,
  type HostVerdict,
  printed,
} from '../host-answer.js'
import { fieldsOf, firstOf, type HostDialect } from '../host-dialect.js'

const CAN: Abilities = {
  PreToolUse: 'BC',
  PostToolUse: 'CS',
  UserPromptSubmit: 'BC',
  SessionStart: 'BC',
  PreCompact: 'B',
  Stop: '',
  SessionEnd: '',
  StopFailure: '',
  Notification: '',
}

export const cline: HostDialect<'cline'> = {
  name: 'cline',
  title: 'Cline',
  sends: (payload) => 'clineVersion' in payload,
  events: {
    toolcall: 'PreToolUse',
    toolresult: 'PostToolUse',
    taskstart: 'SessionStart',
    taskresume: 'SessionStart',
    agentstart: 'SessionStart',
    agentresume: 'SessionStart',
    taskcomplete: 'Stop',
    agentend: 'Stop',
    taskerror: 'StopFailure',
    agenterror: 'StopFailure',
    sessionshutdown: 'SessionEnd',
    promptsubmit: 'UserPromptSubmit',
  },
  read,
  patience: 30,
  encode,
}

function read(payload: Data): Data {
  const called = part(payload, 'tool_call', 'tool_result')
  const told = part(payload, 'preToolUse', 'postToolUse', 'userPromptSubmit', 'notification')
  return fieldsOf({
    session_id: payload.taskId,
    cwd: firstOf(payload.workspaceRoots),
    // The newer one has the arguments as they are, beside a copy in which each is a text.
    tool_name: called.name ?? told.toolName,
    tool_input: called.input ?? told.parameters,
    tool_response: called.output ?? told.result,
    prompt: told.prompt,
    message: told.message,
  })
}

function part(payload: Data, ...names: readonly string[]): Data {
  const found = names.map((name) => payload[name]).find(isObject)
  return (found ?? {}) as Data
}

/** It ends the whole task, which is all that a hook can do; any other exit code than 0 would let the call pass. */
function encode(event: HostEvent, verdict: HostVerdict): HostAnswer {
  const ability = abilityOn(CAN, event)
  const inSdk = event.sentAs === 'tool_call'
  const told = feasible(cline.title, inSdk ? `${ability}I` : ability, event, verdict)
  const isUnknown = ability === undefined
  const cancels = told.act === 'refuse' || told.stops || (told.act === 'signal' && isUnknown)
  const said = [cancels || told.act === 'signal' ? told.reason : '', told.message].filter(Boolean).join('\n')
  return printed({
    ...(cancels && { cancel: true }),
    ...(said && { errorMessage: said }),
    ...(told.context && { contextModification: told.context }),
    ...(told.input && { overrideInput: told.input }),
  })
}
