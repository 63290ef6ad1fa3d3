// How opencode is started for a proof.

import type { HostProof } from '../host-proof.js'

export const proof: HostProof = {
  program: 'opencode',
  limit: 120,
  files: ({ url, model }) => ({
    '.config/opencode/opencode.json': `${JSON.stringify(configOf(url, model), null, 2)}\n`,
    // It fetches a package for plugins at the first start, and waits for it.
    '.npmrc': 'fetch-retries=0\n',
  }),
  env: () => ({ OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' }),
  arguments: (prompt) => ['run', '--auto', '--title', 'canary', prompt],
  calls: {
    shell: (command) => ({ name: 'bash', input: { command, description: 'canary' } }),
    write: (path, text) => ({ name: 'write', input: { filePath: path, content: text } }),
    subagent: (prompt) => ({
      name: 'task',
      input: { description: 'canary', prompt, subagent_type: 'general' },
    }),
  },
  bypasses: ['a plugin that cannot be loaded is skipped without a word, and tools run'],
}

function configOf(url: string, model: string): object {
  const id = `mock/${model}`
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    name: 'mock',
    options: { baseURL: `${url}/v1`, apiKey: 'none' },
    models: { [model]: { name: model } },
  }
  return { model: id, small_model: id, provider: { mock: provider } }
}
