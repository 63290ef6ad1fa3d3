// amplihack's hook input and protocol, behaviour by behaviour: its own tests' list, and the specification's tables. ≠ marks
// where the rules here are others; the test then checks ours. The hooks themselves and the installer have files of their own.

import { describe, expect, test } from 'vitest'
import {
  type HookHandlers,
  type HostAnswer,
  InvalidHookInput,
  inject,
  type ParseOptions,
  parseHookInput,
  type RunHookOptions,
  runHook,
} from '../../src/author/index.js'

const parse = (payload: object, options?: ParseOptions) => parseHookInput(JSON.stringify(payload), options)

function refusal(payload: object | string): InvalidHookInput {
  try {
    parseHookInput(typeof payload === 'string' ? payload : JSON.stringify(payload))
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidHookInput)
    return error as InvalidHookInput
  }
  throw new Error('it was accepted')
}

describe('parse', () => {
  test('PreToolUse', () => {
    expect(
      parse({
        hook_event_name: 'PreToolUse',
        tool_name: 'Bash',
        tool_input: { command: 'ls' },
        session_id: 's',
      }),
    ).toEqual({
      event: 'PreToolUse',
      host: 'claude-code',
      toolName: 'Bash',
      toolInput: { command: 'ls' },
      sessionId: 's',
      extra: {},
    })
  })

  test('an unknown event is Unknown', () => {
    expect(parse({ hook_event_name: 'FutureEvent', payload: { anything: true } })).toEqual({
      event: 'Unknown',
      eventName: 'FutureEvent',
      host: 'claude-code',
      extra: { payload: { anything: true } },
    })
  })

  test('Stop needs no field', () => {
    expect(parse({ hook_event_name: 'Stop' })).toEqual({ event: 'Stop', host: 'claude-code', extra: {} })
  })

  test.each(['SessionStop', 'SessionEnd', 'session_end', 'sessionEnd', 'session-stop', 'SESSION_STOP'])(
    '%s is one event (≠ its name is SessionEnd)',
    (name) => expect(parse({ hook_event_name: name }).event).toBe('SessionEnd'),
  )

  test('fields that nobody knows do no harm', () => {
    const input = parse({ hook_event_name: 'Stop', mine: { a: 1 } })
    expect(input).toMatchObject({ event: 'Stop', extra: { mine: { a: 1 } } })
  })

  test.each([
    [
      { hookEventName: 'PreToolUse', toolName: 'Bash', toolInput: { command: 'pwd' }, sessionId: 's' },
      { event: 'PreToolUse', toolName: 'Bash', toolInput: { command: 'pwd' }, sessionId: 's' },
    ],
    [
      { hookEventName: 'PostToolUse', toolName: 'Bash', toolInput: {}, toolResult: { ok: 1 } },
      { event: 'PostToolUse', toolName: 'Bash', toolInput: {}, toolResult: { ok: 1 } },
    ],
    [
      { hookEventName: 'Stop', stopHookActive: true, transcriptPath: '/t' },
      { event: 'Stop', stopHookActive: true, transcriptPath: '/t' },
    ],
    [
      { hookEventName: 'UserPromptSubmit', userPrompt: 'hi' },
      { event: 'UserPromptSubmit', userPrompt: 'hi' },
    ],
    [
      { hookEventName: 'PreCompact', transcriptPath: '/t' },
      { event: 'PreCompact', transcriptPath: '/t' },
    ],
  ])('camelCase: %j', (payload, input) => expect(parse(payload)).toMatchObject(input))

  test.each(['PreToolUse', 'PostToolUse'])('Copilot sends the arguments of %s as JSON in a text', (event) => {
    const payload = {
      hookEventName: event,
      toolName: 'bash',
      toolArgs: '{"command":"git commit --no-verify"}',
    }
    expect(parse(payload)).toMatchObject({ toolInput: { command: 'git commit --no-verify' } })
  })

  test('and as an object', () => {
    const payload = { hookEventName: 'PreToolUse', toolName: 'bash', toolArgs: { command: 'ls' } }
    expect(parse(payload)).toMatchObject({ toolInput: { command: 'ls' } })
  })

  test('arguments that are no JSON are refused, and not repeated', () => {
    const error = refusal({ hookEventName: 'PreToolUse', toolName: 'bash', toolArgs: '{"command": hunter2' })
    expect(error).toMatchObject({ event: 'PreToolUse', field: 'tool_input' })
    expect(`${error.message}${error.stack}`).not.toContain('hunter2')
  })

  test('a missing tool_input is refused, with an event name and without', () => {
    expect(refusal({ hook_event_name: 'PreToolUse', tool_name: 'Bash' }).field).toBe('tool_input')
    expect(() => parse({ tool_name: 'Bash' }, { event: 'PreToolUse' })).toThrow('tool_input')
  })

  test('≠ a payload of a tool that names no event is not guessed at: its caller says which it is', () => {
    const payload = { tool_name: 'Bash', tool_input: {} }
    expect(refusal(payload).field).toBe('hook_event_name')
    expect(parse(payload, { event: 'PreToolUse' }).event).toBe('PreToolUse')
    expect(parse({ ...payload, tool_result: 'x' }, { event: 'PostToolUse' })).toMatchObject({
      toolResult: 'x',
    })
  })

  test('null is absent where a field is optional, a missing tool where it is not, and an input where it is one', () => {
    const nothing = { session_id: null, transcript_path: null, stop_hook_active: null }
    expect(parse({ hook_event_name: 'Stop', ...nothing })).toEqual({
      event: 'Stop',
      host: 'claude-code',
      extra: {},
    })
    expect(refusal({ hook_event_name: 'PreToolUse', tool_name: null, tool_input: {} }).field).toBe(
      'tool_name',
    )
    const input = parse({ hook_event_name: 'PreToolUse', tool_name: 'x', tool_input: null })
    expect(input).toMatchObject({ toolInput: {} })
  })

  test('an optional field of the wrong type is refused', () => {
    expect(refusal({ hook_event_name: 'Stop', stop_hook_active: 'yes' }).field).toBe('stop_hook_active')
  })

  test('a prompt: user_prompt, then prompt, then userMessage, as a text or in one', () => {
    const prompt = (payload: object) => {
      const input = parse({ hook_event_name: 'UserPromptSubmit', ...payload })
      return input.event === 'UserPromptSubmit' ? input.userPrompt : undefined
    }
    expect(prompt({ user_prompt: 'a', prompt: 'b' })).toBe('a')
    expect(prompt({ user_prompt: '  ', prompt: 'b' })).toBe('b')
    expect(prompt({ userMessage: 'c' })).toBe('c')
    expect(prompt({ userMessage: { text: 'c' } })).toBe('c')
  })

  test('≠ tool_response, which Claude Code really sends, is the result', () => {
    const payload = { hook_event_name: 'PostToolUse', tool_name: 'x', tool_input: {}, tool_response: 'y' }
    expect(parse(payload)).toMatchObject({ toolResult: 'y' })
  })

  test.each(['', '[]', 'null', '"PreToolUse"', '{"hook_event_name":"PreToolUse"'])(
    '≠ %j is no event at all',
    (text) => {
      expect(refusal(text).event).toBeUndefined()
    },
  )

  test.each([
    ['PreToolUse', ['tool_name', 'tool_input']],
    ['PostToolUse', ['tool_name', 'tool_input']],
    ['Stop', []],
    ['SessionStart', []],
    ['SessionStop', []],
    ['UserPromptSubmit', []],
    ['PreCompact', []],
  ])('%s requires %j', (event, required) => {
    const all = Object.fromEntries(required.map((field) => [field, field === 'tool_name' ? 'x' : {}]))
    expect(parse({ hook_event_name: event, ...all }).event).not.toBe('Unknown')
    for (const field of required) {
      const { [field]: _, ...rest } = all
      const error = refusal({ hook_event_name: event, ...rest })
      expect(error).toMatchObject({ event, field })
      expect(error.message).toContain(event)
      expect(error.message).toContain(field)
    }
  })
})

describe('protocol', () => {
  async function answerTo(
    stdin: string,
    handlers: HookHandlers,
    options: RunHookOptions = {},
  ): Promise<HostAnswer & { readonly telemetry: Readonly<Record<string, unknown>> }> {
    const answers: HostAnswer[] = []
    await runHook(handlers, {
      name: 'a-hook',
      stdin,
      answered: (answer) => void answers.push(answer),
      ...options,
    })
    const [answer] = answers
    if (!answer || answers.length > 1) throw new Error(`it answered ${answers.length} times`)
    const line = (answer.stderr ?? '').trimEnd().split('\n').at(-1) ?? ''
    return { ...answer, telemetry: JSON.parse(line) }
  }

  const broken: HookHandlers = {
    PreToolUse() {
      throw new Error('broken')
    },
  }
  const CALL = '{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}'

  test('one answer, one line of telemetry', async () => {
    const { exit, stdout, telemetry } = await answerTo('{"hook_event_name":"SessionStart"}', {
      SessionStart: () => inject('hello'),
    })
    expect([exit, stdout.split('\n')]).toEqual([
      0,
      [expect.stringContaining('"additionalContext":"hello"'), ''],
    ])
    expect(telemetry).toEqual({
      hook: 'a-hook',
      event: 'SessionStart',
      duration_us: expect.any(Number),
      result: 'ok',
    })
  })

  test('open is the default: exit 0 on an error', async () => {
    const { exit, telemetry } = await answerTo(CALL, broken)
    expect([exit, telemetry.result, telemetry.error]).toEqual([0, 'error', 'broken'])
  })

  test('closed: exit 2, and why', async () => {
    const { exit, stdout, telemetry } = await answerTo(CALL, broken, { onFailure: 'closed' })
    expect([exit, telemetry.result]).toEqual([2, 'error'])
    expect(stdout).toContain('Hook a-hook failed: broken')
  })

  test('≠ an error is told to the user as well; a bare {} says nothing', async () => {
    expect(JSON.parse((await answerTo(CALL, broken)).stdout)).toEqual({
      systemMessage: 'Hook a-hook failed: broken. This event was not checked.',
    })
  })

  test.each(['', '{', '[]', 'null', '{"hook_event_name":"PreToolUse","tool_name":"x"}'])(
    '≠ %j is invalid input, never Unknown, never a bare {}',
    async (stdin) => {
      let asked = 0
      const handlers: HookHandlers = { Unknown: () => void asked++, PreToolUse: () => void asked++ }
      const { exit, stdout, telemetry } = await answerTo(stdin, handlers)
      expect([asked, exit, telemetry.result]).toEqual([0, 0, 'invalid_input'])
      expect(JSON.parse(stdout).systemMessage).toContain('Hook a-hook cannot read its input')
    },
  )

  const seen = (events: string[]): HookHandlers => ({
    Stop: ({ event }) => void events.push(event),
    SessionEnd: ({ event }) => void events.push(event),
    Unknown: ({ eventName }) => void events.push(`Unknown ${eventName}`),
  })

  test('a payload without an event is of the hook’s own', async () => {
    const events: string[] = []
    await answerTo('{"session_id":"s"}', seen(events), { event: 'Stop' })
    expect(events).toEqual(['Stop'])
  })

  test('an event that is there is not overridden', async () => {
    const events: string[] = []
    await answerTo('{"hook_event_name":"SessionStop"}', seen(events), { event: 'Stop' })
    expect(events).toEqual(['SessionEnd'])
  })

  test('an event that is not known is asked about as Unknown, or goes on', async () => {
    const events: string[] = []
    await answerTo('{"hook_event_name":"FutureEvent"}', seen(events), { event: 'Stop' })
    expect(events).toEqual(['Unknown FutureEvent'])
    expect(await answerTo('{"hook_event_name":"FutureEvent"}', {})).toMatchObject({ exit: 0, stdout: '' })
  })
})
