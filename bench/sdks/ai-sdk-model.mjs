// A model of the AI SDK that asks for one tool call, and then answers. Mastra takes it too.

const USAGE = { inputTokens: {}, outputTokens: {} }
const CALL = { type: 'tool-call', toolCallId: 'call-1', toolName: 'look', input: '{"at":"a"}' }
const WORDS = Array.from({ length: 50 }, (_, at) => `word ${at} `)

export function mockModel(streamOf) {
  const callFor = (prompt) => (prompt.at(-1).role === 'tool' ? undefined : CALL)
  return {
    ...{ specificationVersion: 'v3', provider: 'mock', modelId: 'mock', supportedUrls: {} },
    doGenerate: async ({ prompt }) => {
      const call = callFor(prompt)
      return {
        content: [call ?? { type: 'text', text: WORDS.join('') }],
        finishReason: ended(call),
        usage: USAGE,
        warnings: [],
      }
    },
    doStream: async ({ prompt }) => {
      const call = callFor(prompt)
      const text = WORDS.map((delta) => ({ type: 'text-delta', id: '0', delta }))
      const said = call ? [call] : [{ type: 'text-start', id: '0' }, ...text, { type: 'text-end', id: '0' }]
      const chunks = [
        { type: 'stream-start', warnings: [] },
        ...said,
        { type: 'finish', finishReason: ended(call), usage: USAGE },
      ]
      return { stream: streamOf({ chunks, initialDelayInMs: null, chunkDelayInMs: null }) }
    },
  }
}

function ended(call) {
  return { unified: call ? 'tool-calls' : 'stop', raw: undefined }
}
