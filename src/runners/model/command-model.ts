// A model that is a command: the question goes to its standard input, what it prints is the reply.

import { homedir } from 'node:os'
import { HookError, isHookError } from '../../core/base/errors.js'
import { firstLine } from '../../systems/claude-code/decode.js'
import type { Ending } from '../command/execution.js'
import type { Programs } from '../command/programs.js'
import type { Answered } from './ask.js'
import { type CommandSettings, MODEL_SETTING } from './model-source.js'
import type { Question } from './question.js'
import { REPLY_LIMIT } from './reply.js'

/** Set for the command: an agent that answers for the model has hooks of its own, and those must not ask it again. */
const WITHIN = 'CARABINER_WITHIN_MODEL'

/** What tells an agent that it runs inside a session of another. */
const OF_THE_SESSION =
  /^(?:CLAUDECODE|CLAUDE_PID|AI_AGENT|CLAUDE_ENV_FILE|AMPLIFIER_ENV_FILE|CLAUDE_CODE_(?:CHILD_SESSION|ENTRYPOINT|MESSAGING_SOCKET|MESSAGING_TOKEN|SESSION_ATTENDED|SESSION_ID))$/

/**
 * The program is the user's own, and gets the user's environment and home folder: in the project, an agent would read
 * instructions and hooks that came with it. Ended with its whole group when the signal is aborted.
 */
export async function askCommand(
  { command }: CommandSettings,
  { system, prompt }: Question,
  programs: Programs,
  signal: AbortSignal,
): Promise<Answered> {
  const [file = '', ...args] = command
  if (process.env[WITHIN]) throw within(file)
  const input = `${system}\n\n${prompt}\n`
  const program = { file, args, cwd: homedir(), env: environment(), input, outputLimit: REPLY_LIMIT }
  const ending = await programs.run(program, signal).catch((error: unknown) => {
    throw isHookError(error, 'HOOK_NOT_STARTED') ? notStarted(error) : error
  })
  const failure = failureOf(ending, file)
  return { reply: ending.stdout, stderr: ending.stderr, ...(failure && { failure }) }
}

function environment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => !OF_THE_SESSION.test(name))
  return { ...(Object.fromEntries(entries) as Record<string, string>), [WITHIN]: '1' }
}

/** It is no program of the hook. */
function notStarted(error: HookError): HookError {
  return new HookError('HOOK_NOT_STARTED', `the model's command: ${error.message}`, {
    hint: `It is ${MODEL_SETTING}, and runs in your home folder. ${error.hint}`,
    cause: error,
  })
}

function failureOf({ code, signal, stderr, cut }: Ending, file: string): HookError | undefined {
  const who = `the model's command ${JSON.stringify(file)}`
  if (cut) return new HookError('HOOK_OUTPUT', `${who} printed more than ${REPLY_LIMIT} bytes`)
  if (code === 0) return undefined
  const how = code === null ? `was ended by ${signal}` : `exited with ${code}`
  const line = firstLine(stderr)
  return new HookError('MODEL_FAILED', `${who} ${how}${line && `: ${line}`}`, {
    hint: `It is ${MODEL_SETTING}: run it by hand, with a question on its standard input.`,
  })
}

function within(file: string): HookError {
  return new HookError(
    'MODEL_FAILED',
    `this already runs inside ${JSON.stringify(file)}, the command that answers for the model: its own hooks do not ask it again`,
    { hint: `Let the command run without hooks, or give ${MODEL_SETTING} a "provider" and a "name".` },
  )
}
