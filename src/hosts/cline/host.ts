// Cline 2: the payload has an object for each event, and only `cancel`, with exit code 0, refuses.

import { type Data, isObject } from '../../core/base/json.js'
import { isRefusal, printed, withMessage } from '../answer.js'
import {
  type Abilities,
  definedFields,
  EDITOR_FIELDS,
  type FittedVerdict,
  firstOf,
  type Host,
  type HostAnswer,
  type HostEvent,
  tool,
} from '../host.js'
import { callsOfPatch } from '../patch.js'

const CAN: Abilities = {
  PreToolUse: ['block', 'context'],
  PostToolUse: ['context', 'stop'],
  UserPromptSubmit: ['block', 'context'],
  SessionStart: ['block'],
  PreCompact: ['block'],
  Stop: [],
  SessionEnd: [],
  StopFailure: [],
  Notification: [],
}

export const cline: Host<'cline'> = {
  name: 'cline',
  title: 'Cline',
  guarded: ['.cline/hooks/', '.clinerules/hooks/', 'Documents/Cline/Hooks/'],
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
  // Cline 3 has more events and tools, which take lists of commands and of files. They are read here too.
  tools: {
    execute_command: tool('Bash'),
    run_commands: {
      names: ['Bash'],
      whole: ({ commands, ...rest }, part) => ({ ...rest, commands: [part.command ?? ''] }),
    },
    read_file: tool('Read', EDITOR_FIELDS),
    read_files: tool('Read', EDITOR_FIELDS),
    write_to_file: tool('Write', EDITOR_FIELDS),
    new_rule: tool('Write', EDITOR_FIELDS),
    replace_in_file: tool('Edit', EDITOR_FIELDS),
    editor: tool('Write Edit', { ...EDITOR_FIELDS, old_text: 'old_string', new_text: 'new_string' }),
    apply_patch: { names: ['Write', 'Edit'], parts: callsOfPatch },
  },
  can: CAN,
  answer,
  timeout: 30,
}

function read(payload: Data): Data {
  const called = part(payload, 'tool_call', 'tool_result')
  const told = part(payload, 'preToolUse', 'postToolUse', 'userPromptSubmit', 'notification')
  return definedFields({
    session_id: payload.taskId,
    cwd: firstOf(payload.workspaceRoots),
    // Cline 3 also gives its main agent an id.
    ...(payload.parent_agent_id ? {} : { agent_id: null }),
    tool_use_id: called.id,
    // Cline 3 sends the arguments as they are, plus a copy in which each is a string.
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
