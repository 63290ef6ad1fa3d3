// What hooks see of a model's response in the AI SDK, and what they do not see and must not lose.

import { expect, it } from 'vitest'
import { hooksMiddleware } from '../../../src/adapters/ai-sdk/model.js'
import { createHooks, modify } from '../../../src/index.js'

const SIGNED = { google: { thoughtSignature: 's1' } }
const call = (toolCallId: string, fields: object = {}) => ({
  ...{ type: 'tool-call', toolCallId, toolName: 'look', input: '{ "at": "a" }' },
  ...fields,
})
const REASONING = { type: 'reasoning', text: 'hm', providerMetadata: { anthropic: { signature: 'sealed' } } }

interface Middleware {
  wrapGenerate(calling: object): Promise<{ readonly content: readonly object[] }>
  wrapStream(calling: object): Promise<{ readonly stream: AsyncIterable<{ readonly type: string }> }>
}

/** The middleware, with a hook that takes `c2` away and changes the rest. */
async function rewriting() {
  const session = (await createHooks({ globals: false })).session()
  const seen: unknown[] = []
  session.register('ModelResponse', (_, { response }) => {
    seen.push(response)
    const { tool_calls } = response as { tool_calls: { id: string }[] }
    const calls = tool_calls.filter(({ id }) => id !== 'c2')
    const [first, ...rest] = calls
    return modify({
      response: { content: 'I look', tool_calls: [{ ...first, input: { at: 'b' } }, ...rest] } as never,
    })
  })
  return { seen, middleware: hooksMiddleware(session) as unknown as Middleware }
}

const CALLS = [
  call('c1', { providerMetadata: SIGNED }),
  call('c2'),
  call('c3'),
  call('c4', { input: '{"at' }),
]
const INPUTS = [{ at: 'a' }, { at: 'a' }, { at: 'a' }, { input: '{"at' }]
const REWRITTEN = [{ ...CALLS[0], input: '{"at":"b"}' }, CALLS[2], CALLS[3]]
const params = { prompt: [] }

it('shows inputs as objects, and keeps what hooks did not change', async () => {
  const { seen, middleware } = await rewriting()
  const content = [REASONING, { type: 'text', text: 'I peek' }, ...CALLS]
  const model = { modelId: 'm', specificationVersion: 'v3', doGenerate: async () => ({ content }) }
  const made = await middleware.wrapGenerate({ model, params })
  expect(seen).toMatchObject([{ content: 'I peek', tool_calls: INPUTS.map((input) => ({ input })) }])
  expect(made.content).toEqual([REASONING, { type: 'text', text: 'I look' }, ...REWRITTEN])
})

it('keeps them in a stream too', async () => {
  const { seen, middleware } = await rewriting()
  const start = { type: 'stream-start', warnings: ['w'] }
  const reasoning = [
    { type: 'reasoning-start', id: 'r' },
    { type: 'reasoning-delta', id: 'r', delta: 'hm' },
    { type: 'reasoning-end', id: 'r', providerMetadata: REASONING.providerMetadata },
  ]
  const end = { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage: {} }
  async function* parts() {
    yield* [start, ...reasoning, { type: 'text-start', id: 't' }]
    yield* [
      { type: 'text-delta', id: 't', delta: 'I ' },
      { type: 'text-delta', id: 't', delta: 'peek' },
    ]
    yield* [{ type: 'text-end', id: 't', providerMetadata: SIGNED }]
    yield* [{ type: 'tool-input-start', id: 'c2', toolName: 'look' }, ...CALLS, end]
  }
  const model = { modelId: 'm', specificationVersion: 'v3', doStream: async () => ({ stream: parts() }) }
  const { stream } = await middleware.wrapStream({ model, params })
  const shown: object[] = []
  for await (const part of stream) shown.push(part)
  expect(seen).toMatchObject([{ content: 'I peek', tool_calls: INPUTS.map((input) => ({ input })) }])
  expect(shown).toEqual([
    ...[start, ...reasoning],
    { type: 'text-start', id: 't', providerMetadata: SIGNED },
    { type: 'text-delta', id: 't', delta: 'I look' },
    { type: 'text-end', id: 't', providerMetadata: SIGNED },
    ...[...REWRITTEN, end],
  ])
})

it('refuses a call for which a hook chose another model', async () => {
  const session = (await createHooks({ globals: false })).session()
  session.register('ModelRequest', () => modify({ model: 'other' }))
  const middleware = hooksMiddleware(session) as unknown as Middleware
  let calls = 0
  const count = async () => {
    calls++
    return { content: [], stream: [] }
  }
  const model = { modelId: 'm', specificationVersion: 'v3', doGenerate: count, doStream: count }
  const refusal = {
    code: 'CALL_DENIED',
    message: 'A hook chose the model other, but the SDK can call only m',
  }
  await expect(middleware.wrapGenerate({ model, params })).rejects.toMatchObject(refusal)
  await expect(middleware.wrapStream({ model, params })).rejects.toMatchObject(refusal)
  expect(calls).toBe(0)
})
