// An agent of the AI SDK with hooks. Its model is a script, so it runs offline: five tasks, and what hooks do to each.

import { generateText, jsonSchema, stepCountIs, tool, wrapLanguageModel } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { hooksMiddleware, wrapTools } from 'carabiner/ai-sdk'
import { hooksAround, TASKS } from '../scene.mjs'

const hooks = await hooksAround('shell')

const shell = tool({
  description: 'Runs a command',
  inputSchema: jsonSchema({
    type: 'object',
    properties: { command: { type: 'string' } },
    required: ['command'],
  }),
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
  const settings = {
    model: wrapLanguageModel({ model, middleware: hooksMiddleware(session) }),
    tools: wrapTools(session, { shell }),
    stopWhen: stepCountIs(3),
  }
  const messages = [{ role: 'user', content: 'Go on.' }]
  let result = await generateText({ ...settings, messages })
  // #endregion
  const asked = result.content.filter(({ type }) => type === 'tool-approval-request')
  if (asked.length > 0) {
    console.log('  person says: yes')
    const answers = asked.map(({ approvalId }) => ({
      type: 'tool-approval-response',
      approvalId,
      approved: true,
    }))
    messages.push(...(result.responseMessages ?? result.response.messages), {
      role: 'tool',
      content: answers,
    })
    result = await generateText({ ...settings, messages })
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
      const outputs = results.flatMap(({ output }) => (output ? [withoutClass(output.value)] : []))
      if (outputs.length === 0) {
        console.log(`  model calls: ${command}`)
        const call = {
          type: 'tool-call',
          toolCallId: 'call-1',
          toolName: 'shell',
          input: JSON.stringify({ command }),
        }
        return { content: [call], finishReason: { unified: 'tool-calls' }, usage, warnings: [] }
      }
      console.log(`  model reads: ${outputs.join(' ')}`)
      const said = prompt.filter(({ role }) => role === 'user').flatMap(({ content }) => content)
      for (const { text } of said.slice(1)) console.log(`  model reads: ${text.split('\n')[1]}`)
      return {
        content: [{ type: 'text', text: 'Done.' }],
        finishReason: { unified: 'stop' },
        usage,
        warnings: [],
      }
    },
  })
}

/** AI SDK 7 puts the class of an error before its message. */
function withoutClass(text) {
  return text.replace(/^HookError: /, '')
}
