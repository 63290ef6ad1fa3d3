// A command hook: gets the payload on standard input and answers with its exit code and output.

import { resolve } from 'node:path'
import { type Diagnostic, ERROR_CODES, HookError, isHookError } from '../../core/base/errors.js'
import { plainText } from '../../core/base/text.js'
import { isClosing } from '../../core/events/actions.js'
import { resolveEvent } from '../../core/events/events.js'
import { deny, type HookResult } from '../../core/events/result.js'
import { isGuard } from '../../core/hooks/gate.js'
import {
  type Hook,
  type HookContext,
  type HookEvent,
  LateAnswer,
  type Printed,
} from '../../core/hooks/hook.js'
import { callerEnv } from '../../files/caller.js'
import { isFolder } from '../../files/folder.js'
import type { AgentCall, AgentTerms } from '../../hosts/hook-files/agent-call.js'
import { type Asker, decode, decodeUnfinished } from '../../systems/claude-code/decode.js'
import { encode } from '../../systems/claude-code/encode.js'
import { honouredOn } from '../../systems/claude-code/honoured.js'
import { afterAsyncLine, asyncTimeout, isAsyncLine } from '../../systems/claude-code/stdout.js'
import type { HookSpec, Place, Surroundings } from '../hook-spec.js'
import {
  expandArgument,
  fileOfSkill,
  foreignPlaceholder,
  forPowerShell,
  fromSkill,
  hookEnvironment,
  madeDataFolder,
  startFolder,
  startFolders,
} from '../program/environment.js'
import { noSuchPlaceholder } from '../program/start-failure.js'
import { announce, bounded } from '../telling.js'
import type { Ending, GoingOn } from './execution.js'
import type { HandedOn } from './handed-on.js'
import type { Program, Programs } from './programs.js'

/** The fields that only a command hook has. */
export interface CommandHandler {
  readonly command: string
  /** If present, there is no shell: `command` is the program, and each of these is one argument. */
  readonly args?: readonly string[]
  readonly shell?: 'bash' | 'sh' | 'powershell'
  /** Added to the environment. Cannot replace variables that name our folders, or the PATH of a trusted hook. */
  readonly env?: Readonly<Record<string, string>>
  /** Variables to inherit even if the environment is minimal. */
  readonly envPassthrough?: readonly string[]
  /** Shown while it runs. */
  readonly statusMessage?: string
  /** The agent does not wait for it, and its verdict is ignored. */
  readonly async?: boolean
  /** The agent does not wait for it, and exit code 2 wakes the model with its output. */
  readonly asyncRewake?: boolean
  /** Text for the model, before the hook's output. */
  readonly rewakeMessage?: string
  /** Shown to the user when the model is woken. */
  readonly rewakeSummary?: string
}

export function commandHook(
  spec: HookSpec<CommandHandler>,
  surroundings: Surroundings,
  programs: Programs,
  handedOn: HandedOn,
): Hook {
  const { hook, handler, place } = spec
  let prepared = false
  const run = async (event: HookEvent, context: HookContext) => {
    if (!prepared) prepared = madeDataFolder(place, context.note)
    const call = spec.agent && (await agentCallOf(spec.agent, event, place.projectDir))
    const { envFile, ...made } = programFor(event, spec, handedOn, context, call)
    const asker: Asker = { name: hook.name, onFailure: context.onFailure }
    const soFar = (ending: Ending) => lastWord(event, ending, asker, context)
    const program: Program = { ...made, soFar, atDeadline: context.atDeadline }
    announce(spec, surroundings, context.note)
    const start = (one: Program) =>
      programs.run(
        one,
        context.signal,
        (who) => surroundings.report({ code: 'left-running', text: `${hook.name}: ${LEFT_BEHIND[who]}` }),
        hook.detached ? undefined : isAsyncLine,
      )
    const answer = async (ending: Ending, { note, printed: keep }: HookContext, late: boolean) => {
      report(ending, note, keep)
      if (ending.code === 2) await checkScript(event, ending, program)
      if (envFile !== undefined) handedOn.check(envFile, note)
      if (handler.asyncRewake && ending.code === 2) return wakeUp(spec, ending)
      const printed = { ...ending, stdout: afterAsyncLine(ending.stdout) }
      const reply = call ? call.answer(printed) : printed
      const grants = call === undefined || call.grants
      const result = decode(event, reply, { ...asker, late, grants }, note)
      return handler.asyncRewake ? asleep(result, note) : result
    }
    // An agent may have removed its own working folder. Checking first would slow down every hook.
    const ending = await start(program).catch((error: unknown) => {
      if (!isHookError(error, 'HOOK_NOT_STARTED') || isFolder(program.cwd)) throw error
      return start({ ...program, cwd: folderThatIsThere(event, place) })
    })
    const [line = ''] = ending.stdout.split('\n', 1)
    if (hook.detached || !isAsyncLine(line)) return answer(ending as Ending, context, hook.detached)
    const refusal = refusedAtOnce(event, ending, asker, context)
    if (refusal) return refusal
    // It has already failed, so the failure is reported at once.
    if (!('rest' in ending) && ending.code !== 0) return answer(ending, context, false)
    const timeoutMs = Math.min(Math.max(asyncTimeout(line) ?? 0, hook.timeoutMs), spec.longestMs)
    return new LateAnswer(timeoutMs, async (later) => {
      return answer('rest' in ending ? await ending.rest(later.signal) : ending, later, true)
    })
  }
  const foreign = foreignPlaceholder([handler.command, ...(handler.args ?? [])], place)
  const made = {
    ...hook,
    run: foreign === undefined ? run : () => Promise.reject(noSuchPlaceholder(foreign)),
  }
  return handler.asyncRewake ? { ...made, wakes: true } : made
}

/** Imported on demand, because few hooks come from another agent's file. */
async function agentCallOf(
  terms: AgentTerms,
  event: HookEvent,
  projectDir: string,
): Promise<AgentCall | undefined> {
  const { agentCall } = await import('../../hosts/hook-files/agent-call.js')
  return agentCall(terms, event, projectDir)
}

const UNFINISHED = { code: null, signal: null, stderr: '', cut: false }

/** A refusal or question printed together with the "async" line counts. Nothing after it is waited for. */
function refusedAtOnce(
  event: HookEvent,
  ending: Ending | GoingOn,
  asker: Asker,
  { note, printed }: HookContext,
): HookResult | undefined {
  const notes: Diagnostic[] = []
  const later = (one: Diagnostic) => void notes.push(one)
  const refusal =
    'rest' in ending
      ? decodeUnfinished(event, { ...UNFINISHED, stdout: ending.stdout }, asker, later)
      : closingEnd(event, ending, { ...asker, late: true }, later)
  if (!refusal) return undefined
  report({ ...UNFINISHED, ...ending }, note, printed)
  for (const one of notes) note(one)
  if ('rest' in ending) ending.rest(AbortSignal.abort()).catch(() => undefined)
  return refusal
}

function closingEnd(
  event: HookEvent,
  ending: Ending,
  asker: Asker,
  note: HookContext['note'],
): HookResult | undefined {
  try {
    const result = decode(event, { ...ending, stdout: afterAsyncLine(ending.stdout) }, asker, note)
    return isClosing(result.action) ? result : undefined
  } catch {
    return undefined // A failure is reported like that of any async hook.
  }
}

/** A refusal that it had printed before it timed out counts. */
function lastWord(
  event: HookEvent,
  ending: Ending,
  asker: Asker,
  { note, printed, lastWord }: HookContext,
): void {
  report(ending, note, printed)
  const hasExited = ending.code !== null || ending.signal !== null
  const word = (hasExited ? closingEnd : decodeUnfinished)(event, ending, asker, note)
  if (word) lastWord(word)
}

/** Only exit code 2 wakes the model. Any other deny of such a hook is reported and ignored. */
function asleep(result: HookResult, note: HookContext['note']): HookResult {
  if (result.action !== 'deny') return result
  note({
    code: 'async-verdict-ignored',
    text: 'its deny was ignored because the agent did not wait for it; use exit code 2 to wake the model',
  })
  const { reason: _, ...rest } = result
  return { ...rest, action: rest.contextInjection ? 'inject_context' : 'continue' }
}

function wakeUp({ hook, handler }: HookSpec<CommandHandler>, { stdout, stderr }: Ending): HookResult {
  const said = [stderr, stdout].map((text) => text.trim()).find(Boolean) ?? `Hook ${hook.name} exited with 2`
  const { rewakeMessage: before, rewakeSummary: summary } = handler
  return deny(before ? `${before}\n${said}` : said, summary ? { userMessage: summary } : {})
}

/** All messages of interpreters have one of these, and few reasons do. */
const LIKE_A_MESSAGE = /: (?:line )?\d+: |can(?:no|')t open|No such file/i

/** Exit code 2 still blocks, but the hook failed. Anything that goes wrong here must not cost the deny. */
async function checkScript(event: HookEvent, ending: Ending, program: Program): Promise<void> {
  if (!LIKE_A_MESSAGE.test(ending.stderr)) return
  const message = await import('./broken-script.js')
    .then(({ brokenScript }) => brokenScript(ending, program))
    .catch(() => undefined)
  if (message === undefined) return
  const isBlock = honouredOn(event).exit2 === 'block'
  throw new HookError(isBlock ? 'HOOK_BROKEN' : 'HOOK_EXIT', `its script cannot run: ${plainText(message)}`, {
    cause: { exitCode: 2, signal: null },
    hint: ERROR_CODES.HOOK_BROKEN.todo,
  })
}

// ---- starting it ----------------------------------------------------------------------------------------------

/** The program to start, with the file that it may append variables to, if it has one. */
function programFor(
  event: HookEvent,
  { hook, handler, place, format, agent, env: inheritance }: HookSpec<CommandHandler>,
  handedOn: HandedOn,
  { note }: HookContext,
  call: AgentCall | undefined,
): Program & { readonly envFile: string | undefined } {
  const { env: own, envPassthrough } = handler
  const reader = { scope: hook.origin.scope, isGuard: isGuard(hook) }
  const sessionId = sessionOf(event)
  const hands = sessionId !== undefined && resolveEvent(event.name).setsVariables === true
  const envFile = hands ? handedOn.fileFor(sessionId, { ...reader, mode: hook.mode }, note) : undefined
  const variables = handedOn.variablesFor(sessionId, { ...reader, projectDir: place.projectDir }, note)
  const env = hookEnvironment(
    { parent: callerEnv(), own, minimal: inheritance === 'minimal', passthrough: envPassthrough },
    { place, ...reader, format, sessionId, handedOn: variables, envFile, note },
  )
  if (!call) {
    const cwd = startFolders(event, place)[0] as string
    return { ...commandLine(handler, place, env), cwd, env, input: encode(event), envFile }
  }
  const theirs = { ...env, ...call.env }
  const cwd = folderInAgent(event, place, agent?.dir, call)
  return { ...commandLine(handler, place, theirs), cwd, env: theirs, input: call.payload, envFile }
}

/** A folder in the entry is relative to the project. */
function folderInAgent(event: HookEvent, place: Place, dir: string | undefined, call: AgentCall): string {
  const { projectDir } = place
  if (dir !== undefined)
    return resolve(
      projectDir,
      dir.replace(/\$\{workspaceFolder\}|\$\{?\w+_PROJECT_DIR\}?/g, () => projectDir),
    )
  return call.startsInProject ? projectDir : (startFolders(event, place)[0] as string)
}

function commandLine(
  { command, args, shell }: CommandHandler,
  place: Place,
  env: Readonly<Record<string, string>>,
): Pick<Program, 'file' | 'args'> {
  if (args) {
    const file = fileOfSkill(expandArgument(command, env), place)
    return { file, args: args.map((one) => expandArgument(one, env)) }
  }
  if (shell === 'powershell') return { file: 'pwsh', args: ['-Command', forPowerShell(command)] }
  return { file: shell === 'bash' ? 'bash' : '/bin/sh', args: ['-c', fromSkill(command, place)] }
}

function sessionOf({ session, data }: HookEvent): string | undefined {
  if (session) return session.id
  return typeof data.session_id === 'string' ? data.session_id : undefined
}

function folderThatIsThere(event: HookEvent, place: Place): string {
  const folder = startFolder(event, place)
  if (folder !== undefined) return folder
  throw new HookError(
    'HOOK_NOT_STARTED',
    `There is no folder to run it in: even the project folder ${JSON.stringify(place.projectDir)} is gone`,
    { hint: 'Restart the agent in a folder that exists.' },
  )
}

// ---- reporting ------------------------------------------------------------------------------------------------

function report(ending: Ending, note: HookContext['note'], printed: HookContext['printed']): void {
  const output: Printed = {
    ...(ending.stdout && { stdout: bounded(ending.stdout) }),
    ...(ending.stderr && { stderr: bounded(ending.stderr) }),
  }
  if (ending.stdout || ending.stderr) printed(output)
  if (ending.heldBy) note({ code: 'left-running', text: HELD[ending.heldBy] })
}

const HELD = {
  group:
    'it ended while a process that it had started still held its output; that process was stopped, and output it had not printed yet is lost',
  outsider:
    'it left a process running outside its group that still held its output; anything that process prints from now on is lost',
} as const

const LEFT_BEHIND = {
  group:
    'it left a process running in its group, which was stopped; a process in its own session (setsid) keeps running',
  outsider: HELD.outsider,
} as const
