// Hooks in LangChain and LangGraph (npm: langchain, @langchain/langgraph): a middleware for createAgent, tools for ToolNode, and questions by interrupt().

import { isDeepStrictEqual } from 'node:util'
import { getConfig, interrupt, isGraphInterrupt } from '@langchain/langgraph'
import { type AgentMiddleware, AIMessage, type BaseMessage, createMiddleware, ToolMessage } from 'langchain'
import type { Data, Question, Reply, Session } from '../core/index.js'
import { beginOnce, type Ended as CallEnd, forgetBegun, isUnheard, replyTo, runBegun } from './begun-calls.js'
import { type Capabilities, WORKS } from './capabilities.js'
import { callModel } from './langchain-model.js'
import { PerSession } from './per-session.js'
import { asText } from './response.js'

export const capabilities: Capabilities = {
  sdk: 'LangChain and LangGraph',
  package: 'langchain',
  versions: ['1.0.1', '1.5.14'],
  deny: {
    works: true,
    note: '`hooksMiddleware` for `createAgent`; in a graph of your own, `wrapTools` for `ToolNode`, and `session.callModel` for the model',
  },
  rewrite: WORKS,
  inject: { works: true, note: 'as user messages, because most providers take system messages only first' },
  ask: { works: true, note: '`interrupt()`, so the graph needs a checkpointer' },
  respond: WORKS,
  streaming: {
    works: true,
    note: 'in stream mode `messages`, a held response comes as one message; not with `streamEvents`, which shows text before hooks have judged it',
  },
  parallel: WORKS,
  abort: WORKS,
  subagents: { works: true, note: 'give the middleware of the subagent `session.child()`' },
  errors: WORKS,
}

interface Options {
  /** Asks a person. Default: `interruptApprover`. A question that the `approver` of createHooks() answers does not come here. */
  readonly approver?: (question: Question, request: AskedRequest) => Reply | Promise<Reply>
}

/** For createAgent: each tool call and model call is judged. Hooks see a response as `{ role, content, tool_calls? }`. */
export function hooksMiddleware(session: Session, options: Options = {}): AgentMiddleware {
  return createMiddleware({
    name: 'CarabinerHooks',
    wrapToolCall: (request, handler) =>
      callTool(session, options, request, { run: handler, failed: toolError }),
    wrapModelCall: (request, handler) => callModel(session, request, handler),
  }) as AgentMiddleware
}

/** For ToolNode in a graph of your own: each call of these tools is judged. */
export function wrapTools<T extends AnyTool>(
  session: Session,
  tools: readonly T[],
  options: Options = {},
): T[] {
  return tools.map((tool) => {
    const invoke = (toolCall: ToolCall, config: ToolConfig = {}) => {
      const { state, signal } = config
      const messages = (Array.isArray(state) ? state : (state as ToolRequest['state'])?.messages) ?? []
      return callTool(
        session,
        options,
        { toolCall, state: { messages }, runtime: { signal } },
        {
          run: (judged) => tool.invoke(judged.toolCall as never, config as never),
          failed: (error) => {
            throw error
          },
        },
      )
    }
    return Object.assign(Object.create(tool), { invoke })
  })
}

// ---- tools ------------------------------------------------------------------------------------------------------

interface ToolCall {
  readonly name: string
  readonly args: Data
  readonly id?: string
}
interface ToolRequest {
  readonly toolCall: ToolCall
  readonly state: { readonly messages?: readonly BaseMessage[] }
  readonly runtime: { readonly signal?: AbortSignal | undefined }
}
interface AskedRequest extends ToolRequest {
  readonly session: Session
}
interface AnyTool {
  readonly name: string
  invoke(input: never, config?: never): Promise<unknown>
}
interface ToolConfig {
  /** A list of messages, or an object that has one. */
  readonly state?: unknown
  readonly signal?: AbortSignal
}
interface Running<R, T> {
  readonly run: (request: R) => T | Promise<T>
  /** What the SDK does with an error of a tool. */
  readonly failed: (error: unknown, toolCall: ToolCall) => ToolMessage
}

/**
 * When a person has answered, LangGraph runs the whole task again. Calls of the task that have ended keep their ends, so
 * that no tool runs twice. A call outside a task never runs again, so its end is not kept.
 */
const MAX_KEPT = 1000
const endedIn = new PerSession<Ended>(MAX_KEPT)

interface Ended {
  readonly toolCall: ToolCall
  readonly how: () => unknown
}

async function callTool<R extends ToolRequest, T>(
  session: Session,
  { approver = interruptApprover }: Options,
  request: R,
  { run, failed }: Running<R, T>,
): Promise<T | ToolMessage> {
  const { toolCall, runtime } = request
  const { name, args: input, id = '' } = toolCall
  const { signal } = runtime
  const key = callKey(id)
  const known = endedIn.get(session, key)
  if (known && isSame(known.toolCall, toolCall)) return known.how() as T
  if (isUnheard(session, key)) return unheard(request, { run, failed })
  const end = <E>(how: () => E): E => {
    forgetBegun(session, key)
    endedIn.set(session, key, { toolCall, how })
    return how()
  }
  const say = (content: string, fields: object = {}) =>
    end(() => new ToolMessage({ ...fields, content, name, tool_call_id: id }))

  let call = await beginOnce(session, { name, input, id }, signal, key)
  while (call.status === 'needs_approval')
    call = await call.answer(await approver(call.question, { ...request, session }))
  if (call.status === 'responded') return say(asText(call.result))
  if (call.status !== 'run') return say(call.reason, { status: 'error' })
  let made: T | undefined
  const runJudged = async (args: Data): Promise<unknown> => {
    made = await run({ ...request, toolCall: { ...toolCall, args } })
    return shownResult(made)
  }
  const errorIn = (content: unknown) => (messageOf(made)?.status === 'error' ? content : undefined)
  let ended: CallEnd
  try {
    ended = await runBegun(call, runJudged, { signal, isSuspended: isGraphInterrupt, errorIn })
  } catch (error) {
    // A tool that asks somebody itself runs again.
    if (isGraphInterrupt(error)) throw error
    forgetBegun(session, key)
    if (signal?.aborted) throw error
    return end(() => failed(error, toolCall))
  }
  if (ended.status === 'failed') return say(ended.reason, { status: 'error' })
  const { result } = ended
  if (result === shownResult(made)) return end(() => made as T)
  const { status, artifact, id: messageId } = messageOf(made) ?? {}
  return say(asText(result), { status, artifact, id: messageId })
}

const messageOf = (made: unknown) => (ToolMessage.isInstance(made) ? made : undefined)

/** What hooks see of a result. */
const shownResult = (made: unknown): unknown => (ToolMessage.isInstance(made) ? made.content : made)

async function unheard<R extends ToolRequest, T>(
  request: R,
  { run, failed }: Running<R, T>,
): Promise<T | ToolMessage> {
  try {
    return await run(request)
  } catch (error) {
    if (isGraphInterrupt(error) || request.runtime.signal?.aborted) throw error
    return failed(error, request.toolCall)
  }
}

/** What the SDK tells the model where no middleware wraps the call. With one, the error would end the agent. */
function toolError(error: unknown, { name, id = '' }: ToolCall): ToolMessage {
  const isInput = error instanceof Error && error.name === 'ToolInvocationError'
  const content = isInput ? error.message : `${error}\n Please fix your mistakes.`
  return new ToolMessage({ content, name, tool_call_id: id, status: 'error' })
}

function isSame(one: ToolCall, other: ToolCall): boolean {
  return one.name === other.name && isDeepStrictEqual(one.args, other.args)
}

/** The id within the task that runs the call. Empty outside a graph, and for a call without an id. */
function taskKey(id: string): string {
  const task: unknown = getConfig()?.configurable?.__pregel_task_id
  return task === undefined || id === '' ? '' : `${task} ${id}`
}

/** How often each id was called in one run of a task. LangGraph makes the object for each run. */
const counted = new WeakMap<object, Map<string, number>>()

/** The same for one call of several with the id. */
function callKey(id: string): string {
  const key = taskKey(id)
  const run: unknown = getConfig()?.configurable?.__pregel_scratchpad
  if (key === '' || typeof run !== 'object' || run === null) return ''
  const counts = counted.get(run) ?? new Map<string, number>()
  const count = (counts.get(id) ?? 0) + 1
  counted.set(run, counts.set(id, count))
  return `${key} ${count}`
}

// ---- questions --------------------------------------------------------------------------------------------------

/** Answers by task and call. A task gets the answers to all its calls in one order, and its calls come in another. */
const answersIn = new PerSession<unknown>(MAX_KEPT)

/**
 * Suspends the graph. The value is that of humanInTheLoopMiddleware, with the hook's question and the id of the call. Resume
 * with `{ decisions: [decision] }` or an option of the question. If a node runs several calls at once, as a
 * ToolNode in a graph of your own does, resume with `{ [toolCallId]: answer }`.
 */
export function interruptApprover(question: Question, { session, toolCall, state }: AskedRequest): Reply {
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
  const key = taskKey(id)
  for (;;) {
    const known = answersIn.take(session, key)
    if (known !== undefined) return replyOf(question, known)
    const given: unknown = interrupt(value)
    if (isAlone) return replyOf(question, given)
    if (typeof given !== 'object' || given === null) continue
    for (const [call, answer] of Object.entries(given)) answersIn.set(session, taskKey(call), answer)
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
