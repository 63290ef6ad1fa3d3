// Agents of the Agent Development Kit: two model calls and a tool call.

import {
  BaseLlm,
  BasePlugin,
  FunctionTool,
  InMemorySessionService,
  LlmAgent,
  Runner,
  setLogger,
} from '@google/adk'
import { createHooks } from 'carabiner'
import { HooksPlugin } from 'carabiner/adk'

class Scripted extends BaseLlm {
  async *generateContentAsync({ contents }) {
    const isAnswered = contents.at(-1).parts.some((part) => part.functionResponse)
    const said = isAnswered
      ? { text: 'word '.repeat(50) }
      : { functionCall: { name: 'look', args: { at: 'a' } } }
    yield { content: { role: 'model', parts: [said] } }
  }
}

const OWNER = { appName: 'bench', userId: 'me' }

function agentWith(plugins) {
  const look = new FunctionTool({ name: 'look', description: 'looks', execute: () => 'saw it' })
  const agent = new LlmAgent({ name: 'agent', model: new Scripted({ model: 'scripted' }), tools: [look] })
  const sessionService = new InMemorySessionService()
  const runner = new Runner({ appName: 'bench', agent, sessionService, plugins })
  const newMessage = { role: 'user', parts: [{ text: 'Please look.' }] }
  return async () => {
    const { id: sessionId } = await sessionService.createSession(OWNER)
    for await (const _ of runner.runAsync({ userId: 'me', sessionId, newMessage }));
    await sessionService.deleteSession({ ...OWNER, sessionId })
  }
}

export async function situations() {
  setLogger(null)
  const session = (await createHooks({ globals: false })).session()
  class Empty extends BasePlugin {}
  return {
    'two model calls and a tool call': {
      bare: agentWith([]),
      guarded: agentWith([new HooksPlugin(session)]),
      empty: agentWith([new Empty('empty')]),
    },
  }
}
