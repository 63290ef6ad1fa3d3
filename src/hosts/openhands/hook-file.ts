// OpenHands' hook file: Claude Code's layout, with names of events in two spellings and a payload of its own.

import { type HookFile, named } from '../hook-files/hook-file.js'
import { flat } from '../hook-files/like-claude.js'
import { definedFields } from '../host.js'

export const hookFile: HookFile = {
  file: '.openhands/hooks.json',
  isAt: /\/\.openhands\//,
  layout: 'groups',
  topKeys: ['$schema', 'version', 'description'],
  keys: ['async', 'prompt', 'model', 'name'],
  unit: 'seconds',
  // The editor also shows files.
  tools: named('Read=file_editor,str_replace_editor,read_file'),
  matching: 'whole',
  env: ({ sessionId, as, tool }) => ({
    OPENHANDS_SESSION_ID: sessionId,
    OPENHANDS_EVENT_TYPE: as,
    ...(tool !== undefined && { OPENHANDS_TOOL_NAME: tool }),
  }),
  payload: ({ event, data, tool, input, sessionId, projectDir }) =>
    definedFields({
      event_type: event,
      ...(tool !== undefined && { tool_name: tool, tool_input: input }),
      tool_response: data.tool_response,
      message: data.prompt ?? data.last_assistant_message,
      session_id: sessionId,
      working_dir: data.cwd ?? projectDir,
      metadata: {},
    }),
  answer: flat,
}
