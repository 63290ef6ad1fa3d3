// The params of a call to a resident hook, with the protocol's own names.

import { type Data, isObject, type Json } from '../../core/base/json.js'
import type { HookEvent } from '../../core/hooks/hook.js'
import type { Intercept } from './protocol.js'
import { sentResult } from './tool-result.js'

const SOURCES: Readonly<Record<Intercept, string>> = {
  before_llm: 'turn.llm.request',
  after_llm: 'turn.llm.response',
  before_tool: 'turn.tool.before',
  after_tool: 'turn.tool.after',
  approve_tool: 'turn.tool.approve',
}

export function encodeCall(intercept: Intercept, event: HookEvent): Data {
  const { data } = event
  return {
    meta: metaOf(event, SOURCES[intercept]),
    ...subjectOf(intercept, event),
    channel: text(data.channel),
    chat_id: text(data.chat_id),
    ...(intercept === 'before_llm' && { graceful_terminal: data.graceful_terminal === true }),
  }
}

function subjectOf(intercept: Intercept, event: HookEvent): Data {
  const { data } = event
  switch (intercept) {
    case 'before_llm':
      return {
        model: text(data.model),
        messages: data.messages ?? [],
        tools: data.tools ?? [],
        options: data.options ?? {},
      }
    case 'after_llm':
      return { model: text(data.model), response: data.response ?? null }
    case 'after_tool':
      return { ...callOf(data), result: sentResult(event), duration: nanoseconds(data.duration_ms) }
    default:
      return callOf(data)
  }
}

/** Arguments are never null, because a Go program would pass null on to a tool. */
function callOf(data: Data): Data {
  const { tool_name: name, tool_input: input } = data
  return { tool: text(name), arguments: isObject(input) ? (input as Data) : {} }
}

// ---- for calls and observations -------------------------------------------------------------------------------

/** The agent, turn and session of an event. `source` is a point in the turn: `turn.tool.before`. */
export function metaOf({ data, session }: HookEvent, source: string): Data {
  return {
    AgentID: text(data.agent_id),
    TurnID: text(data.turn_id, session?.turnId),
    ParentTurnID: text(data.parent_turn_id, session?.parentTurnId),
    SessionKey: text(session?.id, data.session_id),
    Iteration: session?.iteration ?? 0,
    TracePath: 'runTurn',
    Source: source,
  }
}

/** The first string, or an empty one, because a Go program expects a string. */
export function text(...values: readonly (Json | undefined)[]): string {
  return values.find((value) => typeof value === 'string') ?? ''
}

/** A whole number, as Go writes durations. */
export function nanoseconds(ms: Json | undefined): number {
  return typeof ms === 'number' && ms > 0 ? Math.round(ms * 1_000_000) : 0
}
