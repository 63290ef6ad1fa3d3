// Hooks around the models of the AI SDK, as a middleware: whole responses and streams, in the forms of 5, 6 and 7.

import { ReadableStream } from 'node:stream/web'
import type { wrapLanguageModel } from 'ai'
import type { Hold, Json, Session } from '../core/index.js'
import { refused } from './begun-calls.js'
import { injectedAs } from './request.js'
import { inputOf, messageOf, type PartForm, partsOf } from './response.js'

/** 5.0 gives it no name. */
type Middleware = Exclude<Parameters<typeof wrapLanguageModel>[0]['middleware'], readonly unknown[]>

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
): Middleware {
  const middleware = {
    specificationVersion: 'v3',
    wrapGenerate: async ({ model, params }: Calling) => {
      if (session.isIdle) return model.doGenerate(params)
      let made: { readonly content: readonly Part[] } | undefined
      let message: object | undefined
      const run = async (request: Request) => {
        made = await model.doGenerate(paramsOf(params, request))
        message = messageOf(made.content, PARTS)
        return message
      }
      const called = await session.callModel(requestOf(model, params), run, optionsOf(params))
      if (called.response === undefined) throw refused(called)
      if (called.response === message) return made
      const content = partsOf(called.response as Json, PARTS, made?.content)
      return { warnings: [], ...endOf(model, content), ...made, content }
    },
    wrapStream: async ({ model, params }: Calling) => {
      if (session.isIdle) return model.doStream(params)
      let made: { readonly stream: AsyncIterable<Part> } | undefined
      let whole: readonly Part[] = []
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
            whole = wholeParts(parts)
            return messageOf(whole, PARTS)
          },
          deltasOf: (response) =>
            streamOf(
              partsOf(response, PARTS, whole),
              (parts) => end ?? { type: 'finish', ...endOf(model, parts) },
            ),
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
  return middleware as unknown as Middleware
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

const addInjections = injectedAs(({ content }) => ({
  role: 'user',
  content: [{ type: 'text', text: content }],
}))

function optionsOf({ abortSignal }: Params) {
  return { ...(abortSignal && { signal: abortSignal }), addInjections: addInjections<Request> }
}

const PARTS: PartForm<Part> = {
  textOf: ({ type, text }) => (type === 'text' ? String(text) : undefined),
  callOf: ({ type, toolCallId, toolName, input }) =>
    type === 'tool-call'
      ? { id: String(toolCallId), name: String(toolName), input: inputOf(input) }
      : undefined,
  text: (text, was) => ({ ...was, type: 'text', text }),
  call: ({ id, name, input }, was) => ({
    ...was,
    ...{ type: 'tool-call', toolCallId: id, toolName: name, input: JSON.stringify(input) },
  }),
}

/** A stream's parts with its texts in one piece each. The end is left out, and so are inputs that a call repeats. */
function wholeParts(parts: readonly Part[]): readonly Part[] {
  const texts = new Map<unknown, { type: string; text: string }>()
  return parts.flatMap((part) => {
    const { type, id, delta } = part
    if (type === 'finish' || type.startsWith('tool-input-')) return []
    if (!type.startsWith('text-')) return part
    const { type: _, delta: __, ...fields } = part
    const known = texts.get(id)
    const text = Object.assign(known ?? { type: 'text', text: '' }, fields)
    if (type === 'text-delta') text.text += delta
    texts.set(id, text)
    return known ? [] : text
  })
}

function* streamOf(parts: readonly Part[], end: (parts: readonly Part[]) => Part): Iterable<Part> {
  if (!parts.some(({ type }) => type === 'stream-start')) yield { type: 'stream-start', warnings: [] }
  for (const part of parts) {
    const { type, text, id = '0', ...fields } = part
    if (type !== 'text') yield part
    else {
      yield { ...fields, type: 'text-start', id }
      yield { type: 'text-delta', id, delta: text }
      yield { ...fields, type: 'text-end', id }
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
