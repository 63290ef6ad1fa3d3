// Agents of LangChain: two model calls and a tool call.

import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage } from '@langchain/core/messages'
import { createHooks } from 'carabiner'
import { hooksMiddleware } from 'carabiner/langchain'
import { createAgent, createMiddleware, tool } from 'langchain'
import { z } from 'zod'

class Scripted extends BaseChatModel {
  _llmType() {
    return 'scripted'
  }
  bindTools() {
    return this
  }
  async _generate(messages) {
    const isAnswered = messages.at(-1).type === 'tool'
    const message = isAnswered
      ? new AIMessage('word '.repeat(50))
      : new AIMessage({
          content: '',
          tool_calls: [{ type: 'tool_call', id: 'call-1', name: 'look', args: { at: 'a' } }],
        })
    return { generations: [{ text: message.text, message }] }
  }
}

const look = tool(({ at }) => `saw ${at}`, {
  name: 'look',
  description: 'looks',
  schema: z.object({ at: z.string() }),
})

function agentWith(middleware) {
  const agent = createAgent({ model: new Scripted({}), tools: [look], middleware })
  return () => agent.invoke({ messages: [{ role: 'user', content: 'Please look.' }] })
}

export async function situations() {
  const session = (await createHooks({ globals: false })).session()
  const empty = createMiddleware({
    name: 'Empty',
    wrapToolCall: (request, handler) => handler(request),
    wrapModelCall: (request, handler) => handler(request),
  })
  return {
    'two model calls and a tool call': {
      bare: agentWith([]),
      guarded: agentWith([hooksMiddleware(session)]),
      empty: agentWith([empty]),
    },
  }
}
