// An agent of the OpenAI Agents SDK, for the contract of adapters.

import { Agent, OpenAIResponsesModel, Runner, tool } from '@openai/agents'
import { runApprovals, seenError, wrapModel, wrapTools } from 'carabiner/openai-agents'
import OpenAI from 'openai'
import { z } from 'zod'
import { type AgentRun, playScenes, SYSTEM } from '../scenes.js'

const runner = new Runner({ tracingDisabled: true })

async function runAgent(run: AgentRun): Promise<string> {
  const { session, baseURL, prompt, streaming, signal, tools, approve } = run
  const client = new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0 })
  const made = tools.map(({ name, field, run }) =>
    tool({
      name,
      description: name,
      parameters: z.object({ [field]: z.string() }),
      execute: (input, _context, details) => run(input, (details as { signal?: AbortSignal })?.signal),
      errorFunction: seenError(),
    }),
  )
  const agent = new Agent({
    name: 'looker',
    instructions: SYSTEM,
    model: wrapModel(session, new OpenAIResponsesModel(client, 'mock-model'), {
      name: 'mock-model',
      hold: run.hold,
    }),
    tools: wrapTools(session, made, { signal }),
  })
  const once = async (input: Parameters<typeof runner.run<typeof agent>>[1]) => {
    if (!streaming) return runner.run(agent, input, { signal })
    const result = await runner.run(agent, input, { signal, stream: true })
    for await (const text of result.toTextStream()) run.show(text)
    await result.completed
    if (result.cancelled) throw new DOMException('the run was cancelled', 'AbortError')
    return result
  }
  let result = await once(prompt)
  while (result.interruptions.length > 0) {
    await runApprovals(session, result, () => approve)
    result = await once(result.state)
  }
  return String(result.finalOutput)
}

await playScenes(runAgent)
