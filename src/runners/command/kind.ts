// Kind `command`: what an entry may say, and what it runs.

import { isFlag, isOneOf } from '../../core/base/options.js'
import type { HookSpec } from '../hook-spec.js'
import { isArgs, isEnv, isString, isWritten, type Kind, STATUS_MESSAGE } from '../kind.js'
import type { CommandHandler } from './command-hook.js'

export const COMMAND: Kind<HookSpec<CommandHandler>> = {
  summary: 'Runs a program.',
  fields: {
    command: [
      isWritten,
      'What to run: a line for the shell, or with "args" a program. It reads the event as JSON on standard input; exit 2 blocks.',
    ],
    args: [
      isArgs,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the file
      'Arguments: the program runs without a shell, and placeholders such as ${CLAUDE_PLUGIN_ROOT} are filled in.',
    ],
    shell: [isOneOf('bash', 'sh', 'powershell'), 'The shell for "command".'],
    env: [isEnv, 'Variables for it.'],
    envPassthrough: [isArgs, 'Variables that the hook gets although the setting env is "minimal".'],
    async: [isFlag, 'Nobody waits for it, and its verdict does not count.'],
    asyncRewake: [isFlag, 'Nobody waits for it, but exit 2 wakes the agent.'],
    rewakeMessage: [isString, 'What the agent is told when it is woken.'],
    rewakeSummary: [isString, 'What the user is told when the agent is woken.'],
    statusMessage: STATUS_MESSAGE,
  },
  required: ['command'],
  usualInClaudeCode: 600,
  target: ({ command, args = [] }) => [command, ...args].join(' '),
  program: ({ command, args, shell, env }) => ({
    command,
    ...(args && { args }),
    ...(shell && { shell }),
    ...(env && { env }),
  }),
  passthrough: ({ envPassthrough = [] }) => envPassthrough,
  sameAs: ({ command, args = null, shell = 'sh', env = {}, envPassthrough = [] }) =>
    JSON.stringify([command, args, shell, Object.entries(env).sort(), envPassthrough]),
  isDetached: ({ async = false, asyncRewake = false }) => async || asyncRewake,
  terms: ({ async, asyncRewake }) => [...(async ? ['async'] : []), ...(asyncRewake ? ['asyncRewake'] : [])],
  async load({ programs, handedOn }) {
    const { commandHook } = await import('./command-hook.js')
    return { hooks: (spec, surroundings) => [commandHook(spec, surroundings, programs, handedOn)] }
  },
}
