// An official server over streamable HTTP on the loopback. Prints its port, and keeps the headers that it was sent.

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { z } from 'zod'

/** @typedef {{ url: URL, seen: string[], methods: string[], kill: () => void, close: () => Promise<void> }} Running */

/** @returns {Promise<Running>} */
export async function httpServer() {
  /** @type {string[]} */
  const seen = []
  /** @type {string[]} */
  const methods = []
  /** @type {Map<string, StreamableHTTPServerTransport>} */
  const sessions = new Map()
  const http = createServer(async (request, response) => {
    seen.push(String(request.headers.authorization))
    methods.push(String(request.method))
    const known = sessions.get(String(request.headers['mcp-session-id']))
    const transport =
      known ??
      new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (id) => void sessions.set(id, transport),
      })
    if (!known) await made().connect(/** @type {never} */ (transport))
    await transport.handleRequest(request, response)
  })
  await new Promise((resolve) => http.listen(0, '127.0.0.1', () => resolve(undefined)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (http.address())
  return {
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    seen,
    methods,
    kill: () => http.closeAllConnections(),
    close: async () => {
      for (const transport of sessions.values()) await transport.close()
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
}

function made() {
  const server = new McpServer({ name: 'remote', version: '1' }, { capabilities: { logging: {} } })
  server.registerTool('add', { inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => ({
    content: [{ type: 'text', text: String(a + b) }],
  }))
  server.registerTool('large', {}, () => ({ content: [{ type: 'text', text: 'ä'.repeat(5_000_000) }] }))
  server.registerTool('elicit', {}, async () => {
    const answer = await server.server.elicitInput({
      message: 'Your name?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
    })
    return { content: [{ type: 'text', text: JSON.stringify(answer) }] }
  })
  server.registerTool('never', {}, () => new Promise(() => {}))
  server.registerTool('progress', {}, async ({ sendNotification, _meta }) => {
    const progressToken = _meta?.progressToken ?? ''
    for (const progress of [1, 2])
      await sendNotification({ method: 'notifications/progress', params: { progressToken, progress } })
    return { content: [{ type: 'text', text: 'done' }] }
  })
  return server
}
