// A model on a loopback server, in the wire formats of Anthropic's Messages and OpenAI's chat completions.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { until } from '../until.js'

type Json = { readonly [key: string]: unknown }

/** What the model does when it is asked. */
export type Move =
  | string
  | { readonly calls: readonly { readonly name: string; readonly input: unknown }[] }
  | { readonly status: number; readonly body?: string; readonly headers?: Record<string, string> }
  /** A body as it stands, with status 200. */
  | { readonly raw: string }
  | 'HANG'
  | 'HANG-AFTER-HEADERS'
  | 'RESET'
  | 'TRICKLE'
  | 'FLOOD'

/** What came over the wire. */
export interface Received {
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: Json
  /** All of it, as it came. */
  readonly text: string
}

/** Who reads so much would read on for ever: the machine need not suffer for it. */
const MOST_FLOODED = 32 * 1024 * 1024

export class LoopbackModel {
  readonly received: Received[] = []
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #open = new Set<ServerResponse>()
  #moves: readonly Move[] = ['{"ok": true}']
  /** Bytes that a flood got rid of. */
  flooded = 0

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#serve(request, response)
    })
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
      socket.on('error', () => {})
    })
  }

  static async start(): Promise<LoopbackModel> {
    const model = new LoopbackModel()
    await new Promise<void>((resolve) => model.#server.listen(0, '127.0.0.1', resolve))
    return model
  }

  /** In this order; the last one again and again. */
  answers(...moves: readonly Move[]): void {
    this.#moves = moves
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  get last(): Received {
    const last = this.received.at(-1)
    if (!last) throw new Error('the model was not asked')
    return last
  }

  async asked(times: number): Promise<void> {
    await until(`it was asked ${times} times`, () => this.received.length >= times)
  }

  /** Nobody waits for an answer any more: each was given, or its connection is closed. */
  async abandoned(): Promise<void> {
    await until('every request is closed', () => this.#open.size === 0)
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#open.add(response)
    response.on('close', () => this.#open.delete(response))
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const body = JSON.parse(text) as Json
    this.received.push({ url: request.url ?? '', headers: request.headers, body, text })
    const wire = request.url === '/v1/messages' ? ANTHROPIC : OPENAI
    const problem = wire.problem(request, body)
    if (problem) {
      response.writeHead(400, { 'content-type': 'application/json' }).end(wire.error(problem))
      return
    }
    const move = this.#moves[Math.min(this.received.length, this.#moves.length) - 1] as Move
    this.#play(move, request, response, wire)
  }

  #play(move: Move, request: IncomingMessage, response: ServerResponse, wire: Wire): void {
    if (move === 'HANG') return
    if (move === 'RESET') {
      request.socket.resetAndDestroy()
      return
    }
    if (typeof move === 'object' && 'status' in move) {
      const { status, body = wire.error('sorry'), headers } = move
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
      return
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    if (move === 'HANG-AFTER-HEADERS') response.flushHeaders()
    else if (move === 'TRICKLE') this.#trickle(response)
    else if (move === 'FLOOD') this.#flood(response)
    else if (typeof move === 'object' && 'raw' in move) response.end(move.raw)
    else response.end(JSON.stringify(wire.answer(move)))
  }

  #trickle(response: ServerResponse): void {
    const timer = setInterval(() => response.write(' '), 5)
    response.on('close', () => clearInterval(timer))
  }

  #flood(response: ServerResponse): void {
    const chunk = `"${'x'.repeat(64 * 1024)}`
    const more = () => {
      while (!response.destroyed && this.flooded < MOST_FLOODED) {
        this.flooded += chunk.length
        if (!response.write(chunk)) break
      }
    }
    response.on('drain', more)
    more()
  }
}

// ---- the wires ------------------------------------------------------------------------------------------------

type Answer = Extract<Move, string | { readonly calls: unknown }>

interface Wire {
  /** Why the real service would refuse it. */
  problem(request: IncomingMessage, body: Json): string | undefined
  answer(move: Answer): object
  error(message: string): string
}

const ANTHROPIC: Wire = {
  problem({ headers, method }, body) {
    if (method !== 'POST' || !headers['content-type']?.startsWith('application/json'))
      return 'no JSON was posted'
    if (headers['anthropic-version'] === undefined) return 'anthropic-version: header is required'
    if (typeof body.model !== 'string') return 'model: field required'
    if (typeof body.max_tokens !== 'number') return 'max_tokens: field required'
    const messages = body.messages as readonly { role: string; content: readonly Json[] }[]
    if (messages[0]?.role !== 'user') return 'messages: first message must use the "user" role'
    return unanswered(messages)
  },
  answer(move) {
    const content =
      typeof move === 'string'
        ? [{ type: 'text', text: move }]
        : move.calls.map(({ name, input }, i) => ({
            type: 'tool_use',
            id: `toolu_${nextId()}${i}`,
            name,
            input,
          }))
    return {
      id: 'msg_01',
      type: 'message',
      role: 'assistant',
      model: 'claude-loopback',
      content,
      stop_reason: typeof move === 'string' ? 'end_turn' : 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 10, output_tokens: 5 },
    }
  },
  error: (message) => JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } }),
}

/** Every tool_use must be answered in the next message. */
function unanswered(messages: readonly { role: string; content: readonly Json[] }[]): string | undefined {
  for (const [i, { role, content }] of messages.entries()) {
    if (role !== 'assistant') continue
    const used = content.filter(({ type }) => type === 'tool_use').map(({ id }) => id)
    const answered = new Set((messages[i + 1]?.content ?? []).map(({ tool_use_id }) => tool_use_id))
    const missing = used.find((id) => !answered.has(id))
    if (missing !== undefined) return `tool_use ${String(missing)} without tool_result`
  }
  return undefined
}

const OPENAI: Wire = {
  problem({ method, url }, body) {
    if (method !== 'POST' || url !== '/v1/chat/completions') return `no such address: ${method} ${url}`
    if (typeof body.model !== 'string') return 'you must provide a model parameter'
    return Array.isArray(body.messages) ? undefined : 'messages is required'
  },
  answer(move) {
    const message =
      typeof move === 'string'
        ? { role: 'assistant', content: move }
        : {
            role: 'assistant',
            content: null,
            tool_calls: move.calls.map(({ name, input }, i) => ({
              id: `call_${nextId()}${i}`,
              type: 'function',
              function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
            })),
          }
    return {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'gpt-loopback',
      choices: [{ index: 0, message, finish_reason: typeof move === 'string' ? 'stop' : 'tool_calls' }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    }
  },
  error: (message) => JSON.stringify({ error: { message, type: 'invalid_request_error', code: null } }),
}

let ids = 0
const nextId = () => `${++ids}_`
