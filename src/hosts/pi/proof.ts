// How pi is started for a proof.

import type { HostProof } from '../host-proof.js'

export const proof: HostProof = {
  program: 'pi',
  limit: 60,
  files: ({ url, model }) => ({
    '.pi/agent/models.json': `${JSON.stringify(
      {
        providers: {
          mock: {
            baseUrl: `${url}/v1`,
            api: 'openai-completions',
            apiKey: 'none',
            models: [{ id: model }],
          },
        },
      },
      null,
      2,
    )}\n`,
  }),
  env: () => ({ PI_OFFLINE: '1' }),
  arguments: (prompt, { model }) => ['--provider', 'mock', '--model', model, '-p', prompt],
  calls: {
    shell: (command) => ({ name: 'bash', input: { command } }),
    write: (path, text) => ({ name: 'write', input: { path, content: text } }),
  },
}
