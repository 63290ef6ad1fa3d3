// goose: it only acts on exit code 2 before a tool.

import { byExitCode } from '../answer.js'
import { EDITOR_FIELDS, type Host, same, tool } from '../host.js'

export const goose: Host<'goose'> = {
  name: 'goose',
  title: 'goose',
  guarded: ['.agents/plugins/', '.config/goose/'],
  sends: (payload) => typeof payload.event === 'string' && 'matcher_context' in payload,
  // It sends Before… and After… in addition to PreToolUse and PostToolUse, for the same calls.
  events: {
    ...same(`PreToolUse PostToolUse PostToolUseFailure SessionStart SessionEnd UserPromptSubmit Stop SubagentStart
      SubagentStop`),
    BeforeReadFile: 'PreToolUse',
    AfterFileEdit: 'PostToolUse',
    BeforeShellExecution: 'PreToolUse',
    AfterShellExecution: 'PostToolUse',
  },
  tools: Object.fromEntries(
    ['developer__', ''].flatMap((prefix) => [
      [`${prefix}shell`, tool('Bash')],
      [`${prefix}text_editor`, tool('Write Edit', EDITOR_FIELDS)],
      [`${prefix}write`, tool('Write', EDITOR_FIELDS)],
      [`${prefix}edit`, tool('Edit', { ...EDITOR_FIELDS, before: 'old_string', after: 'new_string' })],
    ]),
  ),
  can: { PreToolUse: ['block'] },
  answer: byExitCode,
  timeout: 30,
}
