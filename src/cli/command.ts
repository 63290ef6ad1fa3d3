// A command, and reading its command line strictly: a misspelt option must not pass unnoticed.

import { type ParseArgsConfig, parseArgs } from 'node:util'
import { didYouMean } from '../core/base/text.js'
import type { Output } from './output.js'
import { usage } from './refusal.js'

/** An option for parseArgs, with its help. */
export interface Option {
  readonly type: 'string' | 'boolean'
  readonly short?: string
  /** May be given several times. */
  readonly multiple?: boolean
  /** The label of the value in the help. */
  readonly value?: string
  readonly completes?: Completion
  readonly help: string
  /** Not listed in the help. */
  readonly hidden?: true
}

/** What a shell offers: these words, names of plugins or pages, or paths. Without it the label decides (DIR, FILE, EVENT). */
export type Completion = readonly string[] | 'plugins' | 'pages' | 'file' | 'folder'

export type OptionTable = Readonly<Record<string, Option>>

/** The values of these options. */
export type Options<T extends OptionTable> = {
  readonly [K in keyof T]: T[K] extends { readonly type: 'boolean' }
    ? boolean
    : T[K] extends { readonly multiple: true }
      ? readonly string[]
      : string | undefined
}

/** A command line, read. */
export interface Given<T extends OptionTable> {
  readonly options: Options<T>
  readonly positionals: readonly string[]
  /** Whether --help was given. */
  readonly help: boolean
}

export interface Example {
  readonly does: string
  readonly line: string
  /** What the example needs to work as written. */
  readonly needs?: string
  /** The status it exits with, if that is not 0. */
  readonly exits?: number
}

export interface ActionGroup {
  readonly title: string
  /** How it is typed, and what it does. */
  readonly rows: readonly (readonly [call: string, does: string])[]
}

export interface Command<T extends OptionTable = OptionTable> {
  /** Empty for the bare `carabiner`. */
  readonly name: string
  readonly summary: string
  /** Labels of the arguments. As many are allowed, unless the last label has a `…`. */
  readonly positionals: readonly string[]
  /** What a shell offers for each argument. */
  readonly completes?: readonly Completion[]
  readonly about: string
  /** What its first argument may be, in groups. */
  readonly actions?: readonly ActionGroup[]
  /** Its own; --json and --help are added. */
  readonly options: T
  readonly examples: readonly Example[]
  /** Besides 64, wrong usage. */
  readonly exits?: readonly (readonly [code: number, means: string])[]
  /** Throws if this call may not run: decisions that belong to a person are refused in an agent's shell. */
  mayRun?(given: Given<T>): void
  /** Returns the exit code. A method, so that a table can hold commands with different options. */
  run(given: Given<T>, output: Output, context: Context): Promise<number>
}

/** Commands by name; the empty name is the bare `carabiner`. Each is loaded when it is called. */
export type Commands = Readonly<Record<string, () => Promise<{ readonly command: Command }>>>

/** The program around a command. */
export interface Context {
  readonly commands: Commands
  /** Text in place of the standard input of the process. */
  readonly stdin: string | undefined
  /** In place of the signals of the process. */
  readonly signal: AbortSignal | undefined
  /** Called with the exit code once an agent has its answer. */
  readonly answered: ((exit: number) => void) | undefined
}

const COMMON_OPTIONS = {
  json: { type: 'boolean', help: 'Print one JSON document and nothing else.' },
  help: { type: 'boolean', short: 'h', help: 'Show this help.' },
} as const satisfies OptionTable

/** The options of a command, with those that every command has. */
export function allOptions({ options }: Pick<Command, 'options'>): OptionTable {
  return { ...options, ...COMMON_OPTIONS }
}

export function readCommandLine<T extends OptionTable>(
  command: Command<T>,
  args: readonly string[],
): Given<T> {
  const { name, positionals } = command
  const options = allOptions(command)
  const config = { args: withKeys(args, options), options, allowPositionals: true } satisfies ParseArgsConfig
  checkTokens(command, options, config)
  const read = strictly(config, name)
  const extra = positionals.at(-1)?.includes('…') ? undefined : read.positionals[positionals.length]
  if (extra !== undefined)
    throw usage(`${called(name)} does not accept ${JSON.stringify(extra)}`, helpFor(name))
  const values = Object.entries(options).map(([key, { type, multiple }]) => [
    key,
    (read.values as Readonly<Record<string, unknown>>)[key] ??
      (type === 'boolean' ? false : multiple ? [] : undefined),
  ])
  const given = Object.fromEntries(values) as Options<T> & Options<typeof COMMON_OPTIONS>
  return { options: given, positionals: read.positionals, help: given.help }
}

/** A public key in base64url that begins with `-`, as one in 64 does. */
const DASHED_KEY = /^-[\w-]{42}$/

/** parseArgs takes a value that begins with `-` only behind `=`. */
function withKeys(args: readonly string[], options: OptionTable): string[] {
  const isNamed = (arg = '') => arg.startsWith('--') && options[arg.slice(2)]?.type === 'string'
  return args.flatMap((arg, i) => {
    const [before, after = ''] = [args[i - 1], args[i + 1]]
    if (DASHED_KEY.test(arg) && isNamed(before)) return []
    return isNamed(arg) && DASHED_KEY.test(after) ? [`${arg}=${after}`] : [arg]
  })
}

/** Refuses what parseArgs would accept silently, or refuse in words for programmers. */
function checkTokens(
  { name, positionals }: Pick<Command, 'name' | 'positionals'>,
  options: OptionTable,
  config: ParseArgsConfig,
): void {
  const { tokens } = parseArgs({ ...config, strict: false, tokens: true })
  const seen = new Set<string>()
  const program = positionals.includes('[COMMAND…]')
    ? tokens.find(({ kind }) => kind !== 'option')
    : undefined
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    // Without `--`, nobody can tell whose option it is, and the program would not get it.
    if (program?.kind === 'positional' && token.index > program.index)
      throw usage(
        `${token.rawName} stands after ${JSON.stringify(program.value)}, without -- before the command`,
        `Options of Carabiner go first: ${called(name)} [OPTIONS] -- ${program.value} …`,
      )
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined
    if (!option) {
      const meant = byLetter(token.rawName, options) ?? didYouMean(token.rawName, Object.keys(options), '--')
      throw usage(
        `${called(name)} has no option ${token.rawName}${meant}`,
        byPayload(name, token.rawName) ?? byWord(name, token.rawName) ?? helpFor(name),
      )
    }
    if (option.type === 'string' && !token.value) {
      throw usage(
        `${token.rawName} needs a value: ${token.rawName} ${option.value ?? 'VALUE'}`,
        helpFor(name),
      )
    }
    if (seen.has(token.name) && option.type === 'string' && !option.multiple) {
      throw usage(`${token.rawName} was given twice; one of them would not count`, helpFor(name))
    }
    seen.add(token.name)
  }
}

/** `explain` has options for a call, and `fire` reads one. */
function byPayload(name: string, raw: string): string | undefined {
  if (name !== 'fire' || !/^--(?:tool|input)$/.test(raw)) return undefined
  return `fire reads a call: echo '{"tool_name":"Bash","tool_input":{"command":"ls"}}' | carabiner fire PreToolUse`
}

/** People look up options, too. */
function byWord(name: string, raw: string): string | undefined {
  return name === 'docs' ? `To look it up: carabiner docs ${raw.replace(/^-+/, '')}` : undefined
}

/** `-V` for `-v`. */
function byLetter(raw: string, options: OptionTable): string | undefined {
  const [name] =
    Object.entries(options).find(([, { short }]) => short && `-${short}` === raw.toLowerCase()) ?? []
  return name === undefined ? undefined : `; did you mean --${name}?`
}

function strictly(config: ParseArgsConfig, name: string) {
  try {
    return parseArgs({ ...config, strict: true })
  } catch (error) {
    const [said = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    throw usage(said.replace(/\.$/, ''), helpFor(name))
  }
}

/** The typed name, if it is one of these. `refusal`: the beginning of the message if it is not. */
export function chosen<T extends string>(
  typed: string,
  names: readonly T[],
  refusal: string,
  hint = choiceOf(names),
): T {
  const found = names.find((name) => name === typed)
  if (found !== undefined) return found
  throw usage(`${refusal} ${JSON.stringify(typed)}${didYouMean(typed, names)}`, hint)
}

export function secondsOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seconds = Number(text)
  if (text.trim() !== '' && Number.isFinite(seconds) && seconds > 0) return seconds
  throw usage(`--${option} must be a number of seconds above 0, got ${JSON.stringify(text)}`)
}

/**
 * For a command with actions: an option that the action does not have was meant for another one.
 * `owners`: the actions of each option; an option that is not listed belongs to all of them.
 */
export function checkOwners<A extends string>(
  command: string,
  action: A,
  given: Readonly<Record<string, unknown>>,
  owners: Readonly<Record<string, readonly A[]>>,
): void {
  for (const [option, actions] of Object.entries(owners)) {
    const isGiven = given[option] !== undefined && given[option] !== false
    if (isGiven && !actions.includes(action))
      throw usage(`--${option} does not work with carabiner ${command} ${action}`)
  }
}

/** `Choose bash, zsh or fish.` */
export function choiceOf(names: readonly string[]): string {
  const before = names.slice(0, -1).join(', ')
  return `Choose ${before === '' ? '' : `${before} or `}${names.at(-1)}.`
}

function called(name: string): string {
  return name === '' ? 'carabiner' : `carabiner ${name}`
}

export function helpFor(name: string): string {
  return name === ''
    ? 'carabiner --help lists the commands and options.'
    : `carabiner ${name} --help shows how to use it.`
}
