// An MCP server that is a process: the SDK's messages over a supervised resident process. The SDK's own transport does
// not limit output, and ends only the process, not its group.

import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { textOf } from '../../core/base/errors.js'
import type { Json } from '../../core/base/json.js'
import { shown } from '../../core/base/text.js'
import { methodNotFound } from '../../rpc/message.js'
import { RpcError, type RpcProblem } from '../../rpc/problem.js'
import { type Launch, launched } from '../process/launch.js'
import { Life, withLastWords } from '../process/life.js'
import { type Link, type LinkEvents, MOST_MESSAGE_BYTES, TRANSPORT_ERROR } from './sdk.js'

/** More than this without an answer is a flood, and ends the process. */
const MOST_UNASKED_BYTES = 16 * 1024 * 1024

/** Servers may send these at any time: logs, progress, and replies to calls that were given up. */
const NO_NOISE: ReadonlySet<RpcProblem['kind']> = new Set(['notification', 'late'])

const LIST_CHANGED = 'notifications/tools/list_changed'

interface Sent {
  /** Its number on the wire, because the connection counts for itself. */
  readonly wire: number
  readonly giveUp: () => void
}

export class StdioLink implements Link {
  onclose?: () => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly gone: Promise<void>
  readonly #life: Life
  readonly #sent = new Map<RequestId, Sent>()
  #calls = 0
  #unasked = 0

  /** Rejects with HOOK_NOT_STARTED. */
  static async launch(launch: Launch, events: LinkEvents): Promise<StdioLink> {
    return new StdioLink(await launched(launch), events)
  }

  private constructor(child: Awaited<ReturnType<typeof launched>>, events: LinkEvents) {
    this.#life = new Life(child, MOST_MESSAGE_BYTES, {
      over: () => {
        events.over()
        this.onclose?.()
      },
      drained: () => undefined,
      problem: ({ kind, text }) => {
        if (!NO_NOISE.has(kind)) events.noise(text)
      },
      request: (method) => {
        if (method === 'ping') return {}
        events.noise(refusal(method))
        throw methodNotFound(method)
      },
      // All others are for people. Forwarding each of them would make a flood expensive.
      notification: (method) => {
        if (method === LIST_CHANGED) this.#deliver({ method })
      },
      leftBehind: () =>
        events.noise('it left a process running outside its group that still holds its output'),
    })
    this.gone = this.#life.gone
    child.stdout.on('data', (chunk: Buffer) => this.#count(chunk.length))
  }

  get isOver(): boolean {
    return this.#life.isOver
  }

  get isDismissed(): boolean {
    return this.#life.isDismissed
  }

  async how(): Promise<string> {
    await this.#life.ended
    return this.withLastWords(this.#life.how)
  }

  withLastWords(text: string): string {
    return withLastWords(text, this.#life)
  }

  forgetStderr(): void {
    this.#life.stderr.forget()
  }

  newStderr(): string {
    return this.#life.stderr.takeNew()
  }

  /** The process is already running. */
  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.isOver) throw new Error(this.#life.how)
    if (!('method' in message)) return // Requests of the server are answered above.
    const params = (message.params ?? {}) as Json
    if ('id' in message) this.#call(message.id, message.method, params)
    else if (message.method === 'notifications/cancelled') this.#cancel(params)
    else this.#life.notify(message.method, params)
  }

  /** Called by the client, also after a failed handshake. */
  async close(): Promise<void> {
    this.end('it was no longer needed')
  }

  end(why: string): void {
    this.#life.end(why)
  }

  terminate(why: string): void {
    this.#life.terminate(why)
  }

  #call(id: RequestId, method: string, params: Json): void {
    const onStart = (giveUp: () => void) => this.#sent.set(id, { wire: ++this.#calls, giveUp })
    this.#life.call(method, params, { onStart }).then(
      (result) => {
        this.#unasked = 0
        this.#answered(id, { result: result as Record<string, unknown> })
      },
      (error: unknown) => {
        // Nobody waits for a call that was given up, and `over` reports a process that is gone.
        if (error instanceof RpcError && (error.kind === 'aborted' || error.kind === 'closed')) return
        const code = error instanceof RpcError ? error.code : undefined
        this.#answered(id, { error: { code: code ?? TRANSPORT_ERROR, message: textOf(error) } })
      },
    )
  }

  #answered(
    id: RequestId,
    reply: { result: Record<string, unknown> } | { error: { code: number; message: string } },
  ): void {
    this.#sent.delete(id)
    this.#deliver({ id, ...reply })
  }

  #cancel(params: Json): void {
    const { requestId, reason } = params as { readonly requestId: RequestId; readonly reason?: string }
    const sent = this.#sent.get(requestId)
    if (!sent) return
    this.#sent.delete(requestId)
    sent.giveUp()
    this.#life.notify('notifications/cancelled', {
      requestId: sent.wire,
      ...(reason !== undefined && { reason }),
    })
    this.#life.unanswered()
  }

  #deliver(message: object): void {
    this.onmessage?.({ jsonrpc: '2.0', ...message } as JSONRPCMessage)
  }

  #count(bytes: number): void {
    this.#unasked += bytes
    if (this.#unasked <= MOST_UNASKED_BYTES) return
    this.terminate(
      `it printed more than ${MOST_UNASKED_BYTES} bytes to its standard output without an answer`,
    )
  }
}

export function refusal(method: string): string {
  return `it requested ${shown(method)}, which hooks do not offer; the request was refused`
}
