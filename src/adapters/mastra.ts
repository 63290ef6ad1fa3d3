// Hooks in Mastra (npm: @mastra/core): around its tools. For its models, see hooksMiddleware of carabiner/ai-sdk.

import { isDeepStrictEqual } from 'node:util'
import type { ToolsInput } from '@mastra/core/agent'
import type { BegunTool, Question, Session } from '../core/index.js'
import { refused, replyTo } from './begun-calls.js'
import { type Capabilities, WORKS } from './capabilities.js'

export const capabilities: Capabilities = {
  sdk: 'Mastra',
  package: '@mastra/core',
  versions: ['1.60.0', '1.71.0'],
  deny: { works: true, note: 'a tool error with the reason; models as in the AI SDK' },
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
    works: false,
    note: 'the `agent-…` and `workflow-…` tools that Mastra makes are not judged; call the agent in a tool of your own, and give the tools of the agent a `session.child()`',
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

/** Each call of these tools is judged. The name of a tool is its key, as for the model. */
export function wrapTools<T extends ToolsInput>(session: Session, tools: T): T {
  const wrapped = Object.entries(tools).map(([name, tool]) => [name, wrapTool(session, name, tool)])
  return Object.fromEntries(wrapped) as T
}

function wrapTool(session: Session, name: string, tool: AnyTool): AnyTool {
  const { execute: run } = tool as { execute?: Execute }
  if (!run) return tool
  const execute: Execute = async (input, context = {}) => {
    const { abortSignal: signal, agent, workflow, toolCallId = agent?.toolCallId } = context
    const { suspend, resumeData } = agent ?? workflow ?? context
    // Steps of a workflow have no ids of their own.
    const id = toolCallId ?? (workflow ? `${workflow.runId} ${name}` : '')
    const waiting = waitingIn(session)
    if (session.isIdle && !waiting.has(id)) return run(input, context)
    const kept = resumeData === undefined ? undefined : waiting.get(id)
    waiting.delete(id)
    // An answer counts for the very call that was asked about.
    const asked = kept?.name === name && isDeepStrictEqual(kept.input, input) ? kept.call : undefined
    const keep = () => {
      if (id !== '') waiting.set(id, { call, name, input })
    }
    let call: BegunTool = asked ?? (await session.beginTool({ name, input, id }, { signal }))
    let passed = context
    if (asked?.status === 'needs_approval') {
      call = await asked.answer(replyTo(asked.question, isYes(resumeData)))
      passed = withResumable(context, { resumeData: undefined })
    }
    if (call.status === 'responded') return call.result
    // A model can put `resumeData` into its call. Then nobody could tell its answer from a person's.
    if (call.status === 'needs_approval' && suspend && resumeData === undefined && id !== '') {
      keep()
      return suspend({ question: call.reason }, { resumeSchema: APPROVAL })
    }
    if (call.status !== 'run') throw refused(call)
    let isSuspended = false
    const suspendTool: Resumable['suspend'] = (...args) => {
      isSuspended = true
      return suspend?.(...args) ?? Promise.resolve()
    }
    let result: unknown
    try {
      result = await run(call.input, suspend ? withResumable(passed, { suspend: suspendTool }) : passed)
    } catch (error) {
      if (isSuspended) keep()
      else await call.fail(error)
      throw error
    }
    if (isSuspended) {
      keep()
      return result
    }
    const ended = await call.finish(result)
    if (ended.status === 'failed') throw refused(ended)
    return ended.result
  }
  return Object.assign(Object.create(Object.getPrototypeOf(tool)), tool, { execute })
}

/** The question of a hook that waits for `approveToolCall` or `declineToolCall`. */
export function questionOf(session: Session, toolCallId: string): Question | undefined {
  const call = waitingIn(session).get(toolCallId)?.call
  return call?.status === 'needs_approval' ? call.question : undefined
}

/** A call that Mastra has suspended. */
interface Suspended {
  readonly call: BegunTool
  readonly name: string
  readonly input: object
}

/** By their ids. */
const suspended = new WeakMap<Session, Map<string, Suspended>>()

function waitingIn(session: Session): Map<string, Suspended> {
  const waiting = suspended.get(session) ?? new Map<string, Suspended>()
  suspended.set(session, waiting)
  return waiting
}

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
