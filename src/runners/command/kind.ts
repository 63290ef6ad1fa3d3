// Kind `command`: the fields of an entry, and what it runs.

import { isFlag, isOneOf } from '../../core/base/options.js'
import type { HookSpec } from '../hook-spec.js'
import { isArgs, isEnv, isString, isWritten, type Kind, STATUS_MESSAGE } from '../kind.js'
import type { CommandHandler } from './command-hook.js'

export const COMMAND: Kind<HookSpec<CommandHandler>> = {
  summary: 'Runs a program.',
  fields: {
    command: [
      isWritten,
      'A command line for the shell, or a program if "args" is present. It reads the event as JSON from standard input. Exit code 2 blocks.',
    ],
    args: [
      isArgs,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the file
      'The arguments of the program, which runs without a shell. Placeholders such as ${CLAUDE_PLUGIN_ROOT} are filled in.',
    ],
    shell: [isOneOf('bash', 'sh', 'powershell'), 'The shell for "command".'],
    env: [isEnv, 'Environment variables for the hook.'],
    envPassthrough: [isArgs, 'Variables that the hook inherits even if the setting env is "minimal".'],
    async: [isFlag, 'The agent does not wait for the hook, and its verdict is ignored.'],
    asyncRewake: [isFlag, 'The agent does not wait for the hook, but exit code 2 wakes it.'],
    rewakeMessage: [isString, 'Text for the agent when it is woken.'],
    rewakeSummary: [isString, 'Text for the user when the agent is woken.'],
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
