// Calls that wait for a reply: their numbers, how they end (reply, timeout, signal, close), and those that were given up.

import { hurry, unwatch, Watched, watch } from '../core/base/deadlines.js'
import type { Json } from '../core/base/json.js'
import { onAbort } from '../core/base/promise.js'
import { RpcError } from './problem.js'

export interface RpcCallOptions {
  /** Counts from now. Without it, the call waits until the connection is closed. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Gets a function that gives up the call, for callers without a signal, and the id of the call. */
  readonly onStart?: ((giveUp: () => void, id: number) => void) | undefined
}

/** How many given-up calls are remembered, to tell a late reply from a second one. */
const MOST_GIVEN_UP = 4096

export class PendingCall extends Watched {
  readonly id: number
  readonly method: string
  readonly #calls: PendingCalls
  readonly #resolve: (result: Json) => void
  readonly #reject: (error: Error) => void
  #timeoutMs: number | undefined
  #stopListening: (() => void) | undefined

  constructor(
    calls: PendingCalls,
    method: string,
    resolve: (result: Json) => void,
    reject: (error: Error) => void,
  ) {
    super()
    this.id = calls.nextId
    this.method = method
    this.#calls = calls
    this.#resolve = resolve
    this.#reject = reject
  }

  /** The signal must not be aborted yet. */
  begin({ timeoutMs, signal, onStart }: RpcCallOptions): void {
    if (timeoutMs !== undefined) {
      this.#timeoutMs = timeoutMs
      this.dueAt = performance.now() + timeoutMs
      watch(this)
      hurry(this.dueAt)
    }
    onStart?.(() => {
      if (this.#calls.isWaiting(this)) this.#giveUp(new RpcError('aborted', `${this.method} was given up`))
    }, this.id)
    if (signal) this.#stopListening = onAbort(signal, () => this.#giveUp(abortedError(this.method, signal)))
  }

  overdue(): void {
    const text = `${this.method} was not answered within ${Math.round(this.#timeoutMs ?? 0)} ms`
    this.#giveUp(new RpcError('timeout', text))
  }

  #giveUp(error: RpcError): void {
    this.#calls.giveUp(this)
    this.fail(error)
  }

  succeed(result: Json): void {
    this.#end()
    this.#resolve(result)
  }

  fail(error: Error): void {
    this.#end()
    this.#reject(error)
  }

  #end(): void {
    if (this.#timeoutMs !== undefined) unwatch(this)
    this.#stopListening?.()
  }
}

export function abortedError(method: string, signal: AbortSignal): RpcError {
  return new RpcError('aborted', `${method} was given up because its signal was aborted`, {
    cause: signal.reason,
  })
}

export class PendingCalls {
  readonly #waiting = new Map<number, PendingCall>()
  /** Number and method of calls that were given up, oldest first. */
  readonly #givenUp = new Map<number, string>()
  #last = 0

  get size(): number {
    return this.#waiting.size
  }

  get nextId(): number {
    return this.#last + 1
  }

  add(call: PendingCall): void {
    this.#last = call.id
    this.#waiting.set(call.id, call)
  }

  /** Takes the call that a reply belongs to. A second reply finds none. */
  take(id: number): PendingCall | undefined {
    const call = this.#waiting.get(id)
    if (call) this.#waiting.delete(id)
    return call
  }

  isWaiting({ id }: PendingCall): boolean {
    return this.#waiting.has(id)
  }

  /** Gives up a call. If its reply still arrives, it is late. */
  giveUp(call: PendingCall): void {
    this.#waiting.delete(call.id)
    this.#givenUp.set(call.id, call.method)
    if (this.#givenUp.size <= MOST_GIVEN_UP) return
    for (const oldest of this.#givenUp.keys()) {
      this.#givenUp.delete(oldest)
      return
    }
  }

  /** Returns the method of a call that was given up, but only once: the next reply is a second one. */
  takeLate(id: number): string | undefined {
    const method = this.#givenUp.get(id)
    this.#givenUp.delete(id)
    return method
  }

  /** Whether there ever was a call with this number. */
  made(id: number): boolean {
    return id <= this.#last
  }

  failAll(error: RpcError): void {
    const calls = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const call of calls) call.fail(error)
  }
}
