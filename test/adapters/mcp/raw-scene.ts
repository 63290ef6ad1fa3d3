// The relay with hooks, between a client and a server that are lists of messages. For messages that no official client sends.

import { expect } from 'vitest'
import { guardOf } from '../../../src/adapters/mcp/guard.js'
import { MCP_EMBEDDER } from '../../../src/adapters/mcp/proxy.js'
import { Relay } from '../../../src/adapters/mcp/relay.js'
import type { Json } from '../../../src/core/base/json.js'
import type { Hooks } from '../../../src/hooks.js'
import { createHooks } from '../../../src/runtime.js'

export interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly params?: { readonly [key: string]: Json }
  readonly result?: { readonly [key: string]: Json }
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Json }
}

/** One side, as the test plays it. */
class Side {
  readonly lines: string[] = []
  #waiting: (() => void)[] = []

  constructor(readonly say: (line: string) => void) {}

  /** The message after `length` others. */
  async next(length: number): Promise<Message> {
    while (this.lines.length <= length)
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve)
      })
    return JSON.parse(this.lines[length] as string) as Message
  }

  send(line: string): void {
    this.lines.push(line)
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}

export class RawScene implements AsyncDisposable {
  readonly client: Side = new Side((line) => this.#relay.fromClient(line))
  readonly server: Side = new Side((line) => this.#relay.fromServer(line))
  readonly #relay: Relay
  readonly #hooks: Hooks

  static async open(register: (hooks: Hooks) => void): Promise<RawScene> {
    const hooks = await createHooks({ ...MCP_EMBEDDER, globals: false })
    register(hooks)
    return new RawScene(hooks)
  }

  private constructor(hooks: Hooks) {
    this.#hooks = hooks
    const guard = guardOf({
      session: hooks.session({}),
      approver: async () => ({ option: 'Deny', by: 'default' }),
      problem: () => undefined,
      reload: async () => undefined,
      name: 'raw',
      source: 'stdio',
      onInitialized: () => undefined,
    })
    const { client, server } = this
    this.#relay = new Relay({ client, server, ...guard, timeoutMs: 60_000, log: () => undefined })
  }

  /** A request of the client that the server answers, and what the client gets. */
  async asks(request: object, reply: object): Promise<Message> {
    return exchange(this.client, this.server, request, reply)
  }

  /** The same for a request of the server. */
  async isAsked(request: object, reply: object): Promise<Message> {
    return exchange(this.server, this.client, request, reply)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#relay.clientGone('the test is over')
    await this.#hooks.close()
  }
}

let ids = 0

async function exchange(from: Side, to: Side, request: object, reply: object): Promise<Message> {
  const id = `id-${ids++}`
  const back = from.lines.length
  const there = to.lines.length
  from.say(JSON.stringify({ jsonrpc: '2.0', id, ...request }))
  // Hooks may answer in place of the other side.
  const first = await Promise.race([to.next(there), from.next(back)])
  if (first.method !== undefined) to.say(JSON.stringify({ jsonrpc: '2.0', id, ...reply }))
  const got = await from.next(back)
  expect(got.id).toBe(id)
  return got
}
