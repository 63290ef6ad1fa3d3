// Tool calls between their hooks, for all adapters: calls that an SDK asks about before it runs them, running them, a person's
// answer, and a refusal as an error.

import { isDeepStrictEqual } from 'node:util'
import {
  type BegunTool,
  type Data,
  type FinishedTool,
  HookError,
  type Outcome,
  type Question,
  type Session,
} from '../core/index.js'
import { PerSession } from './per-session.js'

interface Call {
  readonly name: string
  readonly input: object
  readonly id: string
}

const begun = new PerSession<readonly [Call, Promise<BegunTool>]>()

/**
 * PreToolUse runs once for a call, however often the SDK asks about it. A key with another input is another call, and so
 * is every call without a key, which is the id of the call, unless the SDK has a better one.
 */
export function beginOnce(
  session: Session,
  call: Call,
  signal?: AbortSignal,
  key = call.id,
): Promise<BegunTool> {
  const [known, judged] = begun.get(session, key) ?? []
  if (judged && known?.name === call.name && isDeepStrictEqual(known.input, call.input)) return judged
  const beginning = session.beginTool(call, { signal })
  begun.set(session, key, [call, beginning])
  return beginning
}

/** Whether no hook has seen the call, and none could see it now. */
export function isUnheard(session: Session, key: string): boolean {
  return session.isIdle && !begun.has(session, key)
}

/** The same for a call that is about to run. It is taken out, so that another one with its id is judged anew. */
export function takeBegun(session: Session, call: Call, signal?: AbortSignal): Promise<BegunTool> {
  const taken = beginOnce(session, call, signal)
  forgetBegun(session, call.id)
  return taken
}

/** For an SDK that calls a tool again after an interruption: that call goes on where it was. */
export function putBack(session: Session, call: Call, taken: BegunTool): void {
  begun.set(session, call.id, [call, Promise.resolve(taken)])
}

export function forgetBegun(session: Session, key: string): void {
  begun.delete(session, key)
}

/** The call with this id, if it was begun and is not forgotten. */
export function knownBegun(session: Session, id: string): Promise<BegunTool> | undefined {
  return begun.get(session, id)?.[1]
}

export type RunningTool = Extract<BegunTool, { readonly status: 'run' }>

interface Running {
  readonly signal?: AbortSignal | undefined
  /** Whether the SDK has only suspended the call, by its result or its error. Hooks are told nothing then. */
  readonly isSuspended?: (end: unknown) => boolean
  /** The error in a result, for an SDK that makes results of errors. */
  readonly errorIn?: (result: unknown) => unknown
}

/** How a call ended. There is no `after` if hooks had no say in the result. */
export type Ended =
  | FinishedTool<unknown>
  | { readonly status: 'ok'; readonly result: unknown; after?: undefined }

/** Runs a call that hooks allowed, and tells them how it ended. Throws what the tool throws. */
export async function runBegun(
  call: RunningTool,
  run: (input: Data) => unknown,
  { signal, isSuspended, errorIn }: Running = {},
): Promise<Ended> {
  let result: unknown
  try {
    result = await run(call.input)
  } catch (error) {
    if (!isSuspended?.(error)) await (signal?.aborted ? call[Symbol.asyncDispose]() : call.fail(error))
    throw error
  }
  if (isSuspended?.(result)) return { status: 'ok', result }
  const error = errorIn?.(result)
  if (error === undefined) return call.finish(result)
  await call.fail(error)
  return { status: 'ok', result }
}

/** The result of a call that hooks did not interrupt, for SDKs that pass a refusal on as an error. */
export function resultOf(ended: Ended): unknown {
  if (ended.status === 'failed') throw refused(ended)
  return ended.result
}

/** The option that stands for a person's yes to this one call, or for a no. */
export function replyTo({ options }: Question, isAllowed: boolean): string {
  const fitting = isAllowed ? /^allow\b(?!.*\balways\b)/i : /^deny\b/i
  return options.find((option) => fitting.test(option)) ?? 'Deny'
}

/** For SDKs that pass a refusal on as an error: the model or the program is told the reason. */
export function refused({
  reason = 'Denied by a hook',
  outcome,
}: {
  readonly reason?: string | undefined
  readonly outcome: Outcome
}): HookError {
  return new HookError('CALL_DENIED', reason, { outcome })
}
