// Letta Code: only exit code 2 is a deny, and JSON is ignored.

import type { Data } from '../../core/base/json.js'
import { byExitCode } from '../answer.js'
import { gemini } from '../gemini/host.js'
import { definedFields, type Host, same, type ToolCall, tool } from '../host.js'
import { callsOfPatch } from '../patch.js'

export const letta: Host<'letta'> = {
  name: 'letta',
  title: 'Letta Code',
  guarded: ['.letta/settings*.json', '.letta/hooks/'],
  sends: (payload) => 'event_type' in payload && 'working_directory' in payload,
  // It names the agent, but no session. An answer to a question counts for the same agent.
  read: ({ session_id: session, agent_id: agent }) =>
    definedFields({ session_id: session ?? (agent || undefined), agent_id: null }),
  events:
    same(`PreToolUse PostToolUse UserPromptSubmit Notification Stop SubagentStop PreCompact Setup SessionStart
    SessionEnd PermissionRequest`),
  // Claude Code's, and for other models the tools of Codex and of Gemini CLI, each also in PascalCase.
  tools: {
    Bash: tool('Bash'),
    Read: tool('Read'),
    Write: tool('Write'),
    Edit: tool('Edit'),
    ...gemini.tools,
    exec_command: tool('Bash', { cmd: 'command' }),
    write_stdin: { names: ['Bash'], parts: typedIn },
    WriteStdin: { names: ['Bash'], parts: typedIn },
    shell_command: tool('Bash'),
    ShellCommand: tool('Bash'),
    shell: tool('Bash'),
    Shell: tool('Bash'),
    RunShellCommand: tool('Bash'),
    ReadFile: tool('Read'),
    read_file_gemini: tool('Read'),
    ReadFileGemini: tool('Read'),
    ReadManyFiles: tool('Read'),
    write_file_gemini: tool('Write'),
    WriteFileGemini: tool('Write'),
    Replace: tool('Edit'),
    MultiEdit: tool('Edit'),
    apply_patch: { names: ['Write', 'Edit'], parts: callsOfPatch },
    ApplyPatch: { names: ['Write', 'Edit'], parts: callsOfPatch },
  },
  can: { PreToolUse: ['block'] },
  answer: byExitCode,
  timeout: 60,
}

/** What is typed into a shell that is open. Nothing typed only reads, which is what `:` does. */
function typedIn(input: Data): readonly ToolCall[] {
  const { chars } = input
  return [{ input: { ...input, command: chars === undefined || chars === '' ? ':' : chars } }]
}
