// Hooks in the OpenAI Agents SDK (npm: @openai/agents): around its function tools. openai-agents-approvals.ts is in its
// interruptions, and openai-agents-model.ts around its models.

import { AsyncLocalStorage } from 'node:async_hooks'
import { isDeepStrictEqual } from 'node:util'
import type { Tool } from '@openai/agents'
import { type Data, HookError, type Session } from '../../core/index.js'
import { beginOnce, isUnheard, putBack, refused, replyTo, runBegun, takeBegun } from '../begun-calls.js'
import { type Capabilities, WORKS } from '../capabilities.js'
import { inputOf, parsed } from '../response.js'
import { type AnyFunctionTool, Approvals, runOf } from './approvals.js'
import { judgedParameters } from './model.js'

export { runApprovals } from './approvals.js'
export { wrapModel } from './model.js'

export const capabilities: Capabilities = {
  sdk: 'OpenAI Agents SDK',
  package: '@openai/agents',
  versions: ['0.14.0', '0.20.0'],
  deny: {
    works: true,
    how: 'function tools, also of MCP servers (`getAllMcpTools`) and agents as tools; the SDK marks no result as an error',
    limit:
      '`wrapTools` refuses shell, computer and patch tools; while there are hooks, `wrapModel` refuses to offer these and the tools of `mcpServers`; hosted tools run at the provider',
  },
  rewrite: { works: true, limit: 'a hook cannot choose another model: the call is refused' },
  inject: { works: true, how: 'needs `wrapModel`; as system or user messages at the end' },
  ask: {
    works: true,
    how: 'an interruption; `runApprovals` answers it',
    limit:
      'after `alwaysApprove`, the SDK asks no more about the tool, so what hooks would ask about is refused',
  },
  respond: WORKS,
  streaming: {
    works: true,
    how: '`hold: "tool-calls"` or `"none"` of `wrapModel` shows text earlier, unjudged; if hooks then refuse or change what was shown, that is an error',
  },
  parallel: WORKS,
  abort: {
    works: true,
    how: 'PreToolUse hooks end if `wrapTools` gets the `signal` of the run',
    limit:
      'a streamed run ends without an error, and is `cancelled`; an abort in a hook is a `ToolCallError`',
  },
  subagents: {
    works: true,
    how: 'an agent as a tool fires SubagentStart and SubagentStop; a handoff is a tool call in the response, for ModelResponse hooks; give other agents `session.child()`',
    limit: 'an agent as a tool cannot be told to go on, so it ends also if a SubagentStop hook refuses that',
  },
  errors: {
    works: true,
    how: 'with `errorFunction: seenError()`; otherwise hooks see the text that the SDK makes of the error',
  },
}

// ---- tools ------------------------------------------------------------------------------------------------------

// biome-ignore lint/suspicious/noExplicitAny: the SDK's own type of any tool
type AnyTool = Tool<any>

interface ToolOptions {
  /** The signal of the run. Without it, an abort does not end PreToolUse hooks: the SDK keeps it from them. */
  readonly signal?: AbortSignal
}

/** Each call of these tools is judged. Hosted tools run elsewhere, and stay as they are. */
export function wrapTools<T extends AnyTool>(
  session: Session,
  tools: readonly T[],
  options: ToolOptions = {},
): T[] {
  return tools.map((tool) => {
    if (tool.type === 'hosted_tool') return tool
    if (tool.type === 'function') return wrapTool(session, tool as AnyFunctionTool, options) as T
    throw new HookError(
      'OPTIONS_INVALID',
      `wrapTools: hooks cannot judge ${tool.name}, a tool of type ${tool.type}`,
    )
  })
}

type Invoke = AnyFunctionTool['invoke']
type NeedsApproval = AnyFunctionTool['needsApproval']

function wrapTool(session: Session, tool: AnyFunctionTool, options: ToolOptions): AnyFunctionTool {
  const { name } = tool
  const isAgent = 'on' in tool
  const run = isAgent ? asSubagent(session, tool) : tool.invoke
  const isSuspended = (result: unknown) => isAgent && result === ''
  const approvals = new Approvals(tool)
  const isAsked: NeedsApproval = async (context, given, id = '') => {
    const call = { name, input: inputOf(given), id, run: runOf(context) }
    const begun = await beginOnce(session, call, options.signal)
    return begun.status === 'run'
      ? approvals.asksItself(context, given, id)
      : approvals.asks(begun, context, id)
  }
  const runJudged: Invoke = async (context, text, details) => {
    const { toolCall, signal = options.signal } = details ?? {}
    const call = { name, input: inputOf(text), id: toolCall?.callId ?? '', run: runOf(context) }
    let begun = await takeBegun(session, call, signal)
    if (begun.status === 'needs_approval' && (await approvals.isYes(begun, context, text, call.id)))
      begun = await begun.answer(replyTo(begun.question, true))
    if (begun.status === 'responded') return begun.result
    if (begun.status !== 'run') return begun.reason
    const failure: Failure = {}
    const errorIn = (result: unknown) =>
      failure.error ?? (typeof result === 'string' && FAILED.test(result) ? result : undefined)
    const running = begun
    const runTool = async (judged: Data) => {
      const isSame = isDeepStrictEqual(judged, call.input)
      const result = await run(context, isSame ? text : textOf(judged, text), details)
      // The SDK calls the tool again when somebody has answered the agent in it.
      if (isSuspended(result)) putBack(session, call, running)
      return result
    }
    const ended = await failures
      .run(failure, () => runBegun(running, runTool, { signal, isSuspended, errorIn }))
      .catch(refusalIn)
    return ended.status === 'failed' ? ended.reason : ended.result
  }
  const parameters = { ...tool.parameters }
  judgedParameters.add(parameters)
  return {
    ...tool,
    parameters,
    needsApproval: (context, input, id = '') =>
      isUnheard(session, id) ? approvals.asksItself(context, input, id) : isAsked(context, input, id),
    invoke: async (context, text, details) => {
      const id = details?.toolCall?.callId ?? ''
      let result: unknown
      try {
        result = await (isUnheard(session, id) ? tool.invoke : runJudged)(context, text, details)
        return result
      } finally {
        if (!isSuspended(result)) approvals.end(context, id)
      }
    },
  }
}

/** Hooks judge an object, but a tool without parameters gets a text. A hook may also have made an object of the text. */
function textOf(judged: Data, given: string): string {
  const was = parsed(given)
  const isWrapped = typeof was !== 'object' || was === null || Array.isArray(was)
  const isText = isWrapped && isDeepStrictEqual(Object.keys(judged), ['input'])
  return JSON.stringify(isText ? judged.input : judged)
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
    let result: unknown
    try {
      result = await invoke(context, text, details)
    } catch (error) {
      await session.fire('SubagentStop', agent)
      throw error
    }
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
