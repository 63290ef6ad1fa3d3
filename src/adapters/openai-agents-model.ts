// Hooks around the models of the OpenAI Agents SDK: whole responses and streams.

import type {
  AssistantMessageItem,
  Model,
  ModelRequest,
  ModelResponse,
  StreamEvent,
  StreamEventResponseCompleted,
} from '@openai/agents'
import type { Hold, Json, Session } from '../core/index.js'
import { refused } from './begun-calls.js'
import { injectedAs, splitSystem, withSystem } from './request.js'
import { inputOf, messageOf, type PartForm, partsOf, unlessRefused } from './response.js'

interface ModelOptions {
  /** What hooks see as the model. The SDK does not say which one it is. */
  readonly name?: string
  readonly hold?: Hold
}

/** Each call of this model is judged. Hooks see the response as `{ role, content, tool_calls? }`. */
export function wrapModel(session: Session, model: Model, options: ModelOptions = {}): Model {
  const { name = model.constructor.name, hold = 'all' } = options
  const wrapped: Pick<Model, 'getResponse' | 'getStreamedResponse'> = {
    getResponse: (request) => (session.isIdle ? model.getResponse(request) : judgedResponse(request)),
    getStreamedResponse: (request) =>
      session.isIdle ? model.getStreamedResponse(request) : judgedEvents(request),
  }
  async function judgedResponse(request: ModelRequest): Promise<ModelResponse> {
    let made: ModelResponse | undefined
    const run = async (judged: Request) => {
      made = await model.getResponse(restored(request, judged))
      return messageOf(made.output, ITEMS)
    }
    const { signal } = request
    const called = await session.callModel(requestOf(name, request), run, { signal, addInjections })
    if (called.response === undefined) throw refused(called)
    if (made && called.status === 'ok' && !called.after.modified) return made
    const output = partsOf(called.response as Json, ITEMS, made?.output)
    return { usage: NOTHING as unknown as ModelResponse['usage'], ...made, output }
  }
  async function* judgedEvents(request: ModelRequest): AsyncGenerator<StreamEvent> {
    const { signal } = request
    let end: Completed | undefined
    const streamed = session.streamModel(
      requestOf(name, request),
      (judged: Request) => model.getStreamedResponse(restored(request, judged)),
      {
        ...{ signal, addInjections, hold },
        assemble: (events: readonly StreamEvent[]) => {
          end = events.findLast((event) => event.type === 'response_done')?.response
          return messageOf<Item>(end?.output ?? [said(events.map(deltaOf).join(''))], ITEMS)
        },
        deltasOf: (response: Json) => eventsOf(response, end),
      },
    )
    yield* streamed
    await unlessRefused(streamed.result)
  }
  return Object.assign(Object.create(model), wrapped)
}

type Item = ModelResponse['output'][number]
type Completed = StreamEventResponseCompleted['response']
type Request = ReturnType<typeof requestOf>

function requestOf(model: string, { systemInstructions, input, tools, modelSettings }: ModelRequest) {
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  return { model, messages: withSystem(systemInstructions, items), tools, options: modelSettings }
}

function restored(request: ModelRequest, { messages, tools, options }: Request): ModelRequest {
  const { systemInstructions: given, ...rest } = request
  const [systemInstructions, input] = splitSystem(given, messages)
  return {
    ...rest,
    ...(systemInstructions !== undefined && { systemInstructions }),
    ...{ input: input as Exclude<ModelRequest['input'], string>, tools, modelSettings: options },
  }
}

const addInjections = injectedAs(({ role, content }) => ({
  role: role === 'system' ? role : 'user',
  content,
}))

/** For a stream that breaks off before it has said what the whole response is. */
const deltaOf = (event: StreamEvent) => (event.type === 'output_text_delta' ? event.delta : '')

/** The runner adds up all of them. */
const NOTHING = {
  ...{ requests: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0 },
  ...{ inputTokensDetails: [], outputTokensDetails: [] },
}

function said(text: string, was?: AssistantMessageItem): AssistantMessageItem {
  const unseen = was?.content.filter(({ type }) => type !== 'output_text') ?? []
  const content = [{ type: 'output_text' as const, text }, ...unseen]
  return { ...was, type: 'message', role: 'assistant', status: 'completed', content }
}

const isSaid = (item: Item | undefined): item is AssistantMessageItem =>
  item !== undefined && 'role' in item && item.role === 'assistant'

const ITEMS: PartForm<Item> = {
  textOf: (item) =>
    isSaid(item)
      ? item.content.map((part) => (part.type === 'output_text' ? part.text : '')).join('')
      : undefined,
  callOf: (item) =>
    item.type === 'function_call'
      ? { id: item.callId, name: item.name, input: inputOf(item.arguments) }
      : undefined,
  text: (text, was) => said(text, isSaid(was) ? was : undefined),
  call: ({ id = '', name, input }, was) => ({
    ...(was?.type === 'function_call' && was),
    ...{ type: 'function_call', callId: id, name, arguments: JSON.stringify(input) },
  }),
}

function* eventsOf(response: Json, end: Completed | undefined): Iterable<StreamEvent> {
  const output = partsOf<Item>(response, ITEMS, end?.output)
  const { content: text } = messageOf(output, ITEMS)
  yield { type: 'response_started' }
  if (text !== '') yield { type: 'output_text_delta', delta: text }
  yield {
    type: 'response_done',
    response: { id: '', usage: NOTHING, ...end, output: output as Completed['output'] },
  }
}
