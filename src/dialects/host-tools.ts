// What agents call the tools that Claude Code has as well, so that a matcher for its names guards them, too.

import type { HostName } from './hosts.js'

type Names = Readonly<Record<string, readonly string[]>>

const BASH = ['Bash']
const READ = ['Read']
const WRITE = ['Write']
const EDIT = ['Edit']
/** One tool that does what two do elsewhere. */
const WRITE_OR_EDIT = ['Write', 'Edit']

const GEMINI: Names = {
  run_shell_command: BASH,
  read_file: READ,
  read_many_files: READ,
  write_file: WRITE,
  replace: EDIT,
  edit: EDIT,
}

const TOOLS: Readonly<Partial<Record<HostName, Names>>> = {
  codex: { apply_patch: WRITE_OR_EDIT },
  gemini: GEMINI,
  qwen: GEMINI,
  copilot: {
    bash: BASH,
    powershell: BASH,
    view: READ,
    create: WRITE,
    edit: EDIT,
    str_replace_editor: EDIT,
    apply_patch: EDIT,
  },
  vscode: { runTerminalCommand: BASH, create_file: WRITE, replace_string_in_file: EDIT },
  cursor: { Shell: BASH, Write: WRITE_OR_EDIT },
  droid: { Execute: BASH, Create: WRITE, ApplyPatch: EDIT },
  'amazon-q': { execute_bash: BASH, fs_read: READ, fs_write: WRITE_OR_EDIT },
  windsurf: { run_command: BASH, read_code: READ, write_code: WRITE_OR_EDIT },
  goose: { developer__shell: BASH },
  crush: { bash: BASH, view: READ, write: WRITE, edit: EDIT, multiedit: EDIT },
}

/** Claude Code's names for a tool of this agent, the likeliest first; none where it has none, or the same. */
export function claudeToolNames(host: HostName, tool: string): readonly string[] {
  const names = TOOLS[host] ?? {}
  return Object.hasOwn(names, tool) ? (names[tool] as readonly string[]) : []
}
