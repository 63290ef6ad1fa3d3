// A model call as an async iterable: deltas come out when hooks let them pass, and what is not judged yet is held back.

import { HookError } from '../base/errors.js'
import type { Json } from '../base/json.js'
import { type Checks, checkArgument, checkOptions, isFunction, isOneOf } from '../base/options.js'
import { unlessAborted } from '../base/promise.js'
import { ABORT_GRACE_MS, refuseStopped } from './begun-call.js'
import { mayCallTool } from './delta.js'
import {
  type AnyRequest,
  beginModelCall,
  closed,
  isStream,
  type ModelAnswer,
  type ModelCallResult,
  type ModelRequest,
  type ModelSession,
  messageOf,
  type RunModel,
  STREAM_OPTIONS,
  type StreamOptions,
} from './model-call.js'

/**
 * What waits until ModelResponse hooks have judged the whole response. Without such a hook nothing waits.
 * - `all`: everything. Nothing of a refused response is shown.
 * - `tool-calls`: everything from the first tool call on. No refused call is made, but text before it has been shown.
 * - `none`: nothing. A deny or a change comes too late: the text was shown, and calls may have been started. Only `result`
 *   says it.
 */
export type Hold = 'all' | 'tool-calls' | 'none'

export interface StreamModelOptions<D, A, R extends AnyRequest = ModelRequest>
  extends StreamOptions<D, A, R> {
  /** Default: `all`. */
  readonly hold?: Hold
  /** Makes deltas of a response that a hook gave or changed. Without it, that response is only in `result`. */
  readonly deltasOf?: (response: Json) => Iterable<D>
  /** The same, for a response that a hook changed after these deltas were shown: makes the deltas that follow them. */
  readonly restOf?: (response: Json, shown: readonly D[]) => Iterable<D>
}

export interface StreamedModel<D, T> extends AsyncIterable<D> {
  /**
   * Settles when the deltas end. Look at its status: the deltas of a denied call just end. Rejects with the error that the
   * iteration throws, and if the iteration is given up.
   */
  readonly result: Promise<ModelCallResult<T>>
}

const OPTIONS: Checks<StreamModelOptions<unknown, unknown>> = {
  ...STREAM_OPTIONS,
  hold: isOneOf('all', 'tool-calls', 'none'),
  deltasOf: isFunction,
  restOf: isFunction,
}

export function streamModelCall<T, D, R extends AnyRequest, A>(
  session: ModelSession,
  request: R,
  run: RunModel<T, D, R>,
  options: StreamModelOptions<D, A, R>,
): StreamedModel<D, ModelAnswer<T, D, A>> {
  checkArgument('streamModel: run', run, isFunction)
  checkOptions('streamModel', options, OPTIONS as Checks<StreamModelOptions<D, A, R>>)
  const { promise: result, resolve, reject } = settling<ModelCallResult<ModelAnswer<T, D, A>>>()
  // An iteration throws it too.
  result.catch(() => {})
  async function* deltas(): AsyncGenerator<D, void> {
    try {
      resolve(yield* judgedDeltas(session, request, run, options))
    } catch (error) {
      reject(error)
      throw error
    } finally {
      reject(new HookError('ABORTED', 'The stream was not read to its end'))
    }
  }
  const reading = deltas()
  return { [Symbol.asyncIterator]: () => reading, result }
}

function settling<T>() {
  let resolve: (value: T) => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<T>((done, fail) => {
    resolve = done
    reject = fail
  })
  return { promise, resolve, reject }
}

async function* judgedDeltas<T, D, R extends AnyRequest, A>(
  session: ModelSession,
  request: R,
  run: RunModel<T, D, R>,
  options: StreamModelOptions<D, A, R>,
): AsyncGenerator<D, ModelCallResult<ModelAnswer<T, D, A>>> {
  const { hold = 'all', deltasOf, restOf, assemble, ...beginning } = options
  const { signal } = options
  const begun = await beginModelCall(session, 'streamModel', request, beginning)
  const { status, outcome } = begun
  if (status === 'responded') {
    if (deltasOf) yield* deltasOf(begun.response)
    return { status, response: begun.response, outcome }
  }
  if (status !== 'run') return { status, reason: begun.reason, outcome }
  let iterator: AsyncIterator<D, T> | undefined
  const seen: D[] = []
  const waiting: D[] = []
  let response: T | A
  try {
    const running = (async () => run(begun.request, { signal }))()
    const answered = await unlessAborted(running, signal, ABORT_GRACE_MS)
    if (isStream<D, T>(answered)) {
      iterator = answered[Symbol.asyncIterator]()
      for (;;) {
        const next = await unlessAborted(Promise.resolve(iterator.next()), signal, ABORT_GRACE_MS)
        if (next.done) {
          iterator = undefined
          response = messageOf(seen, next.value, assemble)
          break
        }
        refuseStopped(signal)
        const delta = next.value
        seen.push(delta)
        const waits = hold === 'all' || waiting.length > 0 || (hold === 'tool-calls' && mayCallTool(delta))
        if (begun.held && waits) waiting.push(delta)
        else yield delta
      }
    } else response = answered
    const finished = await begun.finish(response as ModelAnswer<T, D, A>)
    // Only somebody else ends a call as failed.
    if (finished.status === 'failed') throw new HookError('SESSION_CLOSED', finished.reason)
    if (finished.status === 'ok' && Object.is(finished.response, response)) yield* waiting
    else if (finished.response !== undefined) {
      const shown = seen.slice(0, seen.length - waiting.length)
      const made = shown.length === 0 ? deltasOf : restOf
      if (made) yield* made(finished.response as Json, shown)
    }
    return finished as ModelCallResult<ModelAnswer<T, D, A>>
  } catch (error) {
    await begun.fail(error)
    throw error
  } finally {
    if (iterator) await closed(iterator)
    // The reader gave up.
    await begun[Symbol.asyncDispose]()
  }
}
