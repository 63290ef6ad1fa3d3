// How Gemini CLI is started for a proof.

import { type HostProof, LATE_ANSWER } from '../host-proof.js'

export const proof: HostProof = {
  program: 'gemini',
  limit: 90,
  files: () => ({
    '.gemini/settings.json': `${JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }, null, 2)}\n`,
  }),
  env: ({ url }) => ({
    GEMINI_API_KEY: 'none',
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
  }),
  arguments: (prompt) => ['-m', 'gemini-2.5-flash', '--yolo', '-p', prompt],
  calls: {
    shell: (command) => ({ name: 'run_shell_command', input: { command } }),
    write: (path, text) => ({ name: 'write_file', input: { file_path: path, content: text } }),
    subagent: (prompt) => ({ name: 'invoke_agent', input: { agent_name: 'generalist', prompt } }),
  },
  bypasses: [LATE_ANSWER],
}
