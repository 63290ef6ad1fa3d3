// Agents of the OpenAI Agents SDK: two model calls and a tool call.

import { Agent, Runner, tool } from '@openai/agents'
import { createHooks } from 'carabiner'
import { wrapModel, wrapTools } from 'carabiner/openai-agents'

const WORDS = Array.from({ length: 50 }, (_, at) => `word ${at} `)
const USAGE = { requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 }
const CALL = {
  type: 'function_call',
  callId: 'call-1',
  name: 'look',
  status: 'completed',
  arguments: '{"at":"a"}',
}
const TEXT = {
  ...{ type: 'message', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text: WORDS.join('') }],
}

const outputFor = (input) => [input.at(-1).type === 'function_call_result' ? TEXT : CALL]

const model = {
  getResponse: async ({ input }) => ({ usage: USAGE, output: outputFor(input) }),
  async *getStreamedResponse({ input }) {
    const output = outputFor(input)
    yield { type: 'response_started' }
    if (output[0] === TEXT) for (const delta of WORDS) yield { type: 'output_text_delta', delta }
    yield { type: 'response_done', response: { id: 'r', usage: USAGE, output } }
  },
}

export async function situations() {
  const session = (await createHooks({ globals: false })).session()
  const runner = new Runner({ tracingDisabled: true })
  const look = tool({
    name: 'look',
    description: 'looks',
    strict: false,
    parameters: {
      type: 'object',
      properties: { at: { type: 'string' } },
      required: [],
      additionalProperties: true,
    },
    execute: async ({ at }) => `saw ${at}`,
  })
  const bare = new Agent({ name: 'bare', model, tools: [look] })
  const guarded = new Agent({
    name: 'guarded',
    model: wrapModel(session, model),
    tools: wrapTools(session, [look]),
  })
  const asking = new Agent({ name: 'asking', model, tools: [{ ...look, needsApproval: async () => false }] })
  const whole = (agent) => () => runner.run(agent, 'Please look.')
  const streamed = (agent) => async () => {
    const result = await runner.run(agent, 'Please look.', { stream: true })
    for await (const _ of result.toTextStream());
    await result.completed
  }
  return {
    'two model calls and a tool call': { bare: whole(bare), guarded: whole(guarded), empty: whole(asking) },
    'the same streamed': { bare: streamed(bare), guarded: streamed(guarded), empty: streamed(asking) },
  }
}
