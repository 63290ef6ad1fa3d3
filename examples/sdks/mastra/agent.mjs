// An agent of Mastra with hooks. Its model is a script, so it runs offline: five tasks, and what hooks do to each.

import { Mastra } from '@mastra/core'
import { Agent } from '@mastra/core/agent'
import { InMemoryStore } from '@mastra/core/storage'
import { createTool } from '@mastra/core/tools'
import { wrapLanguageModel } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { hooksMiddleware } from 'carabiner/ai-sdk'
import { hooksProcessor } from 'carabiner/mastra'
import { z } from 'zod'
import { hooksAround, TASKS } from '../scene.mjs'

const hooks = await hooksAround('shell')

const shell = createTool({
  id: 'shell',
  description: 'Runs a command',
  inputSchema: z.object({ command: z.string() }),
  execute: async ({ command }) => {
    console.log(`  shell runs:  ${command}`)
    return 'done'
  },
})

for (const [situation, command] of TASKS) {
  console.log(situation)
  const model = scripted(command)
  // #region docs/sdks.md
  const session = hooks.session()
  const agent = new Agent({
    id: 'worker',
    name: 'Worker',
    instructions: 'Work.',
    model: wrapLanguageModel({ model, middleware: hooksMiddleware(session) }),
    tools: { shell },
    inputProcessors: [hooksProcessor(session)],
  })
  // #endregion
  // A run that waits for a person is kept in the storage.
  new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false })
  const result = await agent.generate('Go on.')
  if (result.finishReason === 'suspended') {
    console.log('  person says: yes')
    await agent.approveToolCallGenerate({
      runId: result.runId,
      toolCallId: result.suspendPayload.toolCallId,
    })
  }
  await session.close()
}
await hooks.close()

/** A model that makes one call, and then says what it read. */
function scripted(command) {
  const usage = { inputTokens: {}, outputTokens: {} }
  return new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const results = prompt.filter(({ role }) => role === 'tool').flatMap(({ content }) => content)
      if (results.length === 0) {
        console.log(`  model calls: ${command}`)
        const call = {
          type: 'tool-call',
          toolCallId: 'call-1',
          toolName: 'shell',
          input: JSON.stringify({ command }),
        }
        return { content: [call], finishReason: { unified: 'tool-calls' }, usage, warnings: [] }
      }
      for (const { output } of results) console.log(`  model reads: ${output.value}`)
      const said = prompt.filter(({ role }) => role === 'user').flatMap(({ content }) => content)
      for (const { text } of said.slice(1)) console.log(`  model reads: ${text.split('\n')[1]}`)
      const content = [{ type: 'text', text: 'Done.' }]
      return { content, finishReason: { unified: 'stop' }, usage, warnings: [] }
    },
  })
}
