// A response between an SDK's parts and the message that hooks see.

import { describe, expect, it } from 'vitest'
import { inputOf, messageOf, type PartForm, partsOf, saidIn } from '../../src/adapters/response.js'
import type { Json } from '../../src/core/index.js'

interface Part {
  readonly text?: string
  readonly call?: { readonly id?: string; readonly name: string; readonly input: string }
  readonly kept?: string
}

const FORM: PartForm<Part> = {
  textOf: ({ text }) => text,
  callOf: ({ call }) => call && { id: call.id, name: call.name, input: inputOf(call.input) },
  text: (text, was) => ({ ...was, text }),
  call: ({ id, name, input }, was) => ({
    ...was,
    call: { ...(id && { id }), name, input: JSON.stringify(input) },
  }),
}
const look = (id: string | undefined, at: string): Part => ({
  call: { ...(id && { id }), name: 'look', input: JSON.stringify({ at }) },
})

describe('inputOf', () => {
  it.each([
    [{ at: 'a' }, { at: 'a' }],
    ['{"at":"a"}', { at: 'a' }],
    ['', {}],
    [undefined, {}],
    [null, {}],
    ['{"at', { input: '{"at' }],
    ['[1]', { input: [1] }],
  ])('%j is %j', (given, input) => {
    expect(inputOf(given)).toEqual(input)
  })
})

describe('partsOf', () => {
  const made = [{ kept: 'reasoning' }, { text: 'a' }, { kept: 'image' }, { text: 'b' }, look('c1', 'a')]

  it('gives back the same parts if nothing was changed', () => {
    const parts = partsOf(messageOf(made, FORM) as never, FORM, made)
    expect(parts).toEqual(made)
    for (const [at, part] of parts.entries()) expect(part).toBe(made[at])
  })

  it('puts a new text in the place of the first', () => {
    const parts = partsOf({ ...messageOf(made, FORM), content: 'new' } as never, FORM, made)
    expect(parts).toEqual([{ kept: 'reasoning' }, { text: 'new' }, { kept: 'image' }, look('c1', 'a')])
  })

  it('takes text and calls away, and keeps the rest', () => {
    expect(partsOf('', FORM, made)).toEqual([{ kept: 'reasoning' }, { kept: 'image' }])
  })

  it('puts a text before the calls', () => {
    const parts = partsOf({ content: 'new', tool_calls: [{ id: 'c1', name: 'look' }] }, FORM, [
      { kept: 'reasoning' },
      look('c1', 'a'),
    ])
    expect(parts).toEqual([
      { kept: 'reasoning' },
      { text: 'new' },
      { call: { id: 'c1', name: 'look', input: '{}' } },
    ])
  })

  it('adds calls, and finds those without an id by their names', () => {
    const calls: Json = [
      { name: 'look', input: { at: 'b' } },
      { id: 'new', name: 'go', input: '{"to":"c"}' },
    ]
    expect(partsOf({ tool_calls: calls }, FORM, [{ ...look(undefined, 'a'), kept: 'signature' }])).toEqual([
      { ...look(undefined, 'b'), kept: 'signature' },
      { call: { id: 'new', name: 'go', input: '{"to":"c"}' } },
    ])
  })
})

it('takes any JSON as a response', () => {
  for (const response of [null, 1, [], 'x', { tool_calls: 1 }, { tool_calls: [null, 1, { input: null }] }])
    expect(() => saidIn(response)).not.toThrow()
})
