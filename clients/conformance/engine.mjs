// An engine that misbehaves: `node engine.mjs WAY serve --stdio` answers hello and session.open as carabiner does, and
// everything else in its own way. For the cases of cases.json that a real engine cannot be brought to.

import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [, , way] = process.argv
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const outcome = {
  action: 'continue',
  modified: false,
  injections: [],
  messages: [],
  hooks: [],
  diagnostics: [],
}
const run = (more = {}) => ({
  status: 'run',
  call: 'c1',
  name: 'Bash',
  input: { command: 'ls' },
  outcome,
  ...more,
})

if (way === 'without-serve') {
  process.stderr.write('carabiner: there is no command serve\n')
  process.exit(64)
}

const hello = { version: 1, carabiner: '0.0.0', projectDir: '/', hooks: 0, untrusted: [], diagnostics: [] }

/** The first request of each method, by way. Absent: the default below. */
const WAYS = {
  'too-old': {
    hello: ({ id }) =>
      send({
        id,
        error: {
          code: -32602,
          message: 'This carabiner speaks version 0',
          data: { code: 'VERSION_UNSUPPORTED', versions: [0] },
        },
      }),
  },
  'other-version': { hello: ({ id }) => send({ id, result: { ...hello, version: 2 } }) },
  'silent-hello': { hello: () => {} },
  'not-json': { 'tool.begin': () => process.stdout.write('allowed\n') },
  // Bytes that are not UTF-8 in the input, which some languages replace.
  'bad-utf8': {
    'tool.begin': ({ id }) => {
      const line = JSON.stringify({ jsonrpc: '2.0', id, result: run({ input: { command: 'ls \u0001' } }) })
      process.stdout.write(
        Buffer.concat([Buffer.from(line.replace('\\u0001', '\u0001')), Buffer.from('\n')]).map((byte) =>
          byte === 1 ? 0xc3 : byte,
        ),
      )
    },
  },
  // One byte at a time, so characters arrive in parts.
  'byte-by-byte': {
    'tool.begin': ({ id }) => {
      const input = { command: 'é 漢字 🧗' }
      const bytes = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, result: run({ input }) })}\n`)
      const next = (at) =>
        at < bytes.length &&
        process.stdout.write(bytes.subarray(at, at + 1), () => setImmediate(next, at + 1))
      next(0)
    },
  },
  'two-on-a-line': {
    'tool.begin': ({ id }) =>
      process.stdout.write(`${JSON.stringify({ id, result: run() })} {"id":${id},"result":{}}\n`),
  },
  'answers-twice': {
    'tool.begin': ({ id }) => {
      send({ id, result: { status: 'denied', reason: 'no', outcome: { ...outcome, action: 'deny' } } })
      send({ id, result: run() })
    },
  },
  deep: {
    'tool.begin': ({ id }) => {
      const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
      process.stdout.write(`${JSON.stringify({ id, result: run({ more: '$' }) }).replace('"$"', nested)}\n`)
    },
  },
  'runs-again': { 'tool.finish': ({ id }) => send({ id, result: run() }) },
  'dies-when-told': { 'tool.fail': () => process.exit(3) },
  // Reads nothing more, and ends after a while.
  deaf: {
    'session.open': ({ id }) => {
      send({ id, result: { session: 's1', id: 'one' } })
      process.stdin.pause()
      setTimeout(() => process.exit(3), 3000)
    },
  },
  // Ends calls as the real engine does, at once.
  quick: {
    'tool.finish': ({ id, params }) =>
      send({ id, result: { status: 'ok', result: params.result, outcome, after: outcome } }),
  },
  'unknown-status': { 'tool.begin': ({ id }) => send({ id, result: run({ status: 'maybe' }) }) },
  'no-input': { 'tool.begin': ({ id }) => send({ id, result: run({ input: undefined }) }) },
  'no-outcome': { 'tool.begin': ({ id }) => send({ id, result: run({ outcome: undefined }) }) },
  'null-result': { 'tool.begin': ({ id }) => send({ id, result: null }) },
  'bare-error': { 'tool.begin': ({ id }) => send({ id, error: { code: -32000, message: 'no' } }) },
  'error-text': { 'tool.begin': ({ id }) => send({ id, error: 'no' }) },
  'error-null': { 'tool.begin': ({ id }) => send({ id, error: null, result: run() }) },
  'error-odd': {
    'tool.begin': ({ id }) => send({ id, error: { message: [], data: { code: 5, hint: {} } } }),
  },
  // Hello has the id 1, which some languages hold for equal to true.
  'true-id': { hello: () => send({ id: true, result: hello }) },
  dies: { 'tool.begin': () => process.exit(3) },
  'closes-output': {
    'tool.begin': ({ id }) => {
      if (asked === undefined) closeSync(1)
      asked = id
    },
  },
  // The child keeps both pipes until the client closes standard input.
  'leaves-a-child': {
    'tool.begin': () => {
      spawn('sh', ['-c', 'cat >&2; exit'], { stdio: ['inherit', 'inherit', 'ignore'] })
      process.exit(3)
    },
  },
  'dies-half-way': {
    'tool.begin': ({ id }) => {
      const line = JSON.stringify({ jsonrpc: '2.0', id, result: run() })
      process.stdout.write(line.slice(0, -1), () => process.exit(0))
    },
  },
  silent: { 'tool.begin': () => {} },
  // Lets the call run when nobody waits any more, and tells the user how the call ended.
  late: {
    'tool.begin': ({ id }) => {
      asked = id
    },
    cancel: () => send({ id: asked, result: run({ call: 'c9' }) }),
    'tool.fail': ({ id, params }) => {
      send({ id, result: { status: 'failed', reason: params.error, outcome, after: outcome } })
      send({
        method: 'message',
        params: { text: `${params.call} has ended`, level: 'info', source: 'engine' },
      })
    },
  },
  // Has fields, messages and requests that nobody knows yet, and answers in another order.
  newer: {
    hello: ({ id }) => send({ id, result: { ...hello, mood: 'good' }, extra: 1 }),
    'tool.begin': ({ id }) => {
      asked = id
      send({ method: 'weather', params: { sunny: true } })
      send({ id: 100_000, result: run({ input: { command: 'of another call' } }) })
      send({ id: 'new', method: 'dance', params: {} })
    },
    answer: ({ error }) => send({ id: asked, result: { ...run(), mood: 'good', told: error?.code } }),
  },
}

let asked
const own = WAYS[way] ?? {}
createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line)
  const { id, method = 'answer' } = message
  if (own[method]) own[method](message)
  else if (method === 'hello') send({ id, result: hello })
  else if (method === 'session.open') send({ id, result: { session: 's1', id: 'one' } })
  else if (method === 'tool.begin') send({ id, result: run() })
  else if (id !== undefined && message.method) send({ id, result: {} })
})
