// Amazon Q's hooks in the file of an agent, also for Kiro's CLI: flat lists. Text counts at the start and with a prompt.

import type { Reply } from '../../systems/claude-code/decode.js'
import { type HookFile, named, type Sent } from '../hook-files/hook-file.js'
import { objectIn, onlyClosing } from '../hook-files/spoken.js'
import { definedFields } from '../host.js'

export const hookFile: HookFile = {
  file: '.amazonq/cli-agents/default.json',
  isAt: /\/\.(?:amazonq|aws\/amazonq)\/|\/\.kiro\/agents\//,
  layout: 'flat',
  keys: ['timeout_ms', 'cache_ttl_seconds', 'max_output_size'],
  timeoutKey: 'timeout_ms',
  unit: 'milliseconds',
  tools: named(
    'Bash=execute_bash,shell,execute_cmd Edit=fs_write,write WebFetch=web_fetch,web WebSearch=web_search,web',
  ),
  mcpName: (server, tool) => `@${server}/${tool}`,
  matching: 'glob',
  payload,
  answer,
}

export function payload({ as, data, tool, input, projectDir }: Sent) {
  return definedFields({
    hook_event_name: as,
    cwd: data.cwd ?? projectDir,
    prompt: data.prompt,
    ...(tool !== undefined && { tool_name: tool, tool_input: input }),
    tool_response: data.tool_response,
  })
}

function answer(reply: Reply, { event }: Sent): Reply {
  const isRead = event === 'SessionStart' || event === 'UserPromptSubmit'
  return reply.code === 0 && isRead && !objectIn(reply.stdout) ? reply : onlyClosing(reply)
}
