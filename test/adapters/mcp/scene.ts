// An official client, the proxy with hooks, and an official server, all in this process.

import { PassThrough } from 'node:stream'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { ClientCapabilities, JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { LinePeer } from '../../../src/adapters/mcp/line-peer.js'
import type { Server, StartServer } from '../../../src/adapters/mcp/peer.js'
import { MCP_EMBEDDER, proxy } from '../../../src/adapters/mcp/proxy.js'
import type { Hooks } from '../../../src/hooks.js'
import { createHooks, type HooksOptions } from '../../../src/runtime.js'

/** One side of a pair of streams, as the SDK wants it. */
export class StreamTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly lines: string[] = []
  readonly #buffer = new ReadBuffer()

  constructor(
    readonly input: PassThrough,
    readonly output: PassThrough,
  ) {}

  async start(): Promise<void> {
    this.input.on('data', (chunk: Buffer) => {
      this.lines.push(...chunk.toString().trimEnd().split('\n'))
      this.#buffer.append(chunk)
      for (let message = this.#buffer.readMessage(); message; message = this.#buffer.readMessage())
        this.onmessage?.(message)
    })
    this.input.on('end', () => this.onclose?.())
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.output.write(serializeMessage(message))
  }

  async close(): Promise<void> {
    this.output.end()
  }
}

/** What the server was called with, so that a test knows whether a call reached it. */
export interface Reached {
  readonly tools: unknown[]
  readonly resources: string[]
  readonly prompts: unknown[]
}

export function testServer(reached: Reached): McpServer {
  const server = new McpServer({ name: 'own name!', version: '1.0.0' }, { capabilities: { logging: {} } })
  const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] })
  server.registerTool(
    'add',
    { description: 'Adds.', inputSchema: { a: z.number(), b: z.number() } },
    ({ a, b }) => {
      reached.tools.push({ a, b })
      return text(String(a + b))
    },
  )
  server.registerTool('fail', { description: 'Fails.' }, () => {
    reached.tools.push('fail')
    return { ...text('it went wrong'), isError: true }
  })
  server.registerTool('sample', { description: 'Asks the model.' }, async () => {
    try {
      const { content } = await server.server.createMessage({
        messages: [{ role: 'user', content: { type: 'text', text: 'What is the secret?' } }],
        systemPrompt: 'Be brief.',
        maxTokens: 10,
      })
      return text(JSON.stringify(content))
    } catch (error) {
      return text(`refused: ${(error as Error).message}`)
    }
  })
  server.registerTool('elicit', { description: 'Asks the person.' }, async () => {
    const answer = await server.server.elicitInput({
      message: 'Your name?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
    })
    return text(JSON.stringify(answer))
  })
  server.registerTool('slow', { description: 'Waits until it is cancelled.' }, (extra) => {
    reached.tools.push('slow')
    return new Promise((resolve) => {
      extra.signal.addEventListener('abort', () => {
        reached.tools.push('cancelled')
        resolve(text('cancelled'))
      })
    })
  })
  server.registerResource('notes', 'test://notes', {}, (uri) => {
    reached.resources.push(uri.href)
    return { contents: [{ uri: uri.href, text: 'the notes' }] }
  })
  server.registerPrompt('greet', { argsSchema: { who: z.string() } }, ({ who }) => {
    reached.prompts.push(who)
    return { messages: [{ role: 'user', content: { type: 'text', text: `Greet ${who}` } }] }
  })
  return server
}

/** The server behind two streams. */
export function inThisProcess(server: McpServer): StartServer {
  return async (events) => {
    const [toServer, fromServer] = [new PassThrough(), new PassThrough()]
    await server.connect(new StdioServerTransport(toServer, fromServer))
    const peer = new LinePeer(fromServer, toServer, {
      line: events.line,
      tooLong: () => events.lost('too long'),
      gone: () => events.gone('closed its output'),
    })
    return {
      send: (line) => peer.send(line),
      full: () => peer.full(),
      wait: (until) => peer.wait(until),
      initialized: () => undefined,
      end: async () => {
        peer.end()
        await server.close()
      },
    } satisfies Server
  }
}

export interface SceneOptions {
  readonly hooks?: (hooks: Hooks) => void
  readonly options?: HooksOptions
  readonly capabilities?: ClientCapabilities
  readonly start?: StartServer
  readonly timeoutMs?: number
}

export class Scene implements AsyncDisposable {
  readonly reached: Reached = { tools: [], resources: [], prompts: [] }
  readonly logged: string[] = []
  readonly client: Client
  readonly transport: StreamTransport
  readonly hooks: Hooks
  readonly ended: Promise<string | undefined>

  static async open(options: SceneOptions = {}): Promise<Scene> {
    const hooks = await createHooks({ ...MCP_EMBEDDER, globals: false, ...options.options })
    options.hooks?.(hooks)
    const scene = new Scene(hooks, options)
    return scene
  }

  private constructor(hooks: Hooks, options: SceneOptions) {
    this.hooks = hooks
    const [input, output] = [new PassThrough(), new PassThrough()]
    this.transport = new StreamTransport(output, input)
    this.client = new Client({ name: 'test', version: '1' }, { capabilities: options.capabilities ?? {} })
    this.ended = proxy({
      input,
      output,
      start: options.start ?? inThisProcess(testServer(this.reached)),
      source: 'stdio',
      hooks,
      projectDir: process.cwd(),
      name: 'tests',
      timeoutMs: options.timeoutMs ?? 60_000,
      elicits: true,
      log: (text) => this.logged.push(text),
    })
  }

  connect(): Promise<void> {
    return this.client.connect(this.transport)
  }

  async text(name: string, args: Record<string, unknown> = {}): Promise<string> {
    const { content } = await this.client.callTool({ name, arguments: args })
    return (content as { text: string }[]).map((one) => one.text).join(' | ')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close()
    await this.ended
  }
}

export async function connected(options: SceneOptions = {}): Promise<Scene> {
  const scene = await Scene.open(options)
  await scene.connect()
  return scene
}
