// How Cline 2 is started for a proof.

import type { HostProof } from '../host-proof.js'

export const proof: HostProof = {
  program: 'cline',
  versions: '2.',
  limit: 120,
  files: ({ url, model }) => ({
    '.cline/data/secrets.json': `${JSON.stringify({ openAiApiKey: 'none' })}\n`,
    '.cline/data/globalState.json': `${JSON.stringify({
      actModeApiProvider: 'openai',
      planModeApiProvider: 'openai',
      actModeOpenAiModelId: model,
      planModeOpenAiModelId: model,
      openAiBaseUrl: `${url}/v1`,
      welcomeViewCompleted: true,
    })}\n`,
  }),
  arguments: (prompt) => ['-y', '--json', '-t', '110', prompt],
  calls: {
    shell: (command) => ({ name: 'execute_command', input: { command, requires_approval: 'false' } }),
    write: (path, text) => ({ name: 'write_to_file', input: { path, content: text } }),
  },
  endsOnRefusal: true,
  waitsOnRefusal: true,
  bypasses: ['hooks are asked only in projects with .clinerules/hooks: there is no place for all projects'],
}
