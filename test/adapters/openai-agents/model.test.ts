// What hooks must not lose of a model call in the OpenAI Agents SDK.

import { expect, it } from 'vitest'
import { wrapModel } from '../../../src/adapters/openai-agents/model.js'
import { createHooks, modify } from '../../../src/index.js'

it('refuses a call for which a hook chose another model', async () => {
  const session = (await createHooks({ globals: false })).session()
  session.register('ModelRequest', () => modify({ model: 'other' }))
  let calls = 0
  const model = {
    async getResponse() {
      calls++
    },
    async *getStreamedResponse() {
      calls++
      yield { type: 'response_started' }
    },
  }
  const wrapped = wrapModel(session, model as never, { name: 'm' })
  const request = { input: 'Hi', tools: [], modelSettings: {} } as never
  const refusal = {
    code: 'CALL_DENIED',
    message: 'A hook chose the model other, but the SDK can call only m',
  }
  await expect(wrapped.getResponse(request)).rejects.toMatchObject(refusal)
  const read = async () => {
    for await (const event of wrapped.getStreamedResponse(request)) throw new Error(`shown: ${event.type}`)
  }
  await expect(read()).rejects.toMatchObject(refusal)
  expect(calls).toBe(0)
})
