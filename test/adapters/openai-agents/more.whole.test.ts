// What is special about the OpenAI Agents SDK, beside the contract of adapters.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sdkProject } from '../sdk-project.js'

describe.each(['0.14', '0.20'])('openai-agents %s', (version) => {
  const project = sdkProject(`openai-agents/${version}`)
  let seen: Readonly<Record<string, unknown>> = {}
  beforeAll(async () => {
    const lines = (await project?.run('test/adapters/openai-agents/more.ts'))?.trim().split('\n') ?? []
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
    // 0.20 itself runs only one of them.
    const judged = version === '0.14' ? ['PreToolUse c1', 'PreToolUse c1'] : ['PreToolUse c1']
    expect(seen['two equal calls with one id']).toEqual({ ran: 1, seen: ['PostToolUse c1', ...judged] })
  })

  it("takes no yes to the tool's own question for one to a hook's", () => {
    // 0.20 itself refuses the second call.
    const ended = version === '0.14' ? ['bob'] : { threw: expect.stringContaining('c1 was reused') }
    expect(seen["a yes to the tool's own question"]).toEqual(ended)
  })

  it('judges the same call of the next run anew after a no', () => {
    expect(seen['a no, and the same call in the next run']).toEqual({
      ran: [],
      seen: ['PreToolUse', 'PostToolUseFailure', 'PreToolUse'],
    })
  })

  it('lets a hook answer for the model', () => {
    expect(seen['a hook answers for the model']).toEqual({ finalOutput: 'from a hook', requests: 0 })
  })

  it('takes a yes, a no and an edit, each for its call', () => {
    expect(seen['answers one by one']).toEqual({
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
    expect(seen['another process']).toEqual({ ran: ['a'], seen: events, finalOutput: 'done' })
  })

  it('takes an approval for one call only, even if a later one has the same id', () => {
    const told = version === '0.14' ? { told: 'really?' } : {}
    expect(seen['an id that comes again']).toEqual({ ran: ['a'], ...told })
  })

  it('goes on with an agent as a tool that was interrupted, and judges its call once', () => {
    expect(seen['an agent as a tool']).toEqual({
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

  it('gives a tool its input in the form that the model gave it, also if the only parameter is called input', () => {
    expect(seen['inputs that hooks change']).toEqual({
      results: { c1: 'got go, gently', c2: 'helped' },
      wrapped: 'got "look, gently"',
      helper: expect.stringContaining('help, gently'),
    })
  })

  it('keeps reasoning and signatures of a response that hooks change', () => {
    expect(seen['a response with reasoning that hooks change']).toMatchObject({
      ran: ['a!'],
      history: [
        { type: 'reasoning', id: 'r1', providerData: { encrypted_content: 'sealed' } },
        { type: 'message', id: 'm1', content: [{ type: 'output_text', text: 'I look' }] },
        { callId: 'c1', arguments: '{"at":"a!"}', providerData: { signature: 's1' } },
      ],
    })
  })

  it('does not start an agent that hooks refuse', () => {
    expect(seen['an agent that must not start']).toEqual({ ran: [], results: { outer: 'no helpers' } })
  })

  it('runs no tool if hooks fail or the session is closed', () => {
    expect(seen['hooks that fail']).toEqual({
      ran: [],
      told: { c1: expect.stringContaining('broken') },
      error: expect.stringContaining('is closed'),
    })
  })

  it('refuses tools that hooks cannot judge', () => {
    expect(seen['tools that hooks cannot judge']).toContain('a tool of type shell')
  })
})
