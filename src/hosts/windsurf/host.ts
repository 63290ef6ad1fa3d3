// Windsurf: an event for each kind of tool, and exit code 2 to keep a tool from running.

import { type Data, isObject } from '../../core/base/json.js'
import { fold } from '../../core/events/events.js'
import { byExitCode } from '../answer.js'
import { definedFields, type Host, tool } from '../host.js'
import { mcpToolName } from '../mcp-tool-name.js'

const TOOLS = ['run_command', 'write_code', 'read_code', 'mcp_tool_use'] as const

export const windsurf: Host<'windsurf'> = {
  name: 'windsurf',
  title: 'Windsurf',
  guarded: ['.windsurf/hooks/', '.windsurf/hooks.json', '.codeium/windsurf/hooks.json'],
  sends: (payload) => 'agent_action_name' in payload,
  eventName: ({ agent_action_name: name }) => (typeof name === 'string' ? name : undefined),
  events: {
    ...Object.fromEntries(
      TOOLS.flatMap((tool) => [
        [`pre_${tool}`, 'PreToolUse'],
        [`post_${tool}`, 'PostToolUse'],
      ]),
    ),
    pre_user_prompt: 'UserPromptSubmit',
    post_cascade_response: 'Stop',
    post_cascade_response_with_transcript: null,
    post_setup_worktree: null,
  },
  read,
  tools: { run_command: tool('Bash'), read_code: tool('Read'), write_code: tool('Write Edit') },
  can: { PreToolUse: ['block'], UserPromptSubmit: ['block'], PostToolUse: [], Stop: [] },
  answer: byExitCode,
  timeout: 30,
}

function read({ trajectory_id: id, tool_info: info }: Data, event: string): Data {
  const told = (isObject(info) ? info : {}) as Data
  const tool = TOOLS.find((name) => event.endsWith(fold(name)))
  return definedFields({
    session_id: id,
    cwd: told.cwd,
    transcript_path: told.transcript_path,
    prompt: told.user_prompt,
    ...(tool && toolOf(tool, told)),
  })
}

function toolOf(tool: (typeof TOOLS)[number], told: Data): Data {
  if (tool === 'run_command') {
    return { tool_name: tool, tool_input: definedFields({ command: told.command_line, cwd: told.cwd }) }
  }
  if (tool !== 'mcp_tool_use') {
    return { tool_name: tool, tool_input: definedFields({ file_path: told.file_path, edits: told.edits }) }
  }
  return definedFields({
    tool_name: mcpToolName(String(told.mcp_server_name), String(told.mcp_tool_name)),
    tool_input: told.mcp_tool_arguments ?? {},
    tool_response: told.mcp_result,
  })
}
