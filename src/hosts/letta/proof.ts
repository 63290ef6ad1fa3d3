// How Letta Code is started for a proof.

import { type HostProof, LATE_ANSWER } from '../host-proof.js'

export const proof: HostProof = {
  program: 'letta',
  limit: 120,
  // It finds a local model only where LM Studio would be.
  port: 1234,
  arguments: (prompt, { model }) => [
    ...['--backend', 'local', '--new-agent', '--no-memfs'],
    ...['-m', `lmstudio/${model}`, '--yolo', '-p', prompt],
  ],
  calls: {
    shell: (command) => ({ name: 'Bash', input: { command, description: 'canary' } }),
    write: (path, text) => ({ name: 'Write', input: { file_path: path, content: text } }),
  },
  bypasses: [LATE_ANSWER],
}
