// A model on the loopback: answers as its script says, in the protocol of the request, and keeps what it was asked.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Data, isObject, type Json } from '../../core/base/json.js'
import { anthropicMessages } from './anthropic-messages.js'
import { describesTools } from './cline-xml.js'
import { geminiContent } from './gemini-content.js'
import { clineXml, openaiChat } from './openai-chat.js'
import { openaiResponses } from './openai-responses.js'
import type { Asked, Protocol, Reply, Turn } from './protocol.js'

const PROTOCOLS = [anthropicMessages, openaiResponses, openaiChat, geminiContent]

/** The model's name for agents that look for one. */
export const MODEL = 'mock-model'

/** Words that tell the talks of an agent apart: each prompt contains the one of its talk. */
export const MARKS = { main: 'carabiner-main-talk', subagent: 'carabiner-subagent-talk' } as const

type Talk = keyof typeof MARKS

/** `side`: a title, a summary, a talk of the agent with itself. */
export type Role = Talk | 'side'

/** The turns of each talk, or the turn that answers a request. */
export type Script =
  | Readonly<Partial<Record<Talk, readonly Turn[]>>>
  | ((request: { readonly path: string; readonly body: string }) => Turn)

export interface Request {
  readonly protocol: string
  readonly role: Role
  /** How many turns of the talk came before. */
  readonly turn: number
  /** The body, as it was sent. */
  readonly body: string
}

/** What the model says after its script. */
const LAST: Turn = { text: 'All done.' }
const MAX_BODY = 32 * 1024 * 1024

export class MockModel {
  readonly requests: Request[] = []
  /** Requests that no protocol answers: the agent wanted something that this model does not have. */
  readonly unknown: string[] = []
  /** Whether the main talk is at its end. */
  isOver = false
  readonly #script: Script
  readonly #server = createServer((request, response) => {
    this.#handle(request, response).catch((error: unknown) => {
      this.unknown.push(`${request.url}: ${error instanceof Error ? error.message : String(error)}`)
      send(response, 500, { error: { message: 'the mock model failed' } })
    })
  })

  constructor(script: Script) {
    this.#script = script
  }

  /** Returns its port. `port` 0 takes any. */
  async start(port = 0): Promise<number> {
    await new Promise<void>((done, fail) => {
      this.#server.once('error', fail)
      this.#server.listen(port, '127.0.0.1', () => done())
    })
    return (this.#server.address() as AddressInfo).port
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((done) => this.#server.close(() => done()))
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?', 1)[0] ?? ''
    if (request.method === 'GET' && path.endsWith('/models')) return send(response, 200, MODELS)
    const text = await bodyOf(request)
    const protocol = request.method === 'POST' ? PROTOCOLS.find(({ answers }) => answers(path)) : undefined
    const body = protocol && objectIn(text)
    if (!protocol || !body) {
      this.unknown.push(`${request.method} ${path}`)
      return send(response, 404, { error: { type: 'not_found_error', message: `no model at ${path}` } })
    }
    this.#answer(protocol, { path, text, body }, response)
  }

  #answer(
    known: Protocol,
    { path, text, body }: { readonly path: string; readonly text: string; readonly body: Data },
    response: ServerResponse,
  ): void {
    const protocol = known === openaiChat && describesTools(body) ? clineXml : known
    const asked = protocol.read(body, path)
    const script = this.#script
    const role = typeof script === 'function' ? 'main' : roleOf(asked)
    const turn = role === 'side' ? 0 : turnsSince(MARKS[role], asked)
    this.requests.push({ protocol: protocol.name, role, turn, body: text })
    const says =
      typeof script === 'function'
        ? script({ path, body: text })
        : role === 'side'
          ? LAST
          : (script[role]?.[turn] ?? LAST)
    if (role === 'main' && says === LAST) this.isOver = true
    write(response, protocol.reply(says, asked, `${process.pid}_${this.requests.length}`))
  }
}

function roleOf({ talk, hasTools }: Asked): Role {
  const has = (mark: string) => talk.some(({ by, text }) => by === 'user' && text.includes(mark))
  if (!hasTools) return 'side'
  // A subagent that was given the whole talk has both.
  if (has(MARKS.subagent) && !has(MARKS.main)) return 'subagent'
  return has(MARKS.main) ? 'main' : 'side'
}

/** A request that is sent again gets the same answer, because nothing is counted but the talk in it. */
function turnsSince(mark: string, { talk }: Asked): number {
  const from = talk.findIndex(({ by, text }) => by === 'user' && text.includes(mark))
  return talk.slice(from).filter(({ by }) => by === 'model').length
}

// ---- HTTP -----------------------------------------------------------------------------------------------------

const MODELS = {
  object: 'list',
  data: [
    {
      id: MODEL,
      object: 'model',
      type: 'llm',
      owned_by: 'carabiner',
      state: 'loaded',
      max_context_length: 128_000,
      loaded_context_length: 128_000,
      capabilities: ['tool_use'],
    },
  ],
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY) throw new Error('the request is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function objectIn(text: string): Data | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? (value as Data) : undefined
  } catch {
    return undefined
  }
}

function write(response: ServerResponse, reply: Reply): void {
  if ('json' in reply) {
    send(response, 200, reply.json)
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const { name, data } of reply.events) {
    const text = data === '[DONE]' ? data : JSON.stringify(data)
    response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`)
  }
  response.end()
}

function send(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
