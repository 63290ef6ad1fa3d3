// An agent of the OpenAI Agents SDK with hooks. Its model is a script, so it runs offline: five tasks, and what hooks do to each.

import { Agent, Runner, tool } from '@openai/agents'
import { runApprovals, seenError, wrapModel, wrapTools } from 'carabiner/openai-agents'
import { z } from 'zod'
import { hooksAround, TASKS } from '../scene.mjs'

const hooks = await hooksAround('shell')

const shell = tool({
  name: 'shell',
  description: 'Runs a command',
  parameters: z.object({ command: z.string() }),
  errorFunction: seenError(),
  execute: async ({ command }) => {
    console.log(`  shell runs:  ${command}`)
    return 'done'
  },
})

const runner = new Runner({ tracingDisabled: true })
for (const [situation, command] of TASKS) {
  console.log(situation)
  const model = scripted(command)
  // #region docs/sdks.md
  const session = hooks.session()
  const agent = new Agent({
    name: 'worker',
    model: wrapModel(session, model),
    tools: wrapTools(session, [shell]),
  })
  let result = await runner.run(agent, 'Go on.')
  while (result.interruptions.length > 0) {
    await runApprovals(session, result, () => {
      console.log('  person says: yes')
      return true
    })
    result = await runner.run(agent, result.state)
  }
  // #endregion
  await session.close()
}
await hooks.close()

/** A model that makes one call, and then says what it read. */
function scripted(command) {
  return {
    async getResponse({ input }) {
      const usage = { requests: 1, inputTokens: 0, outputTokens: 0, totalTokens: 0 }
      const outputs = input.filter(({ type }) => type === 'function_call_result')
      if (outputs.length === 0) {
        console.log(`  model calls: ${command}`)
        const call = { type: 'function_call', callId: 'call-1', name: 'shell', status: 'completed' }
        return { usage, output: [{ ...call, arguments: JSON.stringify({ command }) }] }
      }
      for (const { output } of outputs) console.log(`  model reads: ${output.text}`)
      const said = input.filter(({ role }) => role === 'user' || role === 'system')
      for (const { content } of said.slice(1)) console.log(`  model reads: ${content.split('\n')[1]}`)
      const content = [{ type: 'output_text', text: 'Done.' }]
      return { usage, output: [{ type: 'message', role: 'assistant', status: 'completed', content }] }
    },
  }
}
