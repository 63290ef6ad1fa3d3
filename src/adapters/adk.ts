// Hooks in the Agent Development Kit (npm: @google/adk): a plugin for its Runner.

import { isDeepStrictEqual } from 'node:util'
import {
  BasePlugin,
  type BaseTool,
  type Context,
  type InvocationContext,
  isAgentTool,
  type LlmRequest,
  type LlmResponse,
} from '@google/adk'
import type { BegunModel, BegunTool, Data, Json, RenderedInjection, Session } from '../core/index.js'
import { replyTo } from './begun-calls.js'
import { type Capabilities, WORKS } from './capabilities.js'
import { childOf, PerSession } from './per-session.js'
import { inputOf, messageOf, type PartForm, partsOf } from './response.js'

export const capabilities: Capabilities = {
  sdk: 'Agent Development Kit',
  package: '@google/adk',
  versions: ['2.0.0'],
  deny: {
    works: true,
    note: 'the tool’s response is `{ error }`; a model call ends in an event with `errorCode: CALL_DENIED`',
  },
  rewrite: {
    works: true,
    note: 'the history has the new input too; a result that is not an object becomes `{ result }`',
  },
  inject: { works: true, note: 'as contents of the user' },
  ask: {
    works: true,
    note: '`adk_request_confirmation`; the SDK refuses an answer that comes after a restart, and after an answer it does not tell the model the results of other calls in the response',
  },
  respond: WORKS,
  streaming: {
    works: true,
    note: 'held text comes as one event at the end; text and the tool calls after it are judged one after the other; `runLive` has no hooks around the model',
  },
  parallel: { works: true, note: 'the SDK runs the calls of a response one after another' },
  abort: { works: true, note: 'the run just ends; a tool that ignores `abortSignal` goes on' },
  subagents: {
    works: true,
    note: 'sub-agents get a child session; `AgentTool` runs its agent without plugins, so its calls are denied',
  },
  errors: { works: true, note: "hooks see the text of the SDK: `Error in tool 'NAME': …`" },
}

type Running<T> = Extract<T, { readonly status: 'run' }>
interface RunningTool {
  readonly call: Running<BegunTool>
  /** The input that the model gave. */
  readonly was: object
}
type RunningModel = Running<BegunModel> & { readonly session: Session; isEnded?: true }

/** The session of all runs, or a function that finds the one of a run. */
export type SessionOf = Session | ((context: InvocationContext) => Session)

/** Give it to `plugins` of a Runner as the first: a plugin before it can answer in place of it. */
export class HooksPlugin extends BasePlugin {
  readonly #session: SessionOf
  /** Calls that wait for a person. */
  readonly #waiting = new PerSession<BegunTool>()
  readonly #gated = new WeakSet<BaseTool>()
  readonly #tools = new WeakMap<Context, RunningTool>()
  /** By the event that a model call fills. */
  readonly #models = new WeakMap<object, RunningModel>()

  constructor(session: SessionOf, name = 'carabiner') {
    super(name)
    this.#session = session
  }

  override beforeToolCallback(given: ToolCall): Promise<Response> {
    const { tool, toolContext } = given
    if (isAgentTool(tool)) return Promise.resolve({ error: `${tool.name} ${UNGUARDED}` })
    const session = this.#sessionOf(toolContext.invocationContext)
    const isUnheard = session.isIdle && !this.#waiting.has(session, toolContext.functionCallId ?? '')
    return isUnheard ? SILENCE : this.#beginTool(session, given)
  }

  async #beginTool(session: Session, { tool, toolArgs, toolContext }: ToolCall): Promise<Response> {
    const { functionCallId: id = '', toolConfirmation, abortSignal: signal } = toolContext
    const kept = this.#waiting.take(session, id)
    // Only a call that goes on has a confirmation. Another call may have the id of one that nobody answered.
    const asked = toolConfirmation && kept
    let call: BegunTool =
      asked ?? (await session.beginTool({ name: tool.name, input: toolArgs as object, id }, { signal }))
    // A tool that wants a confirmation of its own takes the same one: the SDK asks once for a call.
    if (asked?.status === 'needs_approval')
      call = await asked.answer(replyTo(asked.question, toolConfirmation?.confirmed === true))
    if (call.status === 'responded') return objectOf(call.result)
    if (call.status === 'needs_approval') {
      this.#waiting.set(session, id, call)
      this.#gate(tool)
      toolContext.requestConfirmation({ hint: call.reason })
      toolContext.actions.skipSummarization = true
    }
    if (call.status !== 'run') return { error: call.reason }
    this.#tools.set(toolContext, { call, was: { ...toolArgs } })
    replace(toolArgs, call.input)
    return undefined
  }

  override afterToolCallback(given: ToolCall & { result: Data }): Promise<Response> {
    const running = this.#taken(given.toolContext)
    return running ? this.#finishTool(running, given) : SILENCE
  }

  async #finishTool(
    { call, was }: RunningTool,
    { toolArgs, toolContext, result }: ToolCall & { result: Data },
  ): Promise<Response> {
    const id = toolContext.functionCallId ?? ''
    if (toolContext.actions.requestedToolConfirmations[id]) {
      // The tool asks a person, and has not run. The SDK compares the call with the model's when it goes on.
      this.#waiting.set(this.#sessionOf(toolContext.invocationContext), id, call)
      replace(toolArgs, was)
      return undefined
    }
    const ended = await call.finish(result)
    if (ended.status === 'failed') return { error: ended.reason }
    return ended.after.modified ? objectOf(ended.result as Json) : undefined
  }

  override async onToolErrorCallback({
    toolContext,
    error,
  }: ToolCall & { error: Error }): Promise<undefined> {
    await this.#taken(toolContext)?.call.fail(error)
  }

  override beforeModelCallback(given: ModelCall & { llmRequest: LlmRequest }): Promise<Answer> {
    const session = this.#sessionOf(given.callbackContext.invocationContext)
    return session.isIdle ? SILENCE : this.#beginModel(session, given)
  }

  async #beginModel(
    session: Session,
    { callbackContext, llmRequest }: ModelCall & { llmRequest: LlmRequest },
  ): Promise<Answer> {
    const { model = '', contents, config = {} } = llmRequest
    const added: Contents = []
    const addInjections = <R>(request: R, injections: readonly RenderedInjection[]): R => {
      added.push(...injections.map(({ content }) => ({ role: 'user', parts: [{ text: content }] })))
      return request
    }
    const { abortSignal: signal } = callbackContext
    const request = { model, messages: contents, options: config }
    const call = await session.beginModel(request, { signal, addInjections })
    if (call.status === 'responded')
      return { content: { role: 'model', parts: partsOf(call.response, PARTS) } }
    if (call.status !== 'run') return denied(call.reason)
    if (call.outcome.modified) {
      const { model, messages, options } = thawed(call.request) as typeof request
      Object.assign(llmRequest, { model, contents: messages, config: options })
    }
    llmRequest.contents.push(...added)
    this.#models.set(callbackContext.eventActions, { ...call, session })
    return undefined
  }

  override afterModelCallback(given: ModelCall & { llmResponse: LlmResponse }): Promise<Answer> {
    const call = this.#models.get(given.callbackContext.eventActions)
    return call ? this.#finishModel(call, given.llmResponse) : SILENCE
  }

  async #finishModel(call: RunningModel, llmResponse: LlmResponse): Promise<Answer> {
    const { content, partial } = llmResponse
    if (!content) return undefined
    // An event without content is not shown. All of the text comes once more at the end.
    if (partial) return call.held ? { partial } : undefined
    const { parts = [] } = content
    const response = messageOf(parts, PARTS)
    // A stream can have several whole responses: a text, then tool calls.
    const isFirst = !call.isEnded
    call.isEnded = true
    const { after } = isFirst
      ? await call.finish(response)
      : { after: await call.session.fire('ModelResponse', { model: call.request.model, response }) }
    if (after?.action !== 'continue') return denied(after?.reason)
    if (!after.modified) return undefined
    const judged = partsOf(after.data.response as Json, PARTS, parts)
    return { ...llmResponse, content: { role: 'model', parts: judged } }
  }

  override async onModelErrorCallback({
    callbackContext,
    error,
  }: ModelCall & { error: Error }): Promise<undefined> {
    const call = this.#models.get(callbackContext.eventActions)
    if (call && !call.isEnded) await call.fail(error)
  }

  /** The SDK goes on with a confirmed call only if its tool says that it needs a confirmation. */
  #gate(tool: BaseTool): void {
    if (this.#gated.has(tool)) return
    this.#gated.add(tool)
    const own = tool.checkRequireConfirmation.bind(tool)
    const isAsked = ({ invocationContext, functionCallId = '' }: Context) =>
      this.#waiting.has(this.#sessionOf(invocationContext), functionCallId)
    tool.checkRequireConfirmation = async (args, context) =>
      (context !== undefined && isAsked(context)) || own(args, context)
  }

  #taken(context: Context): RunningTool | undefined {
    const taken = this.#tools.get(context)
    if (taken) this.#tools.delete(context)
    return taken
  }

  #sessionOf(context: InvocationContext): Session {
    const session = typeof this.#session === 'function' ? this.#session(context) : this.#session
    const { agent } = context
    return !agent || agent.rootAgent === agent ? session : childOf(session, agent.name, agent.name)
  }
}

/** The plugin has nothing to say. One promise for all calls without hooks, because an agent makes many of them. */
const SILENCE = Promise.resolve(undefined)

const UNGUARDED = 'runs its agent without plugins, so no hook would see its calls: make it a sub-agent'

interface ToolCall {
  readonly tool: BaseTool
  readonly toolArgs: Record<string, unknown>
  readonly toolContext: Context
}
interface ModelCall {
  readonly callbackContext: Context
}
type Response = Record<string, unknown> | undefined
type Answer = LlmResponse | undefined
type Contents = LlmRequest['contents']
type Part = NonNullable<Contents[number]['parts']>[number]

function objectOf(result: Json | undefined): Record<string, unknown> {
  const isPlain = typeof result === 'object' && result !== null && !Array.isArray(result)
  return isPlain ? (result as Record<string, unknown>) : { result }
}

/** The SDK runs the tool with this very object. */
function replace(args: Record<string, unknown>, input: object): void {
  if (isDeepStrictEqual(args, input)) return
  for (const key of Object.keys(args)) delete args[key]
  Object.assign(args, thawed(input))
}

/** What hooks judged is frozen, and the SDK writes into requests. */
function thawed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(thawed)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, thawed(item)]))
}

function denied(reason = 'Denied by a hook'): LlmResponse {
  return { errorCode: 'CALL_DENIED', errorMessage: reason }
}

const PARTS: PartForm<Part> = {
  textOf: ({ text, thought }) => (thought ? undefined : text),
  callOf: ({ functionCall }) =>
    functionCall && {
      id: functionCall.id,
      name: functionCall.name ?? '',
      input: inputOf(functionCall.args),
    },
  text: (text, was) => ({ ...was, text }),
  call: ({ id, name, input }, was) => ({
    ...was,
    functionCall: { ...(id && { id }), name, args: input as Record<string, unknown> },
  }),
}
