// Calls to a resident hook, compared with the seed's messages field by field.

import { describe, expect, it } from 'vitest'
import { encodeCall } from '../../../src/systems/picoclaw/encode.js'
import { ASKED, CALL, eventOf, MESSAGE, REQUEST, RESULT, ran } from './asked.js'

const meta = (Source: string) => ({
  AgentID: 'agent-1',
  TurnID: 'turn-1',
  ParentTurnID: '',
  SessionKey: 'session-1',
  Iteration: 0,
  TracePath: 'runTurn',
  Source,
})
const place = { channel: 'cli', chat_id: 'chat-1' }

describe('params', () => {
  it('of before_llm', () => {
    expect(encodeCall('before_llm', ASKED.before_llm)).toEqual({
      meta: meta('turn.llm.request'),
      ...REQUEST,
      ...place,
      graceful_terminal: false,
    })
    const last = eventOf('ModelRequest', { ...REQUEST, graceful_terminal: true })
    expect(encodeCall('before_llm', last).graceful_terminal).toBe(true)
  })

  it('of after_llm', () => {
    expect(encodeCall('after_llm', ASKED.after_llm)).toEqual({
      meta: meta('turn.llm.response'),
      model: 'claude-sonnet',
      response: MESSAGE,
      ...place,
    })
  })

  it('of before_tool and approve_tool', () => {
    const call = { tool: 'echo_text', arguments: { text: 'hello' }, ...place }
    expect(encodeCall('before_tool', ASKED.before_tool)).toEqual({ meta: meta('turn.tool.before'), ...call })
    expect(encodeCall('approve_tool', ASKED.approve_tool)).toEqual({
      meta: meta('turn.tool.approve'),
      ...call,
    })
  })

  it('of after_tool, with a duration in nanoseconds', () => {
    expect(encodeCall('after_tool', ran(RESULT))).toEqual({
      meta: meta('turn.tool.after'),
      tool: 'echo_text',
      arguments: { text: 'hello' },
      result: RESULT,
      duration: 15_000_000,
      ...place,
    })
  })

  it('stand in the session, unless the data says it itself', () => {
    const session = { id: 's', turnId: 'turn-7', parentTurnId: 'turn-2', iteration: 3 }
    expect(encodeCall('before_tool', eventOf('PreToolUse', CALL, session)).meta).toMatchObject({
      TurnID: 'turn-7',
      ParentTurnID: 'turn-2',
      SessionKey: 's',
      Iteration: 3,
    })
    const said = { ...CALL, turn_id: 't', parent_turn_id: 'p' }
    expect(encodeCall('before_tool', eventOf('PreToolUse', said, session)).meta).toMatchObject({
      TurnID: 't',
      ParentTurnID: 'p',
    })
  })

  it('never lack a field, nor have a null where a Go program expects none', () => {
    const bare = { name: 'PreToolUse', data: { tool_name: 'x' }, session: undefined }
    expect(encodeCall('before_tool', bare)).toEqual({
      meta: { ...meta('turn.tool.before'), AgentID: '', TurnID: '', SessionKey: '' },
      tool: 'x',
      arguments: {},
      channel: '',
      chat_id: '',
    })
    const keyed = { ...bare, data: { session_id: 's2', tool_name: 'x', tool_input: null, channel: null } }
    expect(encodeCall('approve_tool', keyed)).toMatchObject({
      meta: { SessionKey: 's2' },
      arguments: {},
      channel: '',
    })
    const request = { name: 'ModelRequest', data: { model: 'm', messages: [] }, session: undefined }
    expect(encodeCall('before_llm', request)).toMatchObject({ tools: [], options: {} })
  })
})

describe('a tool’s result', () => {
  const result = (value: never) => encodeCall('after_tool', ran(value)).result

  it('in the protocol’s shape goes as it is, with all its fields', () => {
    const own = { for_llm: 'x', silent: true, media: ['a.png'], extra: { kept: 1 } }
    expect(result(own as never)).toEqual(own)
  })

  it('that is a text is exactly for_llm', () => {
    expect(result('echoed: hello' as never)).toEqual({ for_llm: 'echoed: hello' })
    expect(result('' as never)).toEqual({ for_llm: '' })
  })

  it('that is other JSON is JSON text', () => {
    expect(result({ stdout: 'a', code: 0 } as never)).toEqual({ for_llm: '{"stdout":"a","code":0}' })
    expect(result([1, 2] as never)).toEqual({ for_llm: '[1,2]' })
    expect(result(null as never)).toEqual({ for_llm: 'null' })
    expect(result({ for_llm: 5 } as never)).toEqual({ for_llm: '{"for_llm":5}' })
  })

  it('that is missing is an empty text', () => {
    expect(encodeCall('after_tool', eventOf('PostToolUse', CALL)).result).toEqual({ for_llm: '' })
  })

  it('of a tool that failed is its error', () => {
    const failed = eventOf('PostToolUseFailure', { tool_name: 'x', error: 'no such file', duration_ms: 0.5 })
    expect(encodeCall('after_tool', failed)).toMatchObject({
      tool: 'x',
      arguments: {},
      result: { for_llm: 'no such file', is_error: true },
      duration: 500_000,
    })
  })

  it('took no negative, broken or unknown time', () => {
    for (const duration_ms of [-5, null, undefined, 'long']) {
      expect(encodeCall('after_tool', eventOf('PostToolUse', { ...CALL, duration_ms })).duration).toBe(0)
    }
    expect(
      encodeCall('after_tool', eventOf('PostToolUse', { ...CALL, duration_ms: 0.0000004 })).duration,
    ).toBe(0)
  })
})
