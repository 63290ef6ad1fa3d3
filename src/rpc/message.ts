// JSON-RPC 2.0 messages, one per line: reading, writing, error codes, and answers to the other side's requests.

import { textOf } from '../core/base/errors.js'
import type { Json } from '../core/base/json.js'
import { isPromise } from '../core/base/promise.js'
import { shown } from '../core/base/text.js'
import { type Problems, RpcError } from './problem.js'

export type RpcId = number | string

/** The protocol's error codes, and the first of those that it leaves to implementations. */
export const RPC_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  serverError: -32000,
} as const

export type Message =
  | {
      readonly type: 'request'
      readonly id: RpcId
      readonly method: string
      readonly params: Json | undefined
    }
  | { readonly type: 'notification'; readonly method: string; readonly params: Json | undefined }
  | { readonly type: 'result'; readonly id: unknown; readonly result: Json }
  | { readonly type: 'error'; readonly id: unknown; readonly error: Json }
  /** `replyTo` is the id of what would have been a reply, so that its call can fail at once; `id` that of a request. */
  | {
      readonly type: 'malformed'
      readonly why: string
      readonly replyTo?: unknown
      readonly id?: RpcId | undefined
      /** Default: invalidRequest. */
      readonly code?: number
    }

export type Fields = { readonly [key: string]: Json | undefined }

const OPENING_BRACE = 0x7b

/** Undefined for an empty line. Never throws. Invalid UTF-8 is U+FFFD by now, which is valid only inside a string. */
export function readMessage(line: string): Message | undefined {
  // trim() also removes a byte order mark, which some programs begin with.
  const text = line.charCodeAt(0) === OPENING_BRACE ? line : line.trim()
  if (text === '') return undefined
  // The first character gives a log line away, and a parser error would cost ten times as much as a message.
  if (text.charCodeAt(0) !== OPENING_BRACE) return { type: 'malformed', ...noObject(text) }
  try {
    return messageOf(JSON.parse(text) as Fields)
  } catch {
    return { type: 'malformed', why: 'it is not JSON', code: RPC_CODES.parseError }
  }
}

function noObject(text: string): { readonly why: string; readonly code: number } {
  return text.startsWith('[{')
    ? { why: 'it is a list, but batches are not supported', code: RPC_CODES.invalidRequest }
    : { why: 'it is not a JSON object', code: RPC_CODES.parseError }
}

/** An undefined field counts as missing. A missing `jsonrpc` is accepted, a wrong one is not. */
export function messageOf(fields: Fields): Message {
  const { jsonrpc, id, method, params } = fields
  if (jsonrpc !== undefined && jsonrpc !== '2.0') {
    const why = `its jsonrpc is ${shown(jsonrpc)} instead of "2.0"`
    return { type: 'malformed', why, ...(method === undefined ? { replyTo: id } : { id: idOf(id) }) }
  }
  if (method === undefined) return replyOf(fields)
  if (typeof method !== 'string')
    return { type: 'malformed', why: `its method is ${shown(method)}, not a string`, id: idOf(id) }
  if (fields.result !== undefined || fields.error !== undefined) {
    return {
      type: 'malformed',
      why: 'it has both a method and a result or error, so it is neither a request nor a reply',
      id: idOf(id),
    }
  }
  // JSON-RPC 1.0 marks a notification with a null id.
  if (id === undefined || id === null) return { type: 'notification', method, params }
  if (typeof id === 'number' || typeof id === 'string') return { type: 'request', id, method, params }
  return { type: 'malformed', why: `its id is ${shown(id)}, neither a number nor a string` }
}

function idOf(id: unknown): RpcId | undefined {
  return typeof id === 'number' || typeof id === 'string' ? id : undefined
}

/** The id of a message, from its beginning alone: before any value that is an object. */
export function idAtStart(beginning: string): RpcId | undefined {
  const [, id] =
    /^\s*\{(?:[^{}]*,)?\s*"id"\s*:\s*("[^"\\\n\r\t]{1,100}"|0|-?[1-9]\d{0,14})\s*[,}]/.exec(beginning) ?? []
  return id === undefined ? undefined : (JSON.parse(id) as RpcId)
}

/** Many programs send both fields, with null in the one that does not apply. */
function replyOf({ id, result, error }: Fields): Message {
  const failed = error !== undefined && error !== null
  if (failed && result !== undefined && result !== null) {
    return { type: 'malformed', why: 'it has both a result and an error', replyTo: id }
  }
  if (failed) return { type: 'error', id, error }
  if (result !== undefined) return { type: 'result', id, result }
  return { type: 'malformed', why: 'it has no method, no result and no error', replyTo: id }
}

/** The number of a reply's call. Some languages send numbers back as strings. Our ids begin at 1. */
export function callNumber(id: unknown): number | undefined {
  const number = typeof id === 'string' && /^[1-9]\d{0,15}$/.test(id) ? Number(id) : id
  return typeof number === 'number' && number >= 1 && Number.isSafeInteger(number) ? number : undefined
}

/** Throws JSON.stringify's error if the params are not JSON. */
export function requestLine(id: number, method: string, params: Json): string {
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}\n`
}

/** Throws like requestLine. */
export function notificationLine(method: string, params: Json): string {
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}\n`
}

/** Throws if the result is not JSON. Undefined and functions become null. */
function resultLine(id: RpcId, result: unknown): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${JSON.stringify(result) ?? 'null'}}\n`
}

/** Throws if the data is not JSON. */
function errorLine(
  id: RpcId | null,
  error: { readonly code: number; readonly message: string; readonly data?: Json | undefined },
): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":${JSON.stringify(error)}}\n`
}

// ---- answers to the other side --------------------------------------------------------------------------------

/** Gets a request, its id, and the line that it came in. */
export type RequestHandler = (
  method: string,
  params: Json | undefined,
  sent: { readonly id: RpcId; readonly line: string },
) => unknown
type Request = Extract<Message, { readonly type: 'request' }>

/** The most requests in progress at a time. Any further one is refused. */
const MOST_REQUESTS = 4096

export class Answers {
  readonly #handler: RequestHandler | undefined
  readonly #problems: Problems
  readonly #send: (line: string) => boolean
  #underWay = 0
  #abandoned = false
  #waiting: (() => void)[] = []

  /** `send` returns whether the line was accepted. */
  constructor(handler: RequestHandler | undefined, problems: Problems, send: (line: string) => boolean) {
    this.#handler = handler
    this.#problems = problems
    this.#send = send
  }

  /** `repeated`: a key that occurs twice in the request, so that its meaning is uncertain. Never throws. */
  to(request: Request, line: string, repeated?: string): void {
    const { id, method } = request
    if (repeated !== undefined) {
      const text = `${shown(method)} was refused: an object in it has the key ${shown(repeated)} twice`
      this.#problems.add('request', () => text)
      this.#fail(id, new RpcError('remote', text, { code: RPC_CODES.invalidRequest }))
      return
    }
    if (!this.#handler) {
      this.#problems.add(
        'request',
        () => `The request ${shown(method)} was refused: this side answers no requests`,
      )
      this.#fail(id, methodNotFound(method))
      return
    }
    if (this.#underWay >= MOST_REQUESTS) {
      this.#fail(id, new Error(`More than ${MOST_REQUESTS} requests are in progress`))
      return
    }
    this.#handle(this.#handler, request, line)
  }

  /** Answers something that is not a request. */
  refuse(id: RpcId | null, error: RpcError): void {
    this.#fail(id, error)
  }

  /** Settles when no request is in progress, or when the answers are no longer needed. */
  given(): Promise<void> {
    if (this.#underWay === 0 || this.#abandoned) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Drops all answers, because they can no longer be delivered. */
  abandon(): void {
    this.#abandoned = true
    this.#release()
  }

  #handle(handler: RequestHandler, { id, method, params }: Request, line: string): void {
    try {
      const result = handler(method, params, { id, line })
      if (isPromise(result)) this.#later(id, result)
      else this.#succeed(id, result)
    } catch (error) {
      this.#fail(id, error)
    }
  }

  #later(id: RpcId, work: Promise<unknown>): void {
    this.#underWay++
    void Promise.resolve(work)
      .then(
        (result) => this.#succeed(id, result),
        (error: unknown) => this.#fail(id, error),
      )
      .then(() => {
        this.#underWay--
        if (this.#underWay === 0) this.#release()
      })
  }

  #release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  #succeed(id: RpcId, result: unknown): void {
    let line: string
    try {
      line = resultLine(id, result)
    } catch (error) {
      const text = `The answer cannot be sent as JSON: ${textOf(error)}`
      line = errorLine(id, { code: RPC_CODES.internalError, message: text })
    }
    this.#give(line)
  }

  #fail(id: RpcId | null, error: unknown): void {
    const { code, data } = error instanceof RpcError ? error : {}
    const reply = { code: code ?? RPC_CODES.serverError, message: textOf(error) }
    let line: string
    try {
      line = errorLine(id, { ...reply, data })
    } catch {
      line = errorLine(id, reply) // Its data is not JSON. The message matters more.
    }
    this.#give(line)
  }

  #give(line: string): void {
    if (this.#abandoned || this.#send(line)) return
    this.#problems.add('unread', () => 'An answer was dropped: the other side does not read')
  }
}

/** A handler may throw it. */
export function methodNotFound(method: string): RpcError {
  return new RpcError('remote', `Method not found: ${shown(method)}`, { code: RPC_CODES.methodNotFound })
}
