// Hooks in the OpenAI Agents SDK (npm: @openai/agents): around its function tools, and in its interruptions.
// openai-agents-model.ts is around its models.

import { AsyncLocalStorage } from 'node:async_hooks'
import { isDeepStrictEqual } from 'node:util'
import type { FunctionTool, RunContext, RunToolApprovalItem, Tool } from '@openai/agents'
import { type Data, HookError, type Json, type Question, type Reply, type Session } from '../core/index.js'
import {
  beginOnce,
  forgetBegun,
  isUnheard,
  knownBegun,
  putBack,
  refused,
  replyTo,
  runBegun,
  takeBegun,
} from './begun-calls.js'
import { type Capabilities, WORKS } from './capabilities.js'
import { PerSession } from './per-session.js'

export { wrapModel } from './openai-agents-model.js'

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

type Invoke = AnyFunctionTool['invoke']
type NeedsApproval = AnyFunctionTool['needsApproval']

function wrapTool(session: Session, tool: AnyFunctionTool): AnyFunctionTool {
  const { name } = tool
  const isAgent = 'on' in tool
  const run = isAgent ? asSubagent(session, tool) : tool.invoke
  const asksItself: NeedsApproval = async (context, input, id = '') => {
    const isAsking = await tool.needsApproval(context, input, id)
    if (isAsking) approved.set(session, id, true)
    return isAsking
  }
  const isAsked: NeedsApproval = async (context, input, id = '') => {
    const { status } = await beginOnce(session, { name, input: asInput(input), id })
    return status === 'run' ? asksItself(context, input, id) : status === 'needs_approval'
  }
  const runJudged: Invoke = async (context, text, details) => {
    const { toolCall, signal } = details ?? {}
    const id = toolCall?.callId ?? ''
    const given = parsed(text)
    const input = asInput(given)
    let call = await takeBegun(session, { name, input, id }, signal)
    if (call.status === 'needs_approval' && isApproved(session, context, name, id))
      call = await call.answer(replyTo(call.question, true))
    if (call.status === 'responded') return call.result
    if (call.status !== 'run') return call.reason
    const failure: Failure = {}
    const isSuspended = (result: unknown) => isAgent && result === ''
    const errorIn = (result: unknown) =>
      failure.error ?? (typeof result === 'string' && FAILED.test(result) ? result : undefined)
    const running = call
    const runTool = async (judged: Data) => {
      const isSame = isDeepStrictEqual(judged, input)
      const changed = input === given ? judged : unwrapped(judged)
      const result = await run(context, isSame ? text : JSON.stringify(changed), details)
      // The SDK calls the tool again when somebody has answered the agent in it.
      if (isSuspended(result)) putBack(session, { name, input, id }, running)
      return result
    }
    const ended = await failures
      .run(failure, () => runBegun(running, runTool, { signal, isSuspended, errorIn }))
      .catch(refusalIn)
    return ended.status === 'failed' ? ended.reason : ended.result
  }
  return {
    ...tool,
    needsApproval: (context, input, id = '') =>
      isUnheard(session, id) ? asksItself(context, input, id) : isAsked(context, input, id),
    invoke: (context, text, details) =>
      isUnheard(session, details?.toolCall?.callId ?? '')
        ? tool.invoke(context, text, details)
        : runJudged(context, text, details),
  }
}

const approved = new PerSession<true>()

/**
 * An approval is for one call, and for the question that was asked: that of a hook, or that of the tool. The SDK keeps it for
 * every later call with this id, and some models count from 1 again.
 */
function isApproved(session: Session, context: RunContext, toolName: string, callId: string): boolean {
  const isNew = !approved.has(session, callId) && context.isToolApproved({ toolName, callId }) === true
  if (isNew) approved.set(session, callId, true)
  return isNew
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

// ---- errors of tools, and agents as tools -----------------------------------------------------------------------

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

/** An agent as a tool, between the events of a subagent. */
function asSubagent(session: Session, { name: agent_type, invoke }: AnyFunctionTool): Invoke {
  return async (context, text, details) => {
    const { toolCall, resumeState } = details ?? {}
    const agent = { agent_type, agent_id: toolCall?.callId ?? '' }
    if (resumeState === undefined) {
      const outcome = await session.fire('SubagentStart', agent)
      if (outcome.action !== 'continue') throw refused({ reason: outcome.reason, outcome })
    }
    const result: unknown = await invoke(context, text, details)
    // Interrupted.
    if (result === '') return result
    await session.fire('SubagentStop', { ...agent, last_assistant_message: String(result) })
    return result
  }
}

/** The model is told why hooks refused an agent. */
function refusalIn(error: unknown) {
  if (error instanceof HookError && error.code === 'CALL_DENIED')
    return { status: 'ok' as const, result: error.message }
  throw error
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
    const { callId = '' } = item.rawItem as { callId?: string }
    let call = await knownBegun(session, callId)
    if (call?.status !== 'needs_approval') {
      const said = await answer(item, undefined)
      if (said === true || (typeof said === 'string' && /^allow/i.test(said))) state.approve(item)
      else {
        state.reject(item)
        forgetBegun(session, callId)
        if (call?.status === 'run') await call[Symbol.asyncDispose]()
      }
      continue
    }
    while (call.status === 'needs_approval') {
      const said = await answer(item, call.question)
      call = await call.answer(typeof said === 'boolean' ? replyTo(call.question, said) : said)
    }
    if (call.status === 'denied') {
      forgetBegun(session, callId)
      state.reject(item, { message: call.reason })
    } else state.approve(item)
  }
}
