// Agents of Mastra: two model calls and a tool call.

import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { simulateReadableStream, wrapLanguageModel } from 'ai'
import { createHooks } from 'carabiner'
import { hooksMiddleware } from 'carabiner/ai-sdk'
import { hooksProcessor } from 'carabiner/mastra'
import { z } from 'zod'
import { mockModel } from './ai-sdk-model.mjs'

function agentWith(model, tools, inputProcessors = []) {
  const agent = new Agent({
    ...{ id: 'agent', name: 'agent', instructions: 'Look.', maxRetries: 0 },
    ...{ model, tools, inputProcessors },
  })
  return () => agent.generate('Please look.', { maxSteps: 3 })
}

export async function situations() {
  const session = (await createHooks({ globals: false })).session()
  const model = mockModel(simulateReadableStream)
  const look = createTool({
    ...{ id: 'look', description: 'looks', inputSchema: z.object({ at: z.string() }) },
    execute: async ({ at }) => `saw ${at}`,
  })
  const guardedModel = wrapLanguageModel({ model, middleware: hooksMiddleware(session) })
  return {
    'two model calls and a tool call': {
      bare: agentWith(model, { look }),
      empty: agentWith(model, { look }, [{ id: 'empty', processInputStep: () => ({}) }]),
      guarded: agentWith(guardedModel, { look }, [hooksProcessor(session)]),
    },
  }
}
