// An agent of the AI SDK, for the contract of adapters.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  generateText,
  jsonSchema,
  type ModelMessage,
  stepCountIs,
  streamText,
  type ToolSet,
  tool,
  wrapLanguageModel,
} from 'ai'
import { hooksMiddleware, toolApproval, wrapTools } from 'carabiner/ai-sdk'
import { type AgentRun, playScenes, SYSTEM } from '../scenes.js'

const schemaOf = (field: string) =>
  jsonSchema<Record<string, string>>({
    type: 'object',
    properties: { [field]: { type: 'string' } },
    required: [field],
  })

async function runAgent(run: AgentRun): Promise<string> {
  const { session, baseURL, prompt, streaming, signal, tools, approve } = run
  const model = createOpenAICompatible({ name: 'mock', baseURL })('mock-model')
  const made: ToolSet = Object.fromEntries(
    tools.map(({ name, field, run }) => [
      name,
      tool({ inputSchema: schemaOf(field), execute: (input, { abortSignal }) => run(input, abortSignal) }),
    ]),
  )
  const settings = {
    model: wrapLanguageModel({ model, middleware: hooksMiddleware(session, { hold: run.hold }) }),
    system: SYSTEM,
    tools: wrapTools(session, made, { signal }),
    stopWhen: stepCountIs(5),
    abortSignal: signal,
    maxRetries: 0,
    // 7 asks this first; without it, it asks the tools, as 6 does.
    ...(run.way === 'toolApproval' && { toolApproval: toolApproval(session) }),
  }
  const messages: ModelMessage[] = [{ role: 'user', content: prompt }]
  for (;;) {
    const result = streaming
      ? await streamed({ ...settings, messages }, run.show)
      : await generateText({ ...settings, messages })
    // 7 has the messages of all steps here.
    const { responseMessages = result.response.messages } = result as { responseMessages?: ModelMessage[] }
    messages.push(...responseMessages)
    for (const { type } of result.steps.flatMap(({ content }) => content))
      if (type === 'tool-error') run.sayError()
    const parts = result.content as readonly { type: string; approvalId?: string }[]
    const asked = parts.filter(({ type }) => type === 'tool-approval-request')
    if (asked.length === 0) return result.text
    const content = asked.map(({ approvalId }) => ({
      type: 'tool-approval-response',
      approvalId,
      approved: approve,
    }))
    messages.push({ role: 'tool', content } as unknown as ModelMessage)
  }
}

async function streamed(settings: Parameters<typeof streamText>[0], show: (text: string) => void) {
  const result = streamText({ ...settings, onError: () => {} })
  for await (const part of result.fullStream) {
    if (part.type === 'text-delta') show(part.text)
    if (part.type === 'error') throw part.error
    if (part.type === 'abort') throw new DOMException('the stream was aborted', 'AbortError')
  }
  const { content, text, response, steps } = result
  const { responseMessages } = result as { responseMessages?: PromiseLike<ModelMessage[]> }
  const all = { steps: await steps, responseMessages: await responseMessages }
  return { content: await content, text: await text, response: await response, ...all }
}

await playScenes(runAgent)
