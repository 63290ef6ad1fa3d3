// Suggestions for an author who used another word than the protocol's.

import { describe, expect, it } from 'vitest'
import { type ASKED, read } from './asked.js'

describe('the likely field', () => {
  const text = (intercept: keyof typeof ASKED, answer: object) =>
    read(intercept, answer)
      .notes.map(({ text }) => text)
      .join('\n')

  it.each([
    ['decision', 'action'],
    ['verdict', 'action'],
    ['type', 'action'],
    ['Action', 'action'],
    ['approved', 'action'],
    ['args', 'call.arguments'],
    ['arguments', 'call.arguments'],
    ['params', 'call.arguments'],
    ['input', 'call.arguments'],
    ['tool_input', 'call.arguments'],
    ['updatedInput', 'call.arguments'],
    ['name', 'call.tool'],
    ['tool_name', 'call.tool'],
    ['tool', 'call.tool'],
    ['message', 'reason'],
    ['why', 'reason'],
    ['error', 'reason'],
    ['output', 'result.for_llm'],
    ['response', 'result.for_llm'],
    ['content', 'result.for_llm'],
    ['forLLM', 'result.for_llm'],
    ['request', 'call'],
  ])('of before_tool for %s is %s', (key, path) => {
    expect(text('before_tool', { action: 'continue', [key]: 'x' })).toContain(
      `"${key}" (did you mean ${path}?)`,
    )
  })

  it('is told inside objects too', () => {
    expect(text('before_tool', { action: 'modify', call: { name: 'a', args: {} } })).toBe(
      'the call of an answer has no field "name" (did you mean call.tool?), "args" (did you mean call.arguments?)',
    )
    expect(text('before_llm', { action: 'modify', request: { Messages: [] } })).toContain(
      '"Messages" (did you mean request.messages?)',
    )
    expect(text('after_tool', { action: 'modify', result: { content: 'x' } })).toContain(
      '"content" (did you mean result.for_llm?)',
    )
    expect(text('before_llm', { action: 'continue', tools: [] })).toContain('(did you mean request.tools?)')
    expect(text('after_llm', { action: 'continue', content: 'x' })).toContain(
      '(did you mean response.content?)',
    )
  })

  it('is told of a few keys, and the others are counted', () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i]))
    const { notes } = read('before_tool', { action: 'continue', ...many })
    expect(notes).toHaveLength(1)
    expect(notes[0]?.text).toMatch(/"k4"; and 4995 more$/)
  })
})
