// Hooks in the AI SDK (npm: ai, 5 to 7): around its tools, and in its approval flow. ai-sdk-model.ts is around its models.

import type { ToolSet } from 'ai'
import type { Session } from '../core/index.js'
import { beginOnce, isUnheard, refused, replyTo, resultOf, runBegun, takeBegun } from './begun-calls.js'
import { type Capabilities, WORKS } from './capabilities.js'

export { hooksMiddleware } from './ai-sdk-model.js'

export const capabilities: Capabilities = {
  sdk: 'AI SDK',
  package: 'ai',
  versions: ['5.0.0', '5.0.277', '6.0.0', '6.0.326', '7.0.0', '7.0.169'],
  deny: {
    works: true,
    note: 'a tool error with the reason; for a model call, an error with code `CALL_DENIED`',
  },
  rewrite: WORKS,
  inject: {
    works: true,
    note: 'needs `hooksMiddleware`; as user messages, because most providers take system messages only first',
  },
  ask: { works: true, note: 'the approval flow of 6 and 7; 5 has none, so the call fails with the question' },
  respond: WORKS,
  streaming: { works: true, note: 'of a tool that yields results, only the last one is shown' },
  parallel: WORKS,
  abort: WORKS,
  subagents: { works: true, note: 'give the subagent’s tools and model `session.child()`' },
  errors: WORKS,
}

/** What all versions have in common. */
type AnyTool = ToolSet[string]
type Part = { readonly type: string; readonly [field: string]: unknown }
interface ExecuteOptions {
  readonly toolCallId: string
  readonly abortSignal?: AbortSignal
  readonly messages: readonly { readonly content: unknown }[]
}

/** Each call of these tools is judged. A tool without `execute` runs elsewhere, and stays as it is. */
export function wrapTools<T extends ToolSet>(session: Session, tools: T): T {
  const wrapped = Object.entries(tools).map(([name, tool]) => [name, wrapTool(session, name, tool)])
  return Object.fromEntries(wrapped) as T
}

function wrapTool(session: Session, name: string, tool: AnyTool): AnyTool {
  const { execute, needsApproval } = tool as AnyTool & { needsApproval?: unknown }
  if (!execute) return tool
  return {
    ...tool,
    // Only 6 and 7 ask. They ask again when the approval comes.
    needsApproval: async (input: object, options: ExecuteOptions) => {
      const wants =
        typeof needsApproval === 'function'
          ? await needsApproval(input as never, options as never)
          : needsApproval
      if (wants === true || isUnheard(session, options.toolCallId)) return wants === true
      const { status } = await beginOnce(session, { name, input, id: options.toolCallId })
      return status === 'needs_approval'
    },
    execute: async (input: object, options: ExecuteOptions) => {
      const { toolCallId: id, abortSignal, messages } = options
      const run = (judged: unknown) => last(execute(judged as never, options as never))
      if (isUnheard(session, id)) return run(input)
      let call = await takeBegun(session, { name, input, id }, abortSignal)
      if (call.status === 'needs_approval' && wasApproved(id, messages))
        call = await call.answer(replyTo(call.question, true))
      if (call.status === 'responded') return call.result
      if (call.status !== 'run') throw refused(call)
      return resultOf(await runBegun(call, run, { signal: abortSignal }))
    },
  } as unknown as AnyTool
}

/** A tool may yield results while it works; hooks judge the last one. */
async function last(made: unknown): Promise<unknown> {
  if (typeof made !== 'object' || made === null || !(Symbol.asyncIterator in made)) return made
  let result: unknown
  for await (const one of made as AsyncIterable<unknown>) result = one
  return result
}

/** The conversation has the person's answer, also if another process asked. */
function wasApproved(id: string, messages: ExecuteOptions['messages']): boolean {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? (content as Part[]) : []))
  const asked = parts.filter(({ type, toolCallId }) => type === 'tool-approval-request' && toolCallId === id)
  return parts.some(
    ({ type, approvalId, approved }) =>
      type === 'tool-approval-response' &&
      approved === true &&
      asked.some((one) => one.approvalId === approvalId),
  )
}

/** For `toolApproval` of generateText and streamText in AI SDK 7: says why a hook asks. The tools must be wrapped too. */
export function toolApproval(session: Session) {
  return async ({ toolCall }: { readonly toolCall: ToolCall }): Promise<Approval | undefined> => {
    const call = { name: toolCall.toolName, input: toolCall.input as object, id: toolCall.toolCallId }
    const { status, reason } = { reason: '', ...(await beginOnce(session, call)) }
    const asked = { type: 'user-approval' as const, reason }
    return status === 'needs_approval' ? asked : undefined
  }
}

/** It has a reason too, which the types of 7.0 do not allow. */
interface Approval {
  readonly type: 'user-approval'
}

interface ToolCall {
  readonly toolName: string
  readonly toolCallId: string
  readonly input: unknown
}
