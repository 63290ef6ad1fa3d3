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

/** Letta Code has the tools of Codex and of Gemini CLI for their models, each also in PascalCase. */
const LETTA: Names = {
  ...GEMINI,
  exec_command: BASH,
  shell_command: BASH,
  ShellCommand: BASH,
  shell: BASH,
  Shell: BASH,
  RunShellCommand: BASH,
  ReadFile: READ,
  read_file_gemini: READ,
  ReadFileGemini: READ,
  ReadManyFiles: READ,
  write_file_gemini: WRITE,
  WriteFileGemini: WRITE,
  Replace: EDIT,
  MultiEdit: EDIT,
  apply_patch: WRITE_OR_EDIT,
  ApplyPatch: WRITE_OR_EDIT,
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
  // Two generations: the second takes lists of commands and of files.
  cline: {
    execute_command: BASH,
    run_commands: BASH,
    read_file: READ,
    read_files: READ,
    write_to_file: WRITE,
    new_rule: WRITE,
    replace_in_file: EDIT,
    editor: WRITE_OR_EDIT,
    apply_patch: WRITE_OR_EDIT,
  },
  letta: LETTA,
  openhands: {
    terminal: BASH,
    execute_bash: BASH,
    file_editor: WRITE_OR_EDIT,
    str_replace_editor: WRITE_OR_EDIT,
    apply_patch: WRITE_OR_EDIT,
    read_file: READ,
    write_file: WRITE,
    edit: EDIT,
  },
  crush: { bash: BASH, view: READ, write: WRITE, edit: EDIT, multiedit: EDIT },
}

/** Claude Code's names for a tool of this agent, the likeliest first; none where it has none, or the same. */
export function claudeToolNames(host: HostName, tool: string): readonly string[] {
  const names = TOOLS[host] ?? {}
  return Object.hasOwn(names, tool) ? (names[tool] as readonly string[]) : []
}
