// An agent of LangChain with hooks. Its model is a script, so it runs offline: five tasks, and what hooks do to each.

import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { Command, MemorySaver } from '@langchain/langgraph'
import { hooksMiddleware } from 'carabiner/langchain'
import { AIMessage, createAgent, tool } from 'langchain'
import { z } from 'zod'
import { hooksAround, TASKS } from '../scene.mjs'

const hooks = await hooksAround('shell')

const shell = tool(
  async ({ command }) => {
    console.log(`  shell runs:  ${command}`)
    return 'done'
  },
  { name: 'shell', description: 'Runs a command', schema: z.object({ command: z.string() }) },
)

/** A model that makes one call, and then says what it read. */
class Scripted extends BaseChatModel {
  constructor(command) {
    super({})
    this.command = command
  }

  _llmType() {
    return 'scripted'
  }

  bindTools() {
    return this
  }

  async _generate(messages) {
    const results = messages.filter(({ type }) => type === 'tool')
    if (results.length === 0) {
      console.log(`  model calls: ${this.command}`)
      const call = { type: 'tool_call', id: 'call-1', name: 'shell', args: { command: this.command } }
      return answer(new AIMessage({ content: '', tool_calls: [call] }))
    }
    for (const { text } of results) console.log(`  model reads: ${text}`)
    const said = messages.filter(({ type }) => type === 'human')
    for (const { text } of said.slice(1)) console.log(`  model reads: ${text.split('\n')[1]}`)
    return answer(new AIMessage('Done.'))
  }
}

const answer = (message) => ({ generations: [{ text: message.text, message }] })

for (const [situation, command] of TASKS) {
  console.log(situation)
  const model = new Scripted(command)
  // #region docs/sdks.md
  const session = hooks.session()
  const agent = createAgent({
    model,
    tools: [shell],
    middleware: [hooksMiddleware(session)],
    checkpointer: new MemorySaver(),
  })
  // #endregion
  const config = { configurable: { thread_id: session.id } }
  let state = await agent.invoke({ messages: [{ role: 'user', content: 'Go on.' }] }, config)
  while (state.__interrupt__) {
    console.log('  person says: yes')
    state = await agent.invoke(new Command({ resume: { decisions: [{ type: 'approve' }] } }), config)
  }
  await session.close()
}
await hooks.close()
