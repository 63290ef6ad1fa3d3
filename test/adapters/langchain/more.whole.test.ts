// What is special about LangChain and LangGraph, beside the contract of adapters.

import { expect, it } from 'vitest'
import { moreCases } from '../more-cases.js'

for (const version of ['1.0', '1.5'])
  moreCases<object>({ name: 'langchain', version }, (played) => {
    it('keeps 64 equal calls apart', () => {
      const results = Object.fromEntries(
        Array.from({ length: 64 }, (_, at) => [`c${at}`, at % 2 ? `no to c${at}` : 'saw a']),
      )
      expect(played('64 equal calls')).toEqual({ ran: 32, judged: 64, ids: 64, results })
    })

    it('judges each of two equal calls with one id', () => {
      expect(played('two equal calls with one id')).toEqual({
        ran: 1,
        seen: ['PostToolUse c1', 'PreToolUse c1', 'PreToolUse c1'],
      })
    })

    it('refuses a call with the question if the graph has no checkpointer', () => {
      const told = 'really? (Nobody could be asked, because the graph has no checkpointer.)'
      expect(played('a question without a checkpointer')).toEqual({ ran: [], told: [told, told] })
    })

    it('asks about calls of an agent at once, and each answer counts for its call', () => {
      expect(played('questions at once in an agent')).toEqual({
        asked: 2,
        ran: ['a', 'a'],
        seen: ['PostToolUse free', 'PostToolUse yes', 'PreToolUse free', 'PreToolUse no', 'PreToolUse yes'],
        results: { yes: 'saw a', no: 'User denied: really?', free: 'saw a' },
      })
    })

    it('keeps answers apart in a ToolNode, and runs no hook and no tool twice', () => {
      expect(played('questions at once in a graph')).toEqual({
        asked: ['yes', 'no'],
        ran: ['b', 'c'],
        seen: ['PostToolUse free', 'PostToolUse yes', 'PreToolUse free', 'PreToolUse no', 'PreToolUse yes'],
        results: { yes: 'saw b', no: 'User denied: really?', free: 'saw c' },
      })
    })

    it('asks again if an answer in a ToolNode does not name its call, unless there is only one', () => {
      expect(played('an answer without a name in a graph')).toEqual({ asksAgain: 1, ran: [], single: ['a'] })
    })

    it('judges every call outside a graph, also one whose id was there before', () => {
      expect(played('calls with one id outside a graph')).toEqual({
        told: ['saw a', 'not to b', 'saw a', 'saw c'],
        ran: ['a', 'a', 'c'],
        pre: 4,
      })
    })

    it('runs no tool of a ToolNode again in the process that goes on with the graph', () => {
      expect(played('a ToolNode that another process goes on with')).toEqual({
        ran: [['a', 'nowhere', 'command'], ['b']],
        seen: ['PreToolUse ask', 'PostToolUse ask'],
        results: {
          c1: 'saw a',
          bad: 'Error: no such place\n Please fix your mistakes.',
          command: 'saw a command',
          ask: 'saw b',
        },
      })
    })

    it('judges each of two equal calls with one id in a ToolNode', () => {
      expect(played('two equal calls with one id in a graph')).toEqual({ ran: 1, count: 2 })
    })

    it('judges a tool that is called with its input alone, and returns what the tool would return', () => {
      expect(played('a tool that is called with its input alone')).toEqual({
        told: ['saw a', 'threw not to b', 'saw C', 'saw nothing', 'threw no such place', 'threw not to b'],
        ran: ['a', 'C', 'd', 'nowhere'],
        failures: 1,
      })
    })

    it('takes an answer for nothing if it does not name its call', () => {
      expect(played('questions about calls without an id')).toEqual({
        unnamed: [],
        ran: ['a', 'b'],
        text: 'saw a,saw b',
      })
    })

    it('sends a request as hooks changed it, or refuses the call', () => {
      // 1.0 sends an empty system message in place of none.
      const system = version === '1.0' ? ['system: '] : []
      const asBefore = { messages: ['system: be brief', 'human: go'], tools: ['look'], choice: 'none' }
      expect(played('a request that hooks change')).toEqual({
        shown: { toolChoice: 'none' },
        sent: [
          { model: 'scripted', messages: [...system, 'human: come'], tools: [], choice: 'none' },
          { ...asBefore, model: 'scripted', choice: 'auto' },
          expect.stringContaining('A hook chose the model other'),
          { ...asBefore, model: 'other' },
        ],
      })
    })

    it('fails if middleware after it changes a call, where LangChain lets it see that', () => {
      expect(played('middleware after hooks that changes a call')).toEqual(
        version === '1.0'
          ? { ran: ['elsewhere'], seen: ['PreToolUse c1', 'PostToolUse c1'] }
          : {
              ran: [],
              seen: ['PreToolUse c1', 'PostToolUseFailure c1'],
              error: expect.stringContaining('put hooksMiddleware last'),
            },
      )
    })

    it('judges a tool that middleware runs itself if hooks come first, or in the tool', () => {
      const judged = { ran: ['a'], seen: ['PreToolUse c1', 'PostToolUse c1'] }
      expect(played('middleware that runs a tool itself')).toEqual({
        'hooks last': { ran: ['a'], seen: [] },
        'hooks first': judged,
        wrapTools: judged,
        'wrapTools, other middleware': judged,
      })
    })

    it('runs no tool that only middleware after it provides, or that has another name than the call', () => {
      const told = expect.stringContaining('not found')
      const unknown = { ran: [], seen: [], told }
      const refused = {
        ran: [],
        seen: ['PreToolUse c1', 'PostToolUseFailure c1'],
        told: expect.stringContaining('the tool needs this name, and hooksMiddleware is put last'),
      }
      expect(played('middleware that provides a tool')).toEqual(
        version === '1.0'
          ? { before: unknown, after: unknown, 'before, another name': unknown, 'without hooks': unknown }
          : {
              before: { ran: ['a'], seen: ['PreToolUse c1', 'PostToolUse c1'], told: 'saw a' },
              after: refused,
              'before, another name': refused,
              'without hooks': { ran: ['a'], seen: [], told: 'saw a' },
            },
      )
    })

    it('lets middleware before it handle errors, and judges the call that it makes instead', () => {
      expect(played('middleware before hooks that retries')).toEqual({
        ran: ['nowhere', 'b'],
        seen: ['PreToolUse c1', 'PostToolUseFailure c1', 'PreToolUse c1', 'PostToolUse c1'],
        results: { c1: 'saw b' },
      })
    })

    it('ends the agent if a hook ends the turn after a tool', () => {
      expect(played('a hook that ends the turn after a tool')).toEqual({
        ran: ['a'],
        error: expect.stringContaining('enough'),
      })
    })

    it('keeps reasoning and signatures of a response that hooks change, and no copy of what they took away', () => {
      expect(played('a response with reasoning that hooks change')).toEqual({
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
      expect(played('an edit')).toEqual({ ran: ['b'] })
    })

    it('takes an approval that another process asked for', () => {
      const events = ['PreToolUse c1', 'PostToolUse c1']
      expect(played('another process')).toEqual({ ran: ['a'], seen: events, results: { c1: 'saw a' } })
    })

    it('leaves errors of tools to the ToolNode', () => {
      const results = { c1: 'Error: no such place\n Please fix your mistakes.' }
      expect(played('an error of a tool in a graph')).toEqual({
        seen: ['PreToolUse c1', 'PostToolUseFailure c1'],
        results,
      })
    })

    it('runs no tool if hooks fail or the session is closed', () => {
      expect(played('hooks that fail')).toEqual({
        ran: [],
        told: { c1: expect.stringContaining('broken') },
        error: expect.stringContaining('is closed'),
      })
    })
  })
