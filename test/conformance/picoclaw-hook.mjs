// A resident hook as a script: answers each method with the next of its answers, and writes down every line it reads.
// node picoclaw-hook.mjs LOG '{"hook.before_tool": [{"action": "continue"}]}'. A method with no answer left goes on.

import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [log = '', script = '{}'] = process.argv.slice(2)
const answers = JSON.parse(script)
/** @type {Record<string, object>} */
const USUAL = {
  'hook.hello': { ok: true, name: 'my_hook' },
  'hook.approve_tool': { approved: true },
}

for await (const line of createInterface({ input: process.stdin })) {
  appendFileSync(log, `${line}\n`)
  const { id, method } = JSON.parse(line)
  if (id === undefined) continue
  const result = answers[method]?.shift() ?? USUAL[method] ?? { action: 'continue' }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
}
