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
import type { Data, Json, Session } from '../../core/index.js'
import {
  forgetBegun,
  isUnheard,
  knownBegun,
  putBack,
  type RunningTool,
  replyTo,
  takeBegun,
} from '../begun-calls.js'
import { type Capabilities, WORKS } from '../capabilities.js'
import { childOf } from '../per-session.js'
import { beginModel, finishModel, type RunningModel, thawed } from './model.js'

export const capabilities: Capabilities = {
  sdk: 'Agent Development Kit',
  package: '@google/adk',
  versions: ['2.0.0'],
  deny: {
    works: true,
    how: 'the tool’s response is `{ error }`; a model call ends in an event with `errorCode: CALL_DENIED`',
  },
  rewrite: {
    works: true,
    how: 'the history has the new input too; a result that is not an object becomes `{ result }`',
  },
  inject: { works: true, how: 'as user messages' },
  ask: {
    works: true,
    how: '`adk_request_confirmation`',
    limit:
      'the SDK refuses an answer that comes after a restart, and after an answer it does not tell the model the results of other calls in the response',
  },
  respond: WORKS,
  streaming: {
    works: true,
    how: 'while a ModelResponse hook can refuse a response, its text is held, and comes as one event at the end; there is no option `hold`; text and the tool calls after it are judged one after the other',
    limit: '`runLive` has no hooks around the model',
  },
  parallel: { works: true, limit: 'the SDK runs the calls of a response one after another' },
  abort: { works: true, how: 'the run just ends', limit: 'a tool that ignores `abortSignal` goes on' },
  subagents: {
    works: true,
    how: 'sub-agents get a child session',
    limit: '`AgentTool` runs its agent without plugins, so its calls are denied while there are hooks',
  },
  errors: { works: true, limit: "hooks see the text of the SDK: `Error in tool 'NAME': …`" },
}

/** The session of all runs, or a function that finds the one of a run. */
export type SessionOf = Session | ((context: InvocationContext) => Session)

interface ToolCall {
  readonly tool: BaseTool
  readonly toolArgs: Record<string, unknown>
  readonly toolContext: Context
}
interface ToolEnd extends ToolCall {
  readonly result: Data
}
/** A tool that runs, with the input that the model gave. */
interface RunTool {
  readonly call: RunningTool
  readonly input: Data
}
interface ModelCall {
  readonly callbackContext: Context
}
type ToolAnswer = Record<string, unknown> | undefined

/** Nothing to say. One promise for all calls without hooks, because an agent makes many of them. */
const SILENCE = Promise.resolve(undefined)

/** Give it to `plugins` of a Runner as the first: a plugin before it can answer in place of it. */
export class HooksPlugin extends BasePlugin {
  readonly #session: SessionOf
  readonly #gated = new WeakSet<BaseTool>()
  readonly #tools = new WeakMap<Context, RunTool>()
  /** By the event that a model call fills. */
  readonly #models = new WeakMap<object, RunningModel>()

  constructor(session: SessionOf, name = 'carabiner') {
    super(name)
    this.#session = session
  }

  override beforeToolCallback(given: ToolCall): Promise<ToolAnswer> {
    const { functionCallId = '', invocationContext } = given.toolContext
    const session = this.#sessionOf(invocationContext)
    return isUnheard(session, functionCallId) ? SILENCE : this.#beginTool(session, given)
  }

  async #beginTool(session: Session, { tool, toolArgs, toolContext }: ToolCall): Promise<ToolAnswer> {
    const { name } = tool
    if (isAgentTool(tool)) return { error: `${name} ${UNGUARDED}` }
    const { functionCallId: id = '', toolConfirmation, abortSignal: signal } = toolContext
    const input = { ...toolArgs } as Data
    const known = await knownBegun(session, id)
    if (known && !toolConfirmation) {
      // Only a call that goes on has a confirmation. This one has the id of a call that nobody answered.
      forgetBegun(session, id)
      await known[Symbol.asyncDispose]()
    }
    let call = await takeBegun(session, { name, input, id }, signal)
    // A tool that wants a confirmation of its own takes the same one: the SDK asks once for a call.
    if (call === known && call.status === 'needs_approval')
      call = await call.answer(replyTo(call.question, toolConfirmation?.confirmed === true))
    if (call.status === 'responded') return objectOf(call.result)
    if (call.status === 'needs_approval') {
      putBack(session, { name, input, id }, call)
      this.#gate(tool)
      toolContext.requestConfirmation({ hint: call.reason })
      toolContext.actions.skipSummarization = true
    }
    if (call.status !== 'run') return { error: call.reason }
    this.#tools.set(toolContext, { call, input })
    replace(toolArgs, call.input)
    return undefined
  }

  override afterToolCallback(given: ToolEnd): Promise<ToolAnswer> {
    const running = this.#taken(given.toolContext)
    return running ? this.#finishTool(running, given) : SILENCE
  }

  async #finishTool(
    { call, input }: RunTool,
    { tool, toolArgs, toolContext, result }: ToolEnd,
  ): Promise<ToolAnswer> {
    const { functionCallId: id = '', invocationContext, actions } = toolContext
    if (actions.requestedToolConfirmations[id]) {
      // The tool asks a person, and has not run. The SDK compares the call with the model's when it goes on.
      putBack(this.#sessionOf(invocationContext), { name: tool.name, input, id }, call)
      replace(toolArgs, input)
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

  override beforeModelCallback({
    callbackContext,
    llmRequest,
  }: ModelCall & { llmRequest: LlmRequest }): Promise<LlmResponse | undefined> {
    const { invocationContext, eventActions, abortSignal } = callbackContext
    const session = this.#sessionOf(invocationContext)
    if (session.isIdle) return SILENCE
    const begun = (call: RunningModel) => this.#models.set(eventActions, call)
    return beginModel(session, llmRequest, abortSignal, begun)
  }

  override afterModelCallback({
    callbackContext,
    llmResponse,
  }: ModelCall & { llmResponse: LlmResponse }): Promise<LlmResponse | undefined> {
    const call = this.#models.get(callbackContext.eventActions)
    return call ? finishModel(call, llmResponse) : SILENCE
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
      knownBegun(this.#sessionOf(invocationContext), functionCallId) !== undefined
    tool.checkRequireConfirmation = async (args, context) =>
      (context !== undefined && isAsked(context)) || own(args, context)
  }

  #taken(context: Context): RunTool | undefined {
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

const UNGUARDED = 'runs its agent without plugins, so no hook would see its calls: make it a sub-agent'

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
