// A kind of hook: everything the rest of the house needs to know about it without loading its runner.

import { isObject } from '../core/base/json.js'
import { type Check, isText } from '../core/base/options.js'
import type { Hook } from '../core/hooks/hook.js'
import type { HandedOn } from './command/handed-on.js'
import type { Programs } from './command/programs.js'
import type { HookSpec, StartProblem, Surroundings } from './hook-spec.js'
import type { HttpTerms } from './http/http-hook.js'
import type { McpServerSettings } from './mcp-tool/server-settings.js'
import type { ModelSettings, ModelSource } from './model/model-source.js'

/** A row of `kinds.ts`. `Given` is an entry as its file has it, where that differs from the handler. */
export interface Kind<Spec extends HookSpec<object> = HookSpec<object>, Given = Spec['handler']> {
  /** One sentence, for editors. */
  readonly summary: string
  readonly fields: Fields<Given>
  readonly required: readonly (keyof Given & string)[]
  /** Seconds. An entry without a time-out gets at least this long. */
  readonly usualTimeout?: number
  /** The same in a file of Claude Code's. */
  readonly usualInClaudeCode?: number
  /** It is started once for many events: trust is checked at each start, not at each event. */
  readonly isResident?: boolean

  /** Names what it runs or asks, in the words of its file. */
  target(handler: Spec['handler']): string
  /** The same for lists, where it may hold a secret. */
  listed?(handler: Spec['handler']): string
  /** The program that it starts, which trust reviews. Absent: it starts none. */
  program?(handler: Spec['handler']): ProgramLine
  /** Variables that it inherits although the environment is minimal. */
  passthrough?(handler: Spec['handler']): readonly string[]
  /** Entries with the same text are one hook; default: all fields. */
  sameAs?(handler: Spec['handler']): string
  /** True if nobody waits for its answer. */
  isDetached?(handler: Spec['handler']): boolean
  /** Fields that decide with which effect it runs, for people. */
  terms?(handler: Spec['handler']): readonly string[]
  /** Says what is missing in the settings before it can run; undefined if nothing is. */
  lacks?(handler: Spec['handler'], settings: ReachSettings): Lack | undefined

  /** Loads the runner, when the first file names the kind. */
  load(shared: Shared): Promise<Runner<Spec>>
}

/** What to do about a time-out that `max_timeout` cut short. */
export const RAISE_LIMIT = 'Raise "max_timeout" under "hooks" in ~/.amplifier/settings.json'

/** Its check, its description for editors, and its JSON Schema where the check's words do not say enough. */
export type Field = readonly [check: Check, description: string, schema?: Readonly<Record<string, unknown>>]

export type Fields<T> = { readonly [K in keyof Required<T>]: Field }

/** A command for the shell; with `args`, a program and its arguments. */
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

/** Settings that say whom hooks may reach. A project cannot change them. */
export interface ReachSettings extends HttpTerms {
  /** The model that prompt and agent hooks ask, unless the embedder has its own. */
  readonly model: ModelSettings | null
  /** Servers whose tools MCP hooks call, by name. */
  readonly mcp_servers: Readonly<Record<string, McpServerSettings>>
}

/** Shared by all runners of one createHooks(). Settings are read at each call: they may change while a hook lives. */
export interface Shared {
  readonly programs: Programs
  readonly handedOn: HandedOn
  readonly settings: () => ReachSettings
  readonly models: () => ModelSource
}

/** Makes the hooks of one kind. */
export interface Runner<Spec = HookSpec<object>> {
  hooks(spec: Spec, surroundings: Surroundings, problem: StartProblem): readonly Hook[]
  /** Called around making all hooks anew: afterwards what only earlier ones used may end. */
  readonly renew?: <T>(make: () => T) => T
  /** Settles when nothing that it started is left. */
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
