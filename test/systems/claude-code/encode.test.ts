// The payload that a Claude-format hook reads on stdin.

import { type Data, resolveEvent } from 'carabiner/core'
import { describe, expect, it } from 'vitest'
import { openPayload } from '../../../src/core/events/events.js'
import { encode } from '../../../src/systems/claude-code/encode.js'
import { corpusFiles, corpusIsHere, readCorpus } from './replay.js'

const OWNED = { timestamp: '2026-01-06T19:48:34Z', session_id: 's1' }

/** The payload for an event from the kernel. */
function stdin(event: string, data: object): Data {
  const kind = resolveEvent(event)
  const opened = openPayload(kind, { cwd: '/project', transcript_path: '/t.jsonl' }, data, OWNED)
  return JSON.parse(encode({ name: kind.name, data: opened, session: undefined })) as Data
}

describe('the line', () => {
  it('is one line of JSON with a newline at its end', () => {
    const line = encode({ name: 'Stop', data: { stop_hook_active: false }, session: undefined })
    expect(line).toBe('{"hook_event_name":"Stop","stop_hook_active":false}\n')
  })

  it('stays one line whatever the data holds', () => {
    const prompt = 'a\nb\r\u2028c\u0000\ud800'
    const line = encode({ name: 'UserPromptSubmit', data: { prompt }, session: undefined })
    expect(line.indexOf('\n')).toBe(line.length - 1)
    expect(JSON.parse(line)).toMatchObject({ prompt })
    expect(Buffer.from(line).toString('utf8')).toBe(line)
  })

  it('keeps a key named __proto__ as a key', () => {
    const data = JSON.parse('{"tool_name":"X","tool_input":{},"__proto__":{"a":1}}') as Data
    expect(encode({ name: 'PreToolUse', data, session: undefined })).toContain('"__proto__":{"a":1}')
  })
})

describe('the payload', () => {
  it('is the data, field by field', () => {
    expect(
      stdin('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'u' }),
    ).toEqual({
      session_id: 's1',
      transcript_path: '/t.jsonl',
      cwd: '/project',
      hook_event_name: 'PreToolUse',
      timestamp: '2026-01-06T19:48:34Z',
      tool_name: 'Bash',
      tool_input: { command: 'ls' },
      tool_use_id: 'u',
    })
  })

  it('adds event, session and folder if the data lacks them, and overrides nothing', () => {
    const session = { id: 's2', cwd: '/there' }
    const bare = JSON.parse(encode({ name: 'Stop', data: {}, session })) as Data
    expect(bare).toEqual({ session_id: 's2', cwd: '/there', hook_event_name: 'Stop' })
    const full = JSON.parse(
      encode({ name: 'Stop', data: { session_id: 'own', cwd: '/own' }, session }),
    ) as Data
    expect(full).toEqual({ session_id: 'own', cwd: '/own', hook_event_name: 'Stop' })
  })

  it('has seed 001’s tool_result beside tool_response, whichever the host sent', () => {
    const call = { tool_name: 'Bash', tool_input: {} }
    for (const name of ['tool_response', 'tool_result']) {
      const { tool_response, tool_result } = stdin('PostToolUse', { ...call, [name]: { stdout: 'x' } })
      expect([tool_response, tool_result]).toEqual([{ stdout: 'x' }, { stdout: 'x' }])
    }
  })

  it('has seed 001’s trigger beside source on SessionStart', () => {
    expect(stdin('SessionStart', { source: 'resume' })).toMatchObject({ source: 'resume', trigger: 'resume' })
  })

  it('has no second name that nobody reads', () => {
    expect(stdin('UserPromptSubmit', { user_prompt: 'hi' })).toMatchObject({ prompt: 'hi' })
    expect(stdin('UserPromptSubmit', { user_prompt: 'hi' })).not.toHaveProperty('user_prompt')
    expect(stdin('PreCompact', { trigger: 'manual' })).toMatchObject({ trigger: 'manual' })
    expect(stdin('PreCompact', { trigger: 'manual' })).not.toHaveProperty('source')
    expect(stdin('ConfigChange', { source: 'user_settings' })).not.toHaveProperty('trigger')
  })

  it('of an event of one’s own passes through', () => {
    expect(stdin('deploy', { user_prompt: 'x', source: 's', trigger: 't' })).toMatchObject({
      hook_event_name: 'deploy',
      user_prompt: 'x',
      source: 's',
      trigger: 't',
    })
  })
})

interface Keys {
  readonly keys: readonly (readonly string[])[]
  readonly example: Data
}

describe.skipIf(!corpusIsHere)('what Claude Code sends (../shared/corpus)', () => {
  const sent = corpusIsHere ? Object.entries(readCorpus<Record<string, Keys>>('payload-keys.json')) : []

  it('is here', () => {
    expect(sent).toHaveLength(26)
  })

  it.each(sent)(
    '%s: every key and value of its payload is there, and nothing unknown beside',
    (event, { example }) => {
      const { timestamp, session_id, tool_result, trigger, ...read } = stdin(event, example)
      expect(timestamp).toBe(OWNED.timestamp)
      expect(session_id).toBe(OWNED.session_id)
      const { session_id: _, trigger: own, ...payload } = example
      expect(read).toEqual({ cwd: '/project', transcript_path: '/t.jsonl', ...payload })
      expect(trigger).toEqual(event === 'SessionStart' ? example.source : own)
      expect(tool_result).toEqual(event === 'PostToolUse' ? example.tool_response : undefined)
    },
  )

  /** Other hosts have other names for events and fields; src/hosts reads those. */
  const payloads = (corpusIsHere ? corpusFiles('payloads') : [])
    .map((file) => ({ file, payload: readCorpus<Data>(file) }))
    .filter(({ payload }) => payload.hook_event_name === resolveEvent(String(payload.hook_event_name)).name)

  it.each(payloads)('$file survives', ({ payload }) => {
    const event = String(payload.hook_event_name)
    const { user_prompt: _, timestamp: __, session_id: ___, ...rest } = payload
    expect(stdin(event, payload)).toMatchObject(rest)
  })
})
