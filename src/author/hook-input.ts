// The input of a hook: the payload of any agent as one type, discriminated by its event.

import { type Data, isObject, type Json } from '../core/base/json.js'
import { parseJson } from '../core/base/strict-json.js'
import type { EventName } from '../core/events/events.js'
import type { HostName } from '../hosts/hosts.js'
import { type HostPayload, InvalidHookInput, type ReadOptions, readHostPayload } from '../hosts/payload.js'

export type { HostName } from '../hosts/hosts.js'
export { InvalidHookInput } from '../hosts/payload.js'

interface InputBase {
  readonly sessionId?: string
  readonly transcriptPath?: string
  readonly cwd?: string
  readonly permissionMode?: string
  /** The agent that sent it; Claude Code if it looks like no other. */
  readonly host: HostName
  /** Every other field of the payload, under its original name: `extra.source`, `extra.reason`, … They are not checked. */
  readonly extra: Data
}

interface ToolCallInput {
  readonly toolName: string
  /**
   * The tool's arguments; empty where the agent sent none. `isTool(input, 'Bash')` gives them the type of that tool.
   * An input that is not an object is in `extra.tool_input`.
   */
  readonly toolInput: Data
}

interface StopInput {
  /** A hook already made the agent go on. */
  readonly stopHookActive?: boolean
}

interface OwnFields {
  readonly PreToolUse: ToolCallInput
  readonly PermissionRequest: ToolCallInput
  readonly PermissionDenied: ToolCallInput
  readonly PostToolUse: ToolCallInput & { readonly toolResult?: Json }
  readonly PostToolUseFailure: ToolCallInput
  readonly UserPromptSubmit: { readonly userPrompt?: string }
  readonly Stop: StopInput
  readonly SubagentStop: StopInput
}

/** A valid payload of an event that this version does not know. */
export interface UnknownInput extends InputBase {
  readonly event: 'Unknown'
  /** As it was sent. */
  readonly eventName: string
}

/** The input of one event. */
export type InputOf<E extends EventName | 'Unknown'> = E extends EventName
  ? { readonly event: E } & InputBase & (E extends keyof OwnFields ? OwnFields[E] : unknown)
  : UnknownInput

export type HookInput = { [E in EventName]: InputOf<E> }[EventName] | UnknownInput

export interface ParseOptions extends Pick<ReadOptions, 'event' | 'host'> {}

/**
 * Reads one JSON object. `event` is only used for a payload that names none. Throws InvalidHookInput.
 */
export function parseHookInput(text: string, options: ParseOptions = {}): HookInput {
  return inputOf(readHostPayload(parsePayload(text), options))
}

/** The object in a text, as it was sent. */
export function parsePayload(text: string): Data {
  const trimmed = text.replace(/^\uFEFF/, '')
  if (trimmed.trim() === '') throw new InvalidHookInput('the input is empty')
  const value = parseJson(trimmed, (problem) => new InvalidHookInput(`the input cannot be read: ${problem}`))
  if (isObject(value)) return value as Data
  throw new InvalidHookInput(
    `the input must be a JSON object, not ${value === null ? 'null' : kindOf(value)}`,
  )
}

// ---- from payload to input ------------------------------------------------------------------------------------

type Type = 'string' | 'boolean' | 'json' | 'input'

/** Fields that every input has. */
const COMMON = {
  session_id: ['sessionId', 'string'],
  transcript_path: ['transcriptPath', 'string'],
  cwd: ['cwd', 'string'],
  permission_mode: ['permissionMode', 'string'],
} as const satisfies Fields

type Fields = Readonly<Record<string, readonly [name: string, type: Type, required?: 'required']>>

const TOOL_CALL: Fields = {
  tool_name: ['toolName', 'string', 'required'],
  tool_input: ['toolInput', 'input', 'required'],
}
const STOP: Fields = { stop_hook_active: ['stopHookActive', 'boolean'] }

const OWN: Readonly<Record<keyof OwnFields, Fields>> = {
  PreToolUse: TOOL_CALL,
  PermissionRequest: TOOL_CALL,
  PermissionDenied: TOOL_CALL,
  PostToolUse: { ...TOOL_CALL, tool_response: ['toolResult', 'json'] },
  PostToolUseFailure: { ...TOOL_CALL, tool_input: ['toolInput', 'input'] },
  UserPromptSubmit: { prompt: ['userPrompt', 'string'] },
  Stop: STOP,
  SubagentStop: STOP,
}

/** The author-facing names of fields that the payload calls something else. */
const SEED_NAMES: Readonly<Record<string, string>> = { prompt: 'user_prompt', tool_response: 'tool_result' }

export function inputOf({ host, known, event }: HostPayload): HookInput {
  const name = known ?? 'Unknown'
  const own: Fields = Object.hasOwn(OWN, name) ? OWN[name as keyof OwnFields] : {}
  const fields: Fields = { ...COMMON, ...own }
  const typed = Object.entries(fields).flatMap(([field, [camel, type, required]]) => {
    const value = checked(name, field, event.data, type, required !== undefined)
    return value === undefined ? [] : [[camel, value] as const]
  })
  const isRead = (key: string, value: Json) =>
    Object.hasOwn(fields, key) && (fields[key]?.[1] !== 'input' || value === null || isObject(value))
  const extra = Object.entries(event.data).filter(([key, value]) => !isRead(key, value))
  return {
    event: name,
    ...(known === undefined && { eventName: event.name }),
    host: host.name,
    // The type requires it.
    ...(name === 'PostToolUseFailure' && { toolInput: {} }),
    ...Object.fromEntries(typed),
    extra: Object.fromEntries(extra),
  } as HookInput
}

/** Null counts as absent, except for a result or an input, which may be any JSON. */
function checked(
  event: string,
  field: string,
  data: Data,
  type: Type,
  isRequired: boolean,
): Json | undefined {
  const value = data[field]
  const named = SEED_NAMES[field] ?? field
  if (value !== undefined && type === 'input') return isObject(value) ? value : {}
  if (value === undefined || (value === null && type !== 'json')) {
    if (isRequired)
      throw new InvalidHookInput(`the required field ${named} is missing`, { event, field: named })
    return undefined
  }
  if (type === 'json' || typeof value === type) return value
  const problem = `${named} must be a ${type}, not ${value === null ? 'null' : kindOf(value)}`
  throw new InvalidHookInput(problem, { event, field: named })
}

function kindOf(value: Json): string {
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
