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
import { type AgentRun, playScenes, SYSTEM } from '../scenes.js'

async function runAgent({ session, ...run }: AgentRun): Promise<string> {
  const model = createOpenAICompatible({ name: 'mock', baseURL: run.baseURL })('mock-model')
  const made = run.tools.map(({ name, field, run }) => {
    const inputSchema = z.object({ [field]: z.string() })
    const execute = (input: Record<string, string>, { abortSignal }: { abortSignal?: AbortSignal }) =>
      run(input, abortSignal)
    return [name, createTool({ id: name, description: name, inputSchema, execute })]
  })
  const tools = Object.fromEntries(made)
  const agent = new Agent({
    ...{ id: 'traveller', name: 'Traveller', instructions: SYSTEM, maxRetries: 0 },
    model: wrapLanguageModel({ model, middleware: hooksMiddleware(session, { hold: run.hold }) }),
    ...(run.way === 'all tools of the agent'
      ? { tools, inputProcessors: [hooksProcessor(session)] }
      : { tools: wrapTools(session, tools) }),
  })
  // A run that waits for a person is kept there.
  new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false })
  const options = { abortSignal: run.signal, maxSteps: 5 }
  const resume = (runId: string, toolCallId: string, isStreamed: boolean) => {
    const call = { ...options, runId, toolCallId }
    if (isStreamed) return run.approve ? agent.approveToolCall(call) : agent.declineToolCall(call)
    return run.approve ? agent.approveToolCallGenerate(call) : agent.declineToolCallGenerate(call)
  }
  let isStreamed = run.streaming
  let result: unknown = await (isStreamed
    ? agent.stream(run.prompt, options)
    : agent.generate(run.prompt, options))
  // The SDK tells only once that a call waits for an answer.
  const waiting: string[] = []
  for (;;) {
    const read = isStreamed ? await streamed(result as Stream, run) : whole(result as Whole, run)
    // A run that is aborted just ends.
    run.signal.throwIfAborted()
    waiting.push(...read.asked)
    const next = waiting.shift()
    if (next === undefined) return read.text
    // Without a stream, the SDK can go on only with the last of them.
    isStreamed = run.streaming || waiting.length > 0
    result = await resume(read.runId, next, isStreamed)
  }
}

type Stream = Awaited<ReturnType<Agent['stream']>>
type Told = Omit<AgentRun, 'session'>
type Whole = Awaited<ReturnType<Agent['generate']>>

function whole({ text, error, steps, finishReason, response, runId = '' }: Whole, run: Told) {
  for (const part of steps.flatMap(({ content }) => content))
    if (part.type === 'tool-result' && isError(part.output)) run.sayError()
  if (error) throw error
  const suspended = response.dbMessages?.at(-1)?.content.metadata?.suspendedTools ?? {}
  const asked = finishReason === 'suspended' ? Object.keys(suspended) : []
  return { text, asked, runId }
}

const isError = (output: unknown) => /^error-/.test((output as { type?: string }).type ?? '')

async function streamed({ fullStream, runId }: Stream, { show, sayError }: Told) {
  let text = ''
  const asked: string[] = []
  for await (const part of fullStream) {
    if (part.type === 'step-start') text = ''
    if (part.type === 'text-delta') {
      text += part.payload.text
      show(part.payload.text)
    }
    if (part.type === 'tool-error') sayError()
    if (part.type === 'tool-call-suspended') asked.push(part.payload.toolCallId)
    if (part.type === 'error') throw part.payload.error
  }
  return { text, asked, runId }
}

await playScenes(runAgent)
