// How Claude Code is started for a proof.

import type { HostProof } from '../host-proof.js'

export const proof: HostProof = {
  program: 'claude',
  limit: 60,
  env: ({ url }) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'none',
    // Without it, root may not skip permissions.
    IS_SANDBOX: '1',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }),
  arguments: (prompt) => ['--dangerously-skip-permissions', '--model', 'claude-sonnet-4-5', '-p', prompt],
  calls: {
    shell: (command) => ({ name: 'Bash', input: { command, description: 'canary' } }),
    write: (path, text) => ({ name: 'Write', input: { file_path: path, content: text } }),
    subagent: (prompt) => ({
      name: 'Agent',
      input: { description: 'canary', prompt, subagent_type: 'general-purpose' },
    }),
  },
}
