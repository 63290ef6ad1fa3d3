// How Cline 3 is started for a proof: its program, or only its core where there is no program.

import type { HostProof } from '../host-proof.js'

const CALLS: HostProof['calls'] = {
  shell: (command) => ({ name: 'run_commands', input: { commands: [command] } }),
  write: (path, text) => ({ name: 'editor', input: { path, new_text: text } }),
  subagent: (prompt) => ({ name: 'spawn_agent', input: { systemPrompt: 'You do it.', task: prompt } }),
}

const IMPORT_LIMIT = 'CLINE_PLUGIN_IMPORT_TIMEOUT_MS'

const BYPASSES = [
  `if plugins take longer than 4 seconds to load, on a busy machine, Cline 3 goes on without them: set ${IMPORT_LIMIT}=60000`,
]

/** Users may raise the limit that `BYPASSES` is about. */
function env(): Readonly<Record<string, string>> {
  const limit = process.env[IMPORT_LIMIT]
  return limit === undefined ? {} : { [IMPORT_LIMIT]: limit }
}

export const proof: HostProof = {
  program: 'cline',
  versions: '3.',
  limit: 90,
  files: ({ url, model }) => ({
    '.cline/data/settings/providers.json': `${JSON.stringify({
      version: 1,
      lastUsedProvider: 'openai-compatible',
      modes: {},
      providers: {
        'openai-compatible': {
          settings: { provider: 'openai-compatible', apiKey: 'none', model, baseUrl: `${url}/v1` },
          updatedAt: '2026-01-01T00:00:00.000Z',
          tokenSource: 'manual',
        },
      },
    })}\n`,
  }),
  env,
  arguments: (prompt) => ['--json', '-t', '80', prompt],
  calls: CALLS,
  bypasses: BYPASSES,
  otherwise: {
    program: 'cline-core',
    part: {
      title: 'Cline 3 core',
      note: 'only the core of Cline 3 was started, by a program of ours; with cline 3 in PATH, carabiner verify cline-core starts that',
    },
    limit: 60,
    env,
    arguments: (prompt, { url }) => [url, prompt],
    calls: CALLS,
    bypasses: BYPASSES,
  },
}
