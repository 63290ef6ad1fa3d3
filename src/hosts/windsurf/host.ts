// Windsurf as the one that asks: an event for each kind of tool, and exit code 2 before one that is not to run.

import { type Data, isObject } from '../../core/base/json.js'
import { byExitCode } from '../exit-code.js'
import { fieldsOf, type HostDialect } from '../host-dialect.js'

const TOOLS = ['run_command', 'write_code', 'read_code', 'mcp_tool_use'] as const
const folded = (text: string) => text.replaceAll('_', '')

export const windsurf: HostDialect<'windsurf'> = {
  name: 'windsurf',
  title: 'Windsurf',
  sends: (payload) => 'agent_action_name' in payload,
  events: {
    ...Object.fromEntries(
      TOOLS.flatMap((tool) => [
        [`pre${folded(tool)}`, 'PreToolUse'],
        [`post${folded(tool)}`, 'PostToolUse'],
      ]),
    ),
    preuserprompt: 'UserPromptSubmit',
    postcascaderesponse: 'Stop',
  },
  read,
  patience: 30,
  encode: byExitCode('Windsurf', { PreToolUse: 'B', UserPromptSubmit: 'B', PostToolUse: '', Stop: '' }),
}

function read({ trajectory_id: id, tool_info: info }: Data, event: string): Data {
  const told = (isObject(info) ? info : {}) as Data
  const tool = TOOLS.find((name) => event.endsWith(folded(name)))
  return fieldsOf({
    session_id: id,
    cwd: told.cwd,
    transcript_path: told.transcript_path,
    prompt: told.user_prompt,
    ...(tool && toolOf(tool, told)),
  })
}

function toolOf(tool: (typeof TOOLS)[number], told: Data): Data {
  if (tool === 'run_command') {
    return { tool_name: tool, tool_input: fieldsOf({ command: told.command_line, cwd: told.cwd }) }
  }
  if (tool !== 'mcp_tool_use') {
    return { tool_name: tool, tool_input: fieldsOf({ file_path: told.file_path, edits: told.edits }) }
  }
  return fieldsOf({
    tool_name: `mcp__${told.mcp_server_name}__${told.mcp_tool_name}`,
    tool_input: told.mcp_tool_arguments ?? {},
    tool_response: told.mcp_result,
  })
}
