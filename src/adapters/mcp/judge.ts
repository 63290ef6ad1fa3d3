// A judge decides about one kind of request: it refuses, answers or changes the request, or lets it pass.

import type { Json } from '../../core/base/json.js'
import type { MaybePromise } from '../../core/base/promise.js'
import { RPC_CODES, type RpcId } from '../../rpc/message.js'

/** How a request ended. `line` is the reply as it was written, if nothing in it was changed. */
export type RpcReply = ({ readonly result: Json } | { readonly error: RpcFailure }) & {
  readonly line?: string
}

export interface RpcFailure {
  readonly code: number
  readonly message: string
  readonly data?: Json
}

export function failure(message: string, code: number = RPC_CODES.serverError): RpcReply {
  const reply = { error: { code, message } }
  made.add(reply)
  return reply
}

const made = new WeakSet<RpcReply>()

/** Whether the proxy answers, and not the other side. */
export function isOwn(reply: RpcReply): boolean {
  return made.has(reply)
}

/** A request that is being judged. */
export interface Exchange {
  readonly id: RpcId
  /** The request as it was written. */
  readonly line: string
  /** Aborted when the request is cancelled, or its sender is gone. */
  readonly signal: AbortSignal
  /** Sends the request on, once: as it was written, or with other params. Never rejects. */
  forward(changed?: Json): Promise<RpcReply>
}

/** An error that it throws is the answer. Nothing is passed on behind its back. */
export type Judge = (params: Json | undefined, exchange: Exchange) => Promise<RpcReply> | Passed

/** The request goes on as it was written. This costs much less than a promise. */
export interface Passed {
  /** Gets the reply, and returns the one for the sender. */
  readonly replied: (reply: RpcReply) => MaybePromise<RpcReply>
}

/** By method. */
export type Judges = Readonly<Record<string, Judge>>

/** Decides about any reply of the server, before the judge of its request does. Undefined: there is nothing to decide. */
export type JudgeReply = (reply: RpcReply, request: Pick<Exchange, 'signal'>) => Promise<RpcReply> | undefined
