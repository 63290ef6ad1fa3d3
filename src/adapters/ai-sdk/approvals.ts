// The approval flow of the AI SDK, in 6 and 7: what a person has said to a call, and `toolApproval`, which says why a hook asks.

import { isDeepStrictEqual } from 'node:util'
import type { ToolSet } from 'ai'
import type { Session } from '../../core/index.js'
import { type Call, knownBegun } from '../begun-calls.js'
import { PerSession } from '../per-session.js'
import type { Part } from './parts.js'

/** A conversation. */
export type Messages = readonly { readonly content: unknown }[]

/** Whether a person has said yes to this call, and it has not run since. The conversation has it, also if another process asked. */
export function wasApproved(id: string, messages: Messages): boolean {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? (content as Part[]) : []))
  const asked = parts.findLastIndex((one) => one.type === 'tool-approval-request' && one.toolCallId === id)
  if (asked < 0) return false
  const since = parts.slice(asked)
  const hasRun = since.some((one) => one.type === 'tool-result' && one.toolCallId === id)
  const answer = since.find(
    (one) => one.type === 'tool-approval-response' && one.approvalId === since[0]?.approvalId,
  )
  return answer?.approved === true && !hasRun
}

/** The last call with each id that a person was asked about, by a hook or by the tool itself. */
const asked = new PerSession<unknown>()

export function keepAsked(session: Session, call: Call): void {
  asked.set(session, call.id, shown(call))
}

/** Whether this session asked about another call with this id. A yes is not for this one then. */
export function askedOfAnother(session: Session, call: Call): boolean {
  return asked.has(session, call.id) && !isDeepStrictEqual(asked.get(session, call.id), shown(call))
}

/** The conversation is often stored, or comes back from a browser: fields that JSON does not have are lost then. */
function shown({ name, input }: Call): unknown {
  return JSON.parse(JSON.stringify({ name, input }))
}

/** For `toolApproval` of generateText and streamText in AI SDK 7: says why a hook asks. The tools must be wrapped too. */
export function toolApproval(session: Session) {
  return async ({ toolCall, tools, messages, toolsContext }: Asking): Promise<Approval | undefined> => {
    const { toolName, toolCallId, input } = toolCall
    const { needsApproval } = (tools?.[toolName] ?? {}) as { readonly needsApproval?: unknown }
    const options = { toolCallId, messages, context: toolsContext?.[toolName] }
    const isAsking = typeof needsApproval === 'function' ? await needsApproval(input, options) : needsApproval
    if (isAsking !== true) return undefined
    const begun = await knownBegun(session, toolCallId)
    const isHook = begun?.status === 'needs_approval'
    return { type: 'user-approval', ...(isHook && { reason: begun.reason }) }
  }
}

/** It has a reason too, which the types of 7.0 do not allow. */
interface Approval {
  readonly type: 'user-approval'
}

interface Asking {
  readonly toolCall: { readonly toolName: string; readonly toolCallId: string; readonly input: unknown }
  readonly tools?: ToolSet | undefined
  readonly messages: Messages
  readonly toolsContext?: Readonly<Record<string, unknown>>
}
