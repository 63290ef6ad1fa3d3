// Codex's hook file: hooks.json in Claude Code's format, with fewer keys.

import { type HookFile, named } from '../hook-files/hook-file.js'
import { byCodeToo } from '../hook-files/like-claude.js'
import { definedFields } from '../host.js'

export const hookFile: HookFile = {
  file: '.codex/hooks.json',
  isAt: /\/\.codex(?:-plugin)?\//,
  layout: 'groups',
  topKeys: ['description', 'hooks'],
  keys: [
    'commandWindows',
    'command_windows',
    'async',
    'statusMessage',
    'additionalContextLimit',
    'server',
    'tool',
    'input',
    'prompt',
  ],
  unit: 'seconds',
  // Its matchers know the patch by the names of both tools.
  tools: named(
    'Write=apply_patch,Write,Edit Edit=apply_patch,Edit,Write MultiEdit=apply_patch,Edit,Write Agent=spawn_agent,Agent',
  ),
  matching: 'narrow',
  grants: ['PermissionRequest'],
  speaksClaude: 'partly',
  // The call is still Claude Code's: a patch would have to be made up.
  payload: ({ as, data }) =>
    definedFields({
      ...data,
      hook_event_name: as,
      model: data.model ?? 'default',
      turn_id: data.prompt_id ?? 'turn-1',
    }),
  answer: byCodeToo,
}
