// What adapters share: calls that an SDK asks about before it runs them, a person's answer, and a refusal as an error.

import { isDeepStrictEqual } from 'node:util'
import { type BegunTool, HookError, type Outcome, type Question, type Session } from '../core/index.js'

interface Call {
  readonly name: string
  readonly input: object
  readonly id: string
}

type Entry = readonly [Call, Promise<BegunTool>]
const begun = new WeakMap<Session, Map<string, Entry>>()

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
  if (key === '') return session.beginTool(call, { signal })
  const calls = callsOf(session)
  const [known, judged] = calls.get(key) ?? []
  if (judged && known?.name === call.name && isDeepStrictEqual(known.input, call.input)) return judged
  const beginning = session.beginTool(call, { signal })
  calls.set(key, [call, beginning])
  return beginning
}

function callsOf(session: Session): Map<string, Entry> {
  const calls = begun.get(session) ?? new Map<string, Entry>()
  begun.set(session, calls)
  return calls
}

/** Whether no hook has seen the call, and none could see it now. */
export function isUnheard(session: Session, key: string): boolean {
  return session.isIdle && !begun.get(session)?.has(key)
}

/** The same for a call that is about to run. It is taken out, so that another one with its id is judged anew. */
export function takeBegun(session: Session, call: Call, signal?: AbortSignal): Promise<BegunTool> {
  const taken = beginOnce(session, call, signal)
  forgetBegun(session, call.id)
  return taken
}

/** For an SDK that calls a tool again after an interruption: that call goes on where it was. */
export function putBack(session: Session, call: Call, taken: BegunTool): void {
  if (call.id !== '') callsOf(session).set(call.id, [call, Promise.resolve(taken)])
}

export function forgetBegun(session: Session, key: string): void {
  begun.get(session)?.delete(key)
}

/** The call with this id, if it was begun and is not forgotten. */
export function knownBegun(session: Session, id: string): Promise<BegunTool> | undefined {
  return begun.get(session)?.get(id)?.[1]
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
