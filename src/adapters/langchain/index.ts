// Hooks in LangChain and LangGraph (npm: langchain, @langchain/langgraph): a middleware for createAgent, and tools for ToolNode.

import { getConfig, isGraphInterrupt } from '@langchain/langgraph'
import { type AgentMiddleware, AIMessage, type BaseMessage, createMiddleware, ToolMessage } from 'langchain'
import { type Data, HookError, type Session } from '../../core/index.js'
import { type Capabilities, WORKS } from '../capabilities.js'
import { callModel, type ModelOptions } from './model.js'
import type { Approver, CallRequest, ToolCall } from './questions.js'
import { callTool, inOwnTask, isJudged } from './tool.js'

export { interruptApprover } from './questions.js'

export const capabilities: Capabilities = {
  sdk: 'LangChain and LangGraph',
  package: 'langchain',
  versions: ['1.0.1', '1.5.14'],
  deny: {
    works: true,
    how: '`hooksMiddleware` for `createAgent`, as the last one in `middleware`: hooks do not see what another one changes after it, and such a tool call fails, except in LangChain 1.0, or if it replaces the tool as well; hooks do not see a tool that middleware before it runs itself without calling its handler, unless the tool also went through `wrapTools`; in a graph of your own, `wrapTools` for `ToolNode`, and `session.callModel` for the model',
  },
  rewrite: {
    works: true,
    how: 'another model needs the option `modelNamed`; without it, the call is refused',
    limit: 'a request can lose tools, but not change them',
  },
  inject: { works: true, how: 'as user messages, because most providers take system messages only first' },
  ask: {
    works: true,
    how: '`interrupt()`, so the graph needs a checkpointer, and without one the call is refused with the question; with several open questions, answer each by the id of its interrupt, because LangGraph gives a bare answer to all of them',
  },
  respond: WORKS,
  streaming: {
    works: true,
    how: 'while a ModelResponse hook can refuse a response, it is held, and comes as one message in stream mode `messages`; there is no option `hold`',
    limit: 'not with `streamEvents`, which shows text before hooks have judged it',
  },
  parallel: WORKS,
  abort: WORKS,
  subagents: { works: true, how: 'give the middleware of the subagent `session.child()`' },
  errors: {
    works: true,
    how: '`throwToolErrors` leaves errors to middleware such as `toolRetryMiddleware`',
  },
}

interface ToolOptions {
  /** Asks a person. Default: `interruptApprover`. A question that the `approver` of createHooks() answers does not come here. */
  readonly approver?: Approver
}

interface MiddlewareOptions extends ToolOptions, ModelOptions {
  /**
   * Throws the error of a tool, for middleware before this one that handles errors, such as toolRetryMiddleware. Default: the
   * model is told about it, as in an agent without middleware.
   */
  readonly throwToolErrors?: boolean
}

/**
 * For createAgent: each tool call and model call is judged. Hooks see a response as `{ role, content, tool_calls? }`.
 *
 * Put it last into `middleware`. Hooks do not see what middleware after it changes. If that is a tool call, the call fails,
 * but only in versions of LangChain where a middleware can replace a tool, which 1.0 ignores, and not if it does so itself.
 * Hooks do not see a tool that middleware before it runs itself, without calling its handler, unless the tool also went
 * through `wrapTools`.
 */
export function hooksMiddleware(session: Session, options: MiddlewareOptions = {}): AgentMiddleware {
  const { approver, throwToolErrors } = options
  return createMiddleware({
    name: 'CarabinerHooks',
    async wrapToolCall(request, handler) {
      let thrown: unknown
      const run = async (judged: typeof request) => {
        // Without a tool here, middleware after this one would provide it. With one, it runs whatever the call names.
        const { tool, toolCall } = judged as CallRequest
        if (tool?.name !== toolCall.name && !session.isIdle) return noTool(toolCall)
        try {
          return await handler(judged)
        } catch (error) {
          thrown = error
          throw error
        }
      }
      try {
        return await callTool(session, request, { run, approver, isAlone: true })
      } catch (error) {
        const isSuspended = isGraphInterrupt(error) || request.runtime.signal?.aborted
        if (error !== thrown || isSuspended || throwToolErrors) throw error
        return toolError(error, request.toolCall)
      }
    },
    wrapModelCall: (request, handler) => callModel(session, request, handler, options),
  }) as AgentMiddleware
}

function noTool({ name, id = '' }: ToolCall): ToolMessage {
  const content = `There is no tool ${name} that hooks can judge. If middleware provides it, the tool needs this name, and hooksMiddleware is put last.`
  return new ToolMessage({ content, name, tool_call_id: id, status: 'error' })
}

/** What the SDK tells the model where no middleware wraps the call. With one, the error would end the agent. */
function toolError(error: unknown, { name, id = '' }: ToolCall): ToolMessage {
  const isInput = error instanceof Error && error.name === 'ToolInvocationError'
  const content = isInput ? error.message : `${error}\n Please fix your mistakes.`
  return new ToolMessage({ content, name, tool_call_id: id, status: 'error' })
}

interface AnyTool {
  readonly name: string
  invoke(input: never, config?: never): Promise<unknown>
}

/**
 * For ToolNode in a graph of your own: each call of these tools is judged. In createAgent, also if middleware before
 * `hooksMiddleware` runs the tool itself.
 */
export function wrapTools<T extends AnyTool>(
  session: Session,
  tools: readonly T[],
  { approver }: ToolOptions = {},
): T[] {
  return tools.map((tool) => {
    const invoke = async (given: Data | string, config: { signal?: AbortSignal } = {}): Promise<unknown> => {
      const run = (input: unknown) => tool.invoke(input as never, config as never)
      if (session.isIdle) return run(given)
      const input = typeof given === 'string' ? { input: given } : given
      const isCall = input.type === 'tool_call'
      const toolCall = isCall ? (input as unknown as ToolCall) : { name: tool.name, args: input }
      if (isJudged(session, toolCall)) return run(given)
      const { state, isOnlyCall } = nodeInput()
      const request = { toolCall, state, runtime: { signal: config.signal } }
      const made = await inOwnTask(toolCall, () =>
        callTool(session, request, {
          run: (judged) => run(isCall ? judged.toolCall : judged.toolCall.args),
          ...{ approver, isAlone: isCall && isOnlyCall },
        }),
      )
      return isCall ? made : contentOf(made)
    }
    // Older programs use `call`, which is the same.
    return Object.assign(Object.create(tool), { invoke, call: invoke })
  })
}

/** What the node that runs the tool got: a list of messages, an object that has one, or a single call of createAgent. */
function nodeInput(): { readonly state: CallRequest['state']; readonly isOnlyCall: boolean } {
  const { currentTaskInput: input = {} } = (getConfig()?.configurable?.__pregel_scratchpad ?? {}) as {
    currentTaskInput?: CallRequest['state'] | BaseMessage[]
  }
  const state = Array.isArray(input) ? { messages: input } : input
  const asking = state.messages?.findLast((message) => AIMessage.isInstance(message)) as AIMessage | undefined
  return { state, isOnlyCall: 'lg_tool_call' in state || asking?.tool_calls?.length === 1 }
}

/** For a program that called the tool with its input alone, and expects what the tool returns. */
function contentOf(made: unknown): unknown {
  if (!ToolMessage.isInstance(made)) return made
  if (made.status === 'error') throw new HookError('CALL_DENIED', String(made.content))
  return made.content
}
