// Hooks around the models of the AI SDK, as a middleware: whole responses and streams, in the forms of 5, 6 and 7.

import { ReadableStream } from 'node:stream/web'
import type { wrapLanguageModel } from 'ai'
import type { Hold, Session } from '../../core/index.js'
import { injectedAs, refuseOtherModel } from '../request.js'
import { changedLate, judgedParts, messageOf, partsOf, unlessRefused } from '../response.js'
import { judgedPart } from './handed-out.js'
import { endOf, PARTS, type Part, restOf, streamOf, wholeParts } from './parts.js'

/** 5.0 gives it no name. */
type Middleware = Exclude<Parameters<typeof wrapLanguageModel>[0]['middleware'], readonly unknown[]>

/** What all versions have in common. */
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
    wrapGenerate: ({ model, params }: Calling) =>
      session.isIdle ? model.doGenerate(params) : generate(session, model, params),
    wrapStream: ({ model, params }: Calling) =>
      session.isIdle ? model.doStream(params) : stream(session, model, params, hold),
  } satisfies { [K in Wrap]: (calling: CallingIn<K>) => unknown }
  return { specificationVersion: 'v3', ...middleware } as object as Middleware
}

type Wrap = 'wrapGenerate' | 'wrapStream'
/** What the SDK gives to a function of a middleware. */
type CallingIn<K extends Wrap> = Parameters<NonNullable<Middleware[K]>>[0]

async function generate(session: Session, model: Model, params: Params) {
  const { made, parts: content } = await judgedParts(session, requestOf(model, params), {
    ...optionsOf(params),
    call: async (request) => model.doGenerate(paramsOf(model, params, request)),
    partsIn: (response) => response.content,
    form: PARTS,
  })
  const given = content ?? made?.content ?? []
  const parts: Part[] = []
  for (const part of given) parts.push(await judgedPart(part, params.tools, params.abortSignal))
  const isSame = !content && parts.every((part, at) => part === given[at])
  return isSame ? made : { warnings: [], ...endOf(model, parts), ...made, content: parts }
}

async function stream(session: Session, model: Model, params: Params, hold: Hold) {
  let made: { readonly stream: AsyncIterable<Part> } | undefined
  let whole: readonly Part[] = []
  let end: Part | undefined
  let late: Error | undefined
  const finish = (parts: readonly Part[]) => end ?? { type: 'finish', ...endOf(model, parts) }
  const streamed = session.streamModel(
    requestOf(model, params),
    async (request: Seen) => {
      made = await model.doStream(paramsOf(model, params, request))
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
      deltasOf: (response) => streamOf(partsOf(response, PARTS, whole), finish),
      restOf: (response, shown) => {
        const rest = restOf(partsOf(response, PARTS, whole), shown, finish)
        if (!rest) late = changedLate()
        return rest ?? []
      },
    },
  )
  // The model is called when the first part is read; its errors are those of this call, so that the SDK can retry.
  const parts = streamed[Symbol.asyncIterator]()
  const first = await parts.next()
  if (first.done) await unlessRefused(streamed.result)
  async function* rest() {
    let hasCalls = false
    let end = () => (late ? Promise.reject(late) : unlessRefused(streamed.result))
    try {
      for (let next = first; !next.done; next = await parts.next()) {
        let part = next.value
        if (part.type === 'tool-call')
          try {
            part = await judgedPart(part, params.tools, params.abortSignal)
          } catch (error) {
            end = () => Promise.reject(error)
            break
          }
        hasCalls ||= part.type === 'tool-call'
        yield part
      }
    } finally {
      await parts.return?.()
    }
    try {
      await end()
    } catch (error) {
      // After a part with an error, the SDK goes on with the results of the calls.
      if (hasCalls) throw error
      yield { type: 'error', error }
      yield { type: 'finish', ...endOf(model, [], 'error') }
    }
  }
  return { ...made, stream: ReadableStream.from(rest()) }
}

/** A request as hooks see it. */
type Seen = ReturnType<typeof requestOf>

function requestOf(
  { modelId }: Model,
  { prompt, tools = [], abortSignal: _, headers: __, ...options }: Params,
) {
  return { model: modelId, messages: prompt, tools, options }
}

function paramsOf({ modelId }: Model, params: Params, { model, messages, tools, options }: Seen): Params {
  refuseOtherModel(modelId, model)
  return { ...params, ...options, prompt: messages, ...(params.tools && { tools }) }
}

const addInjections = injectedAs(({ content }) => ({
  role: 'user',
  content: [{ type: 'text', text: content }],
}))

function optionsOf({ abortSignal }: Params) {
  return { ...(abortSignal && { signal: abortSignal }), addInjections: addInjections<Seen> }
}
