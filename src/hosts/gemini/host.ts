// Gemini CLI: events of its own, one `decision` for all of them; it merges a changed input over the old one.

import { type Data, isObject } from '../../core/base/json.js'
import { fold } from '../../core/events/events.js'
import { printed, signalled, textOfResponse } from '../answer.js'
import { definedFields, type FittedVerdict, type Host, type HostEvent, keepsIn, same, tool } from '../host.js'

/** Names that only this agent has. */
const OWN = {
  BeforeTool: 'PreToolUse',
  AfterTool: 'PostToolUse',
  BeforeAgent: 'UserPromptSubmit',
  AfterAgent: 'Stop',
  BeforeModel: 'ModelRequest',
  AfterModel: 'ModelResponse',
  BeforeToolSelection: null,
  PreCompress: 'PreCompact',
} as const

const OWN_NAMES = Object.keys(OWN).map(fold)

export const gemini: Host<'gemini'> = {
  name: 'gemini',
  title: 'Gemini CLI',
  guarded: ['.gemini/hooks/', '.gemini/settings.json', '.gemini/extensions/', '.gemini/trusted*.json'],
  runsEqualOnce: true,
  projectVariable: 'GEMINI_PROJECT_DIR',
  sends: (payload, event) => keepsIn(payload, '.gemini') || OWN_NAMES.includes(event),
  events: { ...same('SessionStart SessionEnd Notification'), ...OWN },
  read: readModelCall,
  tools: {
    run_shell_command: tool('Bash'),
    read_file: tool('Read', { absolute_path: 'file_path', file_path: 'file_path' }),
    read_many_files: tool('Read'),
    write_file: tool('Write'),
    replace: tool('Edit'),
    edit: tool('Edit'),
  },
  // It cannot ask, because without a terminal it would wait forever.
  can: {
    PreToolUse: ['block', 'input', 'stop'],
    PostToolUse: ['block', 'output', 'context', 'stop'],
    UserPromptSubmit: ['block', 'context', 'stop'],
    SessionStart: ['context'],
    Stop: ['block', 'stop'],
    ModelRequest: ['block', 'stop'],
    ModelResponse: ['block', 'stop'],
    PreCompact: [],
    Notification: [],
    SessionEnd: [],
  },
  mergesInput: true,
  answer: (event, told) => (told.act === 'signal' ? signalled(told) : printed(jsonOf(event, told))),
  timeout: 60,
}

function readModelCall({ llm_request: request, llm_response: response }: Data): Data {
  if (!isObject(request)) return {}
  const { model, messages, config } = request as Data
  return definedFields({ model, messages, options: config, response })
}

function jsonOf(event: HostEvent, told: FittedVerdict): object {
  const specific = {
    ...(told.input && { tool_input: told.input }),
    ...(told.context && { additionalContext: told.context }),
  }
  // A refusal with the new result as its reason replaces the old result.
  const output = told.output === undefined ? undefined : textOfResponse(told.output)
  const refuses = told.act === 'refuse' || output !== undefined
  return {
    ...(told.stops && { continue: false, stopReason: told.reason }),
    ...(refuses && { decision: 'deny', reason: output ?? told.reason }),
    ...(told.message && { systemMessage: told.message }),
    ...(Object.keys(specific).length > 0 && {
      hookSpecificOutput: { hookEventName: event.sentAs || event.name, ...specific },
    }),
  }
}
