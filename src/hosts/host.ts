// A host is an AI agent that starts hooks. Its row says what it sends, what it honours, and what it understands.

import type { Data, Json } from '../core/base/json.js'
import type { Verdict } from '../core/events/actions.js'
import type { HookResult } from '../core/events/result.js'

/** Any agent with hooks, also one that only has hook files to run here. */
export interface Agent<Name extends string = string> {
  readonly name: Name
  /** The name that people know. */
  readonly title: string
  /**
   * Its own names of events, and the canonical ones. Null: an event that the catalogue does not have. A name that the
   * catalogue knows needs no entry, unless it means something else here, or the agent has hook files.
   */
  readonly events?: Readonly<Record<string, string | null>>
  /** Its tools that Claude Code also has. Of several for one of Claude Code's, the first is the usual one. */
  readonly tools?: Readonly<Record<string, HostTool>>
  /** The path that its tools take a text for. Variables, `~` and `file:` are read for every agent. */
  readonly pathOf?: (text: string) => string
  /** Seconds until it gives up on a hook, in general and by canonical event. */
  readonly timeout: number
  readonly timeouts?: Readonly<Record<string, number>>
  /** The variable that names the project to its hooks. */
  readonly projectVariable?: string
}

export interface Host<Name extends string = string> extends Agent<Name> {
  // ---- what it sends ----

  /** Whether a payload is this host's. `event` is the host's name for it, without case and separators. */
  readonly sends: (payload: Data, event: string) => boolean
  /** The name of the event, where the payload has it in a place that no other host uses. */
  readonly eventName?: (payload: Data) => string | undefined
  /**
   * Translates fields that it sends in its own shape to Claude Code's names. They win over those of the payload. Null as
   * `agent_id`: the id that it sends is not a subagent's.
   */
  readonly read?: (payload: Data, event: string) => Data

  // ---- what it understands ----

  readonly can: Abilities | ((event: HostEvent, verdict: HostVerdict) => readonly Ability[] | undefined)
  /** It merges a changed input over the old one, so a key cannot be removed. */
  readonly mergesInput?: boolean
  readonly answer: (event: HostEvent, told: FittedVerdict, verdict: HostVerdict) => HostAnswer
  /** Events on which it does not wait for hooks. It ends them, with all their processes, when the turn does. */
  readonly unawaited?: readonly string[]

  /** Nobody looks at its screen, so nobody sees messages to the user. Only for agents that say so. */
  readonly isUnattended?: (env: NodeJS.ProcessEnv) => boolean

  // ---- where it lives ----

  /**
   * Its files that decide which hooks run, in a project or in the home folder: the guard keeps agents from changing them. A
   * trailing slash means everything in it, a star means part of a name.
   */
  readonly guarded: readonly string[]
  /** The variable that names another folder in place of this one in the home folder. */
  readonly moved?: { readonly variable: string; readonly folder: string }

  /** It runs a command once, however many of its settings files have it for the event. Of other agents that is not known. */
  readonly runsEqualOnce?: true
}

// ---- its tools ------------------------------------------------------------------------------------------------

export interface HostTool {
  /** Claude Code's names for it, the likeliest first. */
  readonly names: readonly string[]
  /** Claude Code's names for the fields that it calls differently. Of several for one field, the last is the usual one. */
  readonly fields?: Readonly<Record<string, string>>
  /** Reads an input that does several things at once, or is a text in a language of its own. Throws Error if it cannot be read. */
  readonly parts?: (input: Data) => readonly ToolCall[]
  /** The input with its only part changed. Without it, a change of a part cannot be put back. */
  readonly whole?: (input: Data, part: Data) => Data
}

/** One thing that a tool call does, as Claude Code would do it. */
export interface ToolCall {
  /** Claude Code's tool. Default: each of the names of the host's tool. */
  readonly tool?: string
  readonly input: Data
}

// ---- an event, and the answer to it ---------------------------------------------------------------------------

/** The event that a host asks about. */
export interface HostEvent {
  /** The canonical name; as the host sent it if it is unknown. */
  readonly name: string
  /** The host's own name for it; empty if the payload has none. */
  readonly sentAs: string
  /**
   * The payload in canonical terms, but for the name of the tool. The input of a tool that Claude Code also has is in Claude
   * Code's terms, and in `host_tool_input` as it was sent, unless it does several things at once.
   */
  readonly data: Data
  /** For a tool that Claude Code also has: what the call does, one thing or several. */
  readonly calls?: readonly HostCall[]
}

/** One thing that a tool call does. */
export interface HostCall {
  /** Claude Code's names for the tool, the likeliest first. */
  readonly names: readonly string[]
  /** The payload in canonical terms, but for the name of the tool. */
  readonly data: Data
}

/** The decision of hooks, for any host: made from an Outcome or from one HookResult. */
export interface HostVerdict {
  readonly action: Verdict
  readonly reason?: string
  readonly permission?: 'allow'
  /** The keys that were changed, and only those. */
  readonly data?: Data
  readonly injections: readonly string[]
  readonly messages: readonly string[]
  readonly response?: Json
  /** Fields that only the host can use. */
  readonly host?: Data
  /** The terms of the question, for engines that understand them. */
  readonly approval?: Pick<HookResult, 'approvalOptions' | 'approvalTimeout' | 'approvalDefault'>
}

/**
 * Something that a host lets hooks do on an event.
 * `block`: refuse it; if it has already happened, tell the model; if the host wants to stop, keep it going.
 * `input`, `output`, `prompt`: change the tool's input, its result, the prompt. `context`: give the model context.
 * `ask`: have a person asked. `allow`: spare the person a question. `stop`: end the turn.
 */
export type Ability = 'block' | 'input' | 'output' | 'prompt' | 'context' | 'ask' | 'allow' | 'stop'

/** Keyed by canonical event. The host does not have an event that is missing here. */
export type Abilities = Readonly<Record<string, readonly Ability[]>>

/** A verdict reduced to what the host can do on this event. */
export interface FittedVerdict {
  /** `refuse`: the host has an answer for it. `signal`: it has none, so only exit code 2 can refuse. */
  readonly act: 'go' | 'allow' | 'ask' | 'refuse' | 'signal'
  /** The turn ends as well. */
  readonly stops: boolean
  /** Never empty for a refusal or a question. */
  readonly reason: string
  readonly input?: Data
  readonly output?: Json
  readonly prompt?: string
  readonly context: string
  readonly message: string
  readonly host: Data
}

/** The output of a hook's process, for the host that started it. */
export interface HostAnswer {
  readonly stdout: string
  readonly stderr?: string
  readonly exit: number
}

// ---- for the rows ---------------------------------------------------------------------------------------------

/** Events that have the same name here. */
export function same(names: string): Record<string, string> {
  return Object.fromEntries(names.split(/\s+/).map((name) => [name, name]))
}

/** A tool that Claude Code calls by these names, with its names for fields that the host calls differently. */
export function tool(names: string, fields?: HostTool['fields']): HostTool {
  return { names: names.split(' '), ...(fields && { fields }) }
}

/** The fields of editors that follow Anthropic's: `path`, `file_text`, `old_str`, `new_str`. */
export const EDITOR_FIELDS = {
  path: 'file_path',
  file_text: 'content',
  old_str: 'old_string',
  new_str: 'new_string',
} as const

/** The same in camelCase. */
export const CAMEL_FIELDS = {
  filePath: 'file_path',
  oldString: 'old_string',
  newString: 'new_string',
  replaceAll: 'replace_all',
} as const

/** Whether the transcript is in the host's own folder. */
export function keepsIn(payload: Data, folder: string): boolean {
  const path = payload.transcript_path ?? payload.transcriptPath
  return typeof path === 'string' && path.replaceAll('\\', '/').includes(`/${folder}/`)
}

/** A time as JSON.stringify writes it. */
export function isIsoTime(value: Json | undefined): boolean {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)
}

/** Removes undefined fields. */
export function definedFields(fields: Readonly<Record<string, Json | undefined>>): Data {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Data
}

export function firstOf(list: Json | undefined): Json | undefined {
  return Array.isArray(list) ? list[0] : undefined
}

/** How a session began, in Claude Code's words. */
export function sourceOf(source: Json | undefined): Json | undefined {
  return source === 'new' ? 'startup' : source
}
