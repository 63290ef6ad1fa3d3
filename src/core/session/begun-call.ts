// A call in two halves, for tools and models alike: hooks judge it, the host makes it, and it ends exactly once.

import { isWhole } from '../base/content.js'
import { type Diagnostic, HookError } from '../base/errors.js'
import type { Json } from '../base/json.js'
import { shownAnyway } from '../base/json-view.js'
import { isFunction, isSeconds, isSignal } from '../base/options.js'
import { isPromise } from '../base/promise.js'
import { actionRow } from '../events/actions.js'
import type { Outcome, Question } from '../hooks/outcome.js'
import type { Reply } from '../verdict/approval.js'
import { isApprover } from './embedder.js'
import type { Interrupt } from './engine.js'
import type { FireOptions, FireResult, OpenQuestion } from './fire.js'
import type { ToolData, ToolEvent } from './unheard.js'

export interface CallOptions extends Omit<FireOptions, 'custom' | 'contextLater'> {
  /** Set this if the host looks at the name and can run the tool that a hook chose instead. Otherwise a renamed call is denied. */
  readonly renames?: boolean
  /** Gets the outcome of every event that the call fires, also before the tool's own error is rethrown. Awaited; an error that it throws ends the call. */
  readonly onOutcome?: (event: string, outcome: Outcome) => unknown
}

/** Tool and model calls take these. */
export const CALL_OPTIONS = {
  signal: isSignal,
  timeout: isSeconds,
  approver: isApprover,
  onOutcome: isFunction,
} as const

/** The parts of the session that a call needs. */
export interface CallSession {
  readonly fire: (event: string, data: object, options: FireOptions) => Promise<FireResult>
  /** Fires an event that no hook hears. False: it has to be fired as usual. */
  readonly pass: (event: ToolEvent, data: ToolData) => boolean
  readonly refuseClosed: () => void
  /** Aborted when nothing waits for hooks any more. */
  readonly ending: AbortSignal
  /** Interrupts the call when the session is closed, until the returned function is called. Absent: the call always ends by itself. */
  readonly track?: (interrupt: Interrupt) => () => void
}

/** The call must not be made. */
export interface DeniedCall extends AsyncDisposable {
  readonly status: 'denied'
  /** For the model. */
  readonly reason: string
  readonly outcome: Outcome
}

/** A hook asks, and there is no approver, or the approver left the question open. */
export interface OpenCall<T> extends AsyncDisposable {
  readonly status: 'needs_approval'
  readonly reason: string
  /** `question.call.tool_use_id` is the id of the call. */
  readonly question: Question
  readonly outcome: Outcome
  /**
   * Goes on where the hooks stopped; they only run again if the reply edits the call. The first reply counts: a second one
   * gets the same result. An allow after `question.expires` does not count. Rejects if the session is closed.
   */
  answer(reply: Reply): Promise<T>
}

/** There is nothing to end, but `await using` works for every status. */
export const UNBEGUN: AsyncDisposable = { [Symbol.asyncDispose]: async () => {} }

export function denied(outcome: Outcome, reason = outcome.reason ?? 'Denied by a hook'): DeniedCall {
  return { status: 'denied', reason, outcome, ...UNBEGUN }
}

export function asked<T>(
  { question, answer }: OpenQuestion,
  { outcome, by = outcome }: { readonly outcome: Outcome; readonly by?: Outcome },
  goOn: (fired: FireResult) => Promise<T>,
): OpenCall<T> {
  let answered: Promise<T> | undefined
  return {
    status: 'needs_approval',
    reason: by.reason ?? 'A hook asks for approval',
    question,
    outcome,
    answer: (reply) => {
      answered ??= answer(reply).then(goOn)
      return answered
    },
    ...UNBEGUN,
  }
}

const DROPPED = 'The call was dropped before it was finished'

/** The ways to end a call. The first one counts, and every later one gets its result. */
export function endings<T>(
  track: CallSession['track'],
  call: {
    readonly finish: (result: unknown) => Promise<T>
    readonly fail: (error: unknown, isInterrupted: boolean) => Promise<T>
    /** Says what is wrong with a result that hooks cannot see yet. */
    readonly refuses: (result: unknown) => string | undefined
  },
) {
  let ended: Promise<T> | undefined
  const end = (how: () => Promise<T>): Promise<T> => {
    forget?.()
    ended ??= how()
    return ended
  }
  const interrupt: Interrupt = async (why) => {
    if (ended === undefined) await end(() => call.fail(why, true))
    // The caller of finish or fail gets its errors.
    else await Promise.allSettled([ended])
  }
  const forget = track?.(interrupt)
  return {
    finish: async (result: unknown): Promise<T> => {
      const wrong = call.refuses(result)
      if (wrong !== undefined) throw new HookError('OPTIONS_INVALID', `finish: ${wrong}`)
      return end(() => call.finish(result))
    },
    fail: (error: unknown) => end(() => call.fail(error, false)),
    [Symbol.asyncDispose]: () => interrupt(DROPPED),
  }
}

/** What it stands for would go past the hooks. */
export function refusesPromise(result: unknown): string | undefined {
  return isPromise(result) ? 'the result must not be a promise; await it first' : undefined
}

/** When the signal is aborted, the tool or model gets this long to end by itself. */
export const ABORT_GRACE_MS = 1000

/** The tool would get something other than what hooks judged. */
export const CHANGED =
  'A value in the call changed while hooks were judging it, so they judged something else; pass plain data, or make the call again'

/** A hook ended the turn or the agent. */
export function refuseAborted(outcome: Outcome): void {
  const { aborts } = actionRow(outcome.action)
  if (aborts) throw new HookError(aborts, outcome.reason ?? 'A hook ended it', { outcome })
}

/** Nothing is called after the signal is aborted, even if hooks had allowed it. */
export function refuseStopped(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new HookError('ABORTED', 'The call was aborted', { cause: signal.reason })
}

export function withDiagnostic(outcome: Outcome, problem: Diagnostic | undefined): Outcome {
  return problem ? { ...outcome, diagnostics: [...outcome.diagnostics, problem] } : outcome
}

/** A tool or model may return anything; hooks see its content. */
export function asJson(result: unknown): [Json, Diagnostic | undefined] {
  const seen = shownAnyway(result)
  if (isWhole(seen)) return [seen, undefined]
  const text = 'hooks did not see the whole result: a part of it cannot be shown; return plain data'
  return [seen, { code: 'result-not-json', text }]
}
