// Agents of the AI SDK: two model calls and a tool call.

import {
  generateText,
  jsonSchema,
  simulateReadableStream,
  stepCountIs,
  streamText,
  tool,
  wrapLanguageModel,
} from 'ai'
import { createHooks } from 'carabiner'
import { hooksMiddleware, wrapTools } from 'carabiner/ai-sdk'
import { mockModel } from './ai-sdk-model.mjs'

export async function situations() {
  const session = (await createHooks({ globals: false })).session()
  const model = mockModel(simulateReadableStream)
  const inputSchema = jsonSchema({ type: 'object', properties: { at: { type: 'string' } } })
  const tools = { look: tool({ inputSchema, execute: async ({ at }) => `saw ${at}` }) }
  const bare = { model, tools }
  const guarded = {
    model: wrapLanguageModel({ model, middleware: hooksMiddleware(session) }),
    tools: wrapTools(session, tools),
  }
  const common = { prompt: 'Please look.', stopWhen: stepCountIs(3) }
  const whole = (settings) => () => generateText({ ...common, ...settings })
  const streamed = (settings) => () => streamText({ ...common, ...settings }).consumeStream()
  return {
    'two model calls and a tool call': { bare: whole(bare), guarded: whole(guarded) },
    'the same streamed': { bare: streamed(bare), guarded: streamed(guarded) },
  }
}
