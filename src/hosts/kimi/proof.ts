// How Kimi Code is started for a proof.

import { type HostProof, LATE_ANSWER } from '../host-proof.js'

export const proof: HostProof = {
  program: 'kimi',
  limit: 90,
  files: ({ url, model }) => ({
    '.kimi-code/config.toml': `default_permission_mode = "auto"
default_model = "mock"

[providers.mock]
type = "openai"
base_url = "${url}/v1"
api_key = "none"

[models.mock]
provider = "mock"
model = "${model}"
max_context_size = 128000
`,
  }),
  arguments: (prompt) => ['-m', 'mock', '-p', prompt],
  calls: {
    shell: (command) => ({ name: 'Bash', input: { command } }),
    write: (path, text) => ({ name: 'Write', input: { path, content: text } }),
    subagent: (prompt) => ({
      name: 'Agent',
      input: { description: 'canary', prompt, subagent_type: 'coder' },
    }),
  },
  bypasses: [LATE_ANSWER],
}
