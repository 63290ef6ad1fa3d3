// A hook that is a command: the payload goes to its input, its exit code and output are its answer.

import { mkdirSync, statSync } from 'node:fs'
import { HookError, isHookError, textOf } from '../../core/errors.js'
import type { Hook, HookContext, HookEvent, Printed } from '../../core/hook.js'
import { isPromise } from '../../core/promise.js'
import { byteLength, cutText, plainText } from '../../core/text.js'
import { decode } from '../../dialects/claude-code/decode.js'
import { encode } from '../../dialects/claude-code/encode.js'
import type { HookSpec, Place, Surroundings } from '../hook-spec.js'
import { expandArgument, foreignPlaceholder, forPowerShell, hookEnvironment } from './environment.js'
import type { Ending } from './execution.js'
import type { HandedOn } from './handed-on.js'
import type { Program, Programs } from './programs.js'

/** The fields that only a command hook has. */
export interface CommandHandler {
  readonly command: string
  /** Present: no shell; `command` is the program, and each of these one argument. */
  readonly args?: readonly string[]
  readonly shell?: 'bash' | 'sh' | 'powershell'
  /** Variables to inherit although the environment is minimal. */
  readonly envPassthrough?: readonly string[]
  /** Shown while it runs. */
  readonly statusMessage?: string
}

export function commandHook(
  spec: HookSpec<CommandHandler>,
  surroundings: Surroundings,
  programs: Programs,
  handedOn: HandedOn,
): Hook {
  const { hook, handler, place } = spec
  const asker = { name: hook.name, onFailure: hook.onFailure }
  let prepared = false
  const run = async (event: HookEvent, context: HookContext) => {
    if (!prepared) prepared = prepare(place, context)
    const program = programFor(event, spec, handedOn)
    announce(spec, surroundings, context)
    const start = (one: Program) =>
      programs.run(one, context.signal, (who) =>
        surroundings.report({ code: 'left-running', text: `${hook.name}: ${LEFT_BEHIND[who]}` }),
      )
    // An agent may have removed the folder it works in; to look first would cost every hook.
    const ending = await start(program).catch((error: unknown) => {
      if (!isHookError(error, 'HOOK_NOT_STARTED') || isFolder(program.cwd)) throw error
      return start({ ...program, cwd: folderThatIsThere(event, place) })
    })
    report(ending, context)
    handOn(event, spec, handedOn, context)
    return decode(event, ending, asker, context.note)
  }
  const foreign = foreignPlaceholder([handler.command, ...(handler.args ?? [])], place)
  return { ...hook, run: foreign === undefined ? run : () => Promise.reject(noSuchPlaceholder(foreign)) }
}

// ---- what is run ----------------------------------------------------------------------------------------------

function programFor(
  event: HookEvent,
  { hook, handler, place, env: inheritance }: HookSpec<CommandHandler>,
  handedOn: HandedOn,
): Program {
  const { env: parent } = process
  const { scope } = hook.origin
  const sessionId = sessionOf(event)
  const hands = sessionId !== undefined && HANDS_ON.has(event.name)
  const env = hookEnvironment(
    { parent, minimal: inheritance === 'minimal', passthrough: handler.envPassthrough },
    {
      place,
      sessionId,
      handedOn: handedOn.variablesFor(sessionId, scope),
      envFile: hands ? handedOn.fileFor(sessionId, scope) : undefined,
    },
  )
  return { ...commandLine(handler, env), cwd: folders(event, place)[0] as string, env, input: encode(event) }
}

/** Events on which a hook may set variables for the rest of the session. */
const HANDS_ON: ReadonlySet<string> = new Set(['SessionStart', 'Setup', 'CwdChanged', 'FileChanged'])

function handOn(
  event: HookEvent,
  { hook }: HookSpec<CommandHandler>,
  handedOn: HandedOn,
  context: HookContext,
): void {
  const session = sessionOf(event)
  if (session !== undefined && HANDS_ON.has(event.name))
    handedOn.take(session, hook.origin.scope, context.note)
}

function commandLine(
  { command, args, shell }: CommandHandler,
  env: Readonly<Record<string, string>>,
): Pick<Program, 'file' | 'args'> {
  if (args) return { file: expandArgument(command, env), args: args.map((one) => expandArgument(one, env)) }
  if (shell === 'bash') return { file: 'bash', args: ['-c', command] }
  if (shell === 'powershell') return { file: 'pwsh', args: ['-Command', forPowerShell(command)] }
  return { file: '/bin/sh', args: ['-c', command] }
}

/** A plugin that writes into its data folder must not fail because nobody made it. */
function prepare({ plugin }: Place, context: HookContext): boolean {
  try {
    if (plugin) mkdirSync(plugin.dataDir, { recursive: true })
    return true
  } catch (error) {
    context.note({ code: 'host-failed', text: `its data folder cannot be made: ${textOf(error)}` })
    return false
  }
}

function sessionOf({ session, data }: HookEvent): string | undefined {
  if (session) return session.id
  return typeof data.session_id === 'string' ? data.session_id : undefined
}

/** Where it may run: the folder of the event, of the session, of the project. */
function folders({ data, session }: HookEvent, { projectDir }: Place): readonly string[] {
  return [data.cwd, session?.cwd, projectDir].filter(
    (folder): folder is string => typeof folder === 'string' && folder !== '',
  )
}

function folderThatIsThere(event: HookEvent, place: Place): string {
  const folder = folders(event, place).find(isFolder)
  if (folder !== undefined) return folder
  throw new HookError(
    'HOOK_NOT_STARTED',
    `There is no folder to run it in: even the project ${JSON.stringify(place.projectDir)} is gone`,
    { hint: 'Start again in a folder that exists.' },
  )
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  } catch {
    return false // a NUL, no permission, a file on the way
  }
}

function noSuchPlaceholder(name: string): HookError {
  return new HookError(
    'HOOK_NOT_STARTED',
    `Could not start: it mentions \${${name}}, which only hooks of a plugin have`,
    { hint: `Use \${CLAUDE_PROJECT_DIR} or \${AMPLIFIER_HOOKS_DIR}, or make it a plugin.` },
  )
}

// ---- what is told ---------------------------------------------------------------------------------------------

function announce(
  { hook, handler: { statusMessage } }: HookSpec<CommandHandler>,
  { display }: Surroundings,
  context: HookContext,
): void {
  if (!display || !statusMessage) return
  const failed = (error: unknown) =>
    context.note({ code: 'host-failed', text: `display failed: ${textOf(error)}` })
  try {
    const shown: unknown = display({ text: plainText(statusMessage), level: 'info', source: hook.name })
    if (isPromise(shown)) void shown.then(undefined, failed)
  } catch (error) {
    failed(error)
  }
}

function report(ending: Ending, context: HookContext): void {
  const printed: Printed = {
    ...(ending.stdout && { stdout: bounded(ending.stdout) }),
    ...(ending.stderr && { stderr: bounded(ending.stderr) }),
  }
  if (ending.stdout || ending.stderr) context.printed(printed)
  if (ending.heldBy) context.note({ code: 'left-running', text: HELD[ending.heldBy] })
}

const HELD = {
  group:
    'it ended while a process it had started still held its output; that was ended with it, and what it had not printed yet is lost',
  outsider:
    'it left a process running outside its group that still held its output; what that prints from now on is lost',
} as const

const LEFT_BEHIND = {
  group:
    'it left a process running in its group, which was ended with it; a process of its own session runs on',
  outsider: HELD.outsider,
} as const

/** Of each stream, for the trace. */
const PRINTED_LIMIT = 4096

function bounded(text: string): string {
  return byteLength(text) > PRINTED_LIMIT ? cutText(text, PRINTED_LIMIT, '…') : text
}
