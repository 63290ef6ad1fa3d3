// Hooks in Mastra (npm: @mastra/core): around all tools of an agent. For its models, see hooksMiddleware of carabiner/ai-sdk.

import { isDeepStrictEqual } from 'node:util'
import type { Agent, ToolsInput } from '@mastra/core/agent'
import type { ProcessInputArgs, ProcessInputStepArgs } from '@mastra/core/processors'
import { type BegunTool, HookError, type Question, type Session } from '../core/index.js'
import { refused, replyTo, resultOf, runBegun } from './begun-calls.js'
import { type Capabilities, WORKS } from './capabilities.js'
import { PerSession } from './per-session.js'

export const capabilities: Capabilities = {
  sdk: 'Mastra',
  package: '@mastra/core',
  versions: ['1.60.0', '1.71.0'],
  deny: {
    works: true,
    note: "by `hooksProcessor` for all tools of an agent, or `wrapTools` for single ones; `inputProcessors` of a single `generate()` take the place of the agent's own, so name it there too; `agent.network()` and `prepareStep` that returns tools pass it by, so use `wrapTools` for those tools; a tool error with the reason; models as in the AI SDK",
  },
  rewrite: WORKS,
  inject: { works: true, note: 'needs a model with `hooksMiddleware` of `carabiner/ai-sdk`' },
  ask: {
    works: true,
    note: '`tool-call-suspended`, then `approveToolCall` or `declineToolCall`; a `resumeSchema` of the tool must allow `{ approved }`',
  },
  respond: WORKS,
  streaming: { works: true, note: 'by `hooksMiddleware`' },
  parallel: WORKS,
  abort: { works: true, note: 'the run ends without an error' },
  subagents: {
    works: true,
    note: 'give the subagent a `hooksProcessor` with `session.child()`; without one, its `agent-…` tool is refused. `wrapTools` sees none of the tools that Mastra makes',
  },
  errors: WORKS,
}

type AnyTool = ToolsInput[string]
type Execute = (input: object, context: Call) => Promise<unknown>

/** What a tool gets, where an agent or a workflow calls it, and where an AI SDK tool is called. */
interface Call extends Resumable {
  readonly abortSignal?: AbortSignal
  readonly toolCallId?: string
  readonly agent?: Resumable & { readonly toolCallId: string }
  readonly workflow?: Resumable & { readonly runId: string }
}
interface Resumable {
  readonly suspend?: (payload: unknown, options?: object) => Promise<void>
  readonly resumeData?: unknown
}

/**
 * The last one in `inputProcessors` of an Agent: each call of its tools is judged, also of those that Mastra makes for
 * subagents, workflows, memory and workspaces. Mastra asks no processor about tools that `agent.network()` runs or that
 * `prepareStep` returns: those need `wrapTools`. With both on one tool, hooks run twice.
 */
export function hooksProcessor(session: Session) {
  const subagents = new Map<string, boolean>()
  const check = (name: string) => {
    if (!name.startsWith('agent-') || subagents.get(name)) return
    throw new HookError(
      'CALL_DENIED',
      `${name} was not called, because hooks would not see the tool calls of this agent. Add hooksProcessor(session.child()) to its inputProcessors.`,
    )
  }
  return {
    id: PROCESSOR,
    async processInput(given: ProcessInputArgs): Promise<ProcessInputArgs['messageList']> {
      const { agent, messageList, requestContext } = given
      const agents = await agent?.listAgents(requestContext && { requestContext })
      for (const [key, subagent] of Object.entries(agents ?? {})) {
        const name = `agent-${key}`
        // Another request may have another agent of this name.
        subagents.set(name, subagents.get(name) !== false && (await isJudged(subagent, requestContext)))
      }
      return messageList
    },
    /** Mastra asks for these before each run, and before it resumes one. */
    getLoadedToolsForRequestContext: ({ tools = {} }: { readonly tools?: ToolsInput }) =>
      wrapAll(session, tools, check),
    /** Other processors may have added tools. */
    processInputStep: ({ tools = {} }: ProcessInputStepArgs) => ({
      tools: wrapAll(session, tools as ToolsInput, check),
    }),
  }
}

const PROCESSOR = 'carabiner-hooks'

/** Whether hooks see the calls of this agent. */
async function isJudged(agent: object, requestContext: ProcessInputArgs['requestContext']): Promise<boolean> {
  if (!('listConfiguredInputProcessors' in agent)) return false
  const processors = await (agent as Agent).listConfiguredInputProcessors(requestContext)
  return processors.some(({ id }) => id === PROCESSOR)
}

/** Each call of these tools is judged. The name of a tool is its key, as for the model. */
export function wrapTools<T extends ToolsInput>(session: Session, tools: T): T {
  return wrapAll(session, tools, () => {})
}

/** `check` throws if a tool must not run, whatever hooks say. */
type Check = (name: string) => void

function wrapAll<T extends ToolsInput>(session: Session, tools: T, check: Check): T {
  const wrapped = Object.entries(tools).map(([name, tool]) => [name, wrapTool(session, name, tool, check)])
  return Object.fromEntries(wrapped) as T
}

function wrapTool(session: Session, name: string, tool: AnyTool, check: Check): AnyTool {
  const { execute: run, [WRAPPED]: wrapped } = tool as { execute?: Execute; [WRAPPED]?: Session }
  if (!run || wrapped === session) return tool
  const execute: Execute = async (given, context = {}) => {
    const { abortSignal: signal, agent, workflow, toolCallId = agent?.toolCallId } = context
    const { suspend, resumeData } = agent ?? workflow ?? context
    // Steps of a workflow have no ids of their own.
    const id = toolCallId ?? (workflow ? `${workflow.runId} ${name}` : '')
    if (session.isIdle && !suspended.has(session, id)) return run(given, context)
    // Mastra adds this field when it resumes a subagent.
    const { suspendedToolRunId, ...rest } = given as { readonly suspendedToolRunId?: string }
    const input = suspendedToolRunId === undefined ? given : rest
    const kept = suspended.take(session, id)
    // An answer counts for the very call that was asked about.
    const isAsked = resumeData !== undefined && kept?.name === name && isDeepStrictEqual(kept.input, input)
    let call = isAsked ? kept.call : await session.beginTool({ name, input, id }, { signal })
    const isAnswer = isAsked && call.status === 'needs_approval'
    if (call.status === 'needs_approval') {
      if (isAnswer) call = await call.answer(replyTo(call.question, isYes(resumeData)))
      // A model can put `resumeData` into its call. Then nobody could tell its answer from a person's.
      else if (suspend && resumeData === undefined && id !== '') {
        suspended.set(session, id, { call, name, input })
        return suspend({ question: call.reason }, { resumeSchema: APPROVAL })
      }
    }
    if (call.status === 'responded') return call.result
    if (call.status !== 'run') throw refused(call)
    const allowed = call
    let isSuspended = false
    const suspendTool: Resumable['suspend'] = (...args) => {
      isSuspended = true
      suspended.set(session, id, { call: allowed, name, input })
      return suspend?.(...args) ?? Promise.resolve()
    }
    const passed = withResumable(context, {
      ...(suspend && { suspend: suspendTool }),
      ...(isAnswer && { resumeData: undefined }),
    })
    const runJudged = (judged: object) => {
      check(name)
      return run(input === given || isAnswer ? judged : { ...judged, suspendedToolRunId }, passed)
    }
    return resultOf(await runBegun(allowed, runJudged, { signal, isSuspended: () => isSuspended }))
  }
  return Object.assign(Object.create(Object.getPrototypeOf(tool)), tool, { execute, [WRAPPED]: session })
}

/** The question of a hook that waits for `approveToolCall` or `declineToolCall`. */
export function questionOf(session: Session, toolCallId: string): Question | undefined {
  const call = suspended.get(session, toolCallId)?.call
  return call?.status === 'needs_approval' ? call.question : undefined
}

/** A call that Mastra has suspended. */
interface Suspended {
  readonly call: BegunTool
  readonly name: string
  readonly input: object
}

const suspended = new PerSession<Suspended>()

/** The session that judges the calls of a tool. */
const WRAPPED = Symbol('wrapped')

/** What approveToolCall() and declineToolCall() resume with. */
const APPROVAL = JSON.stringify({
  type: 'object',
  properties: { approved: { type: 'boolean' } },
  required: ['approved'],
})

function isYes(resumeData: unknown): boolean {
  return (resumeData as { approved?: unknown } | null)?.approved === true
}

function withResumable(context: Call, fields: Resumable): Call {
  const { agent, workflow } = context
  if (agent) return { ...context, agent: { ...agent, ...fields } }
  return workflow ? { ...context, workflow: { ...workflow, ...fields } } : { ...context, ...fields }
}
