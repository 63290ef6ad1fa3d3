// Observations of an event: the protocol's kinds, and a kind of the same name for every other event.

import { type Data, isObject, type Json } from '../../core/base/json.js'
import { byteLength, nearest } from '../../core/base/text.js'
import { knownEvents, resolveEvent } from '../../core/events/events.js'
import { type HookEvent, snakeCase } from '../../core/hooks/hook.js'
import type { Outcome } from '../../core/hooks/outcome.js'
import { metaOf, nanoseconds, text } from './encode.js'
import { sentResult, wireResult } from './tool-result.js'

/** The params of `hook.event`, with the protocol's Go-cased names. */
interface Observation {
  readonly Kind: string
  readonly Meta: Json
  readonly Payload: Json
}

interface KindRow {
  /** The name in current versions. */
  readonly runtimeName: string
  /** The point in the turn that reports it. */
  readonly source: string
}

const kind = (name: string, source = `turn.${name}`): KindRow => ({ runtimeName: `agent.${name}`, source })

const KINDS: Readonly<Record<string, KindRow>> = {
  turn_start: kind('turn.start', 'turn.start'),
  turn_end: kind('turn.end', 'turn.end'),
  llm_request: kind('llm.request'),
  llm_delta: kind('llm.delta'),
  llm_response: kind('llm.response'),
  llm_retry: kind('llm.retry'),
  context_compress: kind('context.compress'),
  session_summarize: kind('session.summarize'),
  tool_exec_start: kind('tool.exec_start', 'turn.tool.start'),
  tool_exec_end: kind('tool.exec_end', 'turn.tool.end'),
  tool_exec_skipped: kind('tool.exec_skipped', 'turn.tool.skipped'),
  steering_injected: kind('steering.injected'),
  follow_up_queued: kind('follow_up.queued'),
  interrupt_received: kind('interrupt.received'),
  subturn_spawn: kind('subturn.spawn'),
  subturn_end: kind('subturn.end'),
  subturn_result_delivered: kind('subturn.result_delivered'),
  subturn_orphan: kind('subturn.orphan'),
  error: kind('error'),
}

interface EventRow {
  /** More than one if it depends on the outcome. */
  readonly kinds: readonly string[]
  readonly payload: (event: HookEvent) => Data
  /** `refused`: only if no hook objected. `announced`: also only if the session does not announce its own turns. */
  readonly unless?: 'refused' | 'announced'
}

/** An event without a row becomes a kind of the same name. A host may also notify under the name of a kind. */
const EVENTS: Readonly<Record<string, EventRow>> = {
  UserPromptSubmit: { kinds: ['turn_start'], payload: turnStartPayload, unless: 'announced' },
  Stop: { kinds: ['turn_end'], payload: turnEndPayload, unless: 'announced' },
  ModelRequest: { kinds: ['llm_request'], payload: requestPayload, unless: 'refused' },
  ModelResponse: { kinds: ['llm_response'], payload: responsePayload },
  PostCompact: { kinds: ['context_compress'], payload: compressPayload },
  // toolCall() chooses the kind, or two.
  PreToolUse: { kinds: ['tool_exec_start', 'tool_exec_skipped', 'tool_exec_end'], payload: startPayload },
  PostToolUse: { kinds: ['tool_exec_end'], payload: (event) => endPayload(event, sentResult(event)) },
  PostToolUseFailure: { kinds: ['tool_exec_end'], payload: (event) => endPayload(event, sentResult(event)) },
  SubagentStart: { kinds: ['subturn_spawn'], payload: spawnPayload, unless: 'refused' },
  SubagentStop: { kinds: ['subturn_end'], payload: subturnEndPayload, unless: 'refused' },
  StopFailure: { kinds: ['error'], payload: failurePayload },
  turn_start: { kinds: ['turn_start'], payload: turnStartPayload },
  turn_end: { kinds: ['turn_end'], payload: turnEndPayload },
  error: { kinds: ['error'], payload: errorPayload },
}

// ---- which observations an observer wants ---------------------------------------------------------------------

const shortNames: ReadonlyMap<string, string> = new Map(
  Object.entries(KINDS).map(([short, { runtimeName }]) => [runtimeName, short]),
)

const EVERYTHING: ReadonlySet<string> = new Set(['*', 'all', ''])

/** The kind behind its short name or its name in current versions. The host's own kinds keep their names. */
function kindOf(name: string): string {
  return shortNames.get(name) ?? name
}

export interface Observing {
  /** The events to listen to. */
  readonly events: 'all' | ReadonlySet<string>
  /** Whether the observer wants an observation of this kind from that event. */
  wants(event: string, kind: string): boolean
}

/**
 * Reads a list of names. A kind of the protocol selects that kind, from any event. An event selects all its observations,
 * denied or not. Any other name is one that a host uses with notify().
 */
export function observing(names: readonly string[]): Observing {
  if (names.some((name) => EVERYTHING.has(name))) return { events: 'all', wants: () => true }
  const kinds = new Set<string>()
  const named = new Set<string>()
  const heard = new Set<string>()
  for (const name of names) {
    const kind = kindOf(name)
    const row = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined
    if (row) {
      kinds.add(kind)
      for (const event of [kind, row.runtimeName, ...eventsWith(kind)]) heard.add(event)
    } else named.add(resolveEvent(name).name)
  }
  return {
    events: new Set([...heard, ...named]),
    wants: (event, kind) => named.has(event) || kinds.has(kind),
  }
}

function eventsWith(kind: string): readonly string[] {
  return Object.keys(EVENTS).filter((event) => EVENTS[event]?.kinds.includes(kind))
}

/** The nearest kind or event, for a name that is neither. */
export function likelyKind(name: string): string | undefined {
  if (EVERYTHING.has(name) || Object.hasOwn(KINDS, kindOf(name)) || !resolveEvent(name).custom)
    return undefined
  return nearest(name, [...Object.keys(KINDS), ...shortNames.keys(), ...knownEvents().map((one) => one.name)])
}

// ---- from an event to observations ----------------------------------------------------------------------------

/** A call that hooks changed is observed as it ran, because the event holds the final data. */
export function observationsOf(event: HookEvent, outcome: Outcome | undefined): readonly Observation[] {
  return payloadsOf(event, outcome).map(([Kind, Payload]) => {
    const row = Object.hasOwn(KINDS, Kind) ? KINDS[Kind] : undefined
    return { Kind, Meta: metaOf(event, row?.source ?? `turn.${Kind}`), Payload }
  })
}

type Told = readonly [kind: string, payload: Data]

function payloadsOf(event: HookEvent, outcome: Outcome | undefined): readonly Told[] {
  const { name, session } = event
  if (name === 'PreToolUse') return toolCall(event, outcome)
  const row = Object.hasOwn(EVENTS, name) ? EVENTS[name] : undefined
  const [kind] = row?.kinds ?? []
  const refused = (outcome?.action ?? 'continue') !== 'continue'
  const announced = row?.unless === 'announced' && (session?.announcesTurns ?? false)
  if (!row || kind === undefined || (row.unless && refused) || announced) return own(event, outcome)
  return [[kind, row.payload(event)]]
}

/** A response instead of the tool counts as a run that took no time. */
function toolCall(event: HookEvent, outcome: Outcome | undefined): readonly Told[] {
  const action = outcome?.action ?? 'continue'
  if (action === 'continue') return [['tool_exec_start', startPayload(event)]]
  if (action !== 'respond') return [['tool_exec_skipped', skippedPayload(event, outcome?.reason)]]
  return [
    ['tool_exec_start', startPayload(event)],
    ['tool_exec_end', endPayload(event, wireResult(outcome?.response), 0)],
  ]
}

/** An event that the protocol has no kind for. */
function own(event: HookEvent, outcome: Outcome | undefined): readonly Told[] {
  const { name } = event
  const short = shortNames.get(name) ?? (resolveEvent(name).custom ? name : snakeCase(name))
  return [[short, ownPayload(event, outcome)]]
}

// ---- payloads: Go-cased names, lengths in bytes, durations in nanoseconds -------------------------------------

function startPayload({ data }: HookEvent): Data {
  return { Tool: text(data.tool_name), Arguments: isObject(data.tool_input) ? (data.tool_input as Data) : {} }
}

function skippedPayload({ data }: HookEvent, reason: string | undefined): Data {
  return { Tool: text(data.tool_name), Reason: reason ?? '' }
}

/** `result` in the protocol's shape. */
function endPayload({ data }: HookEvent, result: Data, duration?: number): Data {
  return {
    Tool: text(data.tool_name),
    Duration: duration ?? nanoseconds(data.duration_ms),
    ForLLMLen: byteLength(text(result.for_llm)),
    ForUserLen: byteLength(text(result.for_user)),
    IsError: result.is_error === true,
    Async: result.async === true,
  }
}

function requestPayload({ data }: HookEvent): Data {
  const options = isObject(data.options) ? (data.options as Data) : {}
  return {
    Model: text(data.model),
    MessagesCount: listOf(data.messages).length,
    ToolsCount: listOf(data.tools).length,
    MaxTokens: numberOf(options.max_tokens) ?? 0,
    Temperature: numberOf(options.temperature) ?? 0,
  }
}

/** Reads a text, a message of texts, or a message of blocks. */
function responsePayload({ data }: HookEvent): Data {
  const message = isObject(data.response) ? (data.response as Data) : { content: data.response ?? '' }
  const blocks = listOf(message.content).filter(isObject) as readonly Data[]
  const content = text(message.content) || blocks.map((block) => text(block.text)).join('')
  const calls = listOf(message.tool_calls).length || blocks.filter(({ type }) => type === 'tool_use').length
  const thought = text(message.reasoning_content, message.reasoning) !== ''
  return {
    ContentLen: byteLength(content),
    ToolCalls: calls,
    HasReasoning: thought || blocks.some(({ type }) => type === 'thinking' || type === 'reasoning'),
  }
}

function compressPayload({ data }: HookEvent): Data {
  return {
    Reason: text(data.reason, data.trigger),
    ...counted('DroppedMessages', data.dropped_messages),
    ...counted('RemainingMessages', data.remaining_messages),
  }
}

/** A missing number is left out, because zero would be a claim. */
function counted(name: string, value: Json | undefined): Data {
  const count = numberOf(value)
  return count === undefined ? {} : { [name]: count }
}

function turnStartPayload(event: HookEvent): Data {
  return { UserMessage: text(event.data.prompt), MediaCount: 0, ...beyond(event, 'turn_start', ['prompt']) }
}

function turnEndPayload(event: HookEvent): Data {
  const { status, last_assistant_message: last } = event.data
  return {
    Status: text(status) || 'completed',
    ...(typeof last === 'string' && { FinalContentLen: byteLength(last), FinalContent: last }),
    ...beyond(event, 'turn_end', ['status', 'last_assistant_message']),
  }
}

/** Fields that a host adds to a kind beyond those of the protocol. */
function beyond(event: HookEvent, kind: string, told: readonly string[]): Data {
  if (event.name !== kind) return {}
  const fields = Object.entries(ownPayload(event, undefined))
  return Object.fromEntries(fields.filter(([key]) => !told.includes(key)))
}

/** A subagent with its own session names the turn that started it. Otherwise it was this turn. */
function spawnPayload({ data, session }: HookEvent): Data {
  const parent = text(data.parent_turn_id, session?.parentTurnId) || text(data.turn_id, session?.turnId)
  return { AgentID: text(data.agent_id), Label: text(data.agent_type), ParentTurnID: parent }
}

function subturnEndPayload({ data }: HookEvent): Data {
  return { AgentID: text(data.agent_id), Status: text(data.status) || 'completed' }
}

function errorPayload(event: HookEvent): Data {
  const { stage, message } = event.data
  return { Stage: text(stage), Message: text(message), ...beyond(event, 'error', ['stage', 'message']) }
}

function failurePayload({ data }: HookEvent): Data {
  const { error, error_details: details } = data
  const more = typeof details === 'string' && details !== '' ? `: ${details}` : ''
  return { Stage: 'llm', Message: `${text(error)}${more}` }
}

/** Fields that are in Meta. */
const STANDING: ReadonlySet<string> = new Set([
  'session_id',
  'hook_event_name',
  'timestamp',
  'cwd',
  'transcript_path',
  'permission_mode',
  'agent_id',
  'agent_type',
  'parent_turn_id',
  'turn_id',
  'channel',
  'chat_id',
])

/** The data under the host's keys, and the outcome unless the event simply went on. */
function ownPayload({ data }: HookEvent, outcome: Outcome | undefined): Data {
  const fields = Object.fromEntries(Object.entries(data).filter(([key]) => !STANDING.has(key)))
  if (!outcome || outcome.action === 'continue') return fields
  return { ...fields, Action: outcome.action, Reason: outcome.reason ?? '' }
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : []
}

function numberOf(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}
