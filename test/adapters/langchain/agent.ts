// An agent of LangChain, for the contract of adapters.

import { Command, MemorySaver } from '@langchain/langgraph'
import { ChatOpenAI } from '@langchain/openai'
import { hooksMiddleware } from 'carabiner/langchain'
import { createAgent, tool } from 'langchain'
import { z } from 'zod'
import { type AgentRun, playScenes, SYSTEM } from '../scenes.js'

async function runAgent(run: AgentRun): Promise<string> {
  const { session, baseURL, prompt, streaming, signal, tools, approve } = run
  const agent = createAgent({
    model: new ChatOpenAI({ model: 'mock-model', apiKey: 'none', maxRetries: 0, configuration: { baseURL } }),
    tools: tools.map(({ name, field, run }) => {
      const schema = z.object({ [field]: z.string() })
      return tool((input, config) => run(schema.parse(input), config.signal), {
        ...{ name, description: name, schema },
      })
    }),
    systemPrompt: SYSTEM,
    middleware: [hooksMiddleware(session)],
    checkpointer: new MemorySaver(),
  })
  const config = { configurable: { thread_id: session.id }, signal }
  const once = async (input: Parameters<typeof agent.invoke>[0]): Promise<State> => {
    if (!streaming) return (await agent.invoke(input, config)) as State
    let state: State = { messages: [] }
    const interrupts: Interrupt[] = []
    for await (const [mode, chunk] of await agent.stream(input, {
      ...config,
      streamMode: ['messages', 'values'],
    })) {
      if (mode === 'values') {
        state = chunk as State
        // A later state does not repeat them.
        interrupts.push(...(state.__interrupt__ ?? []))
      } else if (chunk[0].type === 'ai') run.show(chunk[0].text)
    }
    return interrupts.length > 0 ? { ...state, __interrupt__: interrupts } : state
  }
  let state = await once({ messages: [{ role: 'user', content: prompt }] })
  while (state.__interrupt__) {
    const answer = { decisions: [{ type: approve ? 'approve' : 'reject' }] }
    const resume = Object.fromEntries(state.__interrupt__.map(({ id }) => [id, answer]))
    state = await once(new Command({ resume }))
  }
  for (const { status } of state.messages) if (status === 'error') run.sayError()
  return state.messages.at(-1)?.text ?? ''
}

interface State {
  readonly messages: readonly { readonly text: string; readonly status?: string }[]
  readonly __interrupt__?: readonly Interrupt[]
}
interface Interrupt {
  readonly id: string
}

await playScenes(runAgent)
