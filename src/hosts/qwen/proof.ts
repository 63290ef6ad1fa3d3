// How Qwen Code is started for a proof.

import { type HostProof, LATE_ANSWER } from '../host-proof.js'

export const proof: HostProof = {
  program: 'qwen',
  limit: 90,
  env: ({ url, model }) => ({
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_MODEL: model,
  }),
  arguments: (prompt) => ['--auth-type', 'openai', '--yolo', prompt],
  calls: {
    shell: (command) => ({ name: 'run_shell_command', input: { command, is_background: false } }),
    write: (path, text) => ({ name: 'write_file', input: { file_path: path, content: text } }),
    subagent: (prompt) => ({
      name: 'agent',
      input: { description: 'canary', prompt, subagent_type: 'general-purpose' },
    }),
  },
  bypasses: [LATE_ANSWER],
}
