// How the core of Cline 3 is started for a proof.

import type { HostProof } from '../host-proof.js'

export const proof: HostProof = {
  program: 'cline-core',
  limit: 60,
  arguments: (prompt, { url }) => [url, prompt],
  calls: {
    shell: (command) => ({ name: 'run_commands', input: { commands: [command] } }),
    write: (path, text) => ({
      name: 'editor',
      input: { path, new_text: text },
    }),
    subagent: (prompt) => ({ name: 'spawn_agent', input: { systemPrompt: 'You do it.', task: prompt } }),
  },
}
