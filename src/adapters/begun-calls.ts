// Runs a judged tool call for every adapter: begins it once, applies a person's answer, runs it, and turns a refusal into an
// error.

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

export interface Call {
  readonly name: string
  readonly input: object
  readonly id: string
  /** The SDK's own object for the run that makes the call, if it has one. A judgement counts in its run only. */
  readonly run?: object | undefined
}

interface Begun {
  readonly call: Call
  readonly judged: Promise<BegunTool>
}

/** A call that never runs has been interrupted. Hooks in the background may take long, so nobody waits. */
const begun = new PerSession<Begun>(({ judged }) => {
  judged.then((call) => call[Symbol.asyncDispose]()).catch(() => {})
})

/**
 * PreToolUse runs once for a call, however often the SDK asks. The key is the call's id, or a better one from the SDK.
 * Another input, another run, or no key is another call.
 */
export function beginOnce(
  session: Session,
  call: Call,
  signal?: AbortSignal,
  key = call.id,
): Promise<BegunTool> {
  const known = begun.get(session, key)
  if (known && known.call.run === call.run && isEqual(known.call, call)) return known.judged
  const { name, input, id } = call
  const judged = session.beginTool({ name, input, id }, { signal })
  begun.set(session, key, { call, judged })
  return judged
}

function isEqual(one: Call, other: Call): boolean {
  return one.name === other.name && isDeepStrictEqual(one.input, other.input)
}

/** True if no hook has seen this call, and no hook could. */
export function isUnheard(session: Session, key: string): boolean {
  return session.isIdle && !begun.has(session, key)
}

/** Begins a call that is about to run, and forgets it: the next call with its id is judged again. */
export function takeBegun(session: Session, call: Call, signal?: AbortSignal): Promise<BegunTool> {
  const taken = beginOnce(session, call, signal)
  forgetBegun(session, call.id)
  return taken
}

/** For an SDK that calls a tool again after an interruption: that call goes on where it was. */
export function putBack(session: Session, call: Call, taken: BegunTool): void {
  begun.set(session, call.id, { call, judged: Promise.resolve(taken) })
}

/** For a call that a person has answered: its judgement counts in this run too. Returns undefined if there is none. */
export function goOn(session: Session, call: Call): Promise<BegunTool> | undefined {
  const known = begun.get(session, call.id)
  if (!known || !isEqual(known.call, call)) return undefined
  begun.delete(session, call.id)
  begun.set(session, call.id, { call, judged: known.judged })
  return known.judged
}

/** Questions of hooks that a person was asked. */
export const askedQuestions = new WeakSet<BegunTool>()

export function forgetBegun(session: Session, key: string): void {
  begun.delete(session, key)
}

/** The call with this id, if it was begun and is not forgotten. */
export function knownBegun(session: Session, id: string): Promise<BegunTool> | undefined {
  return begun.get(session, id)?.judged
}

/** The question of a hook that waits until a person has answered the SDK about this call. */
export async function questionOf(session: Session, toolCallId: string): Promise<Question | undefined> {
  const call = await knownBegun(session, toolCallId)
  return call?.status === 'needs_approval' ? call.question : undefined
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
    // Nothing runs after an abort, even if hooks had allowed it.
    signal?.throwIfAborted()
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
