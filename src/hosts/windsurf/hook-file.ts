// Windsurf's hooks: an event for each kind of tool, and exit code 2 to refuse. What they print is ignored.

import { EDITS, type HookFile, mcpParts, type Sent } from '../hook-files/hook-file.js'
import { onlyClosing } from '../hook-files/spoken.js'
import { definedFields } from '../host.js'

const TOOLS: Readonly<Record<string, readonly string[]>> = {
  read_code: ['Read'],
  write_code: EDITS,
  run_command: ['Bash'],
  mcp_tool_use: ['mcp'],
}

export const hookFile: HookFile = {
  file: '.windsurf/hooks.json',
  isAt: /\/(?:\.windsurf|\.codeium|etc\/windsurf)\//,
  layout: 'flat',
  topKeys: ['version', '$schema'],
  keys: ['powershell', 'show_output', 'working_directory'],
  unit: 'seconds',
  hasNoTimeout: true,
  hasNoMatcher: true,
  events: Object.fromEntries(
    Object.entries(TOOLS).flatMap(([name, tools]) => [
      [`pre_${name}`, { tools }],
      [`post_${name}`, { tools }],
    ]),
  ),
  matching: 'search',
  startsInProject: true,
  payload: (sent) =>
    definedFields({
      agent_action_name: sent.as,
      trajectory_id: sent.sessionId,
      execution_id: sent.data.prompt_id ?? sent.sessionId,
      timestamp: new Date(sent.now).toISOString(),
      model_name: sent.data.model,
      tool_info: infoOf(sent),
    }),
  answer: onlyClosing,
}

function infoOf({ as, data, input }: Sent) {
  const { cwd } = data
  if (as.endsWith('_run_command')) return definedFields({ command_line: input.command, cwd })
  if (as.endsWith('_read_code')) return definedFields({ file_path: input.file_path })
  if (as.endsWith('_write_code')) {
    const { old_string = '', new_string, content, edits } = input
    return definedFields({
      file_path: input.file_path,
      edits: edits ?? [{ old_string, new_string: new_string ?? content ?? '' }],
    })
  }
  if (as.endsWith('_mcp_tool_use')) {
    const { server, tool } = mcpParts(String(data.tool_name)) ?? { server: '', tool: String(data.tool_name) }
    return definedFields({
      mcp_server_name: server,
      mcp_tool_name: tool,
      mcp_tool_arguments: input,
      mcp_result: data.tool_response,
    })
  }
  if (as === 'pre_user_prompt') return definedFields({ user_prompt: data.prompt })
  return definedFields({ response: data.last_assistant_message, transcript_path: data.transcript_path })
}
