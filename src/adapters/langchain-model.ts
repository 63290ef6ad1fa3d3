// Model calls of LangChain agents between their hooks: messages as hooks see them, and responses that wait until they are judged.

import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { RunnableBinding } from '@langchain/core/runnables'
import { pushMessage } from '@langchain/langgraph'
import { AIMessage, type BaseMessage, HumanMessage, SystemMessage, ToolMessage } from 'langchain'
import type { Data, Json, RenderedInjection, Session } from '../core/index.js'
import { refused } from './begun-calls.js'
import { splitSystem, withSystem } from './request.js'
import { inputOf, type PartForm, partsOf, type SaidCall, saidIn } from './response.js'

interface AnyModel {
  readonly model?: unknown
  getName?(): string
}
interface ModelRequest {
  readonly model: AnyModel
  readonly messages: BaseMessage[]
  readonly systemPrompt?: string
  readonly tools: readonly { readonly name?: unknown; readonly description?: unknown }[]
  readonly runtime: { readonly signal?: AbortSignal }
}

export async function callModel<R extends ModelRequest>(
  session: Session,
  request: R,
  handler: (request: R) => AIMessage | Promise<AIMessage>,
): Promise<AIMessage> {
  if (session.isIdle) return handler(request)
  const { model, tools } = request
  const { signal } = request.runtime
  const shown = request.messages.map(shownMessage)
  let injected: readonly RenderedInjection[] = []
  const call = await session.beginModel(
    {
      model: String(model.model ?? model.getName?.() ?? 'model'),
      messages: withSystem(request.systemPrompt || undefined, shown),
      tools: tools.map(({ name, description }) => ({ name, description })),
    },
    {
      ...(signal && { signal }),
      addInjections: (judged, injections) => {
        injected = injections
        return judged
      },
    },
  )
  if (call.status === 'responded') return streamed(messageOf(call.response))
  if (call.status !== 'run') throw refused(call)
  const judged = call.outcome.modified ? restored(request, shown, call.request as never) : request
  const added = injected.map(({ content }) => new HumanMessage(content))
  let made: AIMessage
  try {
    made = await handler({
      ...judged,
      messages: [...judged.messages, ...added],
      ...(call.held && { model: unstreamed(model) as R['model'] }),
    })
  } catch (error) {
    await call.fail(error)
    throw error
  }
  const message = AIMessage.isInstance(made) ? made : lastAIMessage(made)
  const ended = await call.finish(message ? shownMessage(message) : (made as unknown as Json))
  if (ended.status !== 'ok' && ended.status !== 'responded') throw refused(ended)
  if (ended.after.modified) return streamed(messageOf(ended.response as Json, message))
  if (call.held && message) streamed(message)
  return made
}

/** LangGraph does not stream the tokens of a model with these tags. */
function unstreamed(model: AnyModel): AnyModel {
  const {
    bound = model,
    kwargs = {},
    config = {},
  } = model as { bound?: AnyModel; kwargs?: object; config?: object }
  const tags = ['nostream', 'langsmith:nostream']
  return new RunnableBinding({ bound: bound as never, kwargs, config: { ...config, tags } }) as AnyModel
}

/** A structured response has the message in a list. */
function lastAIMessage(made: unknown): AIMessage | undefined {
  const { messages } = made as { messages?: readonly BaseMessage[] }
  return messages?.find((message) => AIMessage.isInstance(message)) as AIMessage | undefined
}

const ROLES: Readonly<Record<string, string>> = { human: 'user', ai: 'assistant' }

function shownMessage(message: BaseMessage): Data {
  const { content, type } = message
  const { tool_calls = [], tool_call_id } = message as {
    tool_calls?: AIMessage['tool_calls']
    tool_call_id?: string
  }
  return {
    role: ROLES[type] ?? type,
    content: type === 'ai' ? message.text : (content as Json),
    ...(tool_calls.length > 0 && {
      tool_calls: tool_calls.map(({ id = null, name, args }) => ({ id, name, input: inputOf(args) })),
    }),
    ...(tool_call_id !== undefined && { tool_call_id }),
  } as Data
}

/** Messages that no hook changed stay as they were. */
function restored<R extends ModelRequest>(
  request: R,
  shown: readonly Data[],
  judged: { readonly messages: readonly Data[]; readonly tools: readonly { readonly name?: unknown }[] },
): R {
  const [system, given] = splitSystem(request.systemPrompt, judged.messages)
  const messages = given.map((one) => {
    const at = shown.findIndex((other) => isDeepStrictEqual(one, other))
    return request.messages[at] ?? newMessage(one)
  })
  const names = new Set(judged.tools.map(({ name }) => name))
  return {
    ...request,
    messages,
    ...(system !== undefined && { systemPrompt: system }),
    tools: request.tools.filter(({ name }) => names.has(name)),
  }
}

function newMessage(message: Data): BaseMessage {
  const content = message.content as never
  if (message.role === 'assistant') return messageOf(message)
  if (message.role === 'system') return new SystemMessage({ content })
  if (message.role === 'tool') return new ToolMessage({ content, tool_call_id: String(message.tool_call_id) })
  return new HumanMessage({ content })
}

/** A response that a hook gave or changed. */
function messageOf(response: Json, made?: AIMessage): AIMessage {
  const { text } = saidIn(response)
  const { id = randomUUID(), usage_metadata, content } = made ?? {}
  // These repeat what the model said, and providers' classes would send it again.
  const { tool_calls: _, function_call: __, ...additional_kwargs } = made?.additional_kwargs ?? {}
  const { output: ___, ...response_metadata } = made?.response_metadata ?? {}
  return new AIMessage({
    content: Array.isArray(content) ? (contentOf(response, content as Block[]) as never) : text,
    tool_calls: callsOf(response, made?.tool_calls),
    id,
    additional_kwargs,
    response_metadata,
    ...(usage_metadata && { usage_metadata }),
  })
}

type ToolCalls = NonNullable<AIMessage['tool_calls']>
type Block = { readonly type: string; readonly [field: string]: unknown }

function callsOf(response: Json, made: ToolCalls = []): ToolCalls {
  const calls = made.map((call) => ({ ...call, type: 'tool_call' }))
  const { tool_calls = [] } = (response ?? {}) as { readonly tool_calls?: Json }
  return partsOf({ content: '', tool_calls }, blocks('tool_call'), calls) as never
}

/** A list of blocks has the calls too with some providers, and only the text with others. */
function contentOf(response: Json, made: readonly Block[]): readonly Block[] {
  const called = made.find(({ type }) => type === 'tool_call' || type === 'tool_use')
  return partsOf(called ? response : { content: saidIn(response).text }, blocks(called?.type), made)
}

/** `type` is that of new calls. */
function blocks(type = 'tool_call'): PartForm<Block> {
  return {
    textOf: ({ type, text }) => (type === 'text' ? String(text) : undefined),
    callOf: ({ type, id, name, args, input }) =>
      type === 'tool_call' || type === 'tool_use'
        ? { id: id as SaidCall['id'], name: String(name), input: inputOf(args ?? input) }
        : undefined,
    text: (text, was) => ({ ...was, type: 'text', text }),
    call: ({ id, name, input }, was = { type }) => ({
      ...was,
      ...{ id, name, [was.type === 'tool_use' ? 'input' : 'args']: input },
    }),
  }
}

/** Shows a message that was held back, or that no model gave, in stream mode `messages`. */
function streamed(message: AIMessage): AIMessage {
  message.id ??= randomUUID()
  pushMessage(message, { stateKey: null })
  return message
}
