// What a resident hook answers: one type for each method, and a constructor for each answer, so that none is misspelt.
// Those that runHook() takes as well have room for the rest of a HookResult.

import type { HookResult } from '../core/events/result.js'
import type { LlmMessage, LlmRequest, ToolCall, ToolResult } from './params.js'

export interface Proceed {
  readonly action: 'continue'
}

export interface Abort {
  readonly action: 'abort_turn' | 'hard_abort'
  readonly reason: string
}

export interface ModifyRequest {
  readonly action: 'modify'
  /** What is given replaces; what is not given stays. */
  readonly request: Partial<LlmRequest>
}

export interface ModifyResponse {
  readonly action: 'modify'
  readonly response: LlmMessage
}

export interface ModifyCall {
  readonly action: 'modify'
  /** `arguments` replaces all of them; what is not given stays. */
  readonly call: Partial<ToolCall>
}

export interface DenyTool {
  readonly action: 'deny_tool'
  readonly reason: string
}

export interface Respond {
  readonly action: 'respond'
  readonly result: ToolResult
}

export interface ModifyResult {
  readonly action: 'modify'
  /** What is given replaces; what is not given stays. */
  readonly result: Partial<ToolResult>
}

export interface Approval {
  readonly approved: boolean
  readonly reason?: string
}

export type BeforeLlmAnswer = Proceed | ModifyRequest | Abort
export type AfterLlmAnswer = Proceed | ModifyResponse | Abort
export type BeforeToolAnswer = Proceed | ModifyCall | DenyTool | Respond | Abort
export type AfterToolAnswer = Proceed | ModifyResult | Abort

/** No objection; the same as to answer nothing. The rest is for runHook(). */
export function proceed(more: More = {}): Proceed & HookResult {
  return { ...more, action: 'continue' }
}

type More = Omit<Partial<HookResult>, 'action' | 'reason'>

/** The tool does not run, and the model reads why. */
export function denyTool(reason: string): DenyTool {
  return { action: 'deny_tool', reason }
}

/** Another tool, or other arguments: all of them. */
export function modifyCall(call: Partial<ToolCall>): ModifyCall {
  return { action: 'modify', call }
}

/** The tool does not run: this is its result. */
export function respondWith(result: ToolResult): Respond {
  return { action: 'respond', result }
}

/** Other messages, tools, options, another model. */
export function modifyRequest(request: Partial<LlmRequest>): ModifyRequest {
  return { action: 'modify', request }
}

/** Another answer of the model. */
export function modifyResponse(response: LlmMessage): ModifyResponse {
  return { action: 'modify', response }
}

/** Another result of the tool. */
export function modifyResult(result: Partial<ToolResult>): ModifyResult {
  return { action: 'modify', result }
}

export function approve(): Approval {
  return { approved: true }
}

/** The tool does not run, and the model reads why. */
export function refuse(reason: string): Approval {
  return { approved: false, reason }
}

/** Ends this turn. */
export function abortTurn(reason: string, more: More = {}): Abort & HookResult {
  return { ...more, action: 'abort_turn', reason }
}

/** Ends the agent. */
export function hardAbort(reason: string, more: More = {}): Abort & HookResult {
  return { ...more, action: 'hard_abort', reason }
}
