// An MCP server with one fault, which its first argument names. Writes its pid and that of its child to the file in its second.

import { spawn } from 'node:child_process'
import { closeSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [, , fault = '', file = ''] = process.argv
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
writeFileSync(file, JSON.stringify([process.pid, child.pid]))

const send = (/** @type {object} */ message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const result = (/** @type {string} */ text) => ({ content: [{ type: 'text', text }] })

const NOTIFICATION = `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { data: 'x'.repeat(1000) } })}\n`

/** Writes without end, as fast as it is read. @param {string} line */
function pour(line) {
  const more = () => {
    while (process.stdout.write(line));
    process.stdout.once('drain', more)
  }
  more()
}

/** As many requests of a server may wait. */
const MOST_WAITING = 256
let onRefusal = () => {}

/** @type {Record<string, (id: number) => void>} */
const FAULTS = {
  none: (id) => send({ id, result: result('fine') }),
  dies: () => process.exit(7),
  'is killed': () => process.kill(process.pid, 'SIGKILL'),
  hangs: () => {},
  'closes its output': () => closeSync(1),
  'floods with garbage': () => pour(`${'garbage '.repeat(1000)}\n`),
  'floods without a line': () => pour('x'.repeat(65_536)),
  'floods with notifications': () => pour(NOTIFICATION),
  'floods, then answers': (id) => {
    for (let i = 0; i < 50_000; i++) process.stdout.write(NOTIFICATION)
    send({ id, result: result('fine') })
  },
  'floods with requests': (id) => {
    const requests = 10_000
    for (let i = 0; i < requests; i++) send({ id: `r${i}`, method: 'roots/list' })
    let refused = 0
    onRefusal = () => {
      refused++
      if (refused === requests - MOST_WAITING) send({ id, result: result(`${refused} were refused`) })
    }
  },
  'lies about ids': (id) => {
    for (const other of [String(id), id + 1, null, { id }, [id]])
      send({ id: other, result: result('forged') })
    send({ id, result: result('fine') })
  },
  'answers twice': (id) => {
    send({ id, result: result('fine') })
    send({ id, result: result('again') })
  },
  'sends garbage': (id) => {
    process.stdout.write('Server ready!\n{"jsonrpc":"2.0","id":\n[1,2]\n"x"\n\n\u0000\n{}\n')
    send({ id, result: result('fine') })
  },
  'sends too much': () =>
    process.stdout.write(`{"result":"${'x'.repeat(70_000_000)}","jsonrpc":"2.0","id":2}\n`),
  'answers nothing that can be read': (id) => send({ id }),
  'does not end': (id) => {
    process.on('SIGTERM', () => {})
    setInterval(() => {}, 1000)
    send({ id, result: result('fine') })
  },
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, error } = JSON.parse(line)
  if (error) onRefusal()
  else if (method === 'tools/call') FAULTS[fault]?.(id)
  else if (id !== undefined) send({ id, result: {} })
})

// A test that kills the proxy must leave nothing behind.
process.stdin.on('end', () => {
  if (fault === 'does not end') return
  child.kill()
  process.exit()
})
