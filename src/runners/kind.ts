// A kind of hook: everything that other code needs to know about it without loading its runner.

import { isObject } from '../core/base/json.js'
import { type Check, isText } from '../core/base/options.js'
import type { Hook } from '../core/hooks/hook.js'
import type { HandedOn } from './command/handed-on.js'
import type { Programs } from './command/programs.js'
import type { HookSpec, StartProblem, Surroundings } from './hook-spec.js'
import type { HttpTerms } from './http/http-hook.js'
import type { Keeper } from './keeper.js'
import type { McpServerSettings } from './mcp-tool/server-settings.js'
import type { ModelSettings, ModelSource } from './model/model-source.js'

/** A row of `kinds.ts`. `Given` is an entry as its file has it, if that differs from the handler. */
export interface Kind<Spec extends HookSpec<object> = HookSpec<object>, Given = Spec['handler']> {
  /** One sentence, for editors. */
  readonly summary: string
  readonly fields: Fields<Given>
  readonly required: readonly (keyof Given & string)[]
  /** Seconds. An entry without a timeout gets at least this long. */
  readonly usualTimeout?: number
  /** The same for a file of Claude Code. */
  readonly usualInClaudeCode?: number
  /** It is started once for many events, so trust is checked at each start and not at each event. */
  readonly isResident?: boolean

  /** Without a policy of its own, the event decides what a failure means, as for functions. Default: the agent goes on. */
  readonly failsLikeFunction?: boolean

  /** Completes an entry that names files from the folder of its own file. The folder may begin with a placeholder. */
  located?(given: Given, folder: string): Spec['handler']
  /** What it runs or asks, as written in its file. */
  target(handler: Spec['handler']): string
  /** The same for lists, if `target` may contain a secret. */
  listed?(handler: Spec['handler']): string
  /** The program that it starts, which the user reviews. Absent: it starts none. */
  program?(handler: Spec['handler']): ProgramLine
  /** Variables that it inherits even if the environment is minimal. */
  passthrough?(handler: Spec['handler']): readonly string[]
  /** Entries with the same text are the same hook. Default: all fields. */
  sameAs?(handler: Spec['handler']): string
  /** Whether the agent does not wait for its answer. */
  isDetached?(handler: Spec['handler']): boolean
  /** Fields that change the effect of running it, for people. */
  terms?(handler: Spec['handler']): readonly string[]
  /** What the settings lack before it can run. Undefined if nothing is missing. */
  lacks?(handler: Spec['handler'], settings: ReachSettings): Lack | undefined

  /** Loads the runner. Called when a file first uses the kind. */
  load(shared: Shared): Promise<Runner<Spec>>
}

/** What to do about a timeout that `max_timeout` lowered. */
export const RAISE_LIMIT = 'Raise "max_timeout" under "hooks" in ~/.amplifier/settings.json'

/** Its check, its description for editors, and its JSON Schema if the check does not say enough. */
export type Field = readonly [check: Check, description: string, schema?: Readonly<Record<string, unknown>>]

export type Fields<T> = { readonly [K in keyof Required<T>]: Field }

/** A command for the shell, or with `args` a program and its arguments. */
export interface ProgramLine {
  readonly command: string
  readonly args?: readonly string[]
  readonly shell?: 'bash' | 'sh' | 'powershell'
  readonly dir?: string
  readonly env?: Readonly<Record<string, string>>
}

export interface Lack {
  readonly code: 'model-missing' | 'server-missing'
  readonly text: string
  readonly fix: string
}

/** Settings for network reach. A project cannot change them. */
export interface ReachSettings extends HttpTerms {
  /** The model that prompt and agent hooks ask, unless the embedder has its own. */
  readonly model: ModelSettings | null
  /** The servers whose tools MCP hooks call, by name. */
  readonly mcp_servers: Readonly<Record<string, McpServerSettings>>
}

/** Shared by all runners of one createHooks(). Settings are read at each call, because they may change while a hook lives. */
export interface Shared {
  readonly programs: Programs
  readonly handedOn: HandedOn
  readonly settings: () => ReachSettings
  readonly models: () => ModelSource
  readonly keeper: Keeper
}

/** Makes the hooks of one kind. */
export interface Runner<Spec = HookSpec<object>> {
  hooks(spec: Spec, surroundings: Surroundings, problem: StartProblem): readonly Hook[]
  /** Called around creating all hooks again. Afterwards, resources that only the earlier hooks used may be released. */
  readonly renew?: <T>(make: () => T) => T
  /** Settles when everything that it started has ended. */
  close?(): Promise<void>
}

// ---- checks that several kinds use ----------------------------------------------------------------------------

export const isString: Check = [(value) => typeof value === 'string', 'a string']
export const isWritten: Check = [(value) => isText[0](value) && (value as string).trim() !== '', isText[1]]
export const isArgs: Check = [
  (value) => Array.isArray(value) && value.every((item) => typeof item === 'string' && !item.includes('\0')),
  'a list of strings',
]
export const isTextMap: Check = [
  (value) => isObject(value) && Object.values(value).every((item) => typeof item === 'string'),
  'an object of strings',
]

export const STATUS_MESSAGE: Field = [isString, 'Shown while the hook runs.']

export const isEnv: Check = [
  (value) => isObject(value) && Object.entries(value).every(([name, one]) => isVariable(name, one)),
  'an object of strings',
]

export function isVariable(name: string, value: unknown): boolean {
  return /^[^=\0]+$/.test(name) && typeof value === 'string' && !value.includes('\0')
}
