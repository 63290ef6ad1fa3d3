// Hooks in the OpenAI Agents SDK (npm: @openai/agents): around its function tools, around its models, and in its interruptions.

import { AsyncLocalStorage } from 'node:async_hooks'
import { isDeepStrictEqual } from 'node:util'
import type {
  FunctionTool,
  Model,
  ModelRequest,
  ModelResponse,
  RunContext,
  RunToolApprovalItem,
  Tool,
} from '@openai/agents'
import {
  type Data,
  type Hold,
  HookError,
  type Json,
  type Question,
  type RenderedInjection,
  type Reply,
  type Session,
} from '../core/index.js'
import {
  beginOnce,
  forgetBegun,
  isUnheard,
  knownBegun,
  putBack,
  refused,
  replyTo,
  takeBegun,
} from './begun-calls.js'
import { type Capabilities, WORKS } from './capabilities.js'
import { inputOf, messageOf, type PartForm, partsOf, unlessRefused } from './response.js'

export const capabilities: Capabilities = {
  sdk: 'OpenAI Agents SDK',
  package: '@openai/agents',
  versions: ['0.14.0', '0.20.0'],
  deny: {
    works: true,
    note: 'function tools, also of MCP servers (`getAllMcpTools`) and agents as tools; `wrapTools` refuses shell, computer and patch tools, and hosted tools run at the provider',
  },
  rewrite: WORKS,
  inject: { works: true, note: 'needs `wrapModel`; as system or user messages at the end' },
  ask: { works: true, note: 'an interruption; `runApprovals` answers it' },
  respond: WORKS,
  streaming: WORKS,
  parallel: WORKS,
  abort: { works: true, note: 'a streamed run ends without an error, and is `cancelled`' },
  subagents: {
    works: true,
    note: 'an agent as a tool fires SubagentStart and SubagentStop; a handoff is a tool call in the response, for ModelResponse hooks; give other agents `session.child()`',
  },
  errors: {
    works: true,
    note: 'with `errorFunction: seenError()`; otherwise hooks see the text that the SDK makes of the error',
  },
}

// ---- tools ------------------------------------------------------------------------------------------------------

// biome-ignore lint/suspicious/noExplicitAny: the SDK's own type of any tool
type AnyTool = Tool<any>
// biome-ignore lint/suspicious/noExplicitAny: the SDK's own type of any function tool
type AnyFunctionTool = FunctionTool<any, any, any>

/** Each call of these tools is judged. Hosted tools run elsewhere, and stay as they are. */
export function wrapTools<T extends AnyTool>(session: Session, tools: readonly T[]): T[] {
  return tools.map((tool) => {
    if (tool.type === 'hosted_tool') return tool
    if (tool.type === 'function') return wrapTool(session, tool as AnyFunctionTool) as T
    throw new HookError(
      'OPTIONS_INVALID',
      `wrapTools: hooks cannot judge ${tool.name}, a tool of type ${tool.type}`,
    )
  })
}

function wrapTool(session: Session, tool: AnyFunctionTool): AnyFunctionTool {
  const { name } = tool
  const isAgent = 'on' in tool
  return {
    ...tool,
    // Older versions ask again when somebody has answered.
    needsApproval: async (context, input, id = '') => {
      if (context.isToolApproved({ toolName: name, callId: id }) !== undefined) return true
      if (isUnheard(session, id)) return tool.needsApproval(context, input, id)
      const { status } = await beginOnce(session, { name, input: asInput(input), id })
      return status === 'run' ? tool.needsApproval(context, input, id) : status === 'needs_approval'
    },
    invoke: async (context, text, details) => {
      const { toolCall, signal, resumeState } = (details ?? {}) as Details
      const id = toolCall?.callId ?? ''
      if (isUnheard(session, id)) return tool.invoke(context, text, details)
      const given = parsed(text)
      const input = asInput(given)
      let call = await takeBegun(session, { name, input, id }, signal)
      if (call.status === 'needs_approval' && isApproved(session, context, name, id))
        call = await call.answer(replyTo(call.question, true))
      if (call.status === 'responded') return call.result
      if (call.status !== 'run') return call.reason
      const judged = isDeepStrictEqual(call.input, input)
        ? text
        : JSON.stringify(input === given ? call.input : unwrapped(call.input))
      const failure: Failure = {}
      let result: unknown
      try {
        if (isAgent && resumeState === undefined) await startAgent(session, name, id)
        result = await failures.run(failure, () => tool.invoke(context, judged, details))
      } catch (error) {
        await (signal?.aborted ? call[Symbol.asyncDispose]() : call.fail(error))
        if (error instanceof HookError && error.code === 'CALL_DENIED') return error.message
        throw error
      }
      // The agent in this tool was interrupted. The SDK calls the tool again when somebody has answered.
      if (isAgent && result === '') {
        putBack(session, { name, input, id }, call)
        return result
      }
      if (isAgent) await endAgent(session, name, id, result)
      if (typeof result === 'string' && FAILED.test(result)) failure.error ??= result
      if (failure.error !== undefined) {
        await call.fail(failure.error)
        return result
      }
      const ended = await call.finish(result)
      return ended.status === 'failed' ? ended.reason : ended.result
    },
  }
}

const approved = new WeakMap<Session, Set<string>>()

/** An approval is for one call. The SDK keeps it for every later call with this id, and some models count from 1 again. */
function isApproved(session: Session, context: RunContext, toolName: string, callId: string): boolean {
  const known = approved.get(session) ?? new Set()
  approved.set(session, known)
  const isNew = !known.has(callId) && context.isToolApproved({ toolName, callId }) === true
  if (isNew) known.add(callId)
  return isNew
}

interface Details {
  readonly toolCall?: { readonly callId: string }
  readonly signal?: AbortSignal
  readonly resumeState?: string
}

/** Hooks judge an object. A tool without parameters gets a text. */
function asInput(given: unknown): Data {
  return typeof given === 'object' && given !== null && !Array.isArray(given)
    ? (given as Data)
    : { input: given as Json }
}

/** A hook may also have made an object of the text. */
function unwrapped(input: Data): unknown {
  return isDeepStrictEqual(Object.keys(input), ['input']) ? input.input : input
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

// ---- errors of tools, and agents as tools

interface Failure {
  error?: unknown
}

const failures = new AsyncLocalStorage<Failure>()

/** What the SDK tells the model if a tool has no `errorFunction`. */
const FAILED = /^An error occurred while running the tool\. Please try again\./

/** For `errorFunction` of tool(): hooks see the error itself. `tell` makes the text for the model, by default the error's own. */
export function seenError(
  tell: (context: never, error: unknown) => string | Promise<string> = (_, error) => String(error),
) {
  return (context: unknown, error: unknown): string | Promise<string> => {
    const failure = failures.getStore()
    if (failure) failure.error = error
    return tell(context as never, error)
  }
}

async function startAgent(session: Session, agent_type: string, agent_id: string): Promise<void> {
  const outcome = await session.fire('SubagentStart', { agent_type, agent_id })
  if (outcome.action !== 'continue') throw refused({ reason: outcome.reason, outcome })
}

async function endAgent(
  session: Session,
  agent_type: string,
  agent_id: string,
  result: unknown,
): Promise<void> {
  await session.fire('SubagentStop', { agent_type, agent_id, last_assistant_message: String(result) })
}

// ---- interruptions ----------------------------------------------------------------------------------------------

interface Interrupted {
  readonly interruptions: readonly RunToolApprovalItem[]
  readonly state: {
    approve(item: RunToolApprovalItem): void
    reject(item: RunToolApprovalItem, options?: { message?: string }): void
  }
}

/** A yes, a no, or an option of the question. There is no question if the tool itself asks, and no hook. */
type Answer = (item: RunToolApprovalItem, question: Question | undefined) => Answered | Promise<Answered>
type Answered = boolean | Reply

/** Answers every interruption of a run. Then call `run(agent, result.state)`. */
export async function runApprovals(session: Session, result: Interrupted, answer: Answer): Promise<void> {
  const { interruptions, state } = result
  for (const item of interruptions) {
    const { callId } = item.rawItem as { callId?: string }
    let call = await knownBegun(session, callId ?? '')
    if (call?.status !== 'needs_approval') {
      const said = await answer(item, undefined)
      if (said === true || (typeof said === 'string' && /^allow/i.test(said))) state.approve(item)
      else state.reject(item)
      continue
    }
    while (call.status === 'needs_approval') {
      const said = await answer(item, call.question)
      call = await call.answer(typeof said === 'boolean' ? replyTo(call.question, said) : said)
    }
    if (call.status === 'denied') {
      forgetBegun(session, callId ?? '')
      state.reject(item, { message: call.reason })
    } else state.approve(item)
  }
}

// ---- models -----------------------------------------------------------------------------------------------------

interface ModelOptions {
  /** What hooks see as the model. The SDK does not say which one it is. */
  readonly name?: string
  readonly hold?: Hold
}

/** Each call of this model is judged. Hooks see the response as `{ role, content, tool_calls? }`. */
export function wrapModel(session: Session, model: Model, options: ModelOptions = {}): Model {
  const { name = model.constructor.name, hold = 'all' } = options
  const wrapped: Pick<Model, 'getResponse' | 'getStreamedResponse'> = {
    async getResponse(request) {
      if (session.isIdle) return model.getResponse(request)
      let made: ModelResponse | undefined
      const run = async (judged: Request) => {
        made = await model.getResponse(restored(request, judged))
        return messageOf(made.output as readonly Item[], ITEMS)
      }
      const called = await session.callModel(requestOf(name, request), run, optionsOf(request))
      if (called.response === undefined) throw refused(called)
      if (made && called.status === 'ok' && !called.after.modified) return made
      const output = partsOf(called.response as Json, ITEMS, made?.output as readonly Item[] | undefined)
      return { usage: NOTHING, ...made, output } as unknown as ModelResponse
    },
    getStreamedResponse: (request) =>
      session.isIdle ? model.getStreamedResponse(request) : (judgedEvents(request) as AsyncIterable<never>),
  }
  async function* judgedEvents(request: ModelRequest): AsyncGenerator<Event> {
    let end: Event['response']
    const streamed = session.streamModel(
      requestOf(name, request),
      (judged: Request) => model.getStreamedResponse(restored(request, judged)) as AsyncIterable<Event>,
      {
        ...optionsOf(request),
        hold,
        assemble: (events) => {
          end = events.findLast(({ type }) => type === 'response_done')?.response
          return messageOf(end?.output ?? [{ type: 'message', content: events.map(partOf) }], ITEMS)
        },
        deltasOf: (response) => eventsOf(response, end),
      },
    )
    yield* streamed
    await unlessRefused(streamed.result)
  }
  return Object.assign(Object.create(model), wrapped)
}

interface Item {
  readonly type: string
  readonly role?: string
  readonly status?: string
  readonly callId?: string
  readonly name?: string
  readonly arguments?: string
  readonly content?: readonly { readonly type: string; readonly text?: string }[]
}
interface Event {
  readonly type: string
  readonly response?: { readonly output: readonly Item[] }
  readonly delta?: string
}
type Request = ReturnType<typeof requestOf>

function requestOf(model: string, { systemInstructions, input, tools, modelSettings }: ModelRequest) {
  const system = systemInstructions === undefined ? [] : [{ role: 'system', content: systemInstructions }]
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  return { model, messages: [...system, ...items] as readonly object[], tools, options: modelSettings }
}

function restored(request: ModelRequest, { messages, tools, options }: Request): ModelRequest {
  const [first, ...rest] = messages as readonly { role?: string; content?: unknown }[]
  const hasSystem = request.systemInstructions !== undefined && first?.role === 'system'
  const { systemInstructions: _, ...given } = request
  return {
    ...given,
    ...(hasSystem && { systemInstructions: String(first.content) }),
    input: (hasSystem ? rest : messages) as never,
    tools: tools as never,
    modelSettings: options as never,
  }
}

function optionsOf({ signal }: ModelRequest) {
  const addInjections = (request: Request, injections: readonly RenderedInjection[]): Request => {
    const added = injections.map(({ role, content }) => ({
      role: role === 'system' ? role : 'user',
      content,
    }))
    return { ...request, messages: [...request.messages, ...added] }
  }
  return { ...(signal && { signal }), addInjections }
}

/** For a stream that breaks off before it has said what the whole response is. */
function partOf({ type, delta }: Event) {
  return { type: 'output_text', text: type === 'output_text_delta' ? (delta ?? '') : '' }
}

const NOTHING = { requests: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0 }

const isText = ({ type }: { readonly type: string }) => type === 'output_text'

const ITEMS: PartForm<Item> = {
  textOf: ({ type, content = [] }) =>
    type === 'message' ? content.map((part) => (isText(part) ? part.text : '')).join('') : undefined,
  callOf: ({ type, callId, name = '', arguments: text }) =>
    type === 'function_call' ? { id: callId, name, input: inputOf(text) } : undefined,
  text(text, was) {
    const unseen = was?.content?.filter((part) => !isText(part)) ?? []
    const content = [{ type: 'output_text', text }, ...unseen]
    return { ...was, type: 'message', role: 'assistant', status: 'completed', content }
  },
  call: ({ id = '', name, input }, was) => ({
    ...was,
    ...{ type: 'function_call', callId: id, name, arguments: JSON.stringify(input) },
  }),
}

function* eventsOf(response: Json, end: Event['response']): Iterable<Event> {
  const output = partsOf(response, ITEMS, end?.output)
  const { content: text } = messageOf(output, ITEMS)
  yield { type: 'response_started' }
  if (text !== '') yield { type: 'output_text_delta', delta: text }
  const whole = { id: '', usage: NOTHING, ...end, output }
  yield { type: 'response_done', response: whole }
}
