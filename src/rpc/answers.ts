// Answers: what the other side asks is handed to a handler, and its result or error sent back.

import { textOf } from '../core/base/errors.js'
import type { Json } from '../core/base/json.js'
import { isPromise } from '../core/base/promise.js'
import { shown } from '../core/base/text.js'
import { errorLine, type Message, RPC_CODES, type RpcId, resultLine } from './message.js'
import type { Problems } from './problem.js'
import { RpcError } from './rpc-error.js'

export type RequestHandler = (method: string, params: Json | undefined) => unknown
type Request = Extract<Message, { readonly type: 'request' }>

/** Requests that may be worked on at a time; one more is refused. */
const MOST_REQUESTS = 4096

export class Answers {
  readonly #handler: RequestHandler | undefined
  readonly #problems: Problems
  readonly #send: (line: string) => boolean
  #underWay = 0
  #abandoned = false
  #waiting: (() => void)[] = []

  /** `send` tells whether the line could be taken. */
  constructor(handler: RequestHandler | undefined, problems: Problems, send: (line: string) => boolean) {
    this.#handler = handler
    this.#problems = problems
    this.#send = send
  }

  /** Never throws. */
  to(request: Request): void {
    const { id, method } = request
    if (!this.#handler) {
      this.#problems.add('request', () => `The request ${shown(method)} was refused: none is answered here`)
      this.#fail(id, methodNotFound(method))
      return
    }
    if (this.#underWay >= MOST_REQUESTS) {
      this.#fail(id, new Error(`More than ${MOST_REQUESTS} requests are under way`))
      return
    }
    this.#handle(this.#handler, request)
  }

  /** Settles when nothing is under way, or the answers are not awaited any more. */
  given(): Promise<void> {
    if (this.#underWay === 0 || this.#abandoned) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Nobody can get an answer any more. */
  abandon(): void {
    this.#abandoned = true
    this.#release()
  }

  #handle(handler: RequestHandler, { id, method, params }: Request): void {
    try {
      const result = handler(method, params)
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

  #fail(id: RpcId, error: unknown): void {
    const { code, data } = error instanceof RpcError ? error : {}
    const reply = { code: code ?? RPC_CODES.serverError, message: textOf(error) }
    let line: string
    try {
      line = errorLine(id, { ...reply, data })
    } catch {
      line = errorLine(id, reply) // its data is no JSON; the message matters more
    }
    this.#give(line)
  }

  #give(line: string): void {
    if (this.#abandoned || this.#send(line)) return
    this.#problems.add('request', () => 'An answer was dropped: the other side does not read')
  }
}

/** For a handler to throw. */
export function methodNotFound(method: string): RpcError {
  return new RpcError('remote', `Method not found: ${shown(method)}`, { code: RPC_CODES.methodNotFound })
}
