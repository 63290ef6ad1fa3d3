// An agent of the Agent Development Kit with hooks. Its model is a script, so it runs offline: five tasks, and what hooks do to each.

import {
  BaseLlm,
  FunctionTool,
  getFunctionCalls,
  InMemorySessionService,
  LlmAgent,
  Runner,
  setLogger,
} from '@google/adk'
import { HooksPlugin } from 'carabiner/adk'
import { z } from 'zod'
import { hooksAround, TASKS } from '../scene.mjs'

const hooks = await hooksAround('shell')

const shell = new FunctionTool({
  name: 'shell',
  description: 'Runs a command',
  parameters: z.object({ command: z.string() }),
  execute: ({ command }) => {
    console.log(`  shell runs:  ${command}`)
    return 'done'
  },
})

/** A model that makes one call, and then says what it read. */
class Scripted extends BaseLlm {
  constructor(command) {
    super({ model: 'scripted' })
    this.command = command
  }
  async *generateContentAsync({ contents }) {
    const parts = contents.flatMap((content) => content.parts)
    const results = parts.flatMap((part) => part.functionResponse ?? [])
    if (results.length === 0) {
      console.log(`  model calls: ${this.command}`)
      const functionCall = { name: 'shell', args: { command: this.command } }
      yield { content: { role: 'model', parts: [{ functionCall }] } }
      return
    }
    const { result, error } = results.at(-1).response
    console.log(`  model reads: ${result ?? error}`)
    for (const { text = '' } of parts)
      if (text.startsWith('<hook-context')) console.log(`  model reads: ${text.split('\n')[1]}`)
    yield { content: { role: 'model', parts: [{ text: 'Done.' }] } }
  }
  async connect() {
    throw new Error('This model is not live')
  }
}

setLogger(null)
for (const [situation, command] of TASKS) {
  console.log(situation)
  const model = new Scripted(command)
  const sessionService = new InMemorySessionService()
  // #region docs/sdks.md
  const session = hooks.session()
  const runner = new Runner({
    appName: 'example',
    agent: new LlmAgent({ name: 'worker', model, tools: [shell] }),
    sessionService,
    plugins: [new HooksPlugin(session)],
  })
  // #endregion
  const { id: sessionId } = await sessionService.createSession({ appName: 'example', userId: 'me' })
  let parts = [{ text: 'Go on.' }]
  while (parts.length > 0) {
    const newMessage = { role: 'user', parts }
    parts = []
    for await (const event of runner.runAsync({ userId: 'me', sessionId, newMessage })) {
      const asked = getFunctionCalls(event).find(({ name }) => name === 'adk_request_confirmation')
      if (!asked) continue
      console.log('  person says: yes')
      parts.push({ functionResponse: { id: asked.id, name: asked.name, response: { confirmed: true } } })
    }
  }
  await session.close()
}
await hooks.close()
