// Hooks in the AI SDK (npm: ai, 5 to 7): around its tools. ai-sdk-approvals.ts is in its approval flow, ai-sdk-model.ts around
// its models, and ai-sdk-handed-out.ts judges tools that run elsewhere.

import type { ToolSet } from 'ai'
import { HookError, type Session } from '../../core/index.js'
import {
  askedQuestions,
  beginOnce,
  goOn,
  isUnheard,
  refused,
  replyTo,
  resultOf,
  runBegun,
  takeBegun,
} from '../begun-calls.js'
import { type Capabilities, WORKS } from '../capabilities.js'
import { askedOfAnother, keepAsked, type Messages, wasApproved } from './approvals.js'
import { judgedHandedOut } from './handed-out.js'

export { questionOf } from '../begun-calls.js'
export { toolApproval } from './approvals.js'
export { hooksMiddleware } from './model.js'

export const capabilities: Capabilities = {
  sdk: 'AI SDK',
  package: 'ai',
  versions: ['5.0.0', '5.0.277', '6.0.0', '6.0.326', '7.0.0', '7.0.169'],
  deny: {
    works: true,
    how: 'a tool error with the reason; for a model call, an error with code `CALL_DENIED`',
    limit:
      'a tool without `execute` runs elsewhere, so a deny or a question ends the run with an error, and there is no PostToolUse; in streams, and for tools that a provider defines, this needs `hooksMiddleware`; if the tool’s schema or a repair changes its input, hooks judge it again, but a stream has shown it by then',
  },
  rewrite: { works: true, limit: 'a hook cannot choose another model: the call is refused' },
  inject: {
    works: true,
    how: 'needs `hooksMiddleware`; as user messages, because most providers take system messages only first',
  },
  ask: {
    works: true,
    how: 'the approval flow of 6 and 7; `questionOf` has the question',
    limit:
      '5 has no approval flow, so the call fails with the question; a yes that comes back with another input than this process asked about is refused; a yes that another process asked for counts for the input in the conversation, and only if the tool does not ask by itself',
  },
  respond: WORKS,
  streaming: {
    works: true,
    how: '`hold: "tool-calls"` or `"none"` of `hooksMiddleware` shows text earlier, unjudged; if hooks then refuse or change what was shown, that is an error',
    limit: 'if there are hooks, a tool that yields several results shows only the last',
  },
  parallel: WORKS,
  abort: {
    works: true,
    how: 'in 6 and 7, PreToolUse hooks end if `wrapTools` gets the `signal` of the call',
  },
  subagents: { works: true, how: 'give the subagent’s tools and model `session.child()`' },
  errors: WORKS,
}

/** What all versions have in common. */
type AnyTool = ToolSet[string]
interface CallOptions {
  readonly toolCallId: string
  /** The same list for all that concerns one call in one step. */
  readonly messages: Messages
  readonly abortSignal?: AbortSignal
}
type NeedsApproval = (input: object, options: CallOptions) => boolean | PromiseLike<boolean>

interface ToolOptions {
  /** The `abortSignal` of generateText or streamText. Without it, an abort does not end PreToolUse hooks in 6 and 7. */
  readonly signal?: AbortSignal
}

/**
 * Each call of these tools is judged. A tool without `execute` runs elsewhere: the run ends with an error if hooks refuse its
 * call or ask. Use `hooksMiddleware` too, because without it a stream shows the call before hooks have judged it, and calls of
 * a tool that a provider defines, such as a shell, are not judged at all if it has no `execute`. If the tool's schema or
 * `experimental_repairToolCall` changes the input of such a call, hooks judge it again, but a stream has shown it by then.
 */
export function wrapTools<T extends ToolSet>(session: Session, tools: T, options: ToolOptions = {}): T {
  const wrapped = Object.entries(tools).map(([name, tool]) => [name, wrapTool(session, name, tool, options)])
  return Object.fromEntries(wrapped) as T
}

function wrapTool(session: Session, name: string, tool: AnyTool, { signal }: ToolOptions): AnyTool {
  const { execute, needsApproval: own } = tool as AnyTool & { needsApproval?: boolean | NeedsApproval }
  if (!execute) return judgedHandedOut(session, name, tool)
  const asksItself: NeedsApproval = (input, options) =>
    typeof own === 'function' ? own(input, options) : own === true
  const callOf = (input: object, { toolCallId: id, messages }: CallOptions) => {
    const call = { name, input, id, run: messages }
    const isApproved = wasApproved(id, messages)
    // An answer counts for the very call that was asked about.
    const isChanged = isApproved && askedOfAnother(session, call)
    if (isApproved) void goOn(session, call)
    return { call, isApproved, isChanged }
  }
  const isAsked: NeedsApproval = async (input, options) => {
    const { call, isApproved, isChanged } = callOf(input, options)
    if (isChanged) return true
    const begun = await beginOnce(session, call, signal)
    const isHook = begun.status === 'needs_approval'
    const isAsking = begun.status === 'run' ? await asksItself(input, options) : isHook
    if (isAsking && !isApproved) {
      keepAsked(session, call)
      if (isHook) askedQuestions.add(begun)
    }
    // 6 asks again when the approval comes, and refuses a call that no longer needs one. Here, `execute` says why.
    return isAsking || (isApproved && begun.status !== 'run')
  }
  const runJudged = async (input: object, options: CallOptions) => {
    const { call, isApproved, isChanged } = callOf(input, options)
    if (isChanged) throw new HookError('CALL_DENIED', `A person was asked about another input of ${name}`)
    const { abortSignal = signal } = options
    let begun = await takeBegun(session, call, abortSignal)
    // If another process asked, the question was that of a hook unless the tool asks too.
    if (begun.status === 'needs_approval' && isApproved)
      if (askedQuestions.has(begun) || !(await asksItself(input, options)))
        begun = await begun.answer(replyTo(begun.question, true))
    if (begun.status === 'responded') return begun.result
    if (begun.status !== 'run') throw refused(begun)
    const run = (judged: unknown) => last(execute(judged as never, options as never))
    return resultOf(await runBegun(begun, run, { signal: abortSignal }))
  }
  const judged = {
    // Only 6 and 7 ask.
    needsApproval: (input: object, options: CallOptions) =>
      isUnheard(session, options.toolCallId) ? asksItself(input, options) : isAsked(input, options),
    execute: (input: object, options: CallOptions) =>
      isUnheard(session, options.toolCallId)
        ? execute(input as never, options as never)
        : runJudged(input, options),
  } satisfies Judged
  return { ...tool, ...judged } as AnyTool
}

/** Takes what the SDK gives. */
interface Judged {
  readonly execute: (input: never, options: ExecuteOptions) => unknown
  readonly needsApproval: NeedsApproval
}
type ExecuteOptions = Parameters<NonNullable<AnyTool['execute']>>[1]

/** A tool may yield results while it works; hooks judge the last one. */
async function last(made: unknown): Promise<unknown> {
  if (typeof made !== 'object' || made === null || !(Symbol.asyncIterator in made)) return made
  let result: unknown
  for await (const one of made as AsyncIterable<unknown>) result = one
  return result
}
