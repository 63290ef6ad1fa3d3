// Cursor: flat snake_case answers. An empty one is `{}`: printing nothing counts as a failure.

import type { Data, Json } from '../../core/base/json.js'
import { fold } from '../../core/events/events.js'
import { abilitiesOn, plain, signalled, withMessage } from '../answer.js'
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

/** It cannot ask, because many versions did not enforce that, and an allow does not spare the user a question. */
const CAN: Abilities = {
  PreToolUse: ['block', 'input', 'context'],
  PostToolUse: ['context'],
  PostToolUseFailure: ['context'],
  UserPromptSubmit: ['block', 'context', 'stop'],
  SessionStart: ['context', 'stop'],
  SubagentStart: ['block'],
  Stop: ['block'],
  SubagentStop: ['block'],
  PreCompact: [],
  SessionEnd: [],
}

/** Events that take a permission and nothing else. */
const GATES = {
  beforeShellExecution: 'PreToolUse',
  beforeMCPExecution: 'PreToolUse',
  beforeReadFile: 'PreToolUse',
  beforeTabFileRead: 'PreToolUse',
} as const

const GATE_NAMES = Object.keys(GATES).map(fold)

/** In an answer it may call them as Claude Code does. */
const FIELDS = {
  ...EDITOR_FIELDS,
  file_path: 'file_path',
  content: 'content',
  old_string: 'old_string',
  new_string: 'new_string',
} as const

export const cursor: Host<'cursor'> = {
  name: 'cursor',
  title: 'Cursor',
  guarded: ['.cursor/hooks/', '.cursor/hooks.json', '.cursor/cli*.json', '.cursor/permissions.json'],
  projectVariable: 'CURSOR_PROJECT_DIR',
  sends: (payload) =>
    'cursor_version' in payload || ('conversation_id' in payload && 'generation_id' in payload),
  events: {
    sessionStart: 'SessionStart',
    sessionEnd: 'SessionEnd',
    beforeSubmitPrompt: 'UserPromptSubmit',
    preToolUse: 'PreToolUse',
    postToolUse: 'PostToolUse',
    postToolUseFailure: 'PostToolUseFailure',
    ...GATES,
    afterShellExecution: 'PostToolUse',
    afterMCPExecution: 'PostToolUse',
    afterFileEdit: 'PostToolUse',
    afterTabFileEdit: 'PostToolUse',
    subagentStart: 'SubagentStart',
    subagentStop: 'SubagentStop',
    preCompact: 'PreCompact',
    stop: 'Stop',
    afterAgentResponse: 'MessageDisplay',
    afterAgentThought: null,
    workspaceOpen: null,
  },
  read,
  tools: {
    Shell: tool('Bash'),
    Read: tool('Read', FIELDS),
    Write: tool('Write Edit', FIELDS),
    StrReplace: tool('Edit', FIELDS),
    Delete: tool('Write Edit', FIELDS),
  },
  can: (event) => (GATE_NAMES.includes(fold(event.sentAs)) ? ['block'] : abilitiesOn(CAN, event)),
  answer,
  timeout: 60,
}

function read(payload: Data, event: string): Data {
  const { command, cwd, file_path: file, edits, output, result_json: result, loop_count: loops } = payload
  return definedFields({
    cwd: cwd ?? firstOf(payload.workspace_roots),
    agent_id: payload.subagent_id,
    agent_type: payload.subagent_type,
    error: payload.error_message,
    ...(typeof loops === 'number' && { stop_hook_active: loops > 0 }),
    ...toolOf(event, { command, cwd, file_path: file, edits }),
    tool_response: output ?? result,
  })
}

function toolOf(
  event: string,
  { command, cwd, file_path: file, edits }: Record<string, Json | undefined>,
): Data {
  switch (event) {
    case 'beforeshellexecution':
    case 'aftershellexecution':
      return { tool_name: 'Shell', tool_input: definedFields({ command, cwd }) }
    case 'beforereadfile':
    case 'beforetabfileread':
      return { tool_name: 'Read', tool_input: definedFields({ file_path: file }) }
    case 'afterfileedit':
    case 'aftertabfileedit':
      return { tool_name: 'Write', tool_input: definedFields({ file_path: file, edits }) }
    default:
      return {}
  }
}

function answer(event: HostEvent, told: FittedVerdict): HostAnswer {
  // It prefers stdout to stderr, so nothing is printed beside a signal.
  if (told.act === 'signal') return signalled(told)
  return plain(JSON.stringify(jsonOf(event, told)), 0, TELLS.has(event.name) ? '' : told.message)
}

function jsonOf({ name }: HostEvent, told: FittedVerdict): object {
  return {
    ...(told.act === 'refuse' && refusal(name, told)),
    ...(told.input && { updated_input: told.input }),
    ...(told.context && { additional_context: told.context }),
    ...(told.act !== 'refuse' && told.message && TELLS.has(name) && { user_message: told.message }),
  }
}

/** Events whose answer has a place for a message to the user. */
const TELLS: ReadonlySet<string> = new Set([
  'PreToolUse',
  'SubagentStart',
  'UserPromptSubmit',
  'SessionStart',
  'PreCompact',
])

function refusal(name: string, told: FittedVerdict): object {
  const { reason } = told
  if (name === 'Stop' || name === 'SubagentStop') return { followup_message: reason }
  const message = withMessage(told)
  if (name === 'UserPromptSubmit' || name === 'SessionStart')
    return { continue: false, user_message: message }
  return { permission: 'deny', user_message: message, agent_message: reason }
}
