// Windsurf's hooks: an event for each kind of tool, and exit code 2 to refuse. What they print is ignored.

import {
  type AgentEvent,
  type AgentSystem,
  defined,
  EDITS,
  mcpParts,
  named,
  on,
  type Sent,
} from './agent-system.js'
import { onlyClosing } from './spoken.js'

const TOOLS: Readonly<Record<string, readonly string[]>> = {
  read_code: ['Read'],
  write_code: EDITS,
  run_command: ['Bash'],
  mcp_tool_use: ['mcp'],
}

const ofTools = (when: 'pre' | 'post', to: string): Record<string, AgentEvent> =>
  Object.fromEntries(Object.entries(TOOLS).map(([name, tools]) => [`${when}_${name}`, on(to, ...tools)]))

export const windsurf: AgentSystem = {
  name: 'windsurf',
  title: 'Windsurf',
  file: '.windsurf/hooks.json',
  isAt: /\/(?:\.windsurf|\.codeium|etc\/windsurf)\//,
  layout: 'flat',
  topKeys: ['version', '$schema'],
  keys: ['powershell', 'show_output', 'working_directory'],
  unit: 'seconds',
  hasNoTimeout: true,
  timeout: 30,
  events: {
    ...ofTools('pre', 'PreToolUse'),
    ...ofTools('post', 'PostToolUse'),
    pre_user_prompt: on('UserPromptSubmit'),
    post_cascade_response: on('Stop'),
    post_cascade_response_with_transcript: on(null),
    post_setup_worktree: on(null),
  },
  tools: named('Bash=run_command Read=read_code Write=write_code Edit=write_code MultiEdit=write_code'),
  matching: 'search',
  startsInProject: true,
  payload: (sent) =>
    defined({
      agent_action_name: sent.as,
      trajectory_id: sent.sessionId,
      execution_id: sent.data.prompt_id ?? sent.sessionId,
      timestamp: new Date(sent.now).toISOString(),
      model_name: sent.data.model,
      tool_info: infoOf(sent),
    }),
  answer: (reply) => onlyClosing(reply),
}

function infoOf({ as, data, input }: Sent) {
  const { cwd } = data
  if (as.endsWith('_run_command')) return defined({ command_line: input.command, cwd })
  if (as.endsWith('_read_code')) return defined({ file_path: input.file_path })
  if (as.endsWith('_write_code')) {
    const { old_string = '', new_string, content, edits } = input
    return defined({
      file_path: input.file_path,
      edits: edits ?? [{ old_string, new_string: new_string ?? content ?? '' }],
    })
  }
  if (as.endsWith('_mcp_tool_use')) {
    const { server, tool } = mcpParts(String(data.tool_name)) ?? { server: '', tool: String(data.tool_name) }
    return defined({
      mcp_server_name: server,
      mcp_tool_name: tool,
      mcp_tool_arguments: input,
      mcp_result: data.tool_response,
    })
  }
  if (as === 'pre_user_prompt') return defined({ user_prompt: data.prompt })
  return defined({ response: data.last_assistant_message, transcript_path: data.transcript_path })
}
