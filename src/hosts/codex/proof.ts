// How Codex is started for a proof.

import { type HostProof, LATE_ANSWER } from '../host-proof.js'

export const proof: HostProof = {
  program: 'codex',
  limit: 90,
  files: ({ url }) => ({
    // A model that it knows: which tools it offers depends on the name.
    '.codex/config.toml': `model = "gpt-5.5"
model_provider = "mock"

[model_providers.mock]
name = "mock"
base_url = "${url}/v1"
env_key = "MOCK_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`,
  }),
  env: () => ({ MOCK_KEY: 'none' }),
  arguments: (prompt) => [
    'exec',
    '--skip-git-repo-check',
    '--dangerously-bypass-approvals-and-sandbox',
    prompt,
  ],
  calls: {
    shell: (command) => ({ name: 'exec_command', input: { cmd: command } }),
    write: (path, text) => ({
      name: 'apply_patch',
      input: `*** Begin Patch\n*** Add File: ${path}\n+${text}\n*** End Patch\n`,
    }),
    subagent: (prompt) => ({
      name: 'spawn_agent',
      namespace: 'multi_agent_v1',
      input: { message: prompt },
    }),
    subagentGoesOn: true,
  },
  bypasses: [
    'write_stdin types into a shell that is already open, and raises no event: deny interactive shells',
    'in code mode a script can catch a refusal and go on; each tool that it calls is still checked',
    LATE_ANSWER,
    'a hook whose hash in config.toml is out of date is skipped without a word: carabiner doctor looks for that',
  ],
}
