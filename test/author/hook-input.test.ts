// parseHookInput: one type for what every agent sends, and an error that gives nothing of it away.

import { inspect } from 'node:util'
import { describe, expect, expectTypeOf, it } from 'vitest'
import {
  type Data,
  type HookInput,
  type HostName,
  InvalidHookInput,
  isTool,
  type Json,
  type ParseOptions,
  parseHookInput,
} from '../../src/author/index.js'

const parse = (payload: object, options?: ParseOptions) => parseHookInput(JSON.stringify(payload), options)
const BASH = { tool_name: 'Bash', tool_input: { command: 'pwd' } }

function refused(text: string, options?: ParseOptions): InvalidHookInput {
  try {
    parseHookInput(text, options)
  } catch (error) {
    if (error instanceof InvalidHookInput) return error
    throw error
  }
  throw new Error('it was accepted')
}

describe('the type', () => {
  it('is told apart by the event', () => {
    const input: HookInput = parse({ hook_event_name: 'PreToolUse', ...BASH })
    if (input.event === 'PreToolUse') {
      expectTypeOf(input.toolName).toBeString()
      expectTypeOf(input.toolInput).toEqualTypeOf<Data>()
      if (isTool(input, 'Bash')) expectTypeOf(input.toolInput.command).toEqualTypeOf<string>()
      if (isTool(input, 'Write', 'Edit')) expectTypeOf(input.toolInput.file_path).toEqualTypeOf<string>()
    }
    if (input.event === 'PostToolUse') expectTypeOf(input.toolResult).toEqualTypeOf<Json | undefined>()
    if (input.event === 'Unknown') expectTypeOf(input.eventName).toBeString()
    // @ts-expect-error a session has no tool
    if (input.event === 'SessionStart') input.toolName
    expect(input.event).toBe('PreToolUse')
  })
})

describe('names of events', () => {
  it.each([
    ['PreToolUse', 'PreToolUse'],
    ['pre_tool_use', 'PreToolUse'],
    ['PRE-TOOL-USE', 'PreToolUse'],
    ['tool:pre', 'PreToolUse'],
    ['SessionStop', 'SessionEnd'],
    ['session end', 'SessionEnd'],
    ['BeforeTool', 'PreToolUse'],
  ])('%s is %s', (name, event) => {
    expect(parse({ hook_event_name: name, ...BASH }).event).toBe(event)
  })

  it.each(['FutureEvent', 'constructor', 'toString', '__proto__', 'Unknown'])(
    '%s is not known yet',
    (name) => {
      const input = parse({ hook_event_name: name, payload: { anything: true } })
      expect(input).toMatchObject({
        event: 'Unknown',
        eventName: name,
        extra: { payload: { anything: true } },
      })
    },
  )

  it.each([5, '', '::', [], {}, true])('%j is none', (name) => {
    expect(refused(JSON.stringify({ hook_event_name: name, ...BASH })).field).toBe('hook_event_name')
  })

  it('null is as good as absent, and then the caller may know', () => {
    expect(refused('{"hook_event_name":null}').message).toContain('hook_event_name is missing')
    expect(parse({ hook_event_name: null }, { event: 'stop' }).event).toBe('Stop')
  })

  it('an `event` that is a field of the event is no name', () => {
    expect(parse({ event: 'change', file_path: 'a' }, { event: 'FileChanged' }).event).toBe('FileChanged')
    expect(refused('{"event":"change"}').field).toBe('hook_event_name')
  })
})

describe('fields', () => {
  it('come under one name, and the rest is extra', () => {
    expect(
      parse({
        hookEventName: 'PostToolUse',
        toolName: 'Bash',
        toolInput: { command: 'pwd' },
        tool_response: { stdout: '/' },
        sessionId: 's',
        transcriptPath: '/t',
        permissionMode: 'plan',
        cwd: '/w',
        toolUseId: 'u',
        mine: 1,
      }),
    ).toEqual({
      event: 'PostToolUse',
      host: 'claude-code',
      toolName: 'Bash',
      toolInput: { command: 'pwd' },
      toolResult: { stdout: '/' },
      sessionId: 's',
      transcriptPath: '/t',
      permissionMode: 'plan',
      cwd: '/w',
      extra: { tool_use_id: 'u', mine: 1 },
    })
  })

  it.each(['tool_result', 'toolResult', 'tool_response', 'toolResponse', 'tool_output'])('%s', (name) => {
    const input = parse({ hook_event_name: 'PostToolUse', ...BASH, [name]: { n: 0 } })
    expect(input).toMatchObject({ toolResult: { n: 0 } })
  })

  it.each([
    [{ user_prompt: 'a' }, 'a'],
    [{ userPrompt: 'a', prompt: 'b' }, 'a'],
    [{ user_prompt: ' ', prompt: 'b' }, 'b'],
    [{ prompt: 'b', userMessage: 'c' }, 'b'],
    [{ userMessage: { text: 'c' } }, 'c'],
    [{ prompt: [{ type: 'text', text: 'd' }, { type: 'image' }] }, 'd'],
    [{ user_prompt: '' }, ''],
    [{ user_prompt: null }, undefined],
    [{}, undefined],
  ])('the prompt of %j is %j', (payload, prompt) => {
    const input = parse({ hook_event_name: 'UserPromptSubmit', ...payload })
    expect(input.event === 'UserPromptSubmit' && input.userPrompt).toBe(prompt)
  })

  it('a tool input may be JSON in a text, and is always data', () => {
    for (const [given, toolInput, extra] of [
      ['{"command":"pwd"}', { command: 'pwd' }, {}],
      ['[1]', {}, { tool_input: [1] }],
      ['"x"', {}, { tool_input: 'x' }],
      [7, {}, { tool_input: 7 }],
      [null, {}, {}],
    ]) {
      const input = parse({ hook_event_name: 'PreToolUse', toolName: 'x', toolArgs: given })
      expect(input).toEqual({
        event: 'PreToolUse',
        host: expect.any(String),
        toolName: 'x',
        toolInput,
        extra,
      })
    }
  })

  it('of several names the first that is there counts', () => {
    const both = { tool_input: null, toolInput: { a: 1 }, toolArgs: { b: 1 } }
    expect(parse({ hook_event_name: 'PreToolUse', tool_name: 'x', ...both })).toMatchObject({
      toolInput: {},
    })
  })

  it('a key called __proto__ is a key', () => {
    const input = parseHookInput('{"hook_event_name":"Stop","__proto__":{"polluted":1}}')
    expect(Object.hasOwn(input.extra, '__proto__')).toBe(true)
    expect('polluted' in input.extra).toBe(false)
  })
})

describe('what is invalid', () => {
  const NEEDS_TOOL = ['PreToolUse', 'PermissionRequest', 'PermissionDenied', 'PostToolUse']

  it.each(NEEDS_TOOL)('%s without a tool or its input', (event) => {
    const named = { hook_event_name: event }
    expect(refused(JSON.stringify({ ...named, tool_input: {} }))).toMatchObject({ event, field: 'tool_name' })
    expect(refused(JSON.stringify({ ...named, tool_name: null, tool_input: {} })).field).toBe('tool_name')
    expect(refused(JSON.stringify({ ...named, tool_name: 'x' }))).toMatchObject({
      event,
      field: 'tool_input',
    })
  })

  it.each([
    ['PreToolUse', 'tool_name', 'tool_name'],
    ['PreToolUse', 'toolName', 'tool_name'],
    ['Stop', 'session_id', 'session_id'],
    ['Stop', 'sessionId', 'session_id'],
    ['Stop', 'transcript_path', 'transcript_path'],
    ['Stop', 'cwd', 'cwd'],
    ['Stop', 'permission_mode', 'permission_mode'],
    ['Stop', 'stop_hook_active', 'stop_hook_active'],
    ['SubagentStop', 'stopHookActive', 'stop_hook_active'],
    ['UserPromptSubmit', 'user_prompt', 'user_prompt'],
    ['UserPromptSubmit', 'prompt', 'user_prompt'],
    ['FutureEvent', 'session_id', 'session_id'],
  ])('%s with a %s of the wrong type', (event, key, field) => {
    for (const value of [7, { a: 1 }, [[]]]) {
      const { tool_name: _, ...rest } = BASH
      const payload = { hook_event_name: event, ...rest, [key]: value }
      expect(refused(JSON.stringify(payload)), `${value}`).toMatchObject({
        event: event === 'FutureEvent' ? 'Unknown' : event,
        field,
      })
    }
  })

  it.each([
    ['nothing', '', 'empty'],
    ['blanks', ' \n\t', 'empty'],
    ['a byte-order mark', '\uFEFF', 'empty'],
    ['null', 'null', 'not null'],
    ['a list', '[{}]', 'not a list'],
    ['a text', '"PreToolUse"', 'not a string'],
    ['a number', '7', 'not a number'],
    ['two documents', '{"hook_event_name":"Stop"}\n{"hook_event_name":"Stop"}', 'something follows'],
    ['half a document', '{"hook_event_name":"Stop","session', 'ends too early'],
    ['a document cut after a key', '{"hook_event_name":', 'ends too early'],
    ['bytes of a picture', '\x89PNG\r\n\x1a\n\0\0', 'not JSON'],
    ['a key twice', '{"tool_name":"Bash","tool_name":"Read"}', 'has the key tool_name twice'],
    [
      'a key twice in a text of JSON',
      JSON.stringify({
        hook_event_name: 'PreToolUse',
        toolName: 'x',
        toolArgs: '{"a":[{"b":1,"\\u0062":2}]}',
      }),
      'has the key b twice',
    ],
    ['lists without end', '['.repeat(100_000), 'nested deeper than 500'],
    ['a deep document', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'nested deeper than 500'],
  ])('%s', (_, text, says) => {
    expect(refused(text).message).toContain(says)
  })

  it('a byte-order mark before the document is ignored', () => {
    expect(parseHookInput('\uFEFF{"hook_event_name":"Stop"}').event).toBe('Stop')
  })

  it('brackets in a text are no nesting', () => {
    const text = `\\"${'[{'.repeat(1000)}`
    expect(parse({ hook_event_name: 'Stop', text }).extra).toEqual({ text })
  })

  it('a large payload is read', () => {
    const content = 'x'.repeat(50 * 1024 * 1024)
    const input = parse({ hook_event_name: 'PreToolUse', tool_name: 'Write', tool_input: { content } })
    expect(input).toMatchObject({ toolInput: { content } })
  })
})

describe('an error', () => {
  const SECRET = 'sk-live-hunter2'

  it.each([
    `{"${SECRET}":`,
    `{"hook_event_name":"PreToolUse" ${SECRET}}`,
    SECRET,
    `"${SECRET}"`,
    `{"a":1}${SECRET}`,
    JSON.stringify({ hook_event_name: { [SECRET]: SECRET } }),
    JSON.stringify({ hook_event_name: 'PreToolUse', toolName: { [SECRET]: 1 }, toolArgs: {} }),
    JSON.stringify({ hook_event_name: 'PreToolUse', toolName: SECRET, toolArgs: `{${SECRET}` }),
    JSON.stringify({ hook_event_name: SECRET, session_id: [SECRET] }),
    JSON.stringify({ [SECRET]: SECRET, tool_name: SECRET }),
  ])('gives nothing of the payload away: %s', (text) => {
    const error = refused(text)
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('hunter2')
    expect(`${error.stack}${error.message}${JSON.stringify(error)}`).not.toContain('hunter2')
    expect(error.cause).toBeUndefined()
  })
})

describe('who sent it', () => {
  const tool = { tool_name: 'x', tool_input: { command: 'ls' } }
  it.each<[HostName, object]>([
    ['claude-code', { hook_event_name: 'PreToolUse', prompt_id: 'p', permission_mode: 'default', ...tool }],
    ['claude-code', { hook_event_name: 'PreToolUse', ...tool }],
    ['codex', { hook_event_name: 'PreToolUse', turn_id: 't', model: 'm', permission_mode: 'plan', ...tool }],
    ['gemini', { hook_event_name: 'BeforeTool', timestamp: '2026-11-15T00:00:00Z', ...tool }],
    ['gemini', { hook_event_name: 'SessionEnd', transcript_path: '/home/u/.gemini/tmp/x.json' }],
    ['copilot', { hookName: 'preToolUse', sessionId: 's', timestamp: 1, toolName: 'bash', toolArgs: '{}' }],
    [
      'copilot',
      { hook_event_name: 'PreToolUse', session_id: 's', timestamp: '2026-11-15T00:00:00Z', ...tool },
    ],
    ['cursor', { hook_event_name: 'preToolUse', conversation_id: 'c', generation_id: 'g', ...tool }],
    ['qwen', { hook_event_name: 'PreToolUse', timestamp: 'now', permission_mode: 'yolo', ...tool }],
    ['cline', { clineVersion: '3', hookName: 'PreToolUse', preToolUse: { toolName: 'x', parameters: {} } }],
    ['kimi', { hook_event_name: 'PreToolUse', client_type: 'kimi_code_cli', ...tool }],
    ['letta', { event_type: 'PreToolUse', working_directory: '/w', ...tool }],
    ['openhands', { event_type: 'PreToolUse', working_dir: '/w', ...tool }],
    ['goose', { event: 'PreToolUse', matcher_context: 'x', ...tool }],
    ['crush', { event: 'PreToolUse', session_id: 's', ...tool }],
    ['droid', { hook_event_name: 'PreToolUse', permission_mode: 'auto-low', ...tool }],
    ['amazon-q', { hook_event_name: 'preToolUse', cwd: '/w', ...tool }],
    ['windsurf', { agent_action_name: 'pre_run_command', tool_info: { command_line: 'ls' } }],
    [
      'vscode',
      {
        hook_event_name: 'PreToolUse',
        timestamp: '2026-11-15T00:00:00Z',
        tool_use_id: 'u',
        tool_name: 'create_file',
        tool_input: { filePath: 'a' },
      },
    ],
  ])('%s', (host, payload) => {
    expect(parse(payload).host).toBe(host)
  })

  it('the caller may know better', () => {
    expect(parse({ hook_event_name: 'PreToolUse', ...tool }, { host: 'letta' }).host).toBe('letta')
  })

  it('what lies elsewhere is found', () => {
    expect(
      parse({
        hook_event_name: 'beforeShellExecution',
        cursor_version: '1',
        command: 'ls',
        workspace_roots: ['/w'],
      }),
    ).toMatchObject({ event: 'PreToolUse', toolName: 'Shell', toolInput: { command: 'ls' }, cwd: '/w' })
    expect(
      parse({
        agent_action_name: 'pre_run_command',
        trajectory_id: 't',
        tool_info: { command_line: 'ls', cwd: '/w' },
      }),
    ).toMatchObject({
      event: 'PreToolUse',
      toolName: 'run_command',
      toolInput: { command: 'ls' },
      sessionId: 't',
    })
    expect(parse({ hook_event_name: 'stop', cursor_version: '1', loop_count: 2 })).toMatchObject({
      event: 'Stop',
      stopHookActive: true,
    })
    expect(parse({ hook_event_name: 'AfterAgent', prompt: 'p' })).toMatchObject({
      event: 'Stop',
      host: 'gemini',
    })
  })
})
