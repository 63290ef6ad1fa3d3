// Real servers on this machine for tests, and hooks that ask them.

import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import {
  type AddressInfo,
  createServer as createRawServer,
  type Server as RawServer,
  type Socket,
} from 'node:net'
import type { Data, Diagnostic, HookContext, Message } from 'carabiner'
import type { HookEvent, HookResult, Origin } from 'carabiner/core'
import type { Printed } from '../../../src/core/hooks/hook.js'
import type { Place } from '../../../src/runners/hook-spec.js'
import { type HttpHandler, type HttpTerms, httpHook } from '../../../src/runners/http/http-hook.js'
import { laneHook } from '../../core/made-hook.js'
import { until } from '../until.js'

/** Longer than any test may take: what waits so long was ended, or hangs. */
export const FOREVER_MS = 300_000

export interface Seen {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface Setup {
  readonly handler?: Partial<HttpHandler>
  readonly terms?: Partial<HttpTerms>
  readonly scope?: Origin['scope']
  readonly place?: Partial<Place>
  readonly signal?: AbortSignal
  readonly event?: string
  readonly data?: Data
  readonly onFailure?: 'block' | 'continue'
}

/** Everything is closed by `close`. */
export class Station {
  readonly notes: Diagnostic[] = []
  readonly lastWords: HookResult[] = []
  readonly printed: Printed[] = []
  readonly shown: Message[] = []
  readonly seen: Seen[] = []
  /** Connections that servers have accepted. */
  connections = 0
  readonly open = new Set<Socket>()
  readonly #servers: (Server | RawServer)[] = []

  /** Answers as the listener does, after the request was read; returns its address. */
  async serve(
    answer: (request: IncomingMessage, response: ServerResponse, seen: Seen) => void,
  ): Promise<string> {
    const listener: RequestListener = (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { method, url: path, headers } = request
        const seen = { method, path, headers, body: Buffer.concat(chunks).toString() }
        this.seen.push(seen)
        answer(request, response, seen)
      })
    }
    return `http://127.0.0.1:${await this.listen(createServer(listener))}`
  }

  /** Always answers with this. */
  async says(body: string, status = 200, headers: Readonly<Record<string, string>> = {}): Promise<string> {
    return this.serve((_, response) => response.writeHead(status, headers).end(body))
  }

  /** Answers with bytes, once something was sent. */
  async raw(answer: (socket: Socket, sent: Buffer) => void): Promise<string> {
    const server = createRawServer((socket) => {
      socket.on('error', () => {}) // the hook may end it at any time
      socket.on('data', (sent: Buffer) => answer(socket, sent))
    })
    return `http://127.0.0.1:${await this.listen(server)}`
  }

  /** The port. */
  async listen(server: Server | RawServer): Promise<number> {
    this.#servers.push(server)
    server.on('connection', (socket: Socket) => {
      this.connections++
      this.open.add(socket)
      socket.once('close', () => this.open.delete(socket))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  }

  hook(url: string, { handler, terms, scope = 'user', onFailure = 'continue', ...more }: Setup = {}) {
    const { run: _, ...hook } = laneHook('guard', {
      kind: 'http',
      origin: { scope, source: 'test' },
      onFailure,
    })
    const place = { projectDir: '/nowhere', hooksDir: '/nowhere', ...more.place }
    return httpHook(
      { hook, handler: { url, ...handler }, place, env: 'inherit', longestMs: 300_000 },
      { display: (message) => this.shown.push(message), report: () => {} },
      () => ({ allowed_http_urls: null, http_allowed_env_vars: null, allowed_private_hosts: [], ...terms }),
    )
  }

  /** Runs a hook on a PreToolUse. */
  async ask(url: string, setup: Setup = {}): Promise<unknown> {
    return this.hook(url, setup).run(this.event(setup), this.context(setup.signal))
  }

  /** What it rejects with, in words. */
  async failure(url: string, setup: Setup = {}): Promise<string> {
    return this.ask(url, setup).then(
      (answer) => `answered ${JSON.stringify(answer)}`,
      (error: { code?: string; message: string }) => `${error.code}: ${error.message}`,
    )
  }

  event({
    event = 'PreToolUse',
    data = { tool_name: 'Bash', tool_input: { command: 'ls' } },
  }: Setup): HookEvent {
    return { name: event, data, session: { id: 's1' } }
  }

  context(signal: AbortSignal = new AbortController().signal): HookContext {
    return {
      signal,
      onAbort: (listener) =>
        signal.aborted ? listener() : signal.addEventListener('abort', listener, { once: true }),
      session: { id: 's1' },
      outcome: undefined,
      note: (d) => this.notes.push(d),
      onFailure: 'continue',
      printed: (output) => this.printed.push(output),
      lastWord: (result) => this.lastWords.push(result),
    }
  }

  /** Until servers have learned that every connection is closed; they do when they read. */
  async noneOpen(): Promise<void> {
    for (const socket of this.open) socket.resume()
    await until('every connection is closed', () => this.open.size === 0)
  }

  async close(): Promise<void> {
    for (const socket of this.open) socket.destroy()
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))))
  }
}

export const DENY = JSON.stringify({
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason: 'HD',
  },
})

export function portOf(url: string): string {
  return new URL(url).port
}
