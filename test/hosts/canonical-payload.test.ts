// Payloads without a named sender, in the terms of other systems.

import type { Data } from 'carabiner/core'
import { describe, expect, it } from 'vitest'
import { canonicalPayload } from '../../src/hosts/payload.js'

const CALL = { tool_name: 'Bash', tool_input: { command: 'ls' } }

describe('S7: a payload of', () => {
  it('camelCase gets canonical names', () => {
    const sent = {
      hookEventName: 'preToolUse',
      sessionId: 's',
      toolName: 'Bash',
      toolInput: { command: 'ls' },
    }
    expect(canonicalPayload(sent)).toEqual({ hook_event_name: 'PreToolUse', session_id: 's', ...CALL })
    const nameless = { toolName: 'Bash', toolInput: '{"command":"ls"}', toolResponse: 'x' }
    expect(canonicalPayload(nameless, 'PostToolUse')).toEqual({ ...CALL, tool_response: 'x' })
  })

  it('PicoClaw gets canonical names, and keeps its own', () => {
    const meta = { SessionKey: 's', AgentID: 'a', TurnID: 't', Iteration: 0 }
    const sent = { tool: 'Bash', arguments: { command: 'ls' }, meta, channel: 'cli' }
    expect(canonicalPayload(sent, 'before_tool')).toEqual({
      ...sent,
      ...CALL,
      session_id: 's',
      agent_id: 'a',
      turn_id: 't',
    })
  })

  it('BeamAgent names its event by `event`', () => {
    expect(canonicalPayload({ event: 'pre_tool_use', ...CALL })).toMatchObject({
      hook_event_name: 'PreToolUse',
      ...CALL,
    })
  })

  it('Claude Code stays as it is', () => {
    const unchanged: readonly Data[] = [
      { hook_event_name: 'PreToolUse', ...CALL },
      CALL,
      {},
      { hook_event_name: 5 },
      { hook_event_name: 'FileChanged', file_path: '/a', event: 'change' },
    ]
    for (const sent of unchanged) expect(canonicalPayload(sent)).toBe(sent)
  })

  it('nobody in particular is refused where its name is no name', () => {
    expect(() => canonicalPayload({ hookEventName: 7 })).toThrow('must be the name of an event')
  })
})

describe('one field under two names', () => {
  const PRE = { hook_event_name: 'PreToolUse', ...CALL }
  const refused: readonly (readonly [string, Data])[] = [
    ['tool_name', { ...PRE, toolName: 'Read' }],
    ['tool_name', { ...PRE, tool: 'Read', arguments: CALL.tool_input }],
    ['tool_input', { ...PRE, tool: 'Bash', arguments: {} }],
    ['tool_input', { ...PRE, toolInput: { command: 'other' } }],
    ['tool_input', { ...PRE, toolArgs: '{"command":"other"}' }],
    ['hook_event_name', { ...PRE, hook_event_name: 'PostToolUse', hookEventName: 'PreToolUse' }],
  ]
  it.each(refused)('is refused with two values: %s', (field, sent) => {
    expect(() => canonicalPayload(sent)).toThrow(`${field} has two names here`)
  })

  it('is one field with one value', () => {
    const sent = { ...PRE, hookEventName: 'pre_tool_use', toolName: 'Bash', toolArgs: '{"command":"ls"}' }
    expect(canonicalPayload({ ...sent, tool: 'Bash', arguments: CALL.tool_input })).toMatchObject(PRE)
  })
})
