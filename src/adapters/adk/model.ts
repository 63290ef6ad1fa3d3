// Model calls of the Agent Development Kit between their hooks.

import type { LlmRequest, LlmResponse } from '@google/adk'
import type { BegunModel, Json, RenderedInjection, Session } from '../../core/index.js'
import { refused } from '../begun-calls.js'
import { inputOf, messageOf, type PartForm, partsOf } from '../response.js'

export type RunningModel = Extract<BegunModel, { readonly status: 'run' }> & {
  readonly session: Session
  readonly signal: AbortSignal | undefined
  isEnded?: true
}

type Contents = LlmRequest['contents']
type Part = NonNullable<Contents[number]['parts']>[number]

/** Writes what hooks change into the request. Calls `begun` if the call may be made, and otherwise returns what to say instead. */
export async function beginModel(
  session: Session,
  llmRequest: LlmRequest,
  signal: AbortSignal | undefined,
  begun: (call: RunningModel) => void,
): Promise<LlmResponse | undefined> {
  const { model = '', contents, config = {} } = llmRequest
  const added: Contents = []
  const addInjections = <R>(request: R, injections: readonly RenderedInjection[]): R => {
    added.push(...injections.map(({ content }) => ({ role: 'user', parts: [{ text: content }] })))
    return request
  }
  const request = { model, messages: contents, options: config }
  const call = await session.beginModel(request, { signal, addInjections })
  if (call.status === 'responded') return { content: { role: 'model', parts: partsOf(call.response, PARTS) } }
  if (call.status !== 'run') return denied(call)
  if (call.outcome.modified) {
    const { model, messages, options } = thawed(call.request) as typeof request
    Object.assign(llmRequest, { model, contents: messages, config: options })
  }
  llmRequest.contents.push(...added)
  begun({ ...call, session, signal })
  return undefined
}

export async function finishModel(
  call: RunningModel,
  llmResponse: LlmResponse,
): Promise<LlmResponse | undefined> {
  const { content, partial } = llmResponse
  if (!content) return undefined
  // An event without content is not shown. All of the text comes once more at the end.
  if (partial) return call.held ? { partial } : undefined
  const { parts = [] } = content
  const after = await judged(call, messageOf(parts, PARTS))
  if (after?.action !== 'continue') return denied({ reason: after?.reason, outcome: after ?? call.outcome })
  if (!after.modified) return undefined
  return {
    ...llmResponse,
    content: { role: 'model', parts: partsOf(after.data.response as Json, PARTS, parts) },
  }
}

/** A stream can have several whole responses: a text, then tool calls. The first one ends the call. */
async function judged(call: RunningModel, response: object) {
  if (!call.isEnded) {
    call.isEnded = true
    return (await call.finish(response)).after
  }
  const { session, signal, request } = call
  return session.fire('ModelResponse', { model: request.model, response }, { signal })
}

function denied(refusal: Parameters<typeof refused>[0]): LlmResponse {
  const { code, message } = refused(refusal)
  return { errorCode: code, errorMessage: message }
}

/** What hooks judged is frozen, and the SDK writes into requests. */
export function thawed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(thawed)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, thawed(item)]))
}

const PARTS: PartForm<Part> = {
  textOf: ({ text, thought }) => (thought ? undefined : text),
  callOf: ({ functionCall }) =>
    functionCall && {
      id: functionCall.id,
      name: functionCall.name ?? '',
      input: inputOf(functionCall.args),
    },
  text: (text, was) => ({ ...was, text }),
  call: ({ id, name, input }, was) => ({
    ...was,
    functionCall: { ...(id && { id }), name, args: input as Record<string, unknown> },
  }),
}
