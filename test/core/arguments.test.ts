// A wrong argument is refused by the compiler where it stands, and at run time by its name.

import { createHooks, HookRegistry, hook } from 'carabiner'
import { describe, expect, test } from 'vitest'

const ok = () => undefined
const hooks = await createHooks({ globals: false })
const session = hooks.session()
const registry = new HookRegistry()

function refused(code: string, message: string | RegExp) {
  return expect.objectContaining({
    name: 'HookError',
    code,
    message: typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
  })
}

/** Each directive stands above the argument, so that an error anywhere else fails `npm run check`. */
describe('register', () => {
  test('a misspelt event', () => {
    const meant = refused('EVENT_INVALID', 'there is no event "PreTolUse"; did you mean PreToolUse?')
    expect(() =>
      hooks.register(
        // @ts-expect-error there is no such event
        'PreTolUse',
        ok,
        { matcher: 'Bash' },
      ),
    ).toThrow(meant)
    expect(() =>
      registry.on(
        // @ts-expect-error there is no such event
        'pre_tol_use',
        ok,
      ),
    ).toThrow(refused('EVENT_INVALID', 'did you mean PreToolUse?'))
    expect(() =>
      hook(
        // @ts-expect-error there is no such event
        'PreTolUse',
        () => 'ok',
      ),
    ).toThrow(meant)
  })

  test('an event of your own is named as one, or said to be one', () => {
    const name: string = 'anything'
    const offs = [
      registry.register('my:event', ok),
      registry.register('my.event', ok),
      registry.register('Deploy', ok, { custom: true }),
      registry.register('tool_exec_start', ok, { role: 'observe' }),
      registry.register(name, ok),
      registry.register('*', ok),
    ]
    for (const off of offs) off()
    // @ts-expect-error it may be misspelt
    registry.register('Deploy', ok)()
    expect(registry.listHandlers()).toEqual({})
  })

  test('a handler that is none, or answers what no hook can', async () => {
    expect(() =>
      hooks.register(
        'PreToolUse',
        // @ts-expect-error options in its place
        { matcher: 'Bash' },
        ok,
      ),
    ).toThrow(refused('OPTIONS_INVALID', 'The handler of PreToolUse must be a function, got object'))
    registry.register(
      'PreToolUse',
      // @ts-expect-error there is no such action
      () => ({ action: 'refuse' }),
      { name: 'odd' },
    )
    // @ts-expect-error a text is no answer
    registry.register('PreToolUse', async () => 'deny')
    const outcome = await registry.emit('PreToolUse', { tool_name: 'Bash', tool_input: {} })
    expect(outcome).toMatchObject({ action: 'deny', reason: expect.stringContaining('odd') })
  })

  test('an option that does not exist, or has an impossible value', () => {
    expect(() =>
      hooks.register('PreToolUse', ok, {
        // @ts-expect-error misspelt
        priorty: 1,
      }),
    ).toThrow(refused('OPTIONS_INVALID', /unknown option priorty; did you mean priority\?/))
    expect(() =>
      hooks.register('PreToolUse', ok, {
        // @ts-expect-error a text
        timeout: '1',
      }),
    ).toThrow(refused('OPTIONS_INVALID', 'timeout must be a number of seconds above 0, got "1"'))
    expect(() =>
      hooks.register(
        'PreToolUse',
        ok,
        // @ts-expect-error options are an object
        null,
      ),
    ).toThrow(refused('OPTIONS_INVALID', 'the options must be an object, got null'))
  })

  test('a matcher that is neither a text nor { tool_name }', () => {
    expect(() =>
      hooks.register('PreToolUse', ok, {
        // @ts-expect-error a pattern is written as a text
        matcher: /Bash/,
      }),
    ).toThrow(
      expect.objectContaining({
        message: 'A matcher must be a string or { tool_name }, got /Bash/',
        hint: 'Write its source as a string: "Bash".',
      }),
    )
    expect(() =>
      hook('pre_tool_use', () => 'ok', {
        // @ts-expect-error misspelt
        toolName: 'Bash',
      }),
    ).toThrow(refused('MATCHER_INVALID', 'tool_name'))
  })

  test('hook values that are no list', () => {
    expect(() =>
      hooks.registerHooks(
        // @ts-expect-error one value
        hook('Stop', () => 'ok'),
      ),
    ).toThrow(refused('OPTIONS_INVALID', 'the hooks must be a list'))
  })
})

describe('fire and emit', () => {
  test('a misspelt event or option', async () => {
    await expect(
      session.fire(
        // @ts-expect-error there is no such event
        'SesionStart',
        {},
      ),
    ).rejects.toEqual(refused('EVENT_INVALID', 'did you mean SessionStart?'))
    await expect(
      registry.emit(
        // @ts-expect-error there is no such event
        'SesionStart',
        {},
      ),
    ).rejects.toEqual(refused('EVENT_INVALID', 'did you mean SessionStart?'))
    await expect(
      session.fire(
        'Stop',
        {},
        {
          // @ts-expect-error no AbortSignal
          signal: 5,
        },
      ),
    ).rejects.toEqual(refused('OPTIONS_INVALID', 'signal must be an AbortSignal, got 5'))
    await session.fire('Deploy', {}, { custom: true })
  })

  test('data that is none', async () => {
    await expect(
      session.fire(
        'Stop',
        // @ts-expect-error a text
        'now',
      ),
    ).rejects.toEqual(refused('PAYLOAD_INVALID', 'the data must be an object, got a string'))
  })
})

describe('callTool', () => {
  const CALL = { name: 'Bash', input: { command: 'ls' } }

  test('a call that is none names the part that is wrong', async () => {
    await expect(
      session.callTool(
        // @ts-expect-error a name alone
        'Bash',
        ok,
      ),
    ).rejects.toEqual(refused('PAYLOAD_INVALID', 'the call must be { name, input, id? }, got a string'))
    await expect(
      session.callTool(
        {
          name: 'Bash',
          // @ts-expect-error a text
          input: 'ls',
        },
        ok,
      ),
    ).rejects.toEqual(refused('PAYLOAD_INVALID', 'callTool: input must be an object, got a string'))
    await expect(
      session.callTool(
        {
          ...CALL,
          // @ts-expect-error a number
          id: 5,
        },
        ok,
      ),
    ).rejects.toEqual(refused('PAYLOAD_INVALID', 'callTool: id must be a string, got a number'))
  })

  test('a function that is none, before any hook is asked', async () => {
    let asked = 0
    const off = hooks.register('PreToolUse', () => void asked++)
    await expect(
      session.callTool(
        CALL,
        // @ts-expect-error a result in its place
        'ran',
      ),
    ).rejects.toEqual(refused('OPTIONS_INVALID', 'callTool: run must be a function, got "ran"'))
    off()
    expect(asked).toBe(0)
  })

  test('a misspelt option', async () => {
    await expect(
      session.callTool(CALL, ok, {
        // @ts-expect-error misspelt
        rename: true,
      }),
    ).rejects.toEqual(refused('OPTIONS_INVALID', 'unknown option rename; did you mean renames?'))
  })
})

describe('callModel, turns', () => {
  test('a request or function that is none', async () => {
    await expect(
      session.callModel(
        // @ts-expect-error a prompt
        'Hello',
        ok,
      ),
    ).rejects.toEqual(refused('PAYLOAD_INVALID', 'the request must be { model, messages, … }, got a string'))
    await expect(
      session.callModel(
        { model: 'm', messages: [] },
        // @ts-expect-error a response in its place
        { role: 'assistant' },
      ),
    ).rejects.toEqual(refused('OPTIONS_INVALID', 'callModel: run must be a function'))
  })

  test('a status that no turn has', async () => {
    await expect(
      session.endTurn({
        // @ts-expect-error there is none
        status: 'done',
      }),
    ).rejects.toEqual(
      refused('OPTIONS_INVALID', 'endTurn: status must be "completed" or "error" or "aborted"'),
    )
  })
})

describe('createHooks and session', () => {
  test('a misspelt option', async () => {
    await expect(
      createHooks({
        // @ts-expect-error misspelt
        aprover: () => 'Allow',
      }),
    ).rejects.toEqual(refused('OPTIONS_INVALID', 'unknown option aprover; did you mean approver?'))
    expect(() =>
      hooks.session({
        // @ts-expect-error misspelt
        transcriptpath: 'x',
      }),
    ).toThrow(refused('OPTIONS_INVALID', 'unknown option transcriptpath'))
  })
})
