// What each kind of observation carries, with the protocol's Go-cased names. Lengths are bytes, durations nanoseconds.

import { type Data, isObject, type Json } from '../../core/base/json.js'
import { byteLength } from '../../core/base/text.js'
import type { HookEvent } from '../../core/hooks/hook.js'
import type { Outcome } from '../../core/hooks/outcome.js'
import { nanoseconds } from './encode.js'
import { text } from './meta.js'

// ---- tools ----------------------------------------------------------------------------------------------------

export function startPayload({ data }: HookEvent): Data {
  return { Tool: text(data.tool_name), Arguments: isObject(data.tool_input) ? (data.tool_input as Data) : {} }
}

export function skippedPayload({ data }: HookEvent, reason: string | undefined): Data {
  return { Tool: text(data.tool_name), Reason: reason ?? '' }
}

/** `result` in the protocol's shape. */
export function endPayload({ data }: HookEvent, result: Data, duration?: number): Data {
  return {
    Tool: text(data.tool_name),
    Duration: duration ?? nanoseconds(data.duration_ms),
    ForLLMLen: byteLength(text(result.for_llm)),
    ForUserLen: byteLength(text(result.for_user)),
    IsError: result.is_error === true,
    Async: result.async === true,
  }
}

// ---- the model ------------------------------------------------------------------------------------------------

export function requestPayload({ data }: HookEvent): Data {
  const options = isObject(data.options) ? (data.options as Data) : {}
  return {
    Model: text(data.model),
    MessagesCount: listOf(data.messages).length,
    ToolsCount: listOf(data.tools).length,
    MaxTokens: numberOf(options.max_tokens) ?? 0,
    Temperature: numberOf(options.temperature) ?? 0,
  }
}

/** Of a text, a message of texts, or a message of blocks. */
export function responsePayload({ data }: HookEvent): Data {
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

export function compressPayload({ data }: HookEvent): Data {
  return {
    Reason: text(data.reason, data.trigger),
    ...counted('DroppedMessages', data.dropped_messages),
    ...counted('RemainingMessages', data.remaining_messages),
  }
}

/** A number that nobody gave is not told: zero would be a claim. */
function counted(name: string, value: Json | undefined): Data {
  const count = numberOf(value)
  return count === undefined ? {} : { [name]: count }
}

// ---- turns and agents -----------------------------------------------------------------------------------------

export function turnStartPayload(event: HookEvent): Data {
  return { UserMessage: text(event.data.prompt), MediaCount: 0, ...beyond(event, 'turn_start', ['prompt']) }
}

export function turnEndPayload(event: HookEvent): Data {
  const { status, last_assistant_message: last } = event.data
  return {
    Status: text(status) || 'completed',
    ...(typeof last === 'string' && { FinalContentLen: byteLength(last), FinalContent: last }),
    ...beyond(event, 'turn_end', ['status', 'last_assistant_message']),
  }
}

/** What a host tells of a kind beyond the fields that have names of the protocol. */
function beyond(event: HookEvent, kind: string, told: readonly string[]): Data {
  if (event.name !== kind) return {}
  const fields = Object.entries(ownPayload(event, undefined))
  return Object.fromEntries(fields.filter(([key]) => !told.includes(key)))
}

/** A subagent that starts in its own session names the turn it came from; otherwise it comes from this one. */
export function spawnPayload({ data, session }: HookEvent): Data {
  const parent = text(data.parent_turn_id, session?.parentTurnId) || text(data.turn_id, session?.turnId)
  return { AgentID: text(data.agent_id), Label: text(data.agent_type), ParentTurnID: parent }
}

export function subturnEndPayload({ data }: HookEvent): Data {
  return { AgentID: text(data.agent_id), Status: text(data.status) || 'completed' }
}

export function errorPayload(event: HookEvent): Data {
  const { stage, message } = event.data
  return { Stage: text(stage), Message: text(message), ...beyond(event, 'error', ['stage', 'message']) }
}

export function failurePayload({ data }: HookEvent): Data {
  const { error, error_details: details } = data
  const more = typeof details === 'string' && details !== '' ? `: ${details}` : ''
  return { Stage: 'llm', Message: `${text(error)}${more}` }
}

// ---- everything else ------------------------------------------------------------------------------------------

/** Where the event stands is in its Meta. */
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

/** The data, keys as the host gave them; beside it what came of the event, where that is not simply that it went on. */
export function ownPayload({ data }: HookEvent, outcome: Outcome | undefined): Data {
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
