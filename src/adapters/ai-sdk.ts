// Hooks in the AI SDK (npm: ai, 5 to 7): around its tools, around its models, and in its approval flow.

import { ReadableStream } from 'node:stream/web'
import type { LanguageModelMiddleware, ToolSet } from 'ai'
import type { Hold, Json, ModelCallResult, RenderedInjection, Session } from '../core/index.js'
import { beginOnce, refused, replyTo, takeBegun } from './begun-calls.js'
import { type Capabilities, WORKS } from './capabilities.js'

export const capabilities: Capabilities = {
  sdk: 'AI SDK',
  package: 'ai',
  versions: ['5.0.277', '6.0.326', '7.0.169'],
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
interface Model {
  readonly modelId: string
  readonly specificationVersion: string
  doGenerate(params: Params): PromiseLike<{ readonly content: readonly Part[] }>
  doStream(params: Params): PromiseLike<{ readonly stream: AsyncIterable<Part> }>
}
interface Params {
  readonly prompt: readonly object[]
  readonly tools?: readonly object[]
  readonly abortSignal?: AbortSignal
  readonly headers?: unknown
}
interface ExecuteOptions {
  readonly toolCallId: string
  readonly abortSignal?: AbortSignal
  readonly messages: readonly { readonly content: unknown }[]
}

// ---- tools ------------------------------------------------------------------------------------------------------

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
      const { status } = await beginOnce(session, { name, input, id: options.toolCallId })
      return wants === true || status === 'needs_approval'
    },
    execute: async (input: object, options: ExecuteOptions) => {
      const { toolCallId: id, abortSignal, messages } = options
      let call = await takeBegun(session, { name, input, id }, abortSignal)
      if (call.status === 'needs_approval' && wasApproved(id, messages))
        call = await call.answer(replyTo(call.question, true))
      if (call.status === 'responded') return call.result
      if (call.status !== 'run') throw refused(call)
      let result: unknown
      try {
        result = await last(execute(call.input as never, options as never))
      } catch (error) {
        await (abortSignal?.aborted ? call[Symbol.asyncDispose]() : call.fail(error))
        throw error
      }
      const ended = await call.finish(result)
      if (ended.status === 'failed') throw refused(ended)
      return ended.result
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
  return async ({ toolCall }: { readonly toolCall: ToolCall }) => {
    const call = { name: toolCall.toolName, input: toolCall.input as object, id: toolCall.toolCallId }
    const { status, reason } = { reason: '', ...(await beginOnce(session, call)) }
    return status === 'needs_approval' ? { type: 'user-approval' as const, reason } : undefined
  }
}

interface ToolCall {
  readonly toolName: string
  readonly toolCallId: string
  readonly input: unknown
}

// ---- models -----------------------------------------------------------------------------------------------------

/** For wrapLanguageModel: each model call is judged. Hooks see the response as `{ role, content, tool_calls? }`. */
export function hooksMiddleware(
  session: Session,
  { hold = 'all' }: { readonly hold?: Hold } = {},
): LanguageModelMiddleware {
  const middleware = {
    specificationVersion: 'v3',
    wrapGenerate: async ({ model, params }: { readonly model: Model; readonly params: Params }) => {
      let made: { readonly content: readonly Part[] } | undefined
      const run = async (request: Request) => {
        made = await model.doGenerate(paramsOf(params, request))
        return messageOf(made.content)
      }
      const called = await session.callModel(requestOf(model, params), run, optionsOf(params))
      if (called.response === undefined) throw refused(called)
      const isUnchanged = called.status === 'ok' && called.after.modified !== true
      if (made && isUnchanged) return made
      const content = partsOf(called.response as Json)
      return { warnings: [], ...endOf(model, content), ...made, content }
    },
    wrapStream: async ({ model, params }: { readonly model: Model; readonly params: Params }) => {
      let made: { readonly stream: AsyncIterable<Part> } | undefined
      let end: Part | undefined
      const streamed = session.streamModel(
        requestOf(model, params),
        async (request: Request) => {
          made = await model.doStream(paramsOf(params, request))
          return made.stream
        },
        {
          ...optionsOf(params),
          hold,
          assemble: (parts) => {
            end = parts.find(({ type }) => type === 'finish')
            return messageOf(parts)
          },
          deltasOf: (response) =>
            streamOf(partsOf(response), (parts) => end ?? { type: 'finish', ...endOf(model, parts) }),
        },
      )
      // The model is called when the first part is read; its errors are those of this call, so that the SDK can retry.
      const parts = streamed[Symbol.asyncIterator]()
      const first = await parts.next()
      if (first.done) await unlessRefused(streamed.result)
      async function* rest() {
        for (let next = first; !next.done; next = await parts.next()) yield next.value
        try {
          await unlessRefused(streamed.result)
        } catch (error) {
          yield { type: 'error', error }
          yield { type: 'finish', ...endOf(model, [], 'error') }
        }
      }
      return { ...made, stream: ReadableStream.from(rest()) }
    },
  }
  return middleware as unknown as LanguageModelMiddleware
}

type Request = ReturnType<typeof requestOf>

function requestOf(
  { modelId }: Model,
  { prompt, tools = [], abortSignal: _, headers: __, ...options }: Params,
) {
  return { model: modelId, messages: prompt, tools, options }
}

function paramsOf(params: Params, { messages, tools, options }: Request): Params {
  return { ...params, ...options, prompt: messages, ...(params.tools && { tools }) }
}

function optionsOf({ abortSignal }: Params) {
  const addInjections = (request: Request, injections: readonly RenderedInjection[]): Request => {
    const added = injections.map(({ content }) => ({
      role: 'user',
      content: [{ type: 'text', text: content }],
    }))
    return { ...request, messages: [...request.messages, ...added] }
  }
  return { ...(abortSignal && { signal: abortSignal }), addInjections }
}

async function unlessRefused(result: Promise<ModelCallResult<unknown>>): Promise<void> {
  const called = await result
  if (called.response === undefined) throw refused(called)
}

/** A response as hooks see it, of whole parts or of a stream's. */
function messageOf(parts: readonly Part[]) {
  const texts = parts.map(({ type, text, delta }) =>
    type === 'text' ? text : type === 'text-delta' ? delta : '',
  )
  const calls = parts.filter(({ type }) => type === 'tool-call')
  const tool_calls = calls.map(({ toolCallId: id, toolName: name, input }) => ({ id, name, input }))
  return { role: 'assistant', content: texts.join(''), ...(calls.length > 0 && { tool_calls }) }
}

/** The other way round, for a response that a hook gave or changed. */
function partsOf(response: Json): readonly Part[] {
  const message =
    typeof response === 'object' && response !== null
      ? (response as { content?: Json; tool_calls?: Json })
      : {}
  const content = message.content ?? (message.tool_calls ? '' : response)
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : []
  return [
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...calls.map((call) => {
      const { id, name, input } = call as { id: string; name: string; input: Json }
      return {
        type: 'tool-call',
        toolCallId: id,
        toolName: name,
        input: typeof input === 'string' ? input : JSON.stringify(input),
      }
    }),
  ]
}

function* streamOf(parts: readonly Part[], end: (parts: readonly Part[]) => Part): Iterable<Part> {
  yield { type: 'stream-start', warnings: [] }
  for (const part of parts) {
    if (part.type !== 'text') yield part
    else {
      yield { type: 'text-start', id: '0' }
      yield { type: 'text-delta', id: '0', delta: part.text }
      yield { type: 'text-end', id: '0' }
    }
  }
  yield end(parts)
}

/** The end of a response that no model gave: nothing was used. 5 writes it in another form than 6 and 7. */
function endOf({ specificationVersion }: Model, parts: readonly Part[], reason?: string) {
  const unified = reason ?? (parts.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop')
  return specificationVersion === 'v2'
    ? { finishReason: unified, usage: {} }
    : { finishReason: { unified, raw: undefined }, usage: { inputTokens: {}, outputTokens: {} } }
}
