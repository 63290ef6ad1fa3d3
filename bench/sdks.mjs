// What does an agent of the AI SDK pay for its adapter, if there are no hooks? The model is a mock, so only the SDK's own work
// is around it: two steps with a tool call, whole and streamed.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createHooks } from '../dist/index.js'
import { sdkPackages } from '../scripts/sdks.mjs'
import { race } from './measure.mjs'

const USAGE = { inputTokens: {}, outputTokens: {} }
const CALL = { type: 'tool-call', toolCallId: 'call-1', toolName: 'look', input: '{"at":"a"}' }
const WORDS = Array.from({ length: 50 }, (_, at) => `word ${at} `)

export async function bench() {
  try {
    return await measured(createRequire(join(sdkPackages('ai-sdk/6'), 'package.json')))
  } catch (error) {
    if (error?.code !== undefined || error?.status === undefined) throw error
    console.error(`SKIPPED: the AI SDK cannot be installed: ${error.stderr ?? error.message}`)
    return []
  }
}

async function measured(require) {
  const {
    generateText,
    jsonSchema,
    simulateReadableStream,
    stepCountIs,
    streamText,
    tool,
    wrapLanguageModel,
  } = await import(pathToFileURL(require.resolve('ai')).href)
  const { hooksMiddleware, wrapTools } = await import('../dist/adapters/ai-sdk.js')
  const hooks = await createHooks({ globals: false })
  const session = hooks.session()

  const partsOf = (prompt) => (prompt.at(-1).role === 'tool' ? undefined : CALL)
  const bareModel = {
    ...{ specificationVersion: 'v3', provider: 'mock', modelId: 'mock', supportedUrls: {} },
    doGenerate: async ({ prompt }) => {
      const call = partsOf(prompt)
      return {
        content: [call ?? { type: 'text', text: WORDS.join('') }],
        finishReason: ended(call),
        usage: USAGE,
        warnings: [],
      }
    },
    doStream: async ({ prompt }) => {
      const call = partsOf(prompt)
      const text = WORDS.map((delta) => ({ type: 'text-delta', id: '0', delta }))
      const said = call ? [call] : [{ type: 'text-start', id: '0' }, ...text, { type: 'text-end', id: '0' }]
      const chunks = [
        { type: 'stream-start', warnings: [] },
        ...said,
        { type: 'finish', finishReason: ended(call), usage: USAGE },
      ]
      return { stream: simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null }) }
    },
  }
  const inputSchema = jsonSchema({ type: 'object', properties: { at: { type: 'string' } } })
  const bareTools = { look: tool({ inputSchema, execute: async ({ at }) => `saw ${at}` }) }
  const bare = { model: bareModel, tools: bareTools }
  const guarded = {
    model: wrapLanguageModel({ model: bareModel, middleware: hooksMiddleware(session) }),
    tools: wrapTools(session, bareTools),
  }
  const common = { prompt: 'Please look.', stopWhen: stepCountIs(3) }
  const whole = (settings) => () => generateText({ ...common, ...settings })
  const streamed = (settings) => () => streamText({ ...common, ...settings }).consumeStream()
  const us = await race({
    bare: whole(bare),
    guarded: whole(guarded),
    bareStream: streamed(bare),
    guardedStream: streamed(guarded),
  })
  await hooks.close()
  return [
    row('AI SDK, two steps and a tool call, adapter without hooks / bare', us.guarded, us.bare),
    row('AI SDK, the same streamed, adapter without hooks / bare', us.guardedStream, us.bareStream),
  ]
}

function ended(call) {
  return { unified: call ? 'tool-calls' : 'stop', raw: undefined }
}

function row(name, value, baseline) {
  return { name, unit: 'us', value, baseline, limit: 1.05 }
}
