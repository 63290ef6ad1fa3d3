// Letta Code: only exit code 2 is a deny, and JSON is ignored.

import { byExitCode } from '../answer.js'
import { gemini } from '../gemini/host.js'
import type { Host } from '../host.js'

export const letta: Host<'letta'> = {
  name: 'letta',
  title: 'Letta Code',
  sends: (payload) => 'event_type' in payload && 'working_directory' in payload,
  // For their models, it has the tools of Codex and of Gemini CLI, each also in PascalCase.
  tools: {
    ...gemini.tools,
    exec_command: ['Bash'],
    shell_command: ['Bash'],
    ShellCommand: ['Bash'],
    shell: ['Bash'],
    Shell: ['Bash'],
    RunShellCommand: ['Bash'],
    ReadFile: ['Read'],
    read_file_gemini: ['Read'],
    ReadFileGemini: ['Read'],
    ReadManyFiles: ['Read'],
    write_file_gemini: ['Write'],
    WriteFileGemini: ['Write'],
    Replace: ['Edit'],
    MultiEdit: ['Edit'],
    apply_patch: ['Write', 'Edit'],
    ApplyPatch: ['Write', 'Edit'],
  },
  can: { PreToolUse: ['block'] },
  answer: byExitCode,
  timeout: 30,
}
