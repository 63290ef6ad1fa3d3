// goose's hook file: hooks.json of a plugin, in Claude Code's layout, with an event for some kinds of tools.

import type { HookFile } from '../hook-files/hook-file.js'
import { flat } from '../hook-files/like-claude.js'
import { definedFields } from '../host.js'

export const hookFile: HookFile = {
  file: 'hooks/hooks.json',
  isAt: /\/\.config\/goose\/|\/\.goose\/|\/\.agents\/plugins\//,
  layout: 'groups',
  keys: [],
  unit: 'seconds',
  events: {
    BeforeReadFile: { tools: ['Read'] },
    AfterFileEdit: { tools: ['Write', 'Edit', 'MultiEdit'] },
    BeforeShellExecution: { tools: ['Bash'] },
    AfterShellExecution: { tools: ['Bash'] },
  },
  matching: 'search',
  payload: ({ as, data, tool, input, sessionId }) =>
    definedFields({
      event: as,
      session_id: sessionId,
      matcher_context: tool ?? '',
      ...(tool !== undefined && { tool_name: tool, tool_input: input }),
      tool_output: data.tool_response,
      message: data.prompt ?? data.last_assistant_message,
      working_dir: data.cwd,
    }),
  answer: flat,
}
