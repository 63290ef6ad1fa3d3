// The relay: messages between an MCP client and a server, both ways. It passes on what it does not know, asks a judge about
// some requests, and answers each request once, whatever the other side does. It knows nothing of processes or hooks.

import { randomUUID } from 'node:crypto'
import { textOf } from '../../core/base/errors.js'
import { isObject, type Json } from '../../core/base/json.js'
import { isPromise, type MaybePromise } from '../../core/base/promise.js'
import { shown } from '../../core/base/text.js'
import { type Message, RPC_CODES, type RpcId } from '../../rpc/message.js'
import { Problems } from '../../rpc/problem.js'
import {
  type Exchange,
  failure,
  type Judge,
  type JudgeReply,
  type Judges,
  type Passed,
  type RpcReply,
} from './judge.js'
import {
  batchIn,
  failureOf,
  isPlainError,
  notificationLine,
  readLine,
  replyLine,
  requestLine,
  type Sender,
  type SideName,
} from './lines.js'
import type { Peer } from './peer.js'
import { isId, Waiting, WaitingRequests } from './waiting.js'

export interface RelayOptions {
  readonly client: Peer
  readonly server: Peer
  /** Who judges requests of the client, and of the server, by method. All other messages pass. */
  readonly judges: Readonly<Record<SideName, Judges>>
  readonly judgeReply?: JudgeReply
  /** The server has this long to answer a request, or to report progress. */
  readonly timeoutMs: number
  /** Gets problems with messages. Must not throw. */
  readonly log: (text: string) => void
}

/** The most requests of one side that wait for an answer at a time. */
const MOST_WAITING: Readonly<Record<SideName, number>> = { client: 4096, server: 256 }
const LOOK_MS = 1000
const CANCELLED = 'notifications/cancelled'
const PROGRESS = 'notifications/progress'

interface Side extends Sender {
  readonly peer: Peer
  /** Its requests. */
  readonly waiting: WaitingRequests
  gone: string | undefined
}

export class Relay {
  readonly #options: RelayOptions
  readonly #problems: Problems
  readonly #client: Side
  readonly #server: Side
  readonly #timer: ReturnType<typeof setInterval>
  /** No server can guess the ids of our own requests. */
  readonly #nonce = `carabiner-${randomUUID()}`
  #asked = 0
  #idle: (() => void)[] = []

  constructor(options: RelayOptions) {
    this.#options = options
    this.#problems = new Problems(({ text }) => options.log(text))
    const side = (name: SideName): Side => ({
      name,
      peer: options[name],
      judges: options.judges[name],
      waiting: new WaitingRequests(),
      gone: undefined,
    })
    this.#client = side('client')
    this.#server = side('server')
    this.#timer = setInterval(() => this.#endOverdue(), LOOK_MS).unref()
  }

  fromClient(line: string): void {
    this.#receive(this.#client, this.#server, line)
  }

  fromServer(line: string): void {
    this.#receive(this.#server, this.#client, line)
  }

  /** Asks the client for something, as the server would. Nobody judges it. */
  askClient(method: string, params: Json, signal: AbortSignal): Promise<RpcReply> {
    this.#asked++
    const id = `${this.#nonce}-${this.#asked}`
    const waiting = this.#server.waiting.add(new Waiting(id, method, params))
    const stop = () => {
      if (!this.#remove(this.#server, waiting)) return
      this.#client.peer.send(notificationLine(CANCELLED, { requestId: id }))
      waiting.deliver?.(failure('the question was cancelled'))
    }
    signal.addEventListener('abort', stop, { once: true })
    return new Promise<RpcReply>((resolve) => {
      waiting.deliver = resolve
      waiting.isSent = true
      if (signal.aborted) stop()
      else if (this.#client.gone !== undefined) resolve(failure(this.#client.gone))
      else this.#client.peer.send(requestLine(id, method, params))
    }).finally(() => {
      signal.removeEventListener('abort', stop)
      this.#remove(this.#server, waiting)
    })
  }

  /** Every request of the client that waits for the server fails, and every further one. */
  serverGone(why: string): void {
    if (this.#server.gone !== undefined) return
    this.#server.gone = why
    this.#failSent(this.#client, why)
    for (const waiting of this.#server.waiting.all()) {
      if (waiting.isSent) this.#client.peer.send(notificationLine(CANCELLED, { requestId: waiting.id }))
      this.#cancel(this.#server, waiting, why)
    }
  }

  /** Nobody reads answers any more. */
  clientGone(why: string): void {
    if (this.#client.gone !== undefined) return
    this.#client.gone = why
    clearInterval(this.#timer)
    for (const waiting of this.#client.waiting.all()) this.#cancel(this.#client, waiting, why)
    this.#failSent(this.#server, why)
    this.#problems.end()
  }

  /** A line that was too long to be read: nobody knows whose answer it was. */
  lostReply(why: string): void {
    this.#problems.add('too-long', () => why)
    this.#failSent(this.#client, why)
  }

  /** Settles when no request of the client waits. */
  answered(): Promise<void> {
    if (this.#client.waiting.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  // ---- messages -----------------------------------------------------------------------------------------------

  #receive(from: Side, to: Side, text: string): void {
    const { line, message, hasTwins } = readLine(text, from)
    // The other side must not read another of two equal keys than we do: such a reply is written again.
    const written = hasTwins ? {} : { line }
    switch (message?.type) {
      case 'request':
        this.#request(from, to, message, line)
        break
      case 'notification':
        this.#notification(from, to, message, line)
        break
      case 'result':
        this.#reply(to, message.id, { result: message.result, ...written })
        break
      case 'error':
        this.#reply(to, message.id, {
          error: failureOf(message.error),
          ...(isPlainError(message.error) && written),
        })
        break
      case 'malformed':
        this.#malformed(from, to, message, line)
    }
  }

  #request(from: Side, to: Side, message: Extract<Message, { type: 'request' }>, line: string): void {
    const { id, method, params } = message
    const refusal = this.#refusalOf(from, to, id)
    if (refusal) {
      from.peer.send(replyLine(id, refusal))
      return
    }
    const judge = Object.hasOwn(from.judges, method) ? from.judges[method] : undefined
    const waiting = from.waiting.add(new Waiting(id, method, params))
    if (judge) this.#judge(judge, { from, to, waiting, params, line })
    else this.#send(to, waiting, line)
  }

  #refusalOf(from: Side, to: Side, id: RpcId): RpcReply | undefined {
    if (from.waiting.get(id))
      return failure('A request with this id is still in progress', RPC_CODES.invalidRequest)
    if (from.waiting.size >= MOST_WAITING[from.name]) return failure('Too many requests are in progress')
    return to.gone === undefined ? undefined : failure(to.gone)
  }

  #judge(
    judge: Judge,
    about: { from: Side; to: Side; waiting: Waiting; params: Json | undefined; line: string },
  ): void {
    const { from, to, waiting, params, line } = about
    const { id, method } = waiting
    const forward = (changed?: Json): Promise<RpcReply> =>
      new Promise((resolve) => {
        const stopped = waiting.cancelled ?? to.gone
        waiting.deliver = resolve
        if (stopped !== undefined) resolve(failure(stopped))
        else this.#send(to, waiting, changed === undefined ? line : requestLine(id, method, changed))
      })
    const exchange: Exchange = {
      id,
      line,
      forward,
      get signal() {
        return waiting.signal
      },
    }
    try {
      const judged = judge(params, exchange)
      if (isPromise(judged)) {
        this.#answer(from, waiting, judged)
        return
      }
      waiting.deliver = (reply) => this.#passed(from, waiting, judged, reply)
      this.#send(to, waiting, line)
    } catch (error) {
      this.#answer(from, waiting, this.#refused(method, error))
    }
  }

  #passed(from: Side, waiting: Waiting, { replied }: Passed, reply: RpcReply): void {
    try {
      this.#answer(from, waiting, replied(reply))
    } catch (error) {
      this.#answer(from, waiting, this.#refused(waiting.method, error))
    }
  }

  #answer(from: Side, waiting: Waiting, reply: MaybePromise<RpcReply>): void {
    if (isPromise(reply)) {
      void reply
        .catch((error: unknown) => this.#refused(waiting.method, error))
        .then((final) => this.#answer(from, waiting, final))
      return
    }
    // A cancelled request gets no answer.
    if (this.#remove(from, waiting)) from.peer.send(replyLine(waiting.id, reply))
  }

  #refused(method: string, error: unknown): RpcReply {
    const text = `${shown(method)} was refused, because it could not be judged: ${textOf(error)}`
    this.#options.log(text)
    return failure(text, RPC_CODES.internalError)
  }

  #send(to: Side, waiting: Waiting, line: string): void {
    waiting.isSent = true
    waiting.until = this.#deadline()
    to.peer.send(line)
  }

  #notification(
    from: Side,
    to: Side,
    message: Extract<Message, { type: 'notification' }>,
    line: string,
  ): void {
    const { method, params } = message
    if (to.gone !== undefined) return
    if (method === CANCELLED && isObject(params) && isId(params.requestId)) {
      const waiting = from.waiting.get(params.requestId)
      // The other side does not know a request that is still being judged.
      const isKnown = waiting === undefined || waiting.isSent
      if (waiting) this.#cancel(from, waiting, 'The request was cancelled')
      if (!isKnown) return
    }
    if (method === PROGRESS && isObject(params)) {
      const waiting = to.waiting.withToken(params.progressToken)
      if (waiting) waiting.until = this.#deadline()
    }
    to.peer.send(line)
  }

  /** `to`: the side that made the request. */
  #reply(to: Side, id: unknown, reply: RpcReply): void {
    const waiting = to.waiting.get(id)
    if (!waiting?.isSent) {
      this.#problems.add(
        'unknown-id',
        () => `A reply with the id ${shown(id)} was dropped: no request waits for it`,
      )
      return
    }
    waiting.isSent = false
    const judged = to === this.#client && this.#options.judgeReply?.(reply, waiting)
    if (!judged) this.#deliver(to, waiting, reply)
    else
      void judged
        .catch((error: unknown) => this.#refused(waiting.method, error))
        .then((final) => this.#deliver(to, waiting, final))
  }

  #deliver(to: Side, waiting: Waiting, reply: RpcReply): void {
    if (waiting.deliver) waiting.deliver(reply)
    else if (this.#remove(to, waiting)) to.peer.send(replyLine(waiting.id, reply))
  }

  #malformed(from: Side, to: Side, message: Extract<Message, { type: 'malformed' }>, line: string): void {
    const parts = batchIn(line)
    if (parts) {
      // Each part is judged like a message of its own.
      for (const part of parts) this.#receive(from, to, JSON.stringify(part))
      return
    }
    const { why, replyTo, id, code = RPC_CODES.invalidRequest } = message
    this.#problems.add(
      'malformed',
      () => `A line of the ${from.name} was skipped, since ${why}: ${line.slice(0, 200)}`,
    )
    if (replyTo !== undefined) this.#reply(to, replyTo, failure(`The reply cannot be read: ${why}`))
    else if (from.name === 'client' || id !== undefined)
      from.peer.send(replyLine(id ?? null, failure(`The line was skipped, since ${why}`, code), line))
  }

  // ---- requests that wait ---------------------------------------------------------------------------------------

  /** Returns false if it is gone already. */
  #remove(side: Side, waiting: Waiting): boolean {
    if (!side.waiting.remove(waiting)) return false
    if (this.#idle.length > 0 && this.#client.waiting.size === 0)
      for (const resolve of this.#idle.splice(0)) resolve()
    return true
  }

  #cancel(side: Side, waiting: Waiting, why: string): void {
    this.#remove(side, waiting)
    waiting.cancel(why)
    // Its judge ends, and its answer goes nowhere.
    waiting.deliver?.(failure(why))
  }

  /** Those of `side` that the other side has. A judge that still thinks learns of it when it sends its request. */
  #failSent(side: Side, why: string): void {
    for (const { id, isSent } of side.waiting.all()) if (isSent) this.#reply(side, id, failure(why))
  }

  #deadline(): number {
    return performance.now() + this.#options.timeoutMs
  }

  #endOverdue(): void {
    const now = performance.now()
    for (const waiting of this.#client.waiting.all()) {
      if (!waiting.isSent || waiting.until > now) continue
      const why = `The server did not answer ${waiting.method} within ${this.#options.timeoutMs / 1000} s`
      this.#server.peer.send(notificationLine(CANCELLED, { requestId: waiting.id, reason: why }))
      this.#reply(this.#client, waiting.id, failure(why))
    }
  }
}
