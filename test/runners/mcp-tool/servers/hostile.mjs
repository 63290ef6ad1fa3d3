// A server without the library, and without manners: its first argument says what it does wrong.

import { createInterface } from 'node:readline'

const [, , fault] = process.argv
const TOOLS = [{ name: 'gate', inputSchema: { type: 'object' } }]

const write = (/** @type {object} */ message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const hello = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'hostile', version: '0' },
}

/** Until the pipe is full, and then again: nobody reads as fast as this writes. @param {string} piece */
function flood(piece) {
  while (process.stdout.write(piece));
  process.stdout.once('drain', () => flood(piece))
}

/** @type {Record<string, (id: number) => void>} */
const initialize = {
  'no-hello': () => {},
  'old-version': (id) => write({ id, result: { ...hello, protocolVersion: '1999-01-01' } }),
  'bad-hello': (id) => write({ id, result: { protocolVersion: 5 } }),
  'refuses-hello': (id) => write({ id, error: { code: -32603, message: 'not today' } }),
  'dies-in-hello': () => {
    process.stderr.write('Error: no licence\n')
    process.exit(7)
  },
  'no-tools': (id) => write({ id, result: { ...hello, capabilities: {} } }),
}

/** @type {Record<string, (id: number) => void>} */
const call = {
  'other-id': (id) => write({ id: id + 1000, result: { content: [] } }),
  noise: (id) => {
    process.stdout.write('starting up…\n')
    write({ method: 'notifications/message', params: { level: 'info', data: 'a log' } })
    write({ id, result: { content: [{ type: 'text', text: '{"decision":"block","reason":"heard"}' }] } })
  },
  'empty-result': (id) => write({ id, result: {} }),
  'task-result': (id) => write({ id, result: { task: { taskId: 't', status: 'working' } } }),
  'old-result': (id) => write({ id, result: { toolResult: 'fine' } }),
  'bare-structure': (id) =>
    write({ id, result: { structuredContent: { decision: 'block', reason: 'heard' } } }),
  'no-result': (id) => write({ id, result: { content: 'a text' } }),
  error: (id) => write({ id, error: { code: -32000, message: 'out of order' } }),
  'flood-line': () => flood('x'.repeat(65_536)),
  'flood-lines': () =>
    flood(`${'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}\n'.repeat(500)}`),
  'huge-reply': (id) =>
    write({ id, result: { content: [{ type: 'text', text: 'x'.repeat(5 * 1024 * 1024) }] } }),
  'long-text': (id) =>
    write({ id, result: { content: [{ type: 'text', text: 'x'.repeat(2 * 1024 * 1024) }] } }),
  'deep-reply': (id) => {
    const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":${deep}}}\n`)
  },
  'closes-output': () => {
    process.stdout.end()
    setInterval(() => {}, 1000)
  },
}

/** @param {number} id @param {{ cursor?: string }} params */
function list(id, { cursor }) {
  if (fault === 'endless-list') write({ id, result: { tools: [], nextCursor: `${Number(cursor ?? 0) + 1}` } })
  else write({ id, result: { tools: TOOLS } })
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize')
    (initialize[fault ?? ''] ?? ((number) => write({ id: number, result: hello })))(id)
  if (method === 'tools/list') list(id, params)
  if (method === 'tools/call')
    (call[fault ?? ''] ?? ((number) => write({ id: number, result: { content: [] } })))(id)
})
if (fault === 'no-hello') process.on('SIGTERM', () => {})
