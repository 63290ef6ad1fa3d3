// What is special about the OpenAI Agents SDK, beside the contract of adapters.

import { expect, it } from 'vitest'
import { moreCases } from '../more-cases.js'

for (const version of ['0.14', '0.20'])
  moreCases<object>({ name: 'openai-agents', version }, (played) => {
    it('offers the model no tools of MCP servers whose calls hooks would not see', () => {
      const refused = expect.stringContaining('hooks would not see calls of echo. Pass wrapTools(')
      expect(played('tools of an MCP server')).toEqual({
        ...{ refused, ran: [], streamed: refused, 'ran streamed': [] },
        ...{ wrapped: { ran: [], seen: ['echo'] }, anyTools: ['echo'], idle: ['echo'] },
      })
    })

    it('offers the model no other tool whose calls hooks would not see', () => {
      expect(played('other tools that wrapTools did not make')).toEqual({
        answers: {
          look: expect.stringContaining('calls of look'),
          shell: expect.stringContaining('calls of shell'),
          namespace: 'done',
        },
        ran: [],
      })
    })

    it('shows text before a call as early as `hold` says, and runs only what hooks let through', () => {
      const once = 'I look.'
      const twice = 'I look.I look.'
      const late = 'A hook changed the response after the changed part was shown'
      expect(played('hold: all')).toEqual({
        allowed: { shown: twice, ran: ['a'] },
        'denied response': { shown: '', ran: [], error: 'no' },
        'changed call': { shown: twice, ran: ['b'] },
        'changed text': { shown: 'I wait.I look.', ran: ['a'] },
      })
      expect(played('hold: tool-calls')).toEqual({
        allowed: { shown: twice, ran: ['a'] },
        'denied response': { shown: once, ran: [], error: 'no' },
        'changed call': { shown: twice, ran: ['b'] },
        'changed text': { shown: once, ran: [], error: late },
      })
      expect(played('hold: none')).toEqual({
        allowed: { shown: twice, ran: ['a'] },
        'denied response': { shown: once, ran: [], error: 'no' },
        'changed call': { shown: once, ran: [], error: late },
        'changed text': { shown: once, ran: [], error: late },
      })
    })

    it('keeps 64 equal calls apart', () => {
      const results = Object.fromEntries(
        Array.from({ length: 64 }, (_, at) => [`c${at}`, at % 2 ? `no to c${at}` : 'saw a']),
      )
      expect(played('64 equal calls')).toEqual({ ran: 32, judged: 64, ids: 64, results })
    })

    it('judges each of two equal calls with one id', () => {
      // 0.20 itself runs only one of them.
      const judged = version === '0.14' ? ['PreToolUse c1', 'PreToolUse c1'] : ['PreToolUse c1']
      expect(played('two equal calls with one id')).toEqual({ ran: 1, seen: ['PostToolUse c1', ...judged] })
    })

    it("takes no yes to the tool's own question for one to a hook's", () => {
      // 0.20 itself refuses the second call.
      const ended =
        version === '0.14' ? { ran: ['bob'] } : { threw: expect.stringContaining('c1 was reused') }
      expect(played("a yes to the tool's own question")).toEqual(ended)
    })

    it('judges the same call of the next run anew after a no', () => {
      expect(played('a no, and the same call in the next run')).toEqual({
        ran: [],
        seen: ['PreToolUse', 'PostToolUseFailure', 'PreToolUse'],
      })
    })

    it('judges an equal call of the next run anew, however the first one ended', () => {
      const judged = { ran: [], events: ['PreToolUse', 'PreToolUse'] }
      expect(played('an equal call of the next run')).toEqual({ abandoned: judged, rejected: judged })
      expect(played('an equal call after an abort')).toEqual({ ...judged, error: expect.any(String) })
    })

    it('takes a yes in every run, also if the id was approved in an earlier one', () => {
      expect(played('a yes in each of two runs')).toEqual({ ran: ['a', 'a'] })
    })

    it('keeps an edit of a call whose state was stored', () => {
      expect(played('an edit after the state was stored')).toEqual({ ran: ['b'] })
    })

    it("takes no yes to the tool's own question from another process for one to a hook's", () => {
      expect(played("a yes to the tool's own question in another process")).toEqual({
        ran: [],
        told: 'really?',
      })
    })

    it('ends hooks when the run is aborted', () => {
      expect(played('an abort inside a hook')).toEqual({ ran: [], isEnded: true, error: expect.any(String) })
    })

    it('lets a hook answer for the model', () => {
      expect(played('a hook answers for the model')).toEqual({ finalOutput: 'from a hook', requests: 0 })
    })

    it('takes a yes, a no and an edit, each for its call', () => {
      expect(played('answers one by one')).toEqual({
        asked: 3,
        ran: ['a', 'b'],
        // The edited call is judged again.
        seen: [
          'PostToolUse edit',
          'PostToolUse yes',
          'PreToolUse edit',
          'PreToolUse edit',
          'PreToolUse no',
          'PreToolUse yes',
        ],
        results: { yes: 'saw a', no: 'User denied: really?', edit: 'saw b' },
      })
    })

    it('takes an approval that another process asked for', () => {
      const events = ['PreToolUse c1', 'PostToolUse c1']
      expect(played('another process')).toEqual({ ran: ['a'], seen: events, finalOutput: 'done' })
    })

    it('takes an approval for one call only, even if a later one has the same id', () => {
      const asked = version === '0.14' ? { asked: 1 } : {}
      expect(played('an id that comes again')).toEqual({ ran: ['a'], requests: 2, ...asked })
      expect(played('an id that comes again after the state was stored')).toEqual({
        approve: { ran: ['a', 'b'], ...asked },
        reject: { ran: ['a'], ...asked },
      })
    })

    it("takes no yes for always for one to a hook's question that nobody was shown", () => {
      const ended = { ran: ['bob', 'ann'], told: 'pay eve?' }
      expect(played('a yes for always')).toEqual({ here: ended, stored: ended })
    })

    it('goes on with an agent as a tool that was interrupted, and judges its call once', () => {
      expect(played('an agent as a tool')).toEqual({
        asked: 1,
        ran: ['a'],
        seen: [
          'PreToolUse outer',
          'SubagentStart helper',
          'PreToolUse inner',
          'PostToolUse inner',
          'SubagentStop helper',
          'PostToolUse outer',
        ],
        results: { outer: 'helped' },
      })
    })

    it('knows the question of an agent that has a copy of the context', () => {
      expect(played('an agent as a tool with parameters of its own')).toEqual({
        ran: ['a'],
        judged: ['PreToolUse outer', 'PreToolUse inner'],
        questions: ['really?'],
      })
    })

    it('gives a tool its input in the form that the model gave it, also if the only parameter is called input', () => {
      expect(played('inputs that hooks change')).toEqual({
        results: { c1: 'got go, gently', c2: 'helped' },
        wrapped: 'got "look, gently"',
        helper: expect.stringContaining('help, gently'),
      })
    })

    it('keeps reasoning and signatures of a response that hooks change', () => {
      expect(played('a response with reasoning that hooks change')).toMatchObject({
        ran: ['a!'],
        history: [
          { type: 'reasoning', id: 'r1', providerData: { encrypted_content: 'sealed' } },
          { type: 'message', id: 'm1', content: [{ type: 'output_text', text: 'I look' }] },
          { callId: 'c1', arguments: '{"at":"a!"}', providerData: { signature: 's1' } },
        ],
      })
    })

    it('does not start an agent that hooks refuse', () => {
      expect(played('an agent that must not start')).toEqual({ ran: [], results: { outer: 'no helpers' } })
    })

    it('tells hooks that an agent has stopped which failed', () => {
      expect(played('an agent that fails')).toEqual({
        seen: ['PreToolUse outer', 'SubagentStart helper', 'SubagentStop helper', 'PostToolUseFailure outer'],
        error: expect.stringContaining('no model'),
      })
    })

    it('runs no tool if hooks fail or the session is closed', () => {
      expect(played('hooks that fail')).toEqual({
        ran: [],
        told: { c1: expect.stringContaining('broken') },
        error: expect.stringContaining('is closed'),
      })
    })

    it('refuses tools that hooks cannot judge', () => {
      expect(played('tools that hooks cannot judge')).toEqual({
        refused: expect.stringContaining('a tool of type shell'),
      })
    })
  })
