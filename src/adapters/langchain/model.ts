// Model calls of LangChain agents between their hooks: requests that hooks change, and responses that wait until they are judged.

import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { RunnableBinding } from '@langchain/core/runnables'
import { pushMessage } from '@langchain/langgraph'
import { AIMessage, type BaseMessage, HumanMessage } from 'langchain'
import { type Data, HookError, type Json, type RenderedInjection, type Session } from '../../core/index.js'
import { refused } from '../begun-calls.js'
import { splitSystem, withSystem } from '../request.js'
import { newMessage, responseOf, shownMessage } from './message.js'

interface AnyModel {
  readonly model?: unknown
  getName?(): string
}
interface ModelRequest {
  readonly model: AnyModel
  readonly messages: BaseMessage[]
  readonly systemPrompt?: string
  readonly tools: readonly { readonly name?: unknown; readonly description?: unknown }[]
  readonly toolChoice?: unknown
  readonly modelSettings?: Readonly<Record<string, unknown>>
  readonly runtime: { readonly signal?: AbortSignal }
}

export interface ModelOptions {
  /** The model for a name that a hook chose. Without it, such a call is refused. */
  readonly modelNamed?: (name: string) => AnyModel | Promise<AnyModel>
}

export async function callModel<R extends ModelRequest>(
  session: Session,
  request: R,
  handler: (request: R) => AIMessage | Promise<AIMessage>,
  { modelNamed }: ModelOptions = {},
): Promise<AIMessage> {
  if (session.isIdle) return handler(request)
  const { signal } = request.runtime
  const shown = shownRequest(request)
  let injected: readonly RenderedInjection[] = []
  const addInjections = <J>(judged: J, injections: readonly RenderedInjection[]): J => {
    injected = injections
    return judged
  }
  const call = await session.beginModel(shown, { ...(signal && { signal }), addInjections })
  if (call.status === 'responded') return streamed(responseOf(call.response))
  if (call.status !== 'run') throw refused(call)
  let made: AIMessage
  try {
    const { model, messages, ...judged } = call.outcome.modified
      ? await restored(request, shown, call.request as typeof shown, modelNamed)
      : request
    made = await handler({
      ...(judged as R),
      messages: [...messages, ...injected.map(({ content }) => new HumanMessage(content))],
      model: (call.held ? unstreamed(model) : model) as R['model'],
    })
  } catch (error) {
    await call.fail(error)
    throw error
  }
  const message = AIMessage.isInstance(made) ? made : lastAIMessage(made)
  const ended = await call.finish(message ? shownMessage(message) : (made as unknown as Json))
  if (ended.status !== 'ok' && ended.status !== 'responded') throw refused(ended)
  if (ended.after.modified) return streamed(responseOf(ended.response as Json, message))
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

function shownRequest(request: ModelRequest) {
  const { model, messages, systemPrompt, tools, toolChoice, modelSettings } = request
  return {
    model: String(model.model ?? model.getName?.() ?? 'model'),
    messages: withSystem(systemPrompt || undefined, messages.map(shownMessage)) as readonly Data[],
    tools: tools.map(({ name, description }) => ({ name, description })),
    options: { ...modelSettings, ...(toolChoice !== undefined && { toolChoice }) } as Readonly<
      Record<string, unknown>
    >,
  }
}

/** The request with what hooks changed. Messages and tools that they did not change stay as they were. */
async function restored<R extends ModelRequest>(
  request: R,
  shown: ReturnType<typeof shownRequest>,
  judged: ReturnType<typeof shownRequest>,
  modelNamed: ModelOptions['modelNamed'],
): Promise<R> {
  const isOtherModel = judged.model !== shown.model
  if (isOtherModel && !modelNamed)
    throw new HookError(
      'CALL_DENIED',
      `A hook chose the model ${judged.model}: give hooksMiddleware the option modelNamed, which finds it`,
    )
  const systemPrompt = request.systemPrompt || undefined
  const [system, given] = splitSystem(systemPrompt, judged.messages)
  const [, before] = splitSystem(systemPrompt, shown.messages)
  const messages = given.map((one) => {
    const at = before.findIndex((other) => isDeepStrictEqual(one, other))
    return request.messages[at] ?? newMessage(one)
  })
  const names = new Set(judged.tools.map(({ name }) => name))
  const { toolChoice, ...modelSettings } = judged.options
  return {
    ...request,
    ...(isOtherModel && { model: await modelNamed?.(judged.model) }),
    messages,
    ...(systemPrompt !== undefined && { systemPrompt: system ?? '' }),
    tools: request.tools.filter(({ name }) => names.has(name)),
    ...(!isDeepStrictEqual(judged.options, shown.options) && { toolChoice, modelSettings }),
  }
}

/** Shows a message that was held back, or that no model gave, in stream mode `messages`. */
function streamed(message: AIMessage): AIMessage {
  message.id ??= randomUUID()
  pushMessage(message, { stateKey: null })
  return message
}
