// An agent of Mastra, for the contract of adapters.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Mastra } from '@mastra/core'
import { Agent } from '@mastra/core/agent'
import { InMemoryStore } from '@mastra/core/storage'
import { createTool } from '@mastra/core/tools'
import { wrapLanguageModel } from 'ai'
import { hooksMiddleware } from 'carabiner/ai-sdk'
import { hooksProcessor, wrapTools } from 'carabiner/mastra'
import { z } from 'zod'
import { type AgentRun, playScenes } from '../scenes.js'

async function runAgent({ session, ...run }: AgentRun): Promise<string> {
  const model = createOpenAICompatible({ name: 'mock', baseURL: run.baseURL })('mock-model')
  const made = run.tools.map(({ name, run }) => {
    const inputSchema = z.object({ at: z.string() })
    const execute = (input: { at: string }, { abortSignal }: { abortSignal?: AbortSignal }) =>
      run(input, abortSignal)
    return [name, createTool({ id: name, description: name, inputSchema, execute })]
  })
  const tools = Object.fromEntries(made)
  const agent = new Agent({
    ...{ id: 'traveller', name: 'Traveller', instructions: 'Travel.', maxRetries: 0 },
    model: wrapLanguageModel({ model, middleware: hooksMiddleware(session) }),
    // The contract holds for both ways.
    ...(run.streaming
      ? { tools, inputProcessors: [hooksProcessor(session)] }
      : { tools: wrapTools(session, tools) }),
  })
  // A run that waits for a person is kept there.
  new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false })
  const options = { abortSignal: run.signal, maxSteps: 5 }
  const resume = (runId: string, toolCallId: string) => {
    const call = { ...options, runId, toolCallId }
    if (run.streaming) return run.approve ? agent.approveToolCall(call) : agent.declineToolCall(call)
    return run.approve ? agent.approveToolCallGenerate(call) : agent.declineToolCallGenerate(call)
  }
  let result: unknown = await (run.streaming
    ? agent.stream(run.prompt, options)
    : agent.generate(run.prompt, options))
  for (;;) {
    const { text, asked, runId } = run.streaming
      ? await streamed(result as Stream, run.show)
      : whole(result as Whole)
    // A run that is aborted just ends.
    run.signal.throwIfAborted()
    if (asked === undefined) return text
    result = await resume(runId, asked)
  }
}

type Stream = Awaited<ReturnType<Agent['stream']>>
type Whole = Awaited<ReturnType<Agent['generate']>>

function whole({ text, error, finishReason, suspendPayload, runId = '' }: Whole) {
  if (error) throw error
  const asked = finishReason === 'suspended' ? String(suspendPayload?.toolCallId) : undefined
  return { text, asked, runId }
}

async function streamed({ fullStream, runId }: Stream, show: (text: string) => void) {
  let text = ''
  let asked: string | undefined
  for await (const part of fullStream) {
    if (part.type === 'step-start') text = ''
    if (part.type === 'text-delta') {
      text += part.payload.text
      show(part.payload.text)
    }
    if (part.type === 'tool-call-suspended') asked = part.payload.toolCallId
    if (part.type === 'error') throw part.payload.error
  }
  return { text, asked, runId }
}

await playScenes(runAgent)
