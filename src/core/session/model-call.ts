// A model call between its hooks: ModelRequest, the call (at once or streamed), ModelResponse.

import { HookError, textOf } from '../base/errors.js'
import { frozenCopy, hasFormOf, isObject, type Json } from '../base/json.js'
import { fieldOf, hasChanged, restored, type Viewed, viewed } from '../base/json-view.js'
import { type Checks, checkArgument, checkOptions, isFunction } from '../base/options.js'
import { inTime, unlessAborted } from '../base/promise.js'
import { described, type EventKind, resolveEvent } from '../events/events.js'
import type { Injection, Outcome } from '../hooks/outcome.js'
import {
  ABORT_GRACE_MS,
  asJson,
  asked,
  CALL_OPTIONS,
  type CallOptions,
  type CallSession,
  CHANGED,
  type DeniedCall,
  denied,
  endings,
  type OpenCall,
  refuseAborted,
  refuseStopped,
  refusesPromise,
  UNBEGUN,
  withDiagnostic,
} from './begun-call.js'
import { textOfDeltas } from './delta.js'
import type { FireResult } from './fire.js'
import { type RenderedInjection, rendered, withInjections } from './injection.js'

export interface ModelRequest {
  readonly model: string
  readonly messages: readonly unknown[]
  readonly tools?: readonly unknown[]
  readonly options?: object
  readonly [key: string]: unknown
}

/** A request of any SDK. */
export type AnyRequest = Pick<ModelRequest, 'model' | 'messages'>

/**
 * Gets the request as hooks left it, with the type of the given request. Injections are messages `{ role, content }`, and a
 * hook that rewrites the request is trusted to keep its form.
 */
export type RunModel<T, D = never, R extends AnyRequest = ModelRequest> = (
  request: R & ModelRequest,
  call: { readonly signal: AbortSignal | undefined },
) => T | Promise<T> | ModelStream<D, T> | Promise<ModelStream<D, T>>

/** Anything that can be read with `for await`. Before TypeScript 5.6, AsyncIterable had no type for the return value. */
export interface ModelStream<D, T> {
  [Symbol.asyncIterator](): AsyncIterator<D, T>
}

/**
 * The message: the result of `assemble`, or else the value that `run` or its stream returned. If a stream returns nothing,
 * its deltas are joined.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a generator without a return statement returns it
export type ModelAnswer<T, D, A> = [A] extends [never] ? ([T] extends [void] ? Joined<T, D> : T) : A
type Joined<T, D> = [D] extends [never]
  ? T
  : [D] extends [string]
    ? { readonly role: 'assistant'; readonly content: string }
    : { readonly role: 'assistant'; readonly content: string; readonly deltas: readonly D[] }

export interface BeginModelOptions<R extends AnyRequest = ModelRequest> extends Omit<CallOptions, 'renames'> {
  /**
   * Adds injections in the form that the SDK wants, and returns the request to send. It gets the request as hooks left it, and
   * is only called if there are injections. Default: each is appended to `messages` as `{ role, content }`.
   */
  readonly addInjections?: (request: R & ModelRequest, injections: readonly RenderedInjection[]) => R
}

export interface StreamOptions<D, A, R extends AnyRequest = ModelRequest> extends BeginModelOptions<R> {
  /**
   * Makes the message from the deltas. Default: the stream's return value, or else the texts joined as an assistant message,
   * so that a hook sees a word that two deltas share.
   */
  readonly assemble?: (deltas: readonly D[]) => A
}

export interface CallModelOptions<D, A, R extends AnyRequest = ModelRequest> extends StreamOptions<D, A, R> {
  /** Gets each delta of a stream, when the hooks let it pass. */
  readonly onDelta?: (delta: D) => unknown
}

// ---- what comes back: `outcome` belongs to ModelRequest, `after` to ModelResponse

interface ModelAnswered<T> {
  /** The model answered. If a hook replaced the answer, the new one has the same form: text for text, the same fields. */
  readonly status: 'ok'
  readonly response: T
  readonly reason?: undefined
  readonly outcome: Outcome
  readonly after: Outcome
}

interface ModelResponded {
  /** A hook gave the response instead of the model, or, if `after` is set, replaced the model's answer. */
  readonly status: 'responded'
  readonly response: Json
  readonly reason?: undefined
  readonly outcome: Outcome
  readonly after?: Outcome
}

export type ModelCallResult<T> =
  | ModelAnswered<T>
  | ModelResponded
  | {
      readonly status: 'denied' | 'needs_approval'
      readonly response?: undefined
      readonly reason: string
      readonly outcome: Outcome
      readonly after?: Outcome
    }

/** A begun call that has ended. Only a response that may be used is in it. */
export type FinishedModel<T> =
  | ModelAnswered<T>
  | (ModelResponded & { readonly after: Outcome })
  | ((DeniedCall | OpenCall<FinishedModel<T>>) & { readonly response?: undefined; readonly after: Outcome })
  | {
      /** The model failed, or the call was interrupted. */
      readonly status: 'failed'
      readonly response?: undefined
      readonly reason: string
      readonly outcome: Outcome
      readonly after?: undefined
    }

/** A call that hooks have judged. Only a call that may be made has a request. */
export type BegunModel<R extends AnyRequest = ModelRequest> =
  | ModelRunning<R>
  | (Omit<ModelResponded, 'reason' | 'after'> & AsyncDisposable)
  | DeniedCall
  | OpenCall<BegunModel<R>>

/** Make the call now, then end it. If you dispose of it or close the session instead, it is an interrupted failure. */
interface ModelRunning<R extends AnyRequest> extends AsyncDisposable {
  readonly status: 'run'
  /** As hooks left it, with their injections. */
  readonly request: R & ModelRequest
  /** A ModelResponse hook may still refuse or change the response: show none of it before `finish` returns it. */
  readonly held: boolean
  readonly outcome: Outcome
  /**
   * Fires ModelResponse. The first of finish and fail counts, and every later one gets its result. Rejects with TURN_ABORTED
   * or AGENT_ABORTED if a hook ends the turn or the agent, and with ABORTED if the signal is aborted.
   */
  finish<T>(response: T): Promise<FinishedModel<T>>
  /** Keeps ephemeral injections for the next call, and tells observers. It does not throw the error that it is given. */
  fail(error: unknown): Promise<FinishedModel<unknown>>
}

/** The parts of the session that a model call needs. */
export interface ModelSession extends CallSession {
  /** Whether a hook can still refuse or change it. */
  readonly decides: (kind: EventKind) => boolean
  /** Ephemeral injections that wait for this call. */
  readonly takeEphemeral: () => Promise<readonly Injection[]>
  /** The call was not made, so they wait for the next one. */
  readonly returnEphemeral: (injections: readonly Injection[]) => Promise<void>
  /** The call was made, and the model failed. */
  readonly failed: (error: unknown) => void
}

const OPTIONS: Checks<BeginModelOptions> = { ...CALL_OPTIONS, addInjections: isFunction }
export const STREAM_OPTIONS: Checks<StreamOptions<unknown, unknown>> = { ...OPTIONS, assemble: isFunction }
const WHOLE_OPTIONS: Checks<CallModelOptions<unknown, unknown>> = { ...STREAM_OPTIONS, onDelta: isFunction }

/** The first half. `what` names the caller in errors. */
export async function beginModelCall<R extends AnyRequest>(
  session: ModelSession,
  what: string,
  request: R,
  options: BeginModelOptions<R>,
): Promise<BegunModel<R>> {
  if (!isObject(request))
    throw new HookError(
      'PAYLOAD_INVALID',
      `${what}: the request must be { model, messages, … }, got ${described(request)}`,
    )
  checkOptions(what, options, OPTIONS as Checks<BeginModelOptions<R>>)
  const { signal, timeout, approver, onOutcome } = options
  const given = viewed(request)
  // The caller could change its object while hooks run, so a copy is judged and sent.
  const kept = (given ? given.original : frozenCopy(request, 'the request')) as ModelRequest
  const seenRequest = given ? (given.view as ModelRequest) : kept
  const injected: Injection[] = []
  const begin = async ({ outcome, changed, open }: FireResult): Promise<BegunModel<R>> => {
    await onOutcome?.('ModelRequest', outcome)
    refuseAborted(outcome)
    if (outcome.action === 'respond')
      return { status: 'responded', response: outcome.response ?? null, outcome, ...UNBEGUN }
    injected.push(...outcome.injections.filter((injection) => !injection.ephemeral))
    if (open) return asked(open, { outcome }, begin)
    if (outcome.action !== 'continue') return denied(outcome)
    if (given && hasChanged(given)) return denied(outcome, CHANGED)
    const ephemeral = await session.takeEphemeral()
    const judged = withChanges(kept, outcome, changed, given) as R & ModelRequest
    const end = modelEnd(session, options, { model: judged.model, ephemeral, outcome })
    let allowed = judged
    try {
      refuseStopped(signal)
      session.refuseClosed()
      const added = rendered([...ephemeral, ...injected])
      const add = options.addInjections ?? withInjections
      if (added.length > 0) allowed = add(judged, added) as R & ModelRequest
    } catch (error) {
      await end.fail(error)
      throw error
    }
    return {
      status: 'run',
      request: allowed,
      held: session.decides(resolveEvent('ModelResponse')),
      outcome,
      ...(endings(session.track, end) as Ends),
    }
  }
  return begin(await session.fire('ModelRequest', seenRequest, { signal, timeout, approver }))
}

type Ends = Pick<ModelRunning<ModelRequest>, 'finish' | 'fail' | typeof Symbol.asyncDispose>

/** The second half: what hooks see of a response. */
function modelEnd(
  session: ModelSession,
  { signal, timeout, approver, onOutcome }: CallOptions,
  call: { readonly model: string; readonly ephemeral: readonly Injection[]; readonly outcome: Outcome },
) {
  const { model, ephemeral, outcome } = call
  return {
    refuses: (response: unknown) =>
      isStream(response) ? 'the response must not be a stream; read it first' : refusesPromise(response),
    async finish(response: unknown): Promise<FinishedModel<unknown>> {
      const [seen, problem] = asJson(response)
      const judged = async (fired: FireResult): Promise<FinishedModel<unknown>> => {
        const after = withDiagnostic(fired.outcome, problem)
        await onOutcome?.('ModelResponse', after)
        refuseAborted(after)
        if (fired.open) return { ...asked(fired.open, { outcome, by: after }, judged), after }
        if (after.action !== 'continue') return { ...denied(after), outcome, after }
        if (!fired.changed.has('response')) return { status: 'ok', response, outcome, after }
        const replaced = after.data.response as Json
        const status = hasFormOf(replaced, response) ? 'ok' : 'responded'
        return { status, response: replaced, outcome, after }
      }
      return judged(
        await session.fire('ModelResponse', { model, response: seen }, { signal, timeout, approver }),
      )
    },
    async fail(error: unknown): Promise<FinishedModel<unknown>> {
      await session.returnEphemeral(ephemeral)
      session.failed(error)
      return { status: 'failed', reason: textOf(error), outcome }
    },
  }
}

/** Both halves, with the model between them. */
export async function guardModelCall<T, D, R extends AnyRequest, A>(
  session: ModelSession,
  request: R,
  run: RunModel<T, D, R>,
  options: CallModelOptions<D, A, R>,
): Promise<ModelCallResult<ModelAnswer<T, D, A>>> {
  checkArgument('callModel: run', run, isFunction)
  checkOptions('callModel', options, WHOLE_OPTIONS as Checks<CallModelOptions<D, A, R>>)
  const { onDelta, assemble: _, ...beginning } = options
  const begun = await beginModelCall(session, 'callModel', request, beginning)
  const { status, outcome } = begun
  if (status === 'responded') return { status, response: begun.response, outcome }
  if (status !== 'run') return { status, reason: begun.reason, outcome }
  const { signal } = options
  let response: T | A
  let deltas: readonly D[] = []
  try {
    const running = (async () => run(begun.request, { signal }))()
    const answered = await unlessAborted(running, signal, ABORT_GRACE_MS)
    if (isStream<D, T>(answered)) ({ response, deltas } = await collect(answered, options, begun.held))
    else response = answered
  } catch (error) {
    await begun.fail(error)
    throw error
  }
  const finished = await begun.finish(response as ModelAnswer<T, D, A>)
  const { after } = finished
  switch (finished.status) {
    case 'denied':
    case 'needs_approval':
      return { status: finished.status, reason: finished.reason, outcome, ...(after && { after }) }
    case 'ok':
      // No hook replaced it.
      if (begun.held && Object.is(finished.response, response))
        for (const delta of deltas) await onDelta?.(delta)
  }
  // Nothing else ends this call, so it has not failed.
  return finished as ModelCallResult<ModelAnswer<T, D, A>>
}

/** Takes only the hooks' changes from the copy they saw, because a request may hold values that JSON cannot carry. */
function withChanges(
  request: ModelRequest,
  { data }: Outcome,
  changed: ReadonlySet<string>,
  given: Viewed | undefined,
): ModelRequest {
  const result: Record<string, unknown> = { ...request }
  for (const key of changed) {
    if (!Object.hasOwn(data, key)) delete result[key]
    else result[key] = given ? restored(data[key], fieldOf(given, key)) : data[key]
  }
  return result as ModelRequest
}

export function isStream<D, T>(value: unknown): value is ModelStream<D, T> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

/** Reads a stream to its end, and passes deltas on at once unless they are held back. */
async function collect<T, D, A>(
  stream: ModelStream<D, T>,
  { onDelta, assemble, signal }: Pick<CallModelOptions<D, A>, 'onDelta' | 'assemble' | 'signal'>,
  held: boolean,
): Promise<{ response: T | A; deltas: readonly D[] }> {
  const deltas: D[] = []
  const iterator = stream[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await unlessAborted(Promise.resolve(iterator.next()), signal, ABORT_GRACE_MS)
      if (next.done) return { response: messageOf(deltas, next.value, assemble), deltas }
      refuseStopped(signal)
      deltas.push(next.value)
      if (!held) await onDelta?.(next.value)
    }
  } catch (error) {
    await closed(iterator)
    throw error
  }
}

const CLOSE_TIMEOUT_MS = 1000

/** Closes the source. A second failure, or a close that never ends, must not replace the first error. */
export async function closed(iterator: AsyncIterator<unknown>): Promise<void> {
  try {
    await inTime(Promise.resolve(iterator.return?.()), CLOSE_TIMEOUT_MS)
  } catch {
    return
  }
}

/** The whole message of a stream that has ended. */
export function messageOf<T, D, A>(
  deltas: readonly D[],
  returned: T,
  assemble: ((deltas: readonly D[]) => A) | undefined,
): T | A {
  if (assemble) return assemble(deltas)
  if (returned !== undefined && returned !== null) return returned
  const message = { role: 'assistant', content: textOfDeltas(deltas) }
  return (deltas.every((delta) => typeof delta === 'string') ? message : { ...message, deltas }) as T
}
