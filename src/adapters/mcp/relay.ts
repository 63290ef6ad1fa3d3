// The relay: messages between an MCP client and a server, both ways. It passes on what it does not know, asks a judge about
// some requests, and answers each request once, whatever the other side does. It knows nothing of processes or hooks.

import { randomUUID } from 'node:crypto'
import { textOf } from '../../core/base/errors.js'
import { isObject, type Json, shapeOf } from '../../core/base/json.js'
import { isPromise, type MaybePromise } from '../../core/base/promise.js'
import { shown } from '../../core/base/text.js'
import {
  type Fields,
  type Message,
  messageOf,
  RPC_CODES,
  type RpcId,
  readMessage,
} from '../../rpc/message.js'
import { Problems } from '../../rpc/problem.js'
import { mistakenInMessage, mistakenInParams } from './protocol-keys.js'

/** One of the two sides. Gets a message without a line break, in order. Must not throw. */
export interface Peer {
  send(line: string): void
}

export type SideName = 'client' | 'server'

/** How a request ended. `line` is the reply as it was written, if nothing in it was changed. */
export type Reply = ({ readonly result: Json } | { readonly error: RpcFailure }) & { readonly line?: string }

export interface RpcFailure {
  readonly code: number
  readonly message: string
  readonly data?: Json
}

/** A request that is being judged. */
export interface Exchange {
  readonly id: RpcId
  /** The request as it was written. */
  readonly line: string
  /** Aborted when the request is cancelled, or its sender is gone. */
  readonly signal: AbortSignal
  /** Sends the request on, once: as it was written, or with other params. Never rejects. */
  forward(changed?: Json): Promise<Reply>
}

/** Decides about one request. What it throws is answered as an error; nothing is passed on behind its back. */
export type Judge = (params: Json | undefined, exchange: Exchange) => Promise<Reply> | Passed

/** The request goes on as it was written. This costs much less than a promise. */
export interface Passed {
  /** Gets the reply, and returns the one for the sender. */
  readonly replied: (reply: Reply) => MaybePromise<Reply>
}
export type Judges = Readonly<Record<string, Judge>>

export interface RelayOptions {
  readonly client: Peer
  readonly server: Peer
  /** Who judges requests of the client, and of the server, by method. All other messages pass. */
  readonly judges: Readonly<Record<SideName, Judges>>
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

/** A request that waits for its answer. */
class Waiting {
  readonly id: RpcId
  readonly key: string
  readonly method: string
  readonly progressToken: string | undefined
  /** Whether the other side has it, and has not answered yet. */
  isSent = false
  /** Gets the reply. Absent: it goes back to the sender as it is. */
  deliver: ((reply: Reply) => void) | undefined = undefined
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

interface Side {
  readonly name: SideName
  readonly peer: Peer
  readonly judges: Judges
  /** Its requests, by id. */
  readonly waiting: Map<string, Waiting>
  readonly byToken: Map<string, Waiting>
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
      waiting: new Map(),
      byToken: new Map(),
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
  askClient(method: string, params: Json, signal: AbortSignal): Promise<Reply> {
    this.#asked++
    const id = `${this.#nonce}-${this.#asked}`
    const waiting = this.#add(this.#server, new Waiting(id, method, params))
    const stop = () => {
      if (!this.#remove(this.#server, waiting)) return
      this.#client.peer.send(notificationLine(CANCELLED, { requestId: id }))
      waiting.deliver?.(failure('the question was cancelled'))
    }
    signal.addEventListener('abort', stop, { once: true })
    return new Promise<Reply>((resolve) => {
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
    for (const waiting of [...this.#server.waiting.values()]) {
      if (waiting.isSent) this.#client.peer.send(notificationLine(CANCELLED, { requestId: waiting.id }))
      this.#cancel(this.#server, waiting, why)
    }
  }

  /** Nobody reads answers any more. */
  clientGone(why: string): void {
    if (this.#client.gone !== undefined) return
    this.#client.gone = why
    clearInterval(this.#timer)
    for (const waiting of [...this.#client.waiting.values()]) this.#cancel(this.#client, waiting, why)
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
    // What is before an object hides nothing of it.
    const line = (text.includes('\r') ? withoutReturns(text) : text).trim()
    const { message, hasTwins } = readLine(line, from)
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
        this.#reply(to, message.id, { error: failureOf(message.error), ...written })
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
    const waiting = this.#add(from, new Waiting(id, method, params))
    if (judge) this.#judge(judge, { from, to, waiting, params, line })
    else this.#send(to, waiting, line)
  }

  #refusalOf(from: Side, to: Side, id: RpcId): Reply | undefined {
    if (from.waiting.has(keyOf(id)))
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
    const forward = (changed?: Json): Promise<Reply> =>
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

  #passed(from: Side, waiting: Waiting, { replied }: Passed, reply: Reply): void {
    try {
      this.#answer(from, waiting, replied(reply))
    } catch (error) {
      this.#answer(from, waiting, this.#refused(waiting.method, error))
    }
  }

  #answer(from: Side, waiting: Waiting, reply: MaybePromise<Reply>): void {
    if (isPromise(reply)) {
      void reply
        .catch((error: unknown) => this.#refused(waiting.method, error))
        .then((final) => this.#answer(from, waiting, final))
      return
    }
    // A cancelled request gets no answer.
    if (this.#remove(from, waiting)) from.peer.send(replyLine(waiting.id, reply))
  }

  #refused(method: string, error: unknown): Reply {
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
      const waiting = from.waiting.get(keyOf(params.requestId))
      // The other side does not know a request that is still being judged.
      const isKnown = waiting === undefined || waiting.isSent
      if (waiting) this.#cancel(from, waiting, 'The request was cancelled')
      if (!isKnown) return
    }
    if (method === PROGRESS && isObject(params)) {
      const waiting = to.byToken.get(keyOf(params.progressToken))
      if (waiting) waiting.until = this.#deadline()
    }
    to.peer.send(line)
  }

  /** `to`: the side that made the request. */
  #reply(to: Side, id: unknown, reply: Reply): void {
    const waiting = to.waiting.get(keyOf(id))
    if (!waiting?.isSent) {
      this.#problems.add(
        'unknown-id',
        () => `A reply with the id ${shown(id)} was dropped: no request waits for it`,
      )
      return
    }
    waiting.isSent = false
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
      from.peer.send(replyLine(id ?? null, failure(`The line was skipped, since ${why}`, code)))
  }

  // ---- requests that wait ---------------------------------------------------------------------------------------

  #add(side: Side, waiting: Waiting): Waiting {
    side.waiting.set(waiting.key, waiting)
    if (waiting.progressToken !== undefined) side.byToken.set(waiting.progressToken, waiting)
    return waiting
  }

  /** Returns false if it is gone already. */
  #remove(side: Side, waiting: Waiting): boolean {
    if (side.waiting.get(waiting.key) !== waiting) return false
    side.waiting.delete(waiting.key)
    if (waiting.progressToken !== undefined) side.byToken.delete(waiting.progressToken)
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
    for (const { id, isSent } of [...side.waiting.values()]) if (isSent) this.#reply(side, id, failure(why))
  }

  #deadline(): number {
    return performance.now() + this.#options.timeoutMs
  }

  #endOverdue(): void {
    const now = performance.now()
    for (const waiting of [...this.#client.waiting.values()]) {
      if (!waiting.isSent || waiting.until > now) continue
      const why = `The server did not answer ${waiting.method} within ${this.#options.timeoutMs / 1000} s`
      this.#server.peer.send(notificationLine(CANCELLED, { requestId: waiting.id, reason: why }))
      this.#reply(this.#client, waiting.id, failure(why))
    }
  }
}

// ---- messages that another program may read differently --------------------------------------------------------

/** Far more than any message needs, and far less than would overflow a stack. */
const DEEPEST = 500

interface Read {
  readonly message: Message | undefined
  /** Whether an object in the line has a key twice. */
  readonly hasTwins: boolean
}

/** The message in a line, unless the other side may read another one in it than we judge. */
function readLine(line: string, from: Side): Read {
  let fields: Fields
  try {
    if (!line.startsWith('{')) return { message: readMessage(line), hasTwins: false }
    fields = JSON.parse(line) as Fields
  } catch {
    return { message: readMessage(line), hasTwins: false }
  }
  const shape = shapeOf(line, DEEPEST)
  return { message: unequivocal(fields, shape, from), hasTwins: shape.repeated !== undefined }
}

function unequivocal(
  fields: Fields,
  { isTooDeep, repeated }: ReturnType<typeof shapeOf>,
  from: Side,
): Message {
  const message = messageOf(fields)
  if (message.type === 'malformed') return message
  if ('method' in message) {
    const why = isTooDeep ? TOO_DEEP : problemOf(message, fields, { repeated, from })
    const id = 'id' in message ? message.id : undefined
    return why === undefined ? message : { type: 'malformed', why, id }
  }
  const why = isTooDeep ? TOO_DEEP : mistakenInMessage(fields)
  return why === undefined ? message : { type: 'malformed', why, replyTo: message.id }
}

const TOO_DEEP = `it is nested more than ${DEEPEST} levels deep`

function problemOf(
  { type, method, params }: Extract<Message, { type: 'request' | 'notification' }>,
  fields: Fields,
  { repeated, from }: { readonly repeated: string | undefined; readonly from: Side },
): string | undefined {
  if (repeated !== undefined) return `an object in it has the key ${shown(repeated)} twice`
  const isNews = type === 'notification' && from.name === 'server'
  const mistaken = mistakenInMessage(fields) ?? (isNews ? undefined : mistakenInParams(params))
  if (mistaken !== undefined) return mistaken
  if (Object.hasOwn(fields, 'result') || Object.hasOwn(fields, 'error'))
    return 'some programs take it for a reply'
  // Some servers would carry it out, and nobody would have judged it.
  const needsId = isNews ? Object.hasOwn(from.judges, method) : !method.startsWith('notifications/')
  if (type === 'notification' && needsId) return `${shown(method)} needs an id`
  return undefined
}

// ---- text -----------------------------------------------------------------------------------------------------

export function failure(message: string, code: number = RPC_CODES.serverError): Reply {
  return { error: { code, message } }
}

function replyLine(id: RpcId | null, reply: Reply): string {
  if (reply.line !== undefined) return reply.line
  const how =
    'result' in reply ? `"result":${JSON.stringify(reply.result)}` : `"error":${JSON.stringify(reply.error)}`
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${how}}`
}

function requestLine(id: RpcId, method: string, params: Json): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

function notificationLine(method: string, params: Json): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params })
}

function failureOf(error: Json): RpcFailure {
  const { code, message, data } = isObject(error) ? error : ({ message: error } as Record<string, Json>)
  return {
    code: typeof code === 'number' ? code : RPC_CODES.serverError,
    message: typeof message === 'string' ? message : JSON.stringify(error),
    ...(data !== undefined && { data: data as Json }),
  }
}

/** Some programs end a line at a carriage return, and would read a part of the message as another one. */
function withoutReturns(text: string): string {
  const line = text.replace(/\r$/, '')
  return line.includes('\r') ? line.replaceAll('\r', ' ') : line
}

/** The number 1 and the text "1" are two ids. A list that holds 1 is none. */
function keyOf(id: unknown): string {
  if (typeof id === 'string') return `"${id}`
  return typeof id === 'number' ? String(id) : ''
}

function isId(value: unknown): value is RpcId {
  return typeof value === 'string' || typeof value === 'number'
}

function tokenIn(params: Json | undefined): string | undefined {
  const meta = isObject(params) ? params._meta : undefined
  const token = isObject(meta) ? meta.progressToken : undefined
  return isId(token) ? keyOf(token) : undefined
}

/** One revision of the protocol has batches. */
function batchIn(line: string): readonly unknown[] | undefined {
  if (!/^\s*\[\s*\{/.test(line) || shapeOf(line, DEEPEST).isTooDeep) return undefined
  try {
    return JSON.parse(line) as unknown[]
  } catch {
    return undefined
  }
}
