// Observations of each event, and the events that a list of kinds needs.

import { type HookEvent, knownEvents, type Outcome } from 'carabiner/core'
import { describe, expect, it } from 'vitest'
import { likelyKind, observationsOf, observing } from '../../../src/systems/picoclaw/observation.js'
import { ASKED, CALL, eventOf, MESSAGE, RESULT, ran, SESSION } from './asked.js'

function outcomeOf(event: HookEvent, more: Partial<Outcome> = {}): Outcome {
  return {
    action: 'continue',
    data: event.data,
    modified: false,
    injections: [],
    messages: [],
    hooks: [],
    diagnostics: [],
    ...more,
  }
}

/** Kind and payload of each observation. */
function told(event: HookEvent, outcome: Partial<Outcome> = {}): [string, unknown][] {
  return observationsOf(event, outcomeOf(event, outcome)).map(({ Kind, Payload }) => [Kind, Payload])
}

const start = ['tool_exec_start', { Tool: 'echo_text', Arguments: { text: 'hello' } }]

describe('a tool call', () => {
  it('that may run has begun, as in the seed', () => {
    expect(observationsOf(ASKED.before_tool, outcomeOf(ASKED.before_tool))).toEqual([
      {
        Kind: 'tool_exec_start',
        Meta: {
          AgentID: 'agent-1',
          TurnID: 'turn-1',
          ParentTurnID: '',
          SessionKey: 'session-1',
          Iteration: 0,
          TracePath: 'runTurn',
          Source: 'turn.tool.start',
        },
        Payload: { Tool: 'echo_text', Arguments: { text: 'hello' } },
      },
    ])
    expect(observationsOf(ASKED.before_tool, undefined)[0]?.Kind).toBe('tool_exec_start')
  })

  it('that was answered has begun and ended in no time', () => {
    expect(
      told(ASKED.before_tool, { action: 'respond', response: { for_llm: 'né', is_error: true } }),
    ).toEqual([
      start,
      [
        'tool_exec_end',
        { Tool: 'echo_text', Duration: 0, ForLLMLen: 3, ForUserLen: 0, IsError: true, Async: false },
      ],
    ])
  })

  it('that may not run is skipped', () => {
    for (const action of ['deny', 'ask_user', 'abort_turn', 'hard_abort'] as const) {
      expect(told(ASKED.before_tool, { action, reason: 'no' })).toEqual([
        ['tool_exec_skipped', { Tool: 'echo_text', Reason: 'no' }],
      ])
      expect(told(ASKED.before_tool, { action })[0]?.[1]).toMatchObject({ Reason: '' })
    }
  })

  it('that ran has ended', () => {
    const result = { ...RESULT, for_user: 'Look!', async: true }
    expect(told(ran(result))).toEqual([
      [
        'tool_exec_end',
        {
          Tool: 'echo_text',
          Duration: 15_000_000,
          ForLLMLen: 13,
          ForUserLen: 5,
          IsError: false,
          Async: true,
        },
      ],
    ])
    expect(told(ran('text'))[0]?.[1]).toMatchObject({
      ForLLMLen: 4,
      ForUserLen: 0,
      IsError: false,
      Async: false,
    })
    const failed = eventOf('PostToolUseFailure', { ...CALL, error: 'gone', duration_ms: 2 })
    expect(told(failed)[0]).toEqual([
      'tool_exec_end',
      { Tool: 'echo_text', Duration: 2_000_000, ForLLMLen: 4, ForUserLen: 0, IsError: true, Async: false },
    ])
  })

  it('that ran has ended also where a hook complains of it', () => {
    expect(told(ran('text'), { action: 'abort_turn' })[0]?.[0]).toBe('tool_exec_end')
  })
})

describe('a model call', () => {
  it('that is made is a request', () => {
    expect(told(ASKED.before_llm)).toEqual([
      [
        'llm_request',
        { Model: 'claude-sonnet', MessagesCount: 1, ToolsCount: 1, MaxTokens: 0, Temperature: 0.7 },
      ],
    ])
    const more = eventOf('ModelRequest', { model: 'm', messages: [], options: { max_tokens: 100 } })
    expect(told(more)[0]?.[1]).toMatchObject({ ToolsCount: 0, MaxTokens: 100, Temperature: 0 })
  })

  it('that is not made is reported under the event’s own name, with its outcome', () => {
    const [[kind, payload] = []] = told(ASKED.before_llm, { action: 'deny', reason: 'no' })
    expect(kind).toBe('model_request')
    expect(payload).toMatchObject({ model: 'claude-sonnet', Action: 'deny', Reason: 'no' })
  })

  it('that was answered is a response', () => {
    expect(told(ASKED.after_llm)).toEqual([
      ['llm_response', { ContentLen: 3, ToolCalls: 1, HasReasoning: false }],
    ])
    const of = (response: unknown) => told(eventOf('ModelResponse', { model: 'm', response }))[0]?.[1]
    expect(of('née')).toEqual({ ContentLen: 4, ToolCalls: 0, HasReasoning: false })
    expect(of({ ...MESSAGE, reasoning_content: 'hm' })).toMatchObject({ HasReasoning: true })
    expect(
      of({ content: [{ type: 'thinking' }, { type: 'text', text: 'abc' }, { type: 'tool_use' }, 5] }),
    ).toEqual({ ContentLen: 3, ToolCalls: 1, HasReasoning: true })
    expect(of(null)).toEqual({ ContentLen: 0, ToolCalls: 0, HasReasoning: false })
  })
})

describe('subagents, compaction and errors', () => {
  it('have the protocol’s kinds', () => {
    const agent = { agent_id: 'sub-1', agent_type: 'Explore' }
    expect(told(eventOf('SubagentStart', agent))).toEqual([
      ['subturn_spawn', { AgentID: 'sub-1', Label: 'Explore', ParentTurnID: 'turn-1' }],
    ])
    const inside = eventOf('SubagentStart', agent, { ...SESSION, parentTurnId: 'turn-0' })
    expect(told(inside)[0]?.[1]).toMatchObject({ ParentTurnID: 'turn-0' })
    expect(told(eventOf('SubagentStop', agent))).toEqual([
      ['subturn_end', { AgentID: 'sub-1', Status: 'completed' }],
    ])
    expect(told(eventOf('PostCompact', { trigger: 'auto', dropped_messages: 4 }))).toEqual([
      ['context_compress', { Reason: 'auto', DroppedMessages: 4 }],
    ])
    expect(told(eventOf('StopFailure', { error: 'rate_limit', error_details: '429' }))).toEqual([
      ['error', { Stage: 'llm', Message: 'rate_limit: 429' }],
    ])
    expect(told(eventOf('error', { stage: 'session_save', message: 'disk full' }))).toEqual([
      ['error', { Stage: 'session_save', Message: 'disk full' }],
    ])
  })

  it('that were refused did not happen', () => {
    expect(told(eventOf('SubagentStart', {}), { action: 'deny', reason: 'no' })).toEqual([
      ['subagent_start', { Action: 'deny', Reason: 'no' }],
    ])
    expect(told(eventOf('SubagentStop', {}), { action: 'deny', reason: 'go on' })).toEqual([
      ['subagent_stop', { Action: 'deny', Reason: 'go on' }],
    ])
  })
})

describe('a turn', () => {
  it('that the host announces is told as announced', () => {
    expect(told(eventOf('turn_start', { prompt: 'hello' }))).toEqual([
      ['turn_start', { UserMessage: 'hello', MediaCount: 0 }],
    ])
    expect(told(eventOf('turn_start', {}))[0]?.[1]).toEqual({ UserMessage: '', MediaCount: 0 })
    expect(told(eventOf('turn_end', { status: 'aborted', Iterations: 3 }))).toEqual([
      ['turn_end', { Status: 'aborted', Iterations: 3 }],
    ])
    expect(told(eventOf('turn_end', {}))[0]?.[1]).toEqual({ Status: 'completed' })
    const sources = ['turn_start', 'turn_end'].map(
      (name) => observationsOf(eventOf(name, {}), undefined)[0]?.Meta,
    )
    expect(sources).toMatchObject([{ Source: 'turn.start' }, { Source: 'turn.end' }])
  })

  it('that nobody announces begins with a prompt and ends with a stop', () => {
    const prompt = eventOf('UserPromptSubmit', { prompt: 'hello', user_prompt: 'hello' })
    expect(told(prompt)).toEqual([['turn_start', { UserMessage: 'hello', MediaCount: 0 }]])
    const stop = eventOf('Stop', { stop_hook_active: false, last_assistant_message: 'Bye!' })
    expect(told(stop)).toEqual([
      ['turn_end', { Status: 'completed', FinalContentLen: 4, FinalContent: 'Bye!' }],
    ])
    expect(told(prompt, { action: 'deny', reason: 'no' })).toEqual([
      ['user_prompt_submit', { prompt: 'hello', user_prompt: 'hello', Action: 'deny', Reason: 'no' }],
    ])
    expect(told(stop, { action: 'deny', reason: 'go on' })[0]?.[0]).toBe('stop')
  })

  it('that the host announces does not begin or end twice', () => {
    const session = { ...SESSION, announcesTurns: true }
    expect(told(eventOf('UserPromptSubmit', { prompt: 'hello' }, session))).toEqual([
      ['user_prompt_submit', { prompt: 'hello' }],
    ])
    expect(told(eventOf('Stop', {}, session))).toEqual([['stop', {}]])
  })
})

describe('everything else', () => {
  const base = {
    timestamp: 't',
    cwd: '/',
    transcript_path: '/t',
    permission_mode: 'plan',
    agent_type: 'a',
    parent_turn_id: 'p',
    turn_id: 'q',
  }

  it('is told under the name of the event, without what Meta says', () => {
    expect(told(eventOf('SessionStart', { ...base, source: 'startup' }))).toEqual([
      ['session_start', { source: 'startup' }],
    ])
    expect(told(eventOf('Notification', { ...base, message: 'hi' }))).toEqual([
      ['notification', { message: 'hi' }],
    ])
  })

  it('of the host’s own keeps its name and its keys', () => {
    const steering = { Count: 1, TotalContentLen: 5 }
    expect(told(eventOf('steering_injected', { ...base, ...steering }))).toEqual([
      ['steering_injected', steering],
    ])
    expect(told(eventOf('interrupt_received', { Kind: 'graceful' }))).toEqual([
      ['interrupt_received', { Kind: 'graceful' }],
    ])
    expect(told(eventOf('My.Deploy', { x: 1 }))).toEqual([['My.Deploy', { x: 1 }]])
    expect(told(eventOf('all', { x: 1 }))).toEqual([['all', { x: 1 }]])
    expect(told(eventOf('agent.llm.delta', { ContentDeltaLen: 1 }))).toEqual([
      ['llm_delta', { ContentDeltaLen: 1 }],
    ])
    expect(told(eventOf('subturn_spawn', { Label: 'x' }))).toEqual([['subturn_spawn', { Label: 'x' }]])
  })

  it('leaves out no event, whatever came of it', () => {
    for (const { name } of knownEvents()) {
      for (const action of ['continue', 'deny', 'ask_user', 'respond', 'abort_turn', 'hard_abort'] as const) {
        const found = observationsOf(eventOf(name, {}), outcomeOf(eventOf(name, {}), { action }))
        expect(found.length).toBeGreaterThan(0)
        for (const { Kind } of found) expect(Kind).toMatch(/^[a-z_]+$/)
      }
    }
  })

  it('stands without a session', () => {
    const [observation] = observationsOf({ name: 'deploy', data: {}, session: undefined }, undefined)
    expect(observation).toMatchObject({ Kind: 'deploy', Meta: { SessionKey: '', TurnID: '', Iteration: 0 } })
  })
})

describe('observed kinds', () => {
  const SHORT = [
    ['turn_start', 'agent.turn.start'],
    ['turn_end', 'agent.turn.end'],
    ['llm_request', 'agent.llm.request'],
    ['llm_delta', 'agent.llm.delta'],
    ['llm_response', 'agent.llm.response'],
    ['llm_retry', 'agent.llm.retry'],
    ['context_compress', 'agent.context.compress'],
    ['session_summarize', 'agent.session.summarize'],
    ['tool_exec_start', 'agent.tool.exec_start'],
    ['tool_exec_end', 'agent.tool.exec_end'],
    ['tool_exec_skipped', 'agent.tool.exec_skipped'],
    ['steering_injected', 'agent.steering.injected'],
    ['follow_up_queued', 'agent.follow_up.queued'],
    ['interrupt_received', 'agent.interrupt.received'],
    ['subturn_spawn', 'agent.subturn.spawn'],
    ['subturn_end', 'agent.subturn.end'],
    ['subturn_result_delivered', 'agent.subturn.result_delivered'],
    ['subturn_orphan', 'agent.subturn.orphan'],
    ['error', 'agent.error'],
  ] as const

  const wanted = (names: string[], event: string, kind: string) => observing(names).wants(event, kind)

  it.each(SHORT)('%s is also %s', (short, current) => {
    for (const name of [short, current]) {
      expect(wanted([name], 'whatever', short)).toBe(true)
      expect(wanted([name], 'whatever', 'another')).toBe(false)
      expect(observing([name]).events).toContain(short)
    }
    expect(observing([current]).events).toEqual(observing([short]).events)
  })

  it('may be named by an event, which stands for all its observations, denied or not', () => {
    for (const name of ['PreToolUse', 'tool:pre', 'before_tool']) {
      expect(observing([name]).events).toEqual(new Set(['PreToolUse']))
      for (const kind of ['tool_exec_start', 'tool_exec_end', 'tool_exec_skipped']) {
        expect(wanted([name], 'PreToolUse', kind)).toBe(true)
      }
      expect(wanted([name], 'PostToolUse', 'tool_exec_end')).toBe(false)
    }
    expect(wanted(['UserPromptSubmit'], 'UserPromptSubmit', 'user_prompt_submit')).toBe(true)
    expect(observing(['session:start']).events).toEqual(new Set(['SessionStart']))
  })

  it('may be the host’s own', () => {
    for (const name of ['gateway.ready', 'deploy', 'toString', '__proto__']) {
      expect(observing([name]).events).toEqual(new Set([name]))
      expect(wanted([name], name, name)).toBe(true)
    }
  })

  it('may be everything', () => {
    for (const name of ['*', 'all', '']) {
      expect(observing(['turn_start', name]).events).toBe('all')
      expect(wanted(['turn_start', name], 'any', 'thing')).toBe(true)
    }
    expect(observing([]).events).toEqual(new Set())
  })

  it('that are misspelt have a nearest', () => {
    expect(['tool_exec_strat', 'agent.turn.strat', 'PreToolUze'].map(likelyKind)).toEqual([
      'tool_exec_start',
      'agent.turn.start',
      'PreToolUse',
    ])
    expect(['*', 'turn_start', 'agent.error', 'Stop', 'deploy'].map(likelyKind)).toEqual(
      Array(5).fill(undefined),
    )
  })

  it('come from the events that bring them about', () => {
    const cases: [HookEvent, Partial<Outcome>][] = [
      [ASKED.before_tool, {}],
      [ASKED.before_tool, { action: 'deny' }],
      [ASKED.before_tool, { action: 'respond', response: 'x' }],
      [ASKED.after_tool, {}],
      [eventOf('PostToolUseFailure', {}), {}],
      [ASKED.before_llm, {}],
      [ASKED.after_llm, {}],
      [eventOf('SubagentStart', {}), {}],
      [eventOf('SubagentStop', {}), {}],
      [eventOf('PostCompact', {}), {}],
      [eventOf('StopFailure', { error: 'x' }), {}],
      [eventOf('UserPromptSubmit', {}), {}],
      [eventOf('Stop', {}), {}],
      [eventOf('turn_start', {}), {}],
      [eventOf('turn_end', {}), {}],
      [eventOf('error', {}), {}],
      [eventOf('agent.llm.delta', {}), {}],
      [eventOf('SessionEnd', {}), {}],
      [eventOf('gateway.ready', {}), {}],
    ]
    for (const [event, outcome] of cases) {
      for (const [kind] of told(event, outcome)) expect(observing([kind]).events).toContain(event.name)
    }
    expect(observing(['tool_exec_skipped', 'SessionStart', 'deploy']).events).toEqual(
      new Set(['tool_exec_skipped', 'agent.tool.exec_skipped', 'PreToolUse', 'SessionStart', 'deploy']),
    )
  })
})
