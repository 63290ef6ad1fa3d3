#!/usr/bin/env node
// Writes every event that it is told of to a file, one JSON object a line.
// A resident hook: JSON-RPC, one message a line on stdin, nothing but answers on stdout. Events are notifications:
// nobody waits for them. It ends with its stdin.

import { mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'

const file = openAudit()

function openAudit() {
  const { AUDIT_FILE, CLAUDE_PLUGIN_DATA } = process.env
  const path = AUDIT_FILE || (CLAUDE_PLUGIN_DATA && join(CLAUDE_PLUGIN_DATA, 'audit.jsonl'))
  try {
    if (!path) throw new Error('set AUDIT_FILE, the file to write to')
    mkdirSync(dirname(path), { recursive: true })
    return openSync(path, 'a', 0o600) // events may hold secrets: the file is for its owner alone
  } catch (error) {
    console.error(`audit-observer: ${error instanceof Error ? error.message : error}`)
    process.exit(1)
  }
}

/** At once, so that nothing is lost when it is killed. @param {object} event */
function note(event) {
  try {
    writeSync(file, `${JSON.stringify({ time: new Date().toISOString(), ...event })}\n`)
  } catch (error) {
    console.error(`audit-observer: an event was lost: ${error}`)
  }
}

/** @param {unknown} method */
function answerTo(method) {
  if (method === 'hook.hello') return { result: { ok: true, name: 'audit-observer' } }
  return { error: { code: -32601, message: `audit-observer does not know ${method}` } }
}

/** @param {string} line */
function read(line) {
  let message
  try {
    message = JSON.parse(line)
  } catch (error) {
    return console.error(`audit-observer: skipped a line that is not JSON: ${error}`)
  }
  if (message?.method === 'hook.event' && message.params instanceof Object) return note(message.params)
  // Without an id it is a notification.
  if (message?.id)
    console.log(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answerTo(message.method) }))
}

// Not node:readline, which also ends a line at U+2028, and JSON may hold that.
let rest = ''
for await (const chunk of process.stdin.setEncoding('utf8')) {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop() ?? ''
  lines.forEach(read)
}
if (rest) read(rest)
