// Cline: the payload has an object for each event, and only `cancel`, with exit code 0, refuses.

import { type Data, isObject } from '../../core/base/json.js'
import { abilitiesOn, isRefusal, printed, withMessage } from '../answer.js'
import {
  type Abilities,
  definedFields,
  type FittedVerdict,
  firstOf,
  type Host,
  type HostAnswer,
  type HostEvent,
} from '../host.js'

const CAN: Abilities = {
  PreToolUse: ['block', 'context'],
  PostToolUse: ['context', 'stop'],
  UserPromptSubmit: ['block', 'context'],
  SessionStart: ['block', 'context'],
  PreCompact: ['block'],
  Stop: [],
  SessionEnd: [],
  StopFailure: [],
  Notification: [],
}

export const cline: Host<'cline'> = {
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
  // Two generations: the second takes lists of commands and of files.
  tools: {
    execute_command: ['Bash'],
    run_commands: ['Bash'],
    read_file: ['Read'],
    read_files: ['Read'],
    write_to_file: ['Write'],
    new_rule: ['Write'],
    replace_in_file: ['Edit'],
    editor: ['Write', 'Edit'],
    apply_patch: ['Write', 'Edit'],
  },
  // Only its SDK, which sends `tool_call`, can change an input.
  can: (event) =>
    event.sentAs === 'tool_call' ? [...(abilitiesOn(CAN, event) ?? []), 'input'] : abilitiesOn(CAN, event),
  answer,
  timeout: 30,
}

function read(payload: Data): Data {
  const called = part(payload, 'tool_call', 'tool_result')
  const told = part(payload, 'preToolUse', 'postToolUse', 'userPromptSubmit', 'notification')
  return definedFields({
    session_id: payload.taskId,
    cwd: firstOf(payload.workspaceRoots),
    // The newer generation sends the arguments as they are, plus a copy in which each is a string.
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

/** A hook can only end the whole task. Any exit code other than 0 would let the call pass. */
function answer(event: HostEvent, told: FittedVerdict): HostAnswer {
  const isUnknown = !Object.hasOwn(CAN, event.name)
  const cancels = told.act === 'refuse' || told.stops || (told.act === 'signal' && isUnknown)
  const said = withMessage({ reason: cancels || isRefusal(told) ? told.reason : '', message: told.message })
  return printed({
    ...(cancels && { cancel: true }),
    ...(said && { errorMessage: said }),
    ...(told.context && { contextModification: told.context }),
    ...(told.input && { overrideInput: told.input }),
  })
}
