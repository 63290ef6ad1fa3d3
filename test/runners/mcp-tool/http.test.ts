// Servers at an address: a real one over streamable HTTP, and some that are none.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like this

import { randomUUID } from 'node:crypto'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { afterEach, describe, expect, it } from 'vitest'
import { withoutSecrets } from '../../../src/core/base/secrets.js'
import { failureOf } from '../process/hall.js'
import { until } from '../until.js'
import { Lobby } from './lobby.js'
import { makeServer } from './servers/tools.mjs'

class House {
  readonly seen: { readonly method: string; readonly headers: IncomingMessage['headers'] }[] = []
  readonly sockets = new Set<Socket>()
  readonly #server: Server

  constructor(listener: RequestListener) {
    this.#server = createServer((request, response) => {
      this.seen.push({ method: request.method ?? '', headers: request.headers })
      listener(request, response)
    })
    this.#server.keepAliveTimeout = 0 // whoever closes a socket, it is not this side
    this.#server.on('connection', (socket) => {
      this.sockets.add(socket)
      socket.on('close', () => this.sockets.delete(socket))
      socket.on('error', () => undefined)
    })
  }

  async url(userinfo = ''): Promise<string> {
    if (!this.#server.listening)
      await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://${userinfo}127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

/** The official server; `forget` is what a restart does to its sessions. */
function officialHouse(enableJsonResponse = false): House & { forget(): void } {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? sessions.get(id) : undefined
    if (id !== undefined && !known) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"no such session"}')
      return
    }
    const transport =
      known ??
      new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        enableJsonResponse,
        onsessioninitialized: (session) => {
          sessions.set(session, transport)
        },
        onsessionclosed: (session) => {
          sessions.delete(session)
        },
      })
    if (!known) await makeServer().connect(transport)
    await transport.handleRequest(request, response)
  }
  const house = new House((request, response) => void listener(request, response))
  return Object.assign(house, { forget: () => sessions.clear() })
}

/** Says hello and lists its tool as it should; its answer to a call is the test's. */
function oddHouse(called: (id: number, response: ServerResponse) => void): House {
  return new House((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk
    })
    request.on('end', () => {
      const { id, method } = JSON.parse(body === '' ? '{}' : body) as { id?: number; method?: string }
      const reply = (result: object) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
      if (method === 'initialize') {
        reply({
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'odd', version: '0' },
        })
      } else if (method === 'tools/list')
        reply({ tools: [{ name: 'gate', inputSchema: { type: 'object' } }] })
      else if (method === 'tools/call') called(id as number, response)
      else response.writeHead(202).end()
    })
  })
}

let lobby: Lobby
let house: House
afterEach(async () => {
  await lobby.close()
  await house.close()
})

async function at(built: House, headers: Record<string, string> = {}, userinfo = ''): Promise<void> {
  house = built
  lobby = new Lobby()
  lobby.settings = { tests: { url: await built.url(userinfo), headers } }
}

describe('a server at an address', () => {
  it.each([
    ['streams', false],
    ['documents', true],
  ])('answers in %s, in one session', async (_, json) => {
    await at(officialHouse(json))
    expect(await lobby.reason('echo', { input: { tool: '${tool_name}' } })).toBe('{"tool":"Bash"}')
    expect(await lobby.reason('echo')).toBe('{}')
    expect(house.seen.filter(({ headers }) => headers['mcp-session-id'] === undefined)).toHaveLength(1)
    expect(house.seen.map(({ method }) => method)).not.toContain('GET')
  })

  it('gets the headers of the settings, which are kept secret', async () => {
    process.env.TEST_MCP_KEY = 'k3y-of-the-house-9'
    await at(officialHouse(), { authorization: 'Bearer ${TEST_MCP_KEY}' })
    await lobby.reason('echo')
    delete process.env.TEST_MCP_KEY
    expect(house.seen.every(({ headers }) => headers.authorization === 'Bearer k3y-of-the-house-9')).toBe(
      true,
    )
    expect(withoutSecrets('it sent k3y-of-the-house-9 to me')).toBe('it sent [redacted] to me')
  })

  it('gets name and password of the address as a header', async () => {
    await at(officialHouse(), {}, 'me:p4ss%3Aword@')
    await lobby.reason('echo')
    const expected = `Basic ${Buffer.from('me:p4ss:word').toString('base64')}`
    expect(house.seen[0]?.headers.authorization).toBe(expected)
  })

  it('gets a password that is not encoded as it should be', async () => {
    await at(officialHouse(), {}, 'me:100%-p4ss@')
    await lobby.reason('echo')
    const expected = `Basic ${Buffer.from('me:100%-p4ss').toString('base64')}`
    expect(house.seen[0]?.headers.authorization).toBe(expected)
    expect(withoutSecrets('it sent 100%-p4ss to me')).toBe('it sent [redacted] to me')
  })

  it('that has forgotten its sessions is reconnected at once', async () => {
    const official = officialHouse()
    await at(official)
    await lobby.reason('echo')
    official.forget()
    expect(await lobby.reason('echo')).toBe('{}')
  })

  it('is told goodbye', async () => {
    await at(officialHouse())
    await lobby.reason('echo')
    await lobby.servers.close()
    expect(house.seen.at(-1)?.method).toBe('DELETE')
  })

  it('keeps its sockets, and has none left in the end', async () => {
    const result = { content: [] }
    await at(
      oddHouse((id, response) => {
        const reply = JSON.stringify({ jsonrpc: '2.0', id, result })
        response.writeHead(200, { 'content-type': 'application/json' }).end(reply)
      }),
    )
    await lobby.ask('gate').answer
    await lobby.ask('gate').answer
    expect(house.sockets.size).toBeGreaterThan(0)
    await lobby.servers.close()
    await until('no socket is left', () => house.sockets.size === 0)
  })

  it('gets what it asks back refused', async () => {
    await at(officialHouse())
    const asked = lobby.ask('ask-back')
    expect(await asked.answer).toMatchObject({ reason: '-32601 -32601 -32601' })
    expect(asked.notes).toMatchObject([{ code: 'rpc-noise' }, { code: 'rpc-noise' }, { code: 'rpc-noise' }])
  })
})

describe('a server that does not work', () => {
  it('for one call answers the others', async () => {
    const late: (() => void)[] = []
    await at(
      oddHouse((id, response) => {
        if (late.length > 0) {
          response.writeHead(500).end('broken')
          return
        }
        const result = { content: [{ type: 'text', text: '{"decision":"block","reason":"in the end"}' }] }
        late.push(() =>
          response
            .writeHead(200, { 'content-type': 'application/json' })
            .end(JSON.stringify({ jsonrpc: '2.0', id, result })),
        )
      }),
    )
    const first = lobby.ask('gate')
    await until('it was called', () => late.length > 0)
    expect((await failureOf(lobby.ask('gate'))).message).toContain('broken')
    late[0]?.()
    expect(await first.answer).toMatchObject({ action: 'deny', reason: 'in the end' })
  })

  it('is reported if nothing is listening', async () => {
    await at(officialHouse())
    lobby.settings = { tests: { url: 'http://127.0.0.1:1/mcp' } }
    const failure = await failureOf(lobby.ask('gate'))
    expect(failure.code).toBe('HOOK_NOT_STARTED')
    expect(failure.message).toMatch(/"tests" could not be reached: .*ECONNREFUSED/)
    expect(failure.hint).toBe(
      'Is the server at its "url" running? Check "mcp_servers.tests" under "hooks" in ~/.amplifier/settings.json.',
    )
  })

  it('is reported if its address is not valid', async () => {
    await at(officialHouse())
    lobby.settings = { tests: { url: 'file:///etc/passwd' } }
    expect((await failureOf(lobby.ask('gate'))).message).toContain('does not begin with http://')
  })

  it.each<[string, RegExp, (id: number, response: ServerResponse) => void]>([
    ['500', /500|broken/, (_, response) => response.writeHead(500).end('broken')],
    [
      'a page',
      /content type: text\/html/,
      (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    ],
    [
      'no JSON',
      /JSON/,
      (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc"'),
    ],
    [
      'another id',
      /ended its reply before it answered/,
      (id, response) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id: id + 9, result: { content: [] } })),
    ],
    [
      'a stream that ends',
      /ended its reply before it answered/,
      (_, response) =>
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end('id: 7\nretry: 1\ndata:\n\n'),
    ],
    [
      'a stream that is cut',
      /ended its reply before it answered/,
      (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('id: 7\nretry: 1\ndata:\n\n')
        setImmediate(() => response.destroy())
      },
    ],
    [
      'a flood',
      /ended its reply before it answered: its answer is larger than 4194304 bytes/,
      (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const more = () => {
          while (!response.destroyed && response.write(`: ${'x'.repeat(65_536)}\n`));
          if (!response.destroyed) response.once('drain', more)
        }
        more()
      },
    ],
    [
      'a redirect',
      /307|redirect/i,
      (_, response) => response.writeHead(307, { location: 'http://127.0.0.2:9/elsewhere' }).end(),
    ],
    [
      'a compressed answer',
      /compressed/,
      (_, response) =>
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end('x'),
    ],
  ])('fails for an answer that is %s', async (_, words, called) => {
    await at(oddHouse(called))
    const failure = await failureOf(lobby.ask('gate'))
    expect(failure.code).toBe('HOOK_FAILED')
    expect(failure.message).toMatch(words)
  })

  it('that never answers loses its socket when the call is given up', async () => {
    let reached = 0
    await at(
      oddHouse((_, response) => {
        reached++
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': wait\n\n')
      }),
    )
    const abort = new AbortController()
    const asked = lobby.ask('gate', {}, {}, abort.signal)
    await until('it was called', () => reached === 1)
    const before = [...house.sockets]
    abort.abort()
    expect((await failureOf(asked)).code).toBe('HOOK_TIMEOUT')
    await until('its socket is gone', () => before.some((socket) => socket.destroyed))
  })
})
