// isTool for hooks that any agent starts: it also knows what the agent calls the tool.

import { isTool as isNamed } from '../core/events/tool-inputs.js'
import { hostNamed } from '../hosts/hosts.js'
import { toolNamed } from '../hosts/tool-calls.js'

/**
 * Whether this is a call of one of these tools, also if the agent has another name for it: `isTool(input, 'Bash')` is true for
 * Gemini's run_shell_command. If so, its input gets that tool's type. Only the name is checked.
 */
export const isTool = ((call: Parameters<typeof isNamed>[0], ...tools: readonly string[]): boolean =>
  isNamed(call, ...tools) || namesIn(call).some((name) => tools.includes(name))) as typeof isNamed

/** Claude Code's names for a tool of the agent that sent the call. */
function namesIn(call: object): readonly string[] {
  const { host, toolName } = call as { readonly host?: unknown; readonly toolName?: unknown }
  const sender = typeof host === 'string' ? hostNamed(host) : undefined
  return (sender && toolNamed(sender, toolName as string)?.names) ?? []
}
