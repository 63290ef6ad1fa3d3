// What is special about LangChain and LangGraph, beside the contract of adapters.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sdkProject } from '../sdk-project.js'

describe.each(['1.0', '1.5'])('langchain %s', (version) => {
  const project = sdkProject(`langchain/${version}`)
  let seen: Readonly<Record<string, unknown>> = {}
  beforeAll(async () => {
    const lines = (await project?.run('test/adapters/langchain/more.ts'))?.trim().split('\n') ?? []
    seen = Object.fromEntries(lines.map((line) => JSON.parse(line)))
  })
  beforeEach(({ skip }) => skip(!project))
  afterAll(() => project?.[Symbol.dispose]())

  it('keeps 64 equal calls apart', () => {
    const results = Object.fromEntries(
      Array.from({ length: 64 }, (_, at) => [`c${at}`, at % 2 ? `no to c${at}` : 'saw a']),
    )
    expect(seen['64 equal calls']).toEqual({ ran: 32, judged: 64, ids: 64, results })
  })

  it('judges each of two equal calls with one id', () => {
    expect(seen['two equal calls with one id']).toEqual({
      ran: 1,
      seen: ['PostToolUse c1', 'PreToolUse c1', 'PreToolUse c1'],
    })
  })

  it('asks about calls of an agent at once, and each answer counts for its call', () => {
    expect(seen['questions at once in an agent']).toEqual({
      asked: 2,
      ran: ['a', 'a'],
      seen: ['PostToolUse free', 'PostToolUse yes', 'PreToolUse free', 'PreToolUse no', 'PreToolUse yes'],
      results: { yes: 'saw a', no: 'User denied: really?', free: 'saw a' },
    })
  })

  it('keeps answers apart in a ToolNode, and runs no hook and no tool twice', () => {
    expect(seen['questions at once in a graph']).toEqual({
      asked: ['yes', 'no'],
      ran: ['b', 'c'],
      seen: ['PostToolUse free', 'PostToolUse yes', 'PreToolUse free', 'PreToolUse no', 'PreToolUse yes'],
      results: { yes: 'saw b', no: 'User denied: really?', free: 'saw c' },
    })
  })

  it('asks again if an answer in a ToolNode does not name its call', () => {
    expect(seen['an answer without a name in a graph']).toEqual({ asksAgain: 1, ran: [] })
  })

  it('judges every call outside a graph, also one whose id was there before', () => {
    expect(seen['calls with one id outside a graph']).toEqual({
      told: ['saw a', 'not to b', 'saw a', 'saw c'],
      ran: ['a', 'a', 'c'],
      pre: 4,
    })
  })

  it('gives no session a result of another one', () => {
    expect(seen['a checkpoint that another session goes on from']).toEqual({
      ran: ['a', 'b'],
      results: { c1: 'not here', ask: 'saw b' },
    })
  })

  it('keeps reasoning and signatures of a response that hooks change, and no copy of what they took away', () => {
    expect(seen['a response with reasoning that hooks change']).toEqual({
      ran: ['a!'],
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'sealed' },
        { type: 'text', text: 'I look' },
        { type: 'tool_use', id: 'c1', name: 'look', input: { at: 'a!' } },
      ],
      tool_calls: [{ type: 'tool_call', id: 'c1', name: 'look', args: { at: 'a!' } }],
      additional_kwargs: { signatures: { c1: 's1' } },
      response_metadata: { model_name: 'm' },
    })
  })

  it('takes an edit', () => {
    expect(seen['an edit']).toEqual({ ran: ['b'] })
  })

  it('takes an approval that another process asked for', () => {
    const events = ['PreToolUse c1', 'PostToolUse c1']
    expect(seen['another process']).toEqual({ ran: ['a'], seen: events, results: { c1: 'saw a' } })
  })

  it('leaves errors of tools to the ToolNode', () => {
    const results = { c1: 'Error: no such place\n Please fix your mistakes.' }
    expect(seen['an error of a tool in a graph']).toEqual({
      seen: ['PreToolUse c1', 'PostToolUseFailure c1'],
      results,
    })
  })

  it('runs no tool if hooks fail, the session is closed, or nobody can be asked', () => {
    expect(seen['hooks that fail']).toEqual({
      ran: [],
      told: { c1: expect.stringContaining('broken') },
      error: expect.stringContaining('is closed'),
      noSaver: expect.stringContaining('No checkpointer set'),
    })
  })
})
