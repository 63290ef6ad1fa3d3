// How GitHub Copilot CLI is started for a proof.

import { type HostProof, LATE_ANSWER } from '../host-proof.js'

export const proof: HostProof = {
  program: 'copilot',
  limit: 90,
  env: ({ url }) => ({
    COPILOT_OFFLINE: 'true',
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_API_KEY: 'none',
    COPILOT_MODEL: 'gpt-4.1',
  }),
  arguments: (prompt) => ['--allow-all-tools', '--allow-all-paths', '-p', prompt],
  calls: {
    shell: (command) => ({ name: 'bash', input: { command, description: 'canary' } }),
    write: (path, text) => ({ name: 'create', input: { path, file_text: text } }),
    subagent: (prompt) => ({
      name: 'task',
      input: { name: 'canary', description: 'canary', prompt, agent_type: 'general-purpose', mode: 'sync' },
    }),
  },
  keepsOneContext: true,
  bypasses: [LATE_ANSWER],
}
