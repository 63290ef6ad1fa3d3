// A server that is a process: the messages of the library's client, over the supervised life of a resident process.

import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { textOf } from '../../core/base/errors.js'
import type { Json } from '../../core/base/json.js'
import { shown } from '../../core/base/text.js'
import { methodNotFound } from '../../rpc/message.js'
import { RpcError, type RpcProblem } from '../../rpc/problem.js'
import { type Launch, launched } from '../process/launch.js'
import { Life, withLastWords } from '../process/life.js'
import { type Link, type LinkEvents, MOST_MESSAGE_BYTES, TRANSPORT_ERROR } from './sdk.js'

/** So much without an answer is a flood: whoever sends it has lost its way. */
const MOST_UNASKED_BYTES = 16 * 1024 * 1024

/** What servers send by right: logs, progress, and a reply to what was given up meanwhile. */
const NO_NOISE: ReadonlySet<RpcProblem['kind']> = new Set(['notification', 'late'])

const LIST_CHANGED = 'notifications/tools/list_changed'

interface Sent {
  /** Its number on the wire: the connection counts by itself. */
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
      // All others are for people: to hand each on would make a flood of them cost much.
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

  newStderr(): string {
    return this.#life.stderr.takeNew()
  }

  /** It was started with the process. */
  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.isOver) throw new Error(this.#life.how)
    if (!('method' in message)) return // the only requests that it may send were answered above
    const params = (message.params ?? {}) as Json
    if ('id' in message) this.#call(message.id, message.method, params)
    else if (message.method === 'notifications/cancelled') this.#cancel(params)
    else this.#life.notify(message.method, params)
  }

  /** The client's own way to end: after a hello that failed, too. */
  async close(): Promise<void> {
    this.end('it was not needed any more')
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
        // Of those given up nobody waits; of a process that is gone `over` tells.
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
  return `it asked for ${shown(method)}, which a hook does not give; it was refused`
}
