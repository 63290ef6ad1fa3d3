// An agent of the Claude Agent SDK with hooks. The real Claude Code runs; its model is a script on this computer, so it
// needs no network and no key: five tasks, and what hooks do to each.

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk'
import { sdkHooks } from 'carabiner/claude-agent-sdk'
import { z } from 'zod'
import { hooksAround, TASKS } from '../scene.mjs'

const hooks = await hooksAround('mcp__work__shell')

const shell = tool('shell', 'Runs a command', { command: z.string() }, async ({ command }) => {
  console.log(`  shell runs:  ${command}`)
  return { content: [{ type: 'text', text: 'done' }] }
})

let command = ''
const model = createServer(async (request, response) => {
  let body = ''
  for await (const some of request) body += some
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of answer(JSON.parse(body || '{}')))
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  response.end()
})
await new Promise((listening) => model.listen(0, '127.0.0.1', listening))

const home = mkdtempSync(join(tmpdir(), 'claude-agent-'))
/** Nothing of this computer but the tool, and the model above. */
const alone = {
  settings: { permissions: { allow: ['mcp__work__shell'] } },
  tools: [],
  settingSources: [],
  model: 'claude-sonnet-4-5',
  cwd: home,
  env: {
    PATH: process.env.PATH,
    HOME: home,
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${model.address().port}`,
    ANTHROPIC_API_KEY: 'none',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  },
}
for (const [situation, task] of TASKS) {
  console.log(situation)
  command = task
  // #region docs/sdks.md
  const session = hooks.session()
  const messages = query({
    prompt: 'Go on.',
    options: {
      hooks: sdkHooks(session),
      canUseTool: async (_name, updatedInput) => {
        console.log('  person says: yes')
        return { behavior: 'allow', updatedInput }
      },
      mcpServers: { work: createSdkMcpServer({ name: 'work', tools: [shell] }) },
      ...alone,
    },
  })
  // #endregion
  for await (const message of messages)
    if (message.type === 'result' && message.is_error) console.log(`  failed: ${message.result}`)
  await session.close()
}
await hooks.close()
model.close()
rmSync(home, { recursive: true, force: true })

/** A model that makes one call, and then says what it read. */
function answer({ messages = [] }) {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
  const result = parts.find(({ type }) => type === 'tool_result')
  if (!result) {
    console.log(`  model calls: ${command}`)
    const call = { type: 'tool_use', id: 'toolu_1', name: 'mcp__work__shell', input: {} }
    const delta = { type: 'input_json_delta', partial_json: JSON.stringify({ command }) }
    return said(call, delta, 'tool_use')
  }
  const texts = [result.content].flat().map((part) => part.text ?? part)
  const [read = ''] = texts[0].split('\n')
  console.log(`  model reads: ${read.replace(/^PreToolUse:\S+ hook error: /, '')}`)
  for (const [, context] of texts.join('\n').matchAll(/additional context: (.*)/g))
    console.log(`  model reads: ${context}`)
  return said({ type: 'text', text: '' }, { type: 'text_delta', text: 'Done.' }, 'end_turn')
}

function said(block, delta, reason) {
  const usage = { input_tokens: 1, output_tokens: 1 }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'script', content: [], usage }
  return [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
}
