// The params of each method that a resident hook is asked, with the protocol's own names.

import type { Data, Json } from '../core/base/json.js'

/** Where the agent is in its work. */
export interface Meta {
  readonly AgentID: string
  readonly TurnID: string
  /** The turn that started this subagent's turn; empty for any other turn. */
  readonly ParentTurnID: string
  readonly SessionKey: string
  /** Model calls of the turn so far. */
  readonly Iteration: number
  readonly TracePath: string
  /** The point in the turn, for example `turn.tool.before`. */
  readonly Source: string
}

interface Asked {
  readonly meta: Meta
  /** The origin of the request, and its conversation. Empty if the agent does not say. */
  readonly channel: string
  readonly chat_id: string
}

export interface LlmMessage {
  readonly role: string
  readonly content?: Json
  readonly [key: string]: Json | undefined
}

export interface ToolDefinition {
  readonly type: 'function'
  readonly function: {
    readonly name: string
    readonly description?: string
    /** A JSON Schema. */
    readonly parameters?: Data
  }
}

/** The part of a model request that a hook may change. */
export interface LlmRequest {
  readonly model: string
  readonly messages: readonly LlmMessage[]
  readonly tools: readonly ToolDefinition[]
  /** temperature, max_tokens and the like. */
  readonly options: Data
}

export interface BeforeLlm extends Asked, LlmRequest {
  readonly graceful_terminal: boolean
}

export interface AfterLlm extends Asked {
  readonly model: string
  /** With `tool_calls`, if the model calls tools. */
  readonly response: LlmMessage
}

export interface ToolCall {
  readonly tool: string
  readonly arguments: Data
}

export interface BeforeTool extends Asked, ToolCall {}
/** The call as it will run, after every change. */
export interface ApproveTool extends Asked, ToolCall {}

/** The result of a tool. Plain text or other JSON arrives as `for_llm` alone. */
export interface ToolResult {
  readonly for_llm: string
  /** Shown to the user, unless `silent`. */
  readonly for_user?: string
  readonly silent?: boolean
  readonly is_error?: boolean
  readonly async?: boolean
  readonly media?: readonly Json[]
  readonly artifact_tags?: readonly string[]
  readonly response_handled?: boolean
}

export interface AfterTool extends Asked, ToolCall {
  readonly result: ToolResult
  /** Nanoseconds. */
  readonly duration: number
}

/** An observed event. `Kind` is `tool_exec_start`, `turn_end`, …, or a kind of the host's own. */
export interface Observed {
  readonly Kind: string
  readonly Meta: Meta
  readonly Payload: Data
}
