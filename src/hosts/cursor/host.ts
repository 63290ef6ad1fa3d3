// Cursor as the one that asks: flat snake_case answers, of which an empty one is `{}`; nothing at all counts as a failure.

import type { Data, Json } from '../../core/base/json.js'
import {
  type Abilities,
  abilityOn,
  type Feasible,
  feasible,
  type HostAnswer,
  type HostEvent,
  type HostVerdict,
  signalled,
} from '../host-answer.js'
import { fieldsOf, firstOf, type HostDialect } from '../host-dialect.js'

/** To ask is not among them: it was not enforced for many versions. Nor is to allow, which spares nobody a question. */
const CAN: Abilities = {
  PreToolUse: 'BIC',
  PostToolUse: 'C',
  PostToolUseFailure: 'C',
  UserPromptSubmit: 'BCS',
  SessionStart: 'CS',
  SubagentStart: 'B',
  Stop: 'B',
  SubagentStop: 'B',
  PreCompact: '',
  SessionEnd: '',
}

/** Permission events that take nothing but a permission. */
const GATES: Readonly<Record<string, string>> = {
  beforeshellexecution: 'PreToolUse',
  beforemcpexecution: 'PreToolUse',
  beforereadfile: 'PreToolUse',
  beforetabfileread: 'PreToolUse',
}

export const cursor: HostDialect<'cursor'> = {
  name: 'cursor',
  title: 'Cursor',
  sends: (payload) =>
    'cursor_version' in payload || ('conversation_id' in payload && 'generation_id' in payload),
  events: {
    ...GATES,
    beforesubmitprompt: 'UserPromptSubmit',
    aftershellexecution: 'PostToolUse',
    aftermcpexecution: 'PostToolUse',
    afterfileedit: 'PostToolUse',
    aftertabfileedit: 'PostToolUse',
  },
  read,
  patience: 60,
  encode,
}

function read(payload: Data, event: string): Data {
  const { command, cwd, file_path: file, edits, output, result_json: result, loop_count: loops } = payload
  const common = {
    cwd: cwd ?? firstOf(payload.workspace_roots),
    agent_id: payload.subagent_id,
    agent_type: payload.subagent_type,
    error: payload.error_message,
    ...(typeof loops === 'number' && { stop_hook_active: loops > 0 }),
  }
  return fieldsOf({
    ...common,
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
      return { tool_name: 'Shell', tool_input: fieldsOf({ command, cwd }) }
    case 'beforereadfile':
    case 'beforetabfileread':
      return { tool_name: 'Read', tool_input: fieldsOf({ file_path: file }) }
    case 'afterfileedit':
    case 'aftertabfileedit':
      return { tool_name: 'Write', tool_input: fieldsOf({ file_path: file, edits }) }
    default:
      return {}
  }
}

function encode(event: HostEvent, verdict: HostVerdict): HostAnswer {
  const isGate = Object.hasOwn(GATES, event.sentAs.toLowerCase())
  const told = feasible(cursor.title, isGate ? 'B' : abilityOn(CAN, event), event, verdict)
  // What is printed goes before standard error there.
  if (told.act === 'signal') return signalled(told)
  const untold = told.message && !TELLS.has(event.name)
  return {
    stdout: `${JSON.stringify(jsonOf(event, told))}\n`,
    exit: 0,
    ...(untold && { stderr: `${told.message}\n` }),
  }
}

function jsonOf({ name }: HostEvent, told: Feasible): object {
  return {
    ...(told.act === 'refuse' && refusal(name, told)),
    ...(told.input && { updated_input: told.input }),
    ...(told.context && { additional_context: told.context }),
    ...(told.act !== 'refuse' && told.message && TELLS.has(name) && { user_message: told.message }),
  }
}

/** Those that have a place for a word to the user. */
const TELLS: ReadonlySet<string> = new Set([
  'PreToolUse',
  'SubagentStart',
  'UserPromptSubmit',
  'SessionStart',
  'PreCompact',
])

function refusal(name: string, { reason, message }: Feasible): object {
  const both = [reason, message].filter(Boolean).join('\n')
  if (name === 'Stop' || name === 'SubagentStop') return { followup_message: reason }
  if (name === 'UserPromptSubmit' || name === 'SessionStart') return { continue: false, user_message: both }
  return { permission: 'deny', user_message: both, agent_message: reason }
}
