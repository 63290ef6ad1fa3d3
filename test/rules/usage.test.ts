import { describe, expect, it } from 'vitest'
import { usageOf } from '../../src/rules/usage.js'

describe('the usage of a model response', () => {
  it.each([
    ['Anthropic', { usage: { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 100 } }, 115],
    ['OpenAI', { usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }, 15],
    ['OpenAI Responses', { usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 } }, 15],
    ['Gemini', { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 18 } }, 18],
    ['LangChain', { usage_metadata: { input_tokens: 10, output_tokens: 5, total_tokens: 15 } }, 15],
    ['the AI SDK', { usage: { inputTokens: { total: 10 }, outputTokens: { total: 5 } } }, 15],
  ])('in the form of %s', (_, response, tokens) => {
    expect(usageOf({ model: 'm', response })).toEqual({ tokens, cost: undefined })
  })

  it('may be beside the response, and tell a cost', () => {
    expect(usageOf({ response: 'hi', usage: { total_tokens: 3, cost: 0.25 } })).toEqual({
      tokens: 3,
      cost: 0.25,
    })
    expect(usageOf({ response: { total_cost_usd: 1.5 } })).toEqual({ tokens: undefined, cost: 1.5 })
  })

  it.each([
    undefined,
    null,
    'text',
    [],
    {},
    { response: null },
    { response: { usage: 7 } },
    { response: { usage: { total_tokens: -1, cost: 'much' } } },
    { response: { usage: { total_tokens: Number.NaN, input_tokens: Infinity } } },
  ])('is unknown in %j', (data) => {
    expect(usageOf(data)).toEqual({ tokens: undefined, cost: undefined })
  })
})
