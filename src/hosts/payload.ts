// Reads a payload from any host: its sender, its event, and its fields under canonical names.

import { textOf as textOfError } from '../core/base/errors.js'
import { type Data, isObject, type Json, sameJson } from '../core/base/json.js'
import { parseJson } from '../core/base/strict-json.js'
import { visibleName } from '../core/base/text.js'
import { canonicalEvent, type EventName, fold, resolveEvent } from '../core/events/events.js'
import type { HostCall, HostEvent } from './host.js'
import { HOSTS, type HostName, hostNamed, hostOf, type KnownHost } from './hosts.js'
import { canonicalCalls, isInPartsOf, toolNamed } from './tool-calls.js'

export interface ReadOptions {
  /** For payloads that do not name their event. */
  readonly event?: string
  /** The sender. Default: recognized by the payload and `env`. */
  readonly host?: HostName
  readonly env?: NodeJS.ProcessEnv
}

/** The sender and the event, read before any other field. */
export interface Envelope {
  readonly host: KnownHost
  /** Undefined if no known event has this name. */
  readonly known: EventName | undefined
  /** The canonical name; as it was sent if it is unknown. */
  readonly name: string
  /** Empty if the payload names none. */
  readonly sentAs: string
}

export interface HostPayload extends Envelope {
  readonly event: HostEvent
}

/** Thrown for a payload that cannot be read. Neither its message nor its fields quote the payload. */
export class InvalidHookInput extends Error {
  override readonly name = 'InvalidHookInput'
  /** Canonical; undefined if it is not known. */
  declare readonly event?: string
  /** The invalid field, in snake_case; undefined if it is not about one field. */
  declare readonly field?: string

  /** carabiner/author is a bundle by itself, with a class of its own: an error of either counts for both. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'InvalidHookInput'
  }

  constructor(problem: string, where: { readonly event?: string; readonly field?: string } = {}) {
    super(where.event === undefined ? problem : `${where.event}: ${problem}`)
    if (where.event !== undefined) this.event = where.event
    if (where.field !== undefined) this.field = where.field
  }
}

export function readHostPayload(payload: Data, options: ReadOptions = {}): HostPayload {
  const envelope = readEnvelope(payload, options)
  return { ...envelope, event: eventOf(payload, envelope, false) }
}

/** Throws if neither the payload nor the options name an event. */
export function readEnvelope(payload: Data, options: ReadOptions = {}): Envelope {
  const sentAs = nameSent(payload, nameElsewhere(payload, options))
  const called = sentAs ?? options.event
  if (called === undefined) {
    throw new InvalidHookInput('hook_event_name is missing: which event is it?', { field: 'hook_event_name' })
  }
  const host = senderOf(payload, called, options)
  const known = knownEvent(host, called)
  return { host, known, name: known ?? called, sentAs: sentAs ?? '' }
}

export function senderOf(payload: Data, called: string, { host, env }: ReadOptions): KnownHost {
  return (host && hostNamed(host)) ?? hostOf(payload, fold(called), env)
}

/**
 * The event in canonical terms. `mustTell`: throws for a call of a known tool that would hide from hooks what it does, before
 * it runs.
 */
export function eventOf(
  payload: Data,
  { host, known, name, sentAs }: Envelope,
  mustTell: boolean,
): HostEvent {
  const own = host.read?.(payload, fold(sentAs || name)) ?? {}
  const data = fieldsOf(payload, known ?? 'Unknown', own)
  const calls = callsIn(host, data, name, mustTell)
  const tool = toolNamed(host, data.tool_name)
  // An input that is read in parts stays whole here: a part would hide the others.
  const isInParts = tool && isInPartsOf(tool, data.tool_input) && !(tool.whole && calls.length === 1)
  const whole = isInParts ? data : (calls[0]?.data ?? data)
  return { name, sentAs, data: whole, ...(calls.length > 0 && { calls }) }
}

/** Empty if Claude Code has no such tool. */
function callsIn(host: KnownHost, data: Data, event: string, mustTell: boolean): readonly HostCall[] {
  try {
    return canonicalCalls(host, data, mustTell && (event === 'PreToolUse' || event === 'PermissionRequest'))
  } catch (error) {
    const problem = `a call of ${visibleName(String(data.tool_name))} cannot be read: ${textOfError(error)}`
    throw new InvalidHookInput(problem, { event, field: 'tool_input' })
  }
}

/** Whether a payload is about a tool call, whatever its event is called. */
export function isAboutTool(payload: Data): boolean {
  return [...NAMES.tool_name, ...NAMES.tool_input].some((name) => (payload[name] ?? undefined) !== undefined)
}

// ---- an unknown sender ----------------------------------------------------------------------------------------

/**
 * Translates a payload in camelCase, or in PicoClaw's or BeamAgent's terms, to canonical names. A payload that already has
 * them stays as it is. `named` is the event of a payload that names none.
 */
export function canonicalPayload(payload: Data, named?: string): Data {
  const own = ofPicoClaw(payload)
  const given = payload.hook_event_name ?? undefined
  const sentAs = given === undefined ? nameSent(payload) : given
  const isForeign = Object.keys(payload).some((key) => ALL_NAMES.has(key) && !CANONICAL.has(key))
  if (!isForeign && sentAs === given && Object.keys(own).length === 0) return payload
  const called = typeof sentAs === 'string' ? sentAs : named
  refuseTwoNames(payload, own)
  const fields = fieldsOf(payload, (called && canonicalEvent(called)) || 'Unknown', own)
  if (sentAs === undefined) return fields
  return {
    ...fields,
    hook_event_name: typeof sentAs === 'string' ? (canonicalEvent(sentAs) ?? sentAs) : sentAs,
  }
}

/** PicoClaw's params: `{tool, arguments, meta}`. */
function ofPicoClaw({ tool, arguments: input, meta }: Data): Data {
  if (typeof tool !== 'string' || !isObject(input)) return {}
  const { SessionKey, AgentID, TurnID } = (isObject(meta) ? meta : {}) as Data
  const ids = { session_id: SessionKey, agent_id: AgentID, turn_id: TurnID }
  const given = Object.entries(ids).filter(([, id]) => typeof id === 'string' && id !== '')
  return { ...(Object.fromEntries(given) as Data), tool_name: tool, tool_input: input as Data }
}

/** Throws if a field has two names with different values: hooks would judge one, and the tool might get the other. */
export function refuseTwoNames(payload: Data, own: Data = {}): void {
  const given: Readonly<Record<string, readonly (Json | undefined)[]>> = {
    hook_event_name: [payload.hook_event_name, payload.hookEventName],
    tool_name: [own.tool_name, ...NAMES.tool_name.map((name) => payload[name])],
    tool_input: [own.tool_input, ...TOOL_INPUT_NAMES.map((name) => payload[name])],
  }
  for (const [field, values] of Object.entries(given)) {
    const there = values.filter((value) => value !== undefined && value !== null && value !== '')
    if (there.length < 2) continue
    const [first, ...rest] = there.map((value) => readAs(field, value as Json))
    if (rest.every((value) => sameJson(value, first))) continue
    const problem = `${field} has two names here with different values: hooks would judge one, and the tool might get the other`
    throw new InvalidHookInput(problem, { field })
  }
}

function readAs(field: string, value: Json): Json | undefined {
  if (field === 'tool_input') return inputOf(value, 'PreToolUse')
  return field === 'hook_event_name' && typeof value === 'string' ? resolveEvent(value).name : value
}

// ---- the event ------------------------------------------------------------------------------------------------

const EVENT_NAMES = ['hook_event_name', 'hookEventName', 'hookName', 'event_type'] as const

function knownEvent({ events = {} }: KnownHost, called: string): EventName | undefined {
  const name = fold(called)
  const own = Object.keys(events).find((one) => fold(one) === name)
  return own === undefined ? canonicalEvent(called) : ((events[own] as EventName | null) ?? undefined)
}

/** The event's name, where a host has a place of its own for it. */
function nameElsewhere(payload: Data, { host }: ReadOptions): string | undefined {
  const sender = host ? hostNamed(host) : HOSTS.find((one) => one.eventName && one.sends(payload, ''))
  return sender?.eventName?.(payload)
}

/** The event's name as the payload has it. */
function nameSent(payload: Data, elsewhere?: string): string | undefined {
  const key = EVENT_NAMES.find((name) => (payload[name] ?? undefined) !== undefined)
  if (key === undefined) return elsewhere ?? barelyNamed(payload)
  const name = payload[key]
  if (typeof name === 'string' && fold(name) !== '') return name
  throw new InvalidHookInput('hook_event_name must be the name of an event', { field: 'hook_event_name' })
}

/** `event` is only the name if no other field is, because FileChanged also has a field of that name. */
function barelyNamed({ event, ...rest }: Data): string | undefined {
  if (typeof event !== 'string') return undefined
  return 'matcher_context' in rest || canonicalEvent(event) !== undefined ? event : undefined
}

// ---- the fields -----------------------------------------------------------------------------------------------

/** The names of a tool's input. */
export const TOOL_INPUT_NAMES = ['tool_input', 'toolInput', 'toolArgs'] as const

/** Fields with several names. The first that is present counts, even if it is null. */
const NAMES = {
  session_id: ['session_id', 'sessionId', 'sessionID', 'conversation_id', 'conversationId'],
  transcript_path: ['transcript_path', 'transcriptPath'],
  cwd: ['cwd', 'working_dir', 'workingDir', 'working_directory', 'workingDirectory'],
  permission_mode: ['permission_mode', 'permissionMode'],
  tool_name: ['tool_name', 'toolName'],
  tool_input: TOOL_INPUT_NAMES,
  stop_hook_active: ['stop_hook_active', 'stopHookActive'],
} as const

/** The same, but null counts as absent. */
const RESULT_NAMES = [
  'tool_response',
  'toolResponse',
  'tool_result',
  'toolResult',
  'tool_output',
  'toolOutput',
] as const
/** The model's own id of a call is better than none. */
const CALL_ID_NAMES = ['tool_use_id', 'toolUseId', 'tool_call_id', 'toolCallId'] as const
const PROMPT_NAMES = ['user_prompt', 'userPrompt', 'prompt', 'userMessage', 'user_message'] as const

function fieldsOf(payload: Data, event: string, own: Data): Data {
  const fields: Record<string, Json | undefined> = {}
  for (const [field, names] of Object.entries(NAMES)) {
    const key = names.find((name) => Object.hasOwn(payload, name))
    fields[field] = own[field] ?? (key === undefined ? undefined : payload[key])
  }
  fields.tool_input = inputOf(fields.tool_input, event)
  fields.tool_response = own.tool_response ?? firstGiven(payload, RESULT_NAMES)
  fields.prompt = promptOf({ ...payload, ...own }, event)
  fields.tool_use_id = own.tool_use_id ?? firstGiven(payload, CALL_ID_NAMES)
  fields.model = modelOf(own.model ?? payload.model)
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  const entries = [...restOf(payload, event), ...Object.entries(own), ...given]
  return Object.fromEntries(entries.filter(([key]) => key !== 'agent_id' || own.agent_id !== null)) as Data
}

const ALL_NAMES: ReadonlySet<string> = new Set([
  ...Object.values(NAMES).flat(),
  ...RESULT_NAMES,
  ...EVENT_NAMES,
  ...PROMPT_NAMES,
])

/** The names that hooks read. */
const CANONICAL: ReadonlySet<string> = new Set([
  ...Object.keys(NAMES),
  ...['hook_event_name', 'tool_response', 'tool_result', 'prompt', 'user_prompt'],
])

/** All other fields. Those in the catalogue get its spelling. */
function restOf(payload: Data, event: string): readonly (readonly [string, Json])[] {
  const { types } = resolveEvent(event)
  return Object.entries(payload)
    .filter(([key, value]) => !ALL_NAMES.has(key) && key !== 'model' && !(key === 'event' && isObject(value)))
    .map(([key, value]) => {
      const snake = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
      return types[snake] !== undefined && !Object.hasOwn(payload, snake) ? [snake, value] : [key, value]
    })
}

function firstGiven(payload: Data, names: readonly string[]): Json | undefined {
  return names.map((name) => payload[name]).find((value) => value !== undefined && value !== null)
}

/** Some hosts send a tool's arguments as JSON in a string. */
function inputOf(input: Json | undefined, event: string): Json | undefined {
  if (typeof input !== 'string') return input
  return parseJson(input, (problem, kind) => {
    const what = kind === 'broken' ? 'tool_input is a string that is not JSON' : 'tool_input cannot be read'
    return new InvalidHookInput(`${what}: ${problem}`, { event, field: 'tool_input' })
  })
}

/** Some hosts send an object that names the model and its provider. */
function modelOf(model: Json | undefined): Json | undefined {
  if (!isObject(model)) return model
  return [model.slug, model.modelID, model.id, model.name].find((name) => typeof name === 'string')
}

/** A blank prompt does not hide another. */
function promptOf(payload: Data, event: string): Json | undefined {
  const names = event === 'UserPromptSubmit' ? [...PROMPT_NAMES, 'message'] : PROMPT_NAMES
  const prompts = names
    .map((name) => textOf(payload[name]))
    .filter((text) => text !== undefined && text !== null)
  return prompts.find((text) => typeof text !== 'string' || text.trim() !== '') ?? prompts[0]
}

/** Reads a text, `{ text }`, or a list of such parts; leaves anything else as it is. */
function textOf(prompt: Json | undefined): Json | undefined {
  const inside = (part: Json | undefined) => (isObject(part) ? part.text : part)
  if (!Array.isArray(prompt)) return typeof inside(prompt) === 'string' ? (inside(prompt) as string) : prompt
  const texts = prompt.map(inside).filter((text) => typeof text === 'string')
  return texts.length > 0 || prompt.length === 0 ? texts.join('\n') : prompt
}
