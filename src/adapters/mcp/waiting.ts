// The requests of one side that wait for an answer.

import { isObject, type Json } from '../../core/base/json.js'
import type { RpcId } from '../../rpc/message.js'
import type { RpcReply } from './judge.js'

export class Waiting {
  readonly id: RpcId
  readonly key: string
  readonly method: string
  readonly progressToken: string | undefined
  /** Whether the other side has it, and has not answered yet. */
  isSent = false
  /** Gets the reply. Absent: it goes back to the sender as it is. */
  deliver: ((reply: RpcReply) => void) | undefined = undefined
  /** When its time is over. */
  until = Number.POSITIVE_INFINITY
  #controller: AbortController | undefined
  #cancelled: Error | undefined

  constructor(id: RpcId, method: string, params: Json | undefined) {
    this.id = id
    this.key = keyOf(id)
    this.method = method
    this.progressToken = tokenIn(params)
  }

  /** Made when it is first asked for, because most requests end without anybody asking. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#cancelled) this.#controller.abort(this.#cancelled)
    return this.#controller.signal
  }

  /** Cancels its judge. */
  cancel(why: string): void {
    this.#cancelled = new Error(why)
    this.#controller?.abort(this.#cancelled)
  }

  /** Why it may not be sent any more. */
  get cancelled(): string | undefined {
    return this.#cancelled?.message
  }
}

export class WaitingRequests {
  readonly #byId = new Map<string, Waiting>()
  readonly #byToken = new Map<string, Waiting>()

  get size(): number {
    return this.#byId.size
  }

  get(id: unknown): Waiting | undefined {
    return this.#byId.get(keyOf(id))
  }

  /** The one whose progress is reported with the token. */
  withToken(token: unknown): Waiting | undefined {
    return this.#byToken.get(keyOf(token))
  }

  all(): readonly Waiting[] {
    return [...this.#byId.values()]
  }

  add(waiting: Waiting): Waiting {
    this.#byId.set(waiting.key, waiting)
    if (waiting.progressToken !== undefined) this.#byToken.set(waiting.progressToken, waiting)
    return waiting
  }

  /** Returns false if it is gone already. */
  remove(waiting: Waiting): boolean {
    if (this.#byId.get(waiting.key) !== waiting) return false
    this.#byId.delete(waiting.key)
    if (waiting.progressToken !== undefined) this.#byToken.delete(waiting.progressToken)
    return true
  }
}

/** The number 1 and the text "1" are two ids. A list that holds 1 is none. */
function keyOf(id: unknown): string {
  if (typeof id === 'string') return `"${id}`
  return typeof id === 'number' ? String(id) : ''
}

export function isId(value: unknown): value is RpcId {
  return typeof value === 'string' || typeof value === 'number'
}

function tokenIn(params: Json | undefined): string | undefined {
  const meta = isObject(params) ? params._meta : undefined
  const token = isObject(meta) ? meta.progressToken : undefined
  return isId(token) ? keyOf(token) : undefined
}
