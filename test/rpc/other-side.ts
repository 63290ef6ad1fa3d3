// The other side of a connection, played by a test: it says lines, and gets what is sent to it.

import { PassThrough } from 'node:stream'
import type { Json } from '../../src/core/base/json.js'
import { Connection, type ConnectionOptions } from '../../src/rpc/connection.js'
import { RpcError, type RpcErrorKind, type RpcProblem } from '../../src/rpc/problem.js'

export interface Sent {
  readonly jsonrpc: string
  readonly id?: number | string
  readonly method?: string
  readonly params?: Json
  readonly result?: Json
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Json }
}

export class OtherSide {
  readonly toUs = new PassThrough()
  readonly fromUs = new PassThrough()
  readonly problems: RpcProblem[] = []
  readonly reasons: Error[] = []
  readonly connection: Connection
  /** Why it was closed. */
  readonly closed: Promise<Error>
  #text = ''

  constructor(options: Partial<ConnectionOptions> = {}) {
    let close = (_: Error) => {}
    this.closed = new Promise((resolve) => {
      close = resolve
    })
    this.connection = new Connection({
      input: this.toUs,
      output: this.fromUs,
      onProblem: (problem) => this.problems.push(problem),
      onClose: (reason) => {
        this.reasons.push(reason)
        close(reason)
      },
      ...options,
    })
  }

  /** A text is a line as it is. */
  say(...messages: (object | string)[]): void {
    for (const one of messages) this.toUs.write(`${typeof one === 'string' ? one : JSON.stringify(one)}\n`)
  }

  /** The next message that is sent to it. */
  async sent(): Promise<Sent> {
    while (!this.#text.includes('\n')) {
      const chunk: unknown = this.fromUs.read()
      if (chunk !== null) this.#text += String(chunk)
      else await new Promise((resolve) => this.fromUs.once('readable', resolve))
    }
    const end = this.#text.indexOf('\n')
    const line = this.#text.slice(0, end)
    this.#text = this.#text.slice(end + 1)
    return JSON.parse(line) as Sent
  }

  /** Everything said was read. */
  async heard(): Promise<void> {
    this.toUs.end()
    await this.closed
  }

  kinds(): string[] {
    return this.problems.map(({ kind }) => kind)
  }
}

/** The error of a call that must fail. */
export async function failure(call: Promise<Json>): Promise<RpcError> {
  const error = await call.then(
    (result) => new Error(`it was answered: ${JSON.stringify(result)}`),
    (thrown: unknown) => thrown,
  )
  if (error instanceof RpcError) return error
  throw error
}

export async function failureKind(call: Promise<Json>): Promise<RpcErrorKind> {
  return (await failure(call)).kind
}
