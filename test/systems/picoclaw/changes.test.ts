// Changes in an answer: only fields that came back different, in the shape that they had here.

import type { Json } from 'carabiner/core'
import { describe, expect, it } from 'vitest'
import { encodeCall } from '../../../src/systems/picoclaw/encode.js'
import { ASKED, eventOf, INTERCEPTORS, MESSAGE, REQUEST, RESULT, ran, read } from './asked.js'

describe.each(INTERCEPTORS)('%s', (intercept) => {
  it('that gives back what it was sent changes nothing', () => {
    const sent = encodeCall(intercept, ASKED[intercept])
    const object = {
      before_llm: 'request',
      after_llm: 'response',
      before_tool: 'call',
      after_tool: 'result',
    }[intercept]
    expect(read(intercept, { action: 'modify', [object]: sent })).toMatchObject({
      result: { action: 'continue' },
      notes: [],
    })
  })

  it('cannot move the event elsewhere, and that is said', () => {
    const sent = encodeCall(intercept, ASKED[intercept])
    const object = {
      before_llm: 'request',
      after_llm: 'response',
      before_tool: 'call',
      after_tool: 'result',
    }[intercept]
    const moved = { ...sent, channel: 'other', meta: {} }
    const { result, notes } = read(intercept, { action: 'modify', [object]: moved })
    expect(result).toEqual({ action: 'continue' })
    expect(notes).toEqual([
      { code: 'verdict-ignored', text: expect.stringContaining(`${object}.meta, ${object}.channel cannot`) },
    ])
  })
})

describe('a request', () => {
  const change = (request: object) => read('before_llm', { action: 'modify', request })

  it('gets the seed’s injected tool, and keeps what was sent back as it was', () => {
    const tools = [...REQUEST.tools, { type: 'function', function: { name: 'my_plugin_tool' } }]
    expect(change({ ...REQUEST, tools }).result).toEqual({ action: 'modify', data: { tools } })
  })

  it('may change in every field', () => {
    const request = {
      model: 'other',
      messages: [],
      tools: [],
      options: { temperature: 0 },
      graceful_terminal: true,
    }
    expect(change(request).result?.data).toEqual(request)
  })

  it('keeps what is null or has an empty name', () => {
    expect(change({ model: '', messages: null, tools: null, options: null }).result).toEqual({
      action: 'continue',
    })
  })

  it.each([
    ['model', 5],
    ['messages', {}],
    ['messages', ['hello']],
    ['messages', [{ role: 'user', content: 'x' }, null]],
    ['tools', 'echo'],
    ['tools', [5]],
    ['options', []],
    ['graceful_terminal', 'yes'],
    ['meta', 5],
    ['channel', 5],
  ])('with %s of the wrong type is a failure', (key, value) => {
    expect(change({ [key]: value }).error?.message).toMatch(new RegExp(`^request\\.${key} must be `))
  })

  it('of a host with messages of its own kind may have more of them', () => {
    const event = eventOf('ModelRequest', { ...REQUEST, messages: ['hello'] })
    const answer = { action: 'modify', request: { messages: ['hello', 'you'] } }
    expect(read('before_llm', answer, event).result?.data).toEqual({ messages: ['hello', 'you'] })
  })
})

describe('a response', () => {
  it('is replaced whole, given as it is or inside what was sent', () => {
    const response = { role: 'assistant', content: 'Bye!' }
    const data = { response }
    expect(read('after_llm', { action: 'modify', response }).result).toEqual({ action: 'modify', data })
    const nested = { model: 'claude-sonnet', response }
    expect(read('after_llm', { action: 'modify', response: nested }).result).toEqual({
      action: 'modify',
      data,
    })
  })

  it('may come with another model', () => {
    const nested = { model: 'other', response: MESSAGE }
    expect(read('after_llm', { action: 'modify', response: nested }).result?.data).toEqual({ model: 'other' })
  })

  it('that was no object may be another of its kind', () => {
    const event = eventOf('ModelResponse', { model: 'm', response: 'Hi!' })
    expect(read('after_llm', { action: 'modify', response: 'Bye!' }, event).result?.data).toEqual({
      response: 'Bye!',
    })
    expect(read('after_llm', { action: 'modify', response: 5 }, event).error?.message).toMatch(
      /^response must/,
    )
    const nested = { response: { model: 'm', response: 5 }, action: 'modify' }
    expect(read('after_llm', nested, event).error?.message).toMatch(/^response\.response must/)
  })

  it('of a provider that has a field `response` is itself', () => {
    const event = eventOf('ModelResponse', { model: 'm', response: { response: 'a' } })
    expect(read('after_llm', { response: { response: 'b' } }, event).result?.data).toEqual({
      response: { response: 'b' },
    })
  })
})

describe('a call', () => {
  const change = (call: object) => read('before_tool', { action: 'modify', call })

  it('is changed as in the seed', () => {
    expect(change({ tool: 'echo_text', arguments: { text: 'modified hello' } }).result).toEqual({
      action: 'modify',
      data: { tool_input: { text: 'modified hello' } },
    })
  })

  it('may have another name, other arguments, or both', () => {
    expect(change({ tool: 'other' }).result?.data).toEqual({ tool_name: 'other' })
    expect(change({ tool: 'other', arguments: {} }).result?.data).toEqual({
      tool_name: 'other',
      tool_input: {},
    })
    expect(change({ tool: '', arguments: { text: 'hello' } }).result).toEqual({ action: 'continue' })
    expect(change({}).result).toEqual({ action: 'continue' })
  })

  it('with null for a field keeps what was there, as Go writes what is not given', () => {
    expect(change({ tool: 'sh', arguments: null }).result?.data).toEqual({ tool_name: 'sh' })
    expect(read('before_tool', { action: 'continue', call: { tool: '', arguments: null } })).toMatchObject({
      result: { action: 'continue' },
      notes: [],
    })
  })

  it('of the wrong types is a failure', () => {
    expect(change({ tool: 5 }).error?.message).toMatch(/^call\.tool must be a string/)
    for (const value of ['text', [], 5]) {
      expect(change({ arguments: value }).error?.message).toMatch(/^call\.arguments must be an object/)
    }
  })
})

describe('a result', () => {
  const change = (original: Json, result: object) =>
    read('after_tool', { action: 'modify', result }, ran(original))
  const changed = (original: Json, result: object) => change(original, result).result?.data?.tool_response

  it('that was a text stays a text', () => {
    expect(changed('secret', { for_llm: 'hidden' })).toBe('hidden')
    expect(changed('secret', { ...RESULT, for_llm: 'hidden', for_user: 'x', silent: true })).toBe('hidden')
    expect(changed('secret', { for_llm: '' })).toBe('')
    expect(changed('secret', { for_llm: '{"a":1}' })).toBe('{"a":1}')
  })

  it('that was other JSON keeps its type if the text has that type', () => {
    expect(changed({ a: 1 }, { for_llm: '{"a":2}' })).toEqual({ a: 2 })
    expect(changed([1], { for_llm: '[2]' })).toEqual([2])
    expect(changed(5, { for_llm: '6' })).toBe(6)
    expect(changed({ a: 1 }, { for_llm: '[2]' })).toBe('[2]')
    expect(changed({ a: 1 }, { for_llm: 'null' })).toBe('null')
    expect(changed({ a: 1 }, { for_llm: 'hidden' })).toBe('hidden')
    expect(changed({ a: 1 }, { for_llm: '{"a":1}' })).toBeUndefined()
  })

  it.each([
    ['is_error', true],
    ['async', true],
    ['response_handled', true],
    ['media', ['a.png']],
    ['artifact_tags', ['[file:a]']],
  ] as const)('that gets a meaning through %s takes the protocol’s shape', (key, value) => {
    expect(changed('text', { [key]: value })).toEqual({ for_llm: 'text', [key]: value })
    expect(changed({ a: 1 }, { for_llm: 'x', [key]: value })).toEqual({ for_llm: 'x', [key]: value })
    const without = typeof value === 'boolean' ? false : []
    expect(changed('text', { [key]: without })).toBeUndefined()
  })

  it('in the protocol’s shape is merged', () => {
    const own = { ...RESULT, extra: 1 }
    expect(changed(own, { for_llm: 'x' })).toEqual({ ...own, for_llm: 'x' })
    expect(changed(own, { is_error: true })).toEqual({ ...own, is_error: true })
    expect(changed(own, { for_llm: 'echoed: hello', silent: null })).toBeUndefined()
  })

  it('may be inside what was sent, with another tool and arguments', () => {
    const nested = {
      tool: 'other',
      arguments: { text: 'bye' },
      result: { for_llm: 'hidden' },
      duration: 15_000_000,
    }
    expect(change('secret', nested).result).toEqual({
      action: 'modify',
      data: { tool_name: 'other', tool_input: { text: 'bye' }, tool_response: 'hidden' },
    })
    expect(change('secret', { tool: 'other' }).result?.data).toEqual({ tool_name: 'other' })
    expect(change('secret', { result: { for_llm: 'hidden' } }).result?.data).toEqual({
      tool_response: 'hidden',
    })
  })

  it('keeps its duration, and that is said', () => {
    const { notes, result } = change('secret', { duration: 1, result: {} })
    expect(result).toEqual({ action: 'continue' })
    expect(notes.map(({ text }) => text)).toEqual([
      expect.stringContaining('result.duration cannot be changed'),
    ])
  })

  it('of the wrong types is a failure', () => {
    for (const [result, message] of [
      [{ for_llm: 5 }, /^result\.for_llm must be a string/],
      [{ for_llm: 'x', media: 'a' }, /^result\.media must be a list/],
      [{ for_llm: 'x', artifact_tags: [1] }, /^result\.artifact_tags must be a list of strings/],
      [{ is_error: 'yes' }, /^result\.is_error must be true or false/],
      [{ result: 'text' }, /^result\.result must be an object/],
      [{ result: { for_llm: [] } }, /^result\.result\.for_llm must be a string/],
      [{ tool: 5 }, /^result\.tool must be a string/],
      [{ arguments: 'x' }, /^result\.arguments must be an object/],
    ] as const) {
      expect(change('text', result).error?.message).toMatch(message)
    }
  })

  it('tells the user what is new for the user', () => {
    expect(change('text', { for_user: 'Look!' }).result).toEqual({
      action: 'continue',
      userMessage: 'Look!',
      userMessageLevel: 'info',
    })
    expect(change('text', { result: { for_user: 'Look!' } }).result).toMatchObject({ userMessage: 'Look!' })
    for (const given of [{ for_user: '' }, { for_user: ' ' }, { for_user: 'Look!', silent: true }]) {
      expect(change('text', given).result).toEqual({ action: 'continue' })
    }
    const own = { ...RESULT, for_user: 'Look!' }
    expect(change(own, { ...own, for_llm: 'x' }).result).not.toHaveProperty('userMessage')
    expect(change(own, { for_user: 'Here!' }).result).toMatchObject({ userMessage: 'Here!' })
    expect(change({ ...own, silent: true }, { for_user: 'Here!' }).result).not.toHaveProperty('userMessage')
  })
})

describe('a failed tool', () => {
  const failed = eventOf('PostToolUseFailure', { tool_name: 'x', tool_input: {}, error: 'token abc' })

  it('has an error that may be changed', () => {
    const { result, notes } = read('after_tool', { action: 'modify', result: { for_llm: 'hidden' } }, failed)
    expect(result).toEqual({ action: 'modify', data: { error: 'hidden' } })
    expect(notes).toEqual([])
    const echoed = { for_llm: 'token abc', is_error: true }
    expect(read('after_tool', { action: 'modify', result: echoed }, failed).result).toEqual({
      action: 'continue',
    })
  })

  it('cannot be made to succeed, and that is said', () => {
    const answer = { action: 'modify', result: { for_llm: 'fine', is_error: false, media: ['a'] } }
    const { result, notes } = read('after_tool', answer, failed)
    expect(result?.data).toEqual({ error: 'fine' })
    expect(notes).toEqual([
      { code: 'verdict-ignored', text: expect.stringContaining('is_error, media is ignored') },
    ])
  })
})
