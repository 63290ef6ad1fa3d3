// Hooks around the models of the AI SDK, as a middleware: whole responses and streams, in the forms of 5, 6 and 7.

import { ReadableStream } from 'node:stream/web'
import type { LanguageModelMiddleware } from 'ai'
import type { Hold, Json, RenderedInjection, Session } from '../core/index.js'
import { refused } from './begun-calls.js'

/** What all versions have in common. */
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

interface Calling {
  readonly model: Model
  readonly params: Params
}

/** For wrapLanguageModel: each model call is judged. Hooks see the response as `{ role, content, tool_calls? }`. */
export function hooksMiddleware(
  session: Session,
  { hold = 'all' }: { readonly hold?: Hold } = {},
): LanguageModelMiddleware {
  const middleware = {
    specificationVersion: 'v3',
    wrapGenerate: async ({ model, params }: Calling) => {
      if (session.isIdle) return model.doGenerate(params)
      let made: { readonly content: readonly Part[] } | undefined
      let message: object | undefined
      const run = async (request: Request) => {
        made = await model.doGenerate(paramsOf(params, request))
        message = messageOf(made.content)
        return message
      }
      const called = await session.callModel(requestOf(model, params), run, optionsOf(params))
      if (called.response === undefined) throw refused(called)
      if (called.response === message) return made
      const content = partsOf(called.response as Json)
      return { warnings: [], ...endOf(model, content), ...made, content }
    },
    wrapStream: async ({ model, params }: Calling) => {
      if (session.isIdle) return model.doStream(params)
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
      const called = first.done ? await streamed.result : undefined
      if (called && called.response === undefined) throw refused(called)
      async function* rest() {
        try {
          for (let next = first; !next.done; next = await parts.next()) yield next.value
        } finally {
          await parts.return?.()
        }
        const called = await streamed.result
        if (called.response !== undefined) return
        yield { type: 'error', error: refused(called) }
        yield { type: 'finish', ...endOf(model, [], 'error') }
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
