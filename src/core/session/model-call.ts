// A model call between its hooks: ModelRequest, the call (at once or streamed), ModelResponse.

import { HookError } from '../base/errors.js'
import { frozenCopy, hasFormOf, isObject, type Json } from '../base/json.js'
import { fieldOf, hasChanged, restored, type Viewed, viewed } from '../base/json-view.js'
import { type Checks, checkArgument, checkOptions, isFunction } from '../base/options.js'
import { inTime, unlessAborted } from '../base/promise.js'
import { described, type EventKind, resolveEvent } from '../events/events.js'
import type { Injection, Outcome } from '../hooks/outcome.js'
import { renderInjection } from './injection.js'
import {
  ABORT_GRACE_MS,
  asJson,
  CALL_OPTIONS,
  type CallOptions,
  CHANGED,
  type Fire,
  refuseAborted,
  refuseStopped,
  withDiagnostic,
} from './tool-call.js'

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
interface ModelStream<D, T> {
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
    : readonly D[]

export interface CallModelOptions<D, A> extends Omit<CallOptions, 'renames'> {
  /** Gets each delta of a stream, when the hooks let it pass. */
  readonly onDelta?: (delta: D) => unknown
  /** Makes the message from the deltas. Default: the stream's return value, or else the texts joined as an assistant message. */
  readonly assemble?: (deltas: readonly D[]) => A
}

/** `outcome` belongs to ModelRequest, `after` to ModelResponse. */
export type ModelCallResult<T> =
  | {
      /** The model answered. If a hook replaced the answer, the new one has the same form: text for text, the same fields. */
      readonly status: 'ok'
      readonly response: T
      readonly reason?: undefined
      readonly outcome: Outcome
      readonly after: Outcome
    }
  | {
      /** A hook gave the response instead of the model, or, if `after` is set, replaced the model's answer. */
      readonly status: 'responded'
      readonly response: Json
      readonly reason?: undefined
      readonly outcome: Outcome
      readonly after?: Outcome
    }
  | {
      readonly status: 'denied' | 'needs_approval'
      readonly response?: undefined
      readonly reason: string
      readonly outcome: Outcome
      readonly after?: Outcome
    }

/** The parts of the session that a model call needs. */
interface ModelSession {
  readonly fire: Fire
  /** Whether a hook can still refuse or change it. */
  readonly decides: (kind: EventKind) => boolean
  /** Ephemeral injections that wait for this call. */
  readonly takeEphemeral: () => Promise<readonly Injection[]>
  /** The call was not made, so they wait for the next one. */
  readonly returnEphemeral: (injections: readonly Injection[]) => Promise<void>
  /** The call was made, and the model failed. */
  readonly failed: (error: unknown) => void
}

const OPTIONS: Checks<CallModelOptions<unknown, unknown>> = {
  ...CALL_OPTIONS,
  onDelta: isFunction,
  assemble: isFunction,
}

export async function guardModelCall<T, D, R extends AnyRequest, A>(
  session: ModelSession,
  request: R,
  run: RunModel<T, D, R>,
  options: CallModelOptions<D, A>,
): Promise<ModelCallResult<ModelAnswer<T, D, A>>> {
  if (!isObject(request))
    throw new HookError(
      'PAYLOAD_INVALID',
      `callModel: the request must be { model, messages, … }, got ${described(request)}`,
    )
  checkArgument('callModel: run', run, isFunction)
  checkOptions('callModel', options, OPTIONS)
  const { signal, timeout, approver, onOutcome } = options
  const given = viewed(request)
  // The caller could change its object while hooks run, so a copy is judged and sent.
  const kept = (given ? given.original : frozenCopy(request, 'the request')) as ModelRequest
  const seenRequest = given ? (given.view as ModelRequest) : kept
  const { outcome, changed } = await session.fire('ModelRequest', seenRequest, { signal, timeout, approver })
  await onOutcome?.('ModelRequest', outcome)
  refuseAborted(outcome)
  if (outcome.action === 'respond')
    return { status: 'responded', response: outcome.response ?? null, outcome }
  if (outcome.action !== 'continue') return refused(outcome, outcome)
  if (given && hasChanged(given)) return { status: 'denied', reason: CHANGED, outcome }
  const ephemeral = await session.takeEphemeral()
  const durable = outcome.injections.filter((injection) => !injection.ephemeral)
  const allowed = withInjections(withChanges(kept, outcome, changed, given), [...ephemeral, ...durable])

  const held = session.decides(resolveEvent('ModelResponse'))
  let response: T | A
  let deltas: readonly D[] = []
  try {
    refuseStopped(signal)
    const running = (async () => run(allowed as R & ModelRequest, { signal }))()
    const answered = await unlessAborted(running, signal, ABORT_GRACE_MS)
    if (isStream<D, T>(answered)) ({ response, deltas } = await collect(answered, options, held))
    else response = answered
  } catch (error) {
    await session.returnEphemeral(ephemeral)
    session.failed(error)
    throw error
  }
  const [seen, problem] = asJson(response)
  const fired = await session.fire(
    'ModelResponse',
    { model: allowed.model, response: seen },
    { signal, timeout, approver },
  )
  const after = withDiagnostic(fired.outcome, problem)
  await onOutcome?.('ModelResponse', after)
  refuseAborted(after)
  if (after.action !== 'continue') return refused(outcome, after)
  if (!fired.changed.has('response')) {
    if (held) for (const delta of deltas) await options.onDelta?.(delta)
    return { status: 'ok', response: response as ModelAnswer<T, D, A>, outcome, after }
  }
  const replaced = after.data.response as Json
  if (!hasFormOf(replaced, response)) return { status: 'responded', response: replaced, outcome, after }
  return { status: 'ok', response: replaced as ModelAnswer<T, D, A>, outcome, after }
}

function refused<T>(outcome: Outcome, by: Outcome): ModelCallResult<T> {
  const status = by.action === 'ask_user' ? 'needs_approval' : 'denied'
  return { status, reason: by.reason ?? 'Denied by a hook', outcome, ...(by !== outcome && { after: by }) }
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

function withInjections(request: ModelRequest, injections: readonly Injection[]): ModelRequest {
  let messages = [...request.messages]
  for (const injection of injections) {
    const content = renderInjection(injection)
    const appended = injection.appendToLastToolResult ? appendToToolResult(messages, content) : undefined
    messages = appended ?? [...messages, { role: injection.role, content }]
  }
  return { ...request, messages }
}

/** Undefined if there is no tool result with text content to append to. */
function appendToToolResult(messages: readonly unknown[], content: string): unknown[] | undefined {
  const at = messages.findLastIndex((message) => isObject(message) && message.role === 'tool')
  const message = messages[at]
  if (!isObject(message) || typeof message.content !== 'string') return undefined
  return messages.with(at, { ...message, content: `${message.content}\n\n${content}` })
}

function isStream<D, T>(value: unknown): value is ModelStream<D, T> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

/** Reads a stream to its end, and passes deltas on at once unless they are held back. */
async function collect<T, D, A>(
  stream: ModelStream<D, T>,
  { onDelta, assemble, signal }: CallModelOptions<D, A>,
  held: boolean,
): Promise<{ response: T | A; deltas: readonly D[] }> {
  const deltas: D[] = []
  const iterator = stream[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await unlessAborted(Promise.resolve(iterator.next()), signal, ABORT_GRACE_MS)
      if (next.done) {
        const whole = assemble ? assemble(deltas) : (next.value ?? (joined(deltas) as T))
        return { response: whole, deltas }
      }
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
async function closed(iterator: AsyncIterator<unknown>): Promise<void> {
  try {
    await inTime(Promise.resolve(iterator.return?.()), CLOSE_TIMEOUT_MS)
  } catch {
    return
  }
}

function joined(deltas: readonly unknown[]): unknown {
  if (deltas.every((delta) => typeof delta === 'string'))
    return { role: 'assistant', content: deltas.join('') }
  return deltas
}
