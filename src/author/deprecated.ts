// Answers of a resident hook in PicoClaw's own words, from before serveHook() took a HookResult. They keep working.

import type { LlmMessage, LlmRequest, ToolCall, ToolResult } from './params.js'

interface Proceed {
  readonly action: 'continue'
}

interface Abort {
  readonly action: 'abort_turn' | 'hard_abort'
  readonly reason: string
}

interface ModifyRequest {
  readonly action: 'modify'
  readonly request: Partial<LlmRequest>
}

interface ModifyResponse {
  readonly action: 'modify'
  readonly response: LlmMessage
}

interface ModifyCall {
  readonly action: 'modify'
  readonly call: Partial<ToolCall>
}

interface DenyTool {
  readonly action: 'deny_tool'
  readonly reason: string
}

interface Respond {
  readonly action: 'respond'
  readonly result: ToolResult
}

interface ModifyResult {
  readonly action: 'modify'
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

/** @deprecated Use `deny(reason)`. */
export const denyTool = (reason: string): DenyTool => ({ action: 'deny_tool', reason })
/** @deprecated Use `modify({ tool, arguments })`. */
export const modifyCall = (call: Partial<ToolCall>): ModifyCall => ({ action: 'modify', call })
/** @deprecated Use `respond(result)`. */
export const respondWith = (result: ToolResult): Respond => ({ action: 'respond', result })
/** @deprecated Use `modify({ messages, tools, … })`. */
export const modifyRequest = (request: Partial<LlmRequest>): ModifyRequest => ({ action: 'modify', request })
/** @deprecated Use `modify({ response })`. */
export const modifyResponse = (response: LlmMessage): ModifyResponse => ({ action: 'modify', response })
/** @deprecated Use `modify({ result })`. */
export const modifyResult = (result: Partial<ToolResult>): ModifyResult => ({ action: 'modify', result })
/** @deprecated Use `proceed()`. */
export const approve = (): Approval => ({ approved: true })
/** @deprecated Use `deny(reason)`. */
export const refuse = (reason: string): Approval => ({ approved: false, reason })
