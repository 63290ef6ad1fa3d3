import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterEach, describe, expect, it } from 'vitest'
import { serverAtUrl } from '../../../src/adapters/mcp/server-at-url.js'
import { connected } from './scene.js'
import { httpServer } from './servers/http.mjs'

let close: (() => Promise<void>) | undefined
afterEach(async () => {
  await close?.()
  close = undefined
})

async function remote() {
  const server = await httpServer()
  close = server.close
  const start = serverAtUrl(server.url, { Authorization: 'Bearer s3cret' })
  return { ...server, start }
}

describe('a server at an address', () => {
  it('is judged like any other, and gets the headers of the user', async () => {
    const { start, seen } = await remote()
    await using scene = await connected({
      start,
      hooks: (hooks) =>
        hooks.register('PreToolUse', (_, { tool_input }) =>
          tool_input.a === 13 ? { action: 'deny', reason: 'Not 13' } : undefined,
        ),
    })
    expect(await scene.text('add', { a: 1, b: 2 })).toBe('3')
    expect(await scene.text('add', { a: 13, b: 2 })).toBe('Not 13')
    expect(new Set(seen)).toEqual(new Set(['Bearer s3cret']))
  })

  it('passes progress, requests of the server and 10 MB', async () => {
    const { start, methods } = await remote()
    await using scene = await connected({ start, capabilities: { elicitation: {} } })
    // The server can only ask once this stream is open.
    while (!methods.includes('GET')) await scene.client.ping()
    scene.client.setRequestHandler(ElicitRequestSchema, () => ({
      action: 'accept',
      content: { name: 'Ada' },
    }))
    expect(await scene.text('elicit')).toContain('Ada')
    const seen: number[] = []
    await scene.client.callTool({ name: 'progress' }, undefined, {
      onprogress: ({ progress }) => seen.push(progress),
    })
    expect(seen).toEqual([1, 2])
    expect((await scene.text('large')).length).toBe(5_000_000)
  })

  it('takes 64 calls at once', async () => {
    const { start } = await remote()
    await using scene = await connected({ start })
    const all = await Promise.all(Array.from({ length: 64 }, (_, a) => scene.text('add', { a, b: 1 })))
    expect(all).toEqual(Array.from({ length: 64 }, (_, a) => String(a + 1)))
  })

  it('that drops the connection fails the call', async () => {
    const { start, kill } = await remote()
    await using scene = await connected({ start })
    const call = scene.client.callTool({ name: 'never' })
    await scene.client.ping()
    kill()
    await expect(call).rejects.toThrow()
  })

  it.each([
    ['id: 1\ndata: \n\n', 'it cannot be continued'],
    ['id:\ndata: \n\n', 'ended its reply'],
    ['data: {"valid:":\n\n', 'ended its reply'],
  ])('that breaks off and continues nothing fails the call at once: %j', async (events, why) => {
    const http = createServer(async (request, response) => {
      const body = (await request.toArray()).join('')
      const { id, method } = request.method === 'POST' ? JSON.parse(body) : { method: 'GET' }
      const result = {
        protocolVersion: '2025-06-18',
        capabilities: {},
        serverInfo: { name: 'x', version: '1' },
      }
      if (method === 'GET') response.writeHead(405).end()
      else if (id === undefined) response.writeHead(202).end()
      else if (method === 'initialize')
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
      else response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`retry: 1\n\n${events}`)
    })
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const { port } = http.address() as AddressInfo
    close = async () => void http.close()
    await using scene = await connected({ start: serverAtUrl(new URL(`http://127.0.0.1:${port}`), {}) })
    await expect(scene.client.callTool({ name: 'any' })).rejects.toThrow(why)
  })

  it('that is not there fails the call', async () => {
    const http = createServer((_, response) => response.writeHead(500).end('broken'))
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const { port } = http.address() as AddressInfo
    close = async () => void http.close()
    await expect(connected({ start: serverAtUrl(new URL(`http://127.0.0.1:${port}`), {}) })).rejects.toThrow(
      'broken',
    )
  })
})
