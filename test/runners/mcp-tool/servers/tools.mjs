// The tools of the test servers, made with the official library.

import { spawn } from 'node:child_process'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'

/** How long is long: whatever waits so long was ended, or hangs. */
const FOREVER_MS = 300_000

export function makeServer() {
  const server = new McpServer({ name: 'tests', version: '1.0.0' })
  const text = (/** @type {string} */ said) => ({
    content: [{ type: /** @type {const} */ ('text'), text: said }],
  })

  server.registerTool('answer', { inputSchema: { result: z.string() } }, ({ result }) => JSON.parse(result))
  server.registerTool('say', { inputSchema: { text: z.string() } }, ({ text: said }) => text(said))
  server.registerTool('echo', { inputSchema: z.looseObject({}) }, (input) =>
    text(reason(JSON.stringify(input))),
  )
  server.registerTool('pid', {}, () => text(reason(String(process.pid))))
  server.registerTool('environment', {}, () =>
    text(reason(JSON.stringify({ cwd: process.cwd(), env: process.env }))),
  )
  server.registerTool('log', {}, () => {
    process.stderr.write('a line for people\n')
    return text('')
  })
  server.registerTool('hang', {}, async (_extra) => {
    process.stderr.write('hanging\n')
    await new Promise((resolve) => setTimeout(resolve, FOREVER_MS))
    return text('')
  })
  server.registerTool('block', {}, () => {
    process.stderr.write('blocking\n')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FOREVER_MS)
    return text('')
  })
  server.registerTool('die', {}, () => {
    process.stderr.write('Error: it was too much for me\n')
    process.exit(3)
  })
  server.registerTool('breed', {}, () => {
    // Shares our group, and does not listen.
    const child = spawn('/bin/sh', ['-c', `trap '' TERM; while :; do sleep 1; done`], { stdio: 'ignore' })
    return text(reason(String(child.pid)))
  })
  server.registerTool('grow', {}, () => {
    const grown = server.registerTool('grown', {}, () => text(reason('grown')))
    server.registerTool('shrink', {}, () => {
      grown.remove()
      return text('')
    })
    return text('')
  })
  server.registerTool('ask-back', {}, async ({ sendRequest }) => {
    const form = {
      message: 'sure?',
      requestedSchema: { type: /** @type {const} */ ('object'), properties: {} },
    }
    const asked = await Promise.allSettled([
      sendRequest(
        { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
        z.looseObject({}),
      ),
      sendRequest({ method: 'roots/list' }, z.looseObject({})),
      sendRequest({ method: 'elicitation/create', params: form }, z.looseObject({})),
    ])
    return text(reason(asked.map((one) => (one.status === 'rejected' ? one.reason.code : 'given')).join(' ')))
  })
  return server
}

/** A deny, so that what a tool has to tell comes out as its reason. @param {string} said */
function reason(said) {
  return JSON.stringify({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: said,
    },
  })
}
