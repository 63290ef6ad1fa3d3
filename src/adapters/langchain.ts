// Hooks in LangChain and LangGraph (npm: langchain, @langchain/langgraph): a middleware for createAgent and ToolNode, and questions by interrupt().

import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { RunnableBinding } from '@langchain/core/runnables'
import { getConfig, interrupt, isGraphInterrupt, pushMessage } from '@langchain/langgraph'
import {
  type AgentMiddleware,
  AIMessage,
  type BaseMessage,
  createMiddleware,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from 'langchain'
import type { Data, Json, Question, RenderedInjection, Reply, Session } from '../core/index.js'
import { beginOnce, forgetBegun, refused, replyTo } from './begun-calls.js'
import { type Capabilities, WORKS } from './capabilities.js'
import { saidIn } from './response.js'

export const capabilities: Capabilities = {
  sdk: 'LangChain and LangGraph',
  package: 'langchain',
  versions: ['1.0.1', '1.5.14'],
  deny: WORKS,
  rewrite: WORKS,
  inject: { works: true, note: 'as user messages, because most providers take system messages only first' },
  ask: { works: true, note: '`interrupt()`, so the graph needs a checkpointer' },
  respond: WORKS,
  streaming: {
    works: true,
    note: 'in stream mode `messages`, a held response comes as one message; `streamEvents` shows text before a deny',
  },
  parallel: WORKS,
  abort: WORKS,
  subagents: { works: true, note: 'give the middleware of the subagent `session.child()`' },
  errors: WORKS,
}

interface Options {
  /** Asks a person. Default: `interruptApprover`. A question that the `approver` of createHooks() answers does not come here. */
  readonly approver?: (question: Question, request: ToolRequest) => Reply | Promise<Reply>
  /** `false` if your ToolNode does not handle errors of tools. */
  readonly handleToolErrors?: boolean
}

/** Each tool call and model call of the agent is judged. Hooks see a response as `{ role, content, tool_calls? }`. */
export function hooksMiddleware(session: Session, options: Options = {}): AgentMiddleware {
  return createMiddleware({
    name: 'CarabinerHooks',
    wrapToolCall: (request, handler) =>
      callTool(session, options, request as unknown as ToolRequest, handler as never) as never,
    wrapModelCall: (request, handler) =>
      callModel(session, request as unknown as ModelRequest, handler as never) as never,
  }) as AgentMiddleware
}

// ---- tools ------------------------------------------------------------------------------------------------------

interface ToolRequest {
  readonly toolCall: { readonly name: string; readonly args: Data; readonly id?: string }
  readonly state: { readonly messages?: readonly BaseMessage[] }
  readonly runtime: { readonly signal?: AbortSignal }
}
type Handler<R, T> = (request: R) => T | Promise<T>

/**
 * When a person has answered, LangGraph runs the whole task again. Calls of the task that have ended keep their results, so
 * that no tool runs twice.
 */
const ended = new Map<string, unknown>()
const MAX_KEPT = 1000

function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > MAX_KEPT && oldest !== undefined) map.delete(oldest)
}

function taskKey(id: string): string {
  return `${getConfig()?.configurable?.__pregel_task_id} ${id}`
}

async function callTool(
  session: Session,
  { approver = interruptApprover, handleToolErrors = true }: Options,
  request: ToolRequest,
  handler: Handler<ToolRequest, unknown>,
): Promise<unknown> {
  const { toolCall, runtime } = request
  const { name, args: input, id = '' } = toolCall
  const { signal } = runtime
  const key = taskKey(id)
  if (ended.has(key)) return ended.get(key)
  const answer = (content: string, fields: object = {}) => {
    forgetBegun(session, id)
    const message = new ToolMessage({ ...fields, content, name, tool_call_id: id })
    keep(ended, key, message)
    return message
  }
  let call = await beginOnce(session, { name, input, id }, signal)
  while (call.status === 'needs_approval') call = await call.answer(await approver(call.question, request))
  if (call.status === 'responded') return answer(asText(call.result))
  if (call.status !== 'run') return answer(call.reason, { status: 'error' })
  let made: unknown
  try {
    made = await handler({ ...request, toolCall: { ...toolCall, args: call.input as Data } })
  } catch (error) {
    // The tool itself asks somebody. It runs again.
    if (isGraphInterrupt(error)) throw error
    forgetBegun(session, id)
    await (signal?.aborted ? call[Symbol.asyncDispose]() : call.fail(error))
    if (signal?.aborted || !handleToolErrors) throw error
    // The SDK does the same where no middleware wraps the call.
    const isInput = error instanceof Error && error.name === 'ToolInvocationError'
    const text = isInput ? error.message : `${error}\n Please fix your mistakes.`
    return answer(text, { status: 'error' })
  }
  forgetBegun(session, id)
  const message = ToolMessage.isInstance(made) ? made : undefined
  if (message?.status === 'error') await call.fail(message.content)
  else {
    const finished = await call.finish(message ? message.content : (made as Json))
    const { status, artifact } = message ?? {}
    if (finished.after.modified)
      return answer(asText(finished.result as Json), { status, artifact, id: message?.id })
  }
  keep(ended, key, made)
  return made
}

const asText = (value: Json | undefined) => (typeof value === 'string' ? value : JSON.stringify(value))

// ---- questions --------------------------------------------------------------------------------------------------

/** Answers by task and call. A task gets the answers to all its calls in one order, and its calls come in another. */
const answers = new Map<string, unknown>()

/**
 * Suspends the graph. The value is that of humanInTheLoopMiddleware, with the hook's question and the id of the call. Resume
 * with `{ decisions: [decision] }` or an option of the question. If a node runs several calls at once, as a
 * ToolNode in a graph of your own does, resume with `{ [toolCallId]: answer }`.
 */
export function interruptApprover(question: Question, { toolCall, state }: ToolRequest): Reply {
  const { name, args, id = '' } = toolCall
  const description = question.asks.map(({ prompt }) => prompt).join('\n')
  const value = {
    actionRequests: [{ name, args, description }],
    reviewConfigs: [{ actionName: name, allowedDecisions: ['approve', 'edit', 'reject'] }],
    toolCallId: id,
    question,
  }
  const path: unknown = getConfig()?.metadata?.langgraph_path
  const asking = state.messages?.findLast((message) => AIMessage.isInstance(message)) as AIMessage | undefined
  const isAlone = (Array.isArray(path) && path[0] === '__pregel_push') || asking?.tool_calls?.length === 1
  for (;;) {
    const known = answers.get(taskKey(id))
    if (known !== undefined) {
      answers.delete(taskKey(id))
      return replyOf(question, known)
    }
    const given: unknown = interrupt(value)
    if (isAlone) return replyOf(question, given)
    if (typeof given !== 'object' || given === null) continue
    for (const [call, answer] of Object.entries(given)) keep(answers, taskKey(call), answer)
  }
}

interface Decision {
  readonly type?: string
  readonly message?: string
  readonly editedAction?: { readonly args?: Data }
}

function replyOf(question: Question, given: unknown): Reply {
  const [decision] = (given as { decisions?: readonly Decision[] } | null)?.decisions ?? []
  if (!decision) return given as Reply
  const { type, message, editedAction } = decision
  const option = replyTo(question, type === 'approve' || type === 'edit')
  return {
    option,
    ...(message !== undefined && { reason: message }),
    ...(type === 'edit' && { data: { tool_input: editedAction?.args } }),
  }
}

// ---- models -----------------------------------------------------------------------------------------------------

interface AnyModel {
  readonly model?: unknown
  getName?(): string
}
interface ModelRequest {
  readonly model: AnyModel
  readonly messages: readonly BaseMessage[]
  readonly systemPrompt?: string
  readonly tools: readonly { readonly name?: unknown; readonly description?: unknown }[]
  readonly runtime: { readonly signal?: AbortSignal }
}

async function callModel(
  session: Session,
  request: ModelRequest,
  handler: Handler<ModelRequest, unknown>,
): Promise<unknown> {
  const { model, tools } = request
  const { signal } = request.runtime
  const system = request.systemPrompt ? [{ role: 'system', content: request.systemPrompt }] : []
  const shown = request.messages.map(shownMessage)
  let injected: readonly RenderedInjection[] = []
  const call = await session.beginModel(
    {
      model: String(model.model ?? model.getName?.() ?? 'model'),
      messages: [...system, ...shown] as readonly object[],
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
  let made: unknown
  try {
    made = await handler({
      ...judged,
      messages: [...judged.messages, ...added],
      ...(call.held && { model: unstreamed(model) }),
    })
  } catch (error) {
    await call.fail(error)
    throw error
  }
  const message = AIMessage.isInstance(made) ? made : lastAIMessage(made)
  const ended = await call.finish(message ? shownMessage(message) : (made as Json))
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
      tool_calls: tool_calls.map(({ id, name, args }) => ({ id, name, input: args })),
    }),
    ...(tool_call_id !== undefined && { tool_call_id }),
  } as Data
}

/** Messages that no hook changed stay as they were. */
function restored(
  request: ModelRequest,
  shown: readonly Data[],
  judged: { readonly messages: readonly Data[]; readonly tools: readonly { readonly name?: unknown }[] },
): ModelRequest {
  const [first, ...rest] = judged.messages
  const hasSystem = request.systemPrompt !== undefined && first?.role === 'system'
  const messages = (hasSystem ? rest : judged.messages).map((one) => {
    const at = shown.findIndex((other) => isDeepStrictEqual(one, other))
    return request.messages[at] ?? newMessage(one)
  })
  const names = new Set(judged.tools.map(({ name }) => name))
  return {
    ...request,
    messages,
    ...(hasSystem && { systemPrompt: asText(first.content) }),
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
  const { text, calls } = saidIn(response)
  const { id = randomUUID(), usage_metadata, response_metadata } = made ?? {}
  const tool_calls = calls.map(({ id, name, input }) => ({
    id,
    name,
    args: JSON.parse(input),
    type: 'tool_call' as const,
  }))
  return new AIMessage({
    content: text,
    tool_calls,
    id,
    ...(usage_metadata && { usage_metadata }),
    ...(response_metadata && { response_metadata }),
  })
}

/** Shows a message that was held back, or that no model gave, in stream mode `messages`. */
function streamed(message: AIMessage): AIMessage {
  message.id ??= randomUUID()
  pushMessage(message, { stateKey: null })
  return message
}
