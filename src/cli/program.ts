// Finds the command, runs it, and turns what comes of it into output and an exit code.
// `run(COMMANDS, args, { write, stdin, signal })` does so in any process: nothing in it ends the process, and the exit code is
// returned. The current directory and the environment are those of the caller.

import { isHookError, textOf } from '../core/base/errors.js'
import { didYouMean, plainText } from '../core/base/text.js'
import { shellQuoted } from '../effects/shell/shell-quoted.js'
import { callerEnv } from '../files/caller.js'
import { readyForFleet } from '../files/fleet-files.js'
import { type Command, type Commands, type Given, type OptionTable, readCommandLine } from './command.js'
import { Output, type Write } from './output.js'
import { EXIT, Refusal, usage } from './refusal.js'

export interface Io {
  /** Gets everything that is printed; default: the streams of the process. */
  readonly write?: Write
  /** Standard input; default: that of the process. */
  readonly stdin?: string
  /** Aborted when the caller gets a signal, with the signal's name as its reason; default: the signals of the process. */
  readonly signal?: AbortSignal
  /** Called with the exit code once an agent has its answer, although hooks that it does not wait for still run. */
  readonly answered?: (exit: number) => void
}

/** Never throws. */
export async function run(commands: Commands, args: readonly string[], io: Io = {}): Promise<number> {
  const output = outputFor(args, io.write)
  try {
    const exit = await dispatch(commands, args, output, io)
    if (!output.failure) return exit
    // The exit code still tells the host the verdict.
    await output.complain([`carabiner: The output could not be written: ${output.failure.message}`])
    return exit || EXIT.output
  } catch (error) {
    return tell(error, output, isForAgent(args))
  }
}

/** Looks for --json before the command line is read, so that mistakes in it are told in JSON too. */
function outputFor(args: readonly string[], write?: Write): Output {
  return new Output(optionsIn(args).includes('--json'), write)
}

function isForAgent(args: readonly string[]): boolean {
  return optionsIn(args).some((option) => option === '--as' || option.startsWith('--as='))
}

function optionsIn(args: readonly string[]): readonly string[] {
  return args.slice(0, [...args, '--'].indexOf('--'))
}

async function dispatch(
  commands: Commands,
  args: readonly string[],
  output: Output,
  { stdin, signal, answered }: Io,
): Promise<number> {
  const [first = '', ...rest] = args
  if (first === 'help') return help(commands, rest, output)
  const isBare = first === '' || first.startsWith('-')
  const { command } = await named(commands, isBare ? '' : first)()
  const given = isBare ? readBare(commands, command, args) : readCommandLine(command, rest)
  if (given.help) return help(commands, isBare ? [] : [first], output)
  await readyForFleet()
  command.mayRun?.(given)
  return command.run(given, output, { commands, stdin, signal, answered })
}

/** Options before the command belong to no command. */
function readBare(commands: Commands, command: Command, args: readonly string[]): Given<OptionTable> {
  try {
    return readCommandLine(command, args)
  } catch (error) {
    const later = args.find((arg) => arg !== '' && Object.hasOwn(commands, arg))
    if (later === undefined || !(error instanceof Refusal)) throw error
    const words = [later, ...args.filter((arg) => arg !== later)].map(shellQuoted)
    throw usage(error.message, `Put the command first: carabiner ${words.join(' ')}`)
  }
}

function named(commands: Commands, name: string): Commands[string] {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command) return command
  const other = Object.hasOwn(OTHER_WORDS, name) ? OTHER_WORDS[name] : undefined
  const meant =
    other === undefined ? didYouMean(name, [...Object.keys(commands), 'help']) : `; did you mean ${other}?`
  throw usage(`There is no command ${JSON.stringify(name)}${meant}`, 'carabiner --help lists them.')
}

/** Words that other programs have for the same, and what to type here. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  version: '--version',
  status: 'carabiner, without a command',
  why: 'explain',
  check: 'doctor',
  init: 'setup',
}

async function help(commands: Commands, args: readonly string[], output: Output): Promise<number> {
  const [name = '', ...rest] = args.filter((arg) => arg !== '--json')
  if (rest.length > 0) throw usage('carabiner help takes one command')
  const { command } = await named(commands, name)()
  const { printHelp } = await import('./help.js')
  await printHelp(command, name === '' ? await others(commands) : [], output)
  return EXIT.ok
}

async function others({ '': _, ...commands }: Commands): Promise<readonly Command[]> {
  const loaded = await Promise.all(Object.values(commands).map((load) => load()))
  return loaded.map(({ command }) => command)
}

// ---- failures -------------------------------------------------------------------------------------------------

interface Failure {
  readonly code: string
  readonly message: string
  readonly hint: string | undefined
  readonly exit: number
}

function failureOf(error: unknown): Failure {
  if (error instanceof Refusal) return error
  if (isHookError(error)) {
    // The cause of an abort says why.
    if (error.cause instanceof Refusal) return error.cause
    const { code, message, hint } = error
    return { code, message, hint, exit: code === 'OPTIONS_INVALID' ? EXIT.usage : EXIT.failed }
  }
  return {
    code: 'INTERNAL',
    message: `This is a bug in carabiner: ${textOf(error)}`,
    hint: 'Set CARABINER_DEBUG=1 to see where, and report it with the command you typed.',
    exit: EXIT.internal,
  }
}

/** One line and a hint; a stack only with CARABINER_DEBUG. */
async function tell(error: unknown, output: Output, isForAgent: boolean): Promise<number> {
  const { code, message, hint, exit } = failureOf(error)
  if (output.json && !isForAgent) await output.document({ error: { code, message, hint: hint ?? null } })
  else await output.complain([`carabiner: ${oneLine(message)}`, ...(hint ? [`  ${oneLine(hint)}`] : [])])
  if (callerEnv().CARABINER_DEBUG === '1' && error instanceof Error)
    await output.complain([plainText(error.stack ?? '')])
  return isForAgent ? REFUSED : exit
}

/** Agents take any other code as permission, and a typing mistake would open the gate. */
const REFUSED = 2

function oneLine(text: string): string {
  return plainText(text).replace(/\s+/g, ' ').trim()
}

// ---- the process ----------------------------------------------------------------------------------------------

/** Does not return. */
export async function main(commands: Commands): Promise<never> {
  const args = process.argv.slice(2)
  process.on('uncaughtException', (error) => {
    void tell(error, outputFor(args), isForAgent(args)).then((exit) => process.exit(exit))
  })
  const exit = await run(commands, args)
  // Everything is written, and every hook process is gone: a handle left open must not keep a host waiting.
  process.exit(exit)
}
