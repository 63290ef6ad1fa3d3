// Hooks around the models of the OpenAI Agents SDK: whole responses and streams.

import type {
  AssistantMessageItem,
  Model,
  ModelRequest,
  ModelResponse,
  StreamEvent,
  StreamEventResponseCompleted,
} from '@openai/agents'
import { type Hold, HookError, type Json, type Session } from '../../core/index.js'
import { injectedAs, refuseOtherModel, splitSystem, withSystem } from '../request.js'
import {
  changedLate,
  inputOf,
  judgedParts,
  messageOf,
  type PartForm,
  partsOf,
  unlessRefused,
} from '../response.js'

interface ModelOptions {
  /** What hooks see as the model. The SDK does not say which one it is. */
  readonly name?: string
  readonly hold?: Hold
  /** True: the model may also be offered tools that `wrapTools` did not make. Hooks do not see their calls. Default: false. */
  readonly anyTools?: boolean
}

/**
 * Each call of this model is judged. Hooks see the response as `{ role, content, tool_calls? }`. While there are hooks, it
 * refuses a request that offers a tool whose calls they would not see, as those of `mcpServers` are.
 */
export function wrapModel(session: Session, model: Model, options: ModelOptions = {}): Model {
  const { name = model.constructor.name, hold = 'all', anyTools = false } = options
  const wrapped: Pick<Model, 'getResponse' | 'getStreamedResponse'> = {
    getResponse: (request) => (session.isIdle ? model.getResponse(request) : judgedResponse(request)),
    getStreamedResponse: (request) =>
      session.isIdle ? model.getStreamedResponse(request) : judgedEvents(request),
  }
  async function judgedResponse(request: ModelRequest): Promise<ModelResponse> {
    if (!anyTools) refuseUnseen(request)
    const { made, parts: output } = await judgedParts(session, requestOf(name, request), {
      call: (judged) => model.getResponse(restored(name, request, judged)),
      partsIn: (response) => response.output,
      form: ITEMS,
      ...{ signal: request.signal, addInjections },
    })
    return output ? { usage: NOTHING as unknown as ModelResponse['usage'], ...made, output } : made
  }
  async function* judgedEvents(request: ModelRequest): AsyncGenerator<StreamEvent> {
    if (!anyTools) refuseUnseen(request)
    const { signal } = request
    let end: Completed | undefined
    let late: Error | undefined
    const streamed = session.streamModel(
      requestOf(name, request),
      (judged: Seen) => model.getStreamedResponse(restored(name, request, judged)),
      {
        ...{ signal, addInjections, hold },
        assemble: (events: readonly StreamEvent[]) => {
          end = events.findLast((event) => event.type === 'response_done')?.response
          return messageOf<Item>(end?.output ?? [said(events.map(deltaOf).join(''))], ITEMS)
        },
        deltasOf: (response: Json) => eventsOf(response, end),
        restOf: (response: Json, shown: readonly StreamEvent[]) => {
          const rest = restOf(response, shown, end)
          if (!rest) late = changedLate()
          return rest ?? []
        },
      },
    )
    yield* streamed
    if (late) throw late
    await unlessRefused(streamed.result)
  }
  return Object.assign(Object.create(model), wrapped)
}

/** The parameters of tools that `wrapTools` made. The SDK copies tools for a request, and keeps only this object. */
export const judgedParameters = new WeakSet<object>()

function refuseUnseen({ tools }: ModelRequest): void {
  const unseen = tools.find((tool) => {
    if (tool.type === 'hosted_tool') return false
    // In any other environment, the provider runs the commands.
    if (tool.type === 'shell') return (tool.environment?.type ?? 'local') === 'local'
    return tool.type !== 'function' || !judgedParameters.has(tool.parameters)
  })
  if (!unseen) return
  const instead =
    unseen.type === 'function'
      ? 'Pass wrapTools(session, [tool]) as `tools` of the agent; for MCP servers, wrapTools(session, await getAllMcpTools(servers)) instead of `mcpServers`.'
      : 'Make it a function tool, and pass it through wrapTools.'
  throw new HookError(
    'CALL_DENIED',
    `The model was not called, because hooks would not see calls of ${unseen.name}. ${instead}`,
  )
}

type Item = ModelResponse['output'][number]
type Completed = StreamEventResponseCompleted['response']
/** A request as hooks see it. */
type Seen = ReturnType<typeof requestOf>

function requestOf(model: string, { systemInstructions, input, tools, modelSettings }: ModelRequest) {
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  return { model, messages: withSystem(systemInstructions, items), tools, options: modelSettings }
}

function restored(
  name: string,
  request: ModelRequest,
  { model, messages, tools, options }: Seen,
): ModelRequest {
  refuseOtherModel(name, model)
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
  yield doneWith(output, end)
}

/** What follows the events that were shown. Undefined if these are no longer right: only calls can still change. */
function restOf(
  response: Json,
  shown: readonly StreamEvent[],
  end: Completed | undefined,
): readonly StreamEvent[] | undefined {
  const output = partsOf<Item>(response, ITEMS, end?.output)
  const isDone = shown.some(({ type }) => type === 'response_done')
  const isSameText = messageOf(output, ITEMS).content === shown.map(deltaOf).join('')
  return isDone || !isSameText ? undefined : [doneWith(output, end)]
}

function doneWith(output: readonly Item[], end: Completed | undefined): StreamEvent {
  return {
    type: 'response_done',
    response: { id: '', usage: NOTHING, ...end, output: output as Completed['output'] },
  }
}
