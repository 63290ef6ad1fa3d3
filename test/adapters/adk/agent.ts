// An agent of the Agent Development Kit, for the contract of adapters.

import {
  FunctionTool,
  Gemini,
  getFunctionCalls,
  getFunctionResponses,
  InMemorySessionService,
  LlmAgent,
  REQUEST_CONFIRMATION_FUNCTION_CALL_NAME,
  Runner,
  StreamingMode,
  setLogger,
} from '@google/adk'
import { HooksPlugin } from 'carabiner/adk'
import { z } from 'zod'
import { type AgentRun, playScenes, SYSTEM } from '../scenes.js'

async function runAgent({ session, ...run }: AgentRun): Promise<string> {
  process.env.GOOGLE_GEMINI_BASE_URL = run.baseURL
  const agent = new LlmAgent({
    name: 'traveller',
    instruction: SYSTEM,
    model: new Gemini({ model: 'mock-model', apiKey: 'none' }),
    tools: run.tools.map(
      ({ name, field, run }) =>
        new FunctionTool({
          name,
          description: name,
          parameters: z.object({ [field]: z.string() }),
          execute: (input, context) => run(input, context?.abortSignal),
        }),
    ),
  })
  const sessionService = new InMemorySessionService()
  const runner = new Runner({ appName: 'test', agent, sessionService, plugins: [new HooksPlugin(session)] })
  const { id: sessionId } = await sessionService.createSession({ appName: 'test', userId: 'me' })
  let parts: object[] = [{ text: run.prompt }]
  for (;;) {
    let text = ''
    let isShown = !run.streaming
    const asked: object[] = []
    for await (const event of runner.runAsync({
      ...{ userId: 'me', sessionId, newMessage: { role: 'user', parts }, abortSignal: run.signal },
      runConfig: { streamingMode: run.streaming ? StreamingMode.SSE : StreamingMode.NONE },
    })) {
      if (event.errorCode) throw new Error(event.errorMessage)
      const said = event.content?.parts?.map((part) => part.text ?? '').join('') ?? ''
      // Whoever shows parts shows the whole only if there were none.
      if (event.partial || !isShown) run.show(said)
      isShown ||= event.partial === true
      if (!event.partial && said !== '') text = said
      for (const { response } of getFunctionResponses(event)) if (response?.error) run.sayError()
      for (const { id, name } of getFunctionCalls(event))
        if (name === REQUEST_CONFIRMATION_FUNCTION_CALL_NAME)
          asked.push({ functionResponse: { id, name, response: { confirmed: run.approve } } })
    }
    // A run that is aborted just ends.
    run.signal.throwIfAborted()
    if (asked.length === 0) return text
    parts = asked
  }
}

// Lines on standard output are for the test.
setLogger(null)
await playScenes(runAgent)
