// Questions of hooks in LangGraph: `interrupt()` suspends the graph, and a person's answer goes on with it.

import { getConfig, interrupt } from '@langchain/langgraph'
import type { BaseMessage } from 'langchain'
import type { Data, Question, Reply, Session } from '../../core/index.js'
import { replyTo } from '../begun-calls.js'

export interface ToolCall {
  readonly name: string
  readonly args: Data
  readonly id?: string
}
/** The parts of LangChain's ToolCallRequest that a call outside createAgent has too. */
export interface CallRequest {
  readonly toolCall: ToolCall
  readonly tool?: { readonly name?: unknown }
  readonly state: { readonly messages?: readonly BaseMessage[] }
  readonly runtime: { readonly signal?: AbortSignal | undefined }
}
interface AskedRequest extends CallRequest {
  readonly session: Session
  /** LangGraph gives an answer only to this call, so it need not name it. */
  readonly isAlone: boolean
}
export type Approver = (question: Question, request: AskedRequest) => Reply | Promise<Reply>

/**
 * Suspends the graph. The value is that of humanInTheLoopMiddleware, with the hook's question and the id of the call. Resume
 * with `{ decisions: [decision] }` or an option of the question. If a node runs several calls at once, as a
 * ToolNode in a graph of your own does, resume with `{ [toolCallId]: answer }`.
 */
export function interruptApprover(question: Question, { toolCall, isAlone }: AskedRequest): Reply {
  const { name, args, id = String(getConfig()?.configurable?.__pregel_task_id) } = toolCall
  const description = question.asks.map(({ prompt }) => prompt).join('\n')
  const value = {
    actionRequests: [{ name, args, description }],
    reviewConfigs: [{ actionName: name, allowedDecisions: ['approve', 'edit', 'reject'] }],
    toolCallId: id,
    question,
  }
  for (;;) {
    const given: unknown = interrupt(value)
    // All calls of a node that wait get the answer, also those whose questions nobody was shown.
    const own = isAlone ? given : (given as Readonly<Record<string, unknown>> | null)?.[id]
    if (own !== undefined) return replyOf(question, own)
  }
}

/** Why nobody can be asked by `interruptApprover`. Undefined: somebody can, or it is not called in a graph. */
export function whyUnasked(approver: Approver): string | undefined {
  const { __pregel_task_id: task, __pregel_checkpointer: checkpointer } = getConfig()?.configurable ?? {}
  const isUnasked = approver === interruptApprover && task !== undefined && !checkpointer
  return isUnasked ? 'Nobody could be asked, because the graph has no checkpointer.' : undefined
}

interface Decision {
  readonly type?: string
  readonly message?: string
  readonly editedAction?: { readonly args?: Data }
}

function replyOf(question: Question, given: unknown): Reply {
  const [decision] = (given as { decisions?: readonly Decision[] } | null)?.decisions ?? []
  if (!decision) return given as Reply
  const { type, message, editedAction } = decision
  const option = replyTo(question, type === 'approve' || type === 'edit')
  return {
    option,
    ...(message !== undefined && { reason: message }),
    ...(type === 'edit' && { data: { tool_input: editedAction?.args } }),
  }
}
