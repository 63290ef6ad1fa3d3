// Tools of Mastra whose calls are judged, wherever Mastra runs them: in an agent, in a workflow, or as a tool of the AI SDK.

import type { ToolsInput } from '@mastra/core/agent'
import type { Session } from '../../core/index.js'
import {
  forgetBegun,
  isUnheard,
  knownBegun,
  putBack,
  refused,
  replyTo,
  resultOf,
  runBegun,
  takeBegun,
} from '../begun-calls.js'

/** Each call of these tools is judged. The name of a tool is its key, as for the model. */
export function wrapTools<T extends ToolsInput>(session: Session, tools: T): T {
  return wrapAll(session, tools, () => {})
}

/** `check` throws if a tool must not run, whatever hooks say. */
type Check = (name: string) => void

export function wrapAll<T extends ToolsInput>(session: Session, tools: T, check: Check): T {
  const wrapped = Object.entries(tools).map(([name, tool]) => [name, wrapTool(session, name, tool, check)])
  return Object.fromEntries(wrapped) as T
}

type AnyTool = ToolsInput[string]
type Execute = (input: object, context: Context) => Promise<unknown>

/**
 * The session that judges the calls of a tool, by its `providerOptions`, or the `args` of a provider's tool: Mastra copies tools,
 * and keeps only these objects.
 */
const judges = new WeakMap<object, Session>()

export function isJudgedBy(session: Session, mark: object | undefined): boolean {
  return mark !== undefined && judges.get(mark) === session
}

interface Markable {
  readonly execute?: Execute
  readonly providerOptions?: object
  readonly args?: object
}

function wrapTool(session: Session, name: string, tool: AnyTool, check: Check): AnyTool {
  const { execute, providerOptions, args } = tool as Markable
  // A tool without `execute` runs at the client, where hooks cannot see it.
  if (!execute || isJudgedBy(session, providerOptions)) return tool
  const marks = { providerOptions: { ...providerOptions }, ...(args && { args: { ...args } }) }
  for (const mark of Object.values(marks)) judges.set(mark, session)
  return Object.assign(Object.create(Object.getPrototypeOf(tool)), tool, {
    ...marks,
    execute: judged(session, name, execute, check),
  })
}

/** What a tool gets, where an agent or a workflow calls it, and where an AI SDK tool is called. */
interface Context extends Resumable {
  readonly abortSignal?: AbortSignal
  readonly toolCallId?: string
  readonly agent?: Resumable & { readonly toolCallId: string }
  readonly workflow?: Resumable & { readonly runId: string }
}
interface Resumable {
  readonly suspend?: (payload: unknown, options?: object) => Promise<void>
  readonly resumeData?: unknown
}

function judged(session: Session, name: string, run: Execute, check: Check): Execute {
  return async (given, context = {}) => {
    const { abortSignal: signal, agent, workflow, toolCallId = agent?.toolCallId } = context
    const place = agent ? 'agent' : workflow ? 'workflow' : undefined
    const own: Resumable = (place && context[place]) ?? context
    const { suspend, resumeData } = own
    // Steps of a workflow have no ids of their own.
    const id = toolCallId ?? (workflow ? `${workflow.runId} ${name}` : '')
    if (isUnheard(session, id)) return run(given, context)
    // Mastra adds this field when it resumes a subagent.
    const { suspendedToolRunId, ...rest } = given as { readonly suspendedToolRunId?: string }
    const input = suspendedToolRunId === undefined ? given : rest
    const call = { name, input, id }
    // Nobody has answered, so this is another call with the id of a suspended one.
    if (resumeData === undefined) forgetBegun(session, id)
    const kept = await knownBegun(session, id)
    let begun = await takeBegun(session, call, signal)
    // An answer counts for the very call that was asked about.
    const isAnswer = begun === kept && begun.status === 'needs_approval'
    if (begun.status === 'needs_approval') {
      const { approved } = (resumeData ?? {}) as { readonly approved?: unknown }
      if (isAnswer) begun = await begun.answer(replyTo(begun.question, approved === true))
      // A model can put `resumeData` into its call. Then nobody could tell its answer from a person's.
      else if (suspend && resumeData === undefined && id !== '') {
        putBack(session, call, begun)
        return suspend({ question: begun.reason }, { resumeSchema: APPROVAL })
      }
    }
    if (begun.status === 'responded') return begun.result
    if (begun.status !== 'run') throw refused(begun)
    const allowed = begun
    let isSuspended = false
    const suspendTool: Resumable['suspend'] = (...args) => {
      isSuspended = true
      putBack(session, call, allowed)
      return suspend?.(...args) ?? Promise.resolve()
    }
    const changed: Resumable = {
      ...own,
      ...(suspend && { suspend: suspendTool }),
      ...(isAnswer && { resumeData: undefined }),
    }
    const passed = place ? { ...context, [place]: changed } : { ...context, ...changed }
    const runJudged = (input: object) => {
      check(name)
      return run(
        suspendedToolRunId === undefined || isAnswer ? input : { ...input, suspendedToolRunId },
        passed,
      )
    }
    return resultOf(await runBegun(allowed, runJudged, { signal, isSuspended: () => isSuspended }))
  }
}

/** What approveToolCall() and declineToolCall() resume with. */
const APPROVAL = JSON.stringify({
  type: 'object',
  properties: { approved: { type: 'boolean' } },
  required: ['approved'],
})
