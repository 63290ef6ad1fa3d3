// PicoClaw's process hooks, behaviour by behaviour, and the protocol's own example as a session. ≠ marks where the rules
// here are others; the test then checks ours.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Json } from '../../src/core/base/json.js'
import { deny, modify } from '../../src/core/events/result.js'
import { createHooks, type HooksOptions } from '../../src/runtime.js'

const HOOK = fileURLToPath(new URL('picoclaw-hook.mjs', import.meta.url))
const ALL = ['before_llm', 'after_llm', 'before_tool', 'after_tool', 'approve_tool']

interface Line {
  readonly jsonrpc: '2.0'
  readonly id?: number
  readonly method: string
  readonly params: { readonly [key: string]: Json }
}

type Answers = Readonly<Record<string, readonly object[]>>

interface Setting {
  readonly answers?: Answers
  readonly entry?: object
  readonly options?: HooksOptions
}

/** A project whose hooks.json has one process that answers as told. */
async function opened({ answers = {}, entry = {}, options = {} }: Setting = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-picoclaw-')))
  const log = join(folder, 'lines')
  const command = [process.execPath, HOOK, log, JSON.stringify(answers)]
  writeProcesses(folder, { my_hook: { command, intercept: ALL, ...entry } })
  const hooks = await createHooks({
    projectDir: folder,
    home: join(folder, 'home'),
    trust: 'all',
    globals: false,
    ...options,
  })
  onTestFinished(async () => {
    await hooks.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const session = hooks.session({ id: 'session-1', agentId: 'agent-1', channel: 'cli', chatId: 'chat-1' })
  /** What the process has read; all of it once the hooks are closed. */
  const lines = (): readonly Line[] =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line) as Line)
      : []
  return { hooks, session, folder, lines, log }
}

function writeProcesses(folder: string, processes: object): void {
  mkdirSync(join(folder, '.amplifier/hooks'), { recursive: true })
  writeFileSync(join(folder, '.amplifier/hooks/hooks.json'), JSON.stringify({ processes }))
}

const BASH = { name: 'bash', input: { command: 'ls' } }
const REQUEST = { model: 'claude-sonnet', messages: [{ role: 'user', content: 'hello' }], tools: [] }
const methods = (lines: readonly Line[]) => lines.map(({ method }) => method)

describe('the complete flow example', () => {
  test('the same methods in the same order with the same ids, and every field with its value', async () => {
    const { hooks, session, lines } = await opened()
    const { response } = (await session.callModel(REQUEST, async () => {
      await session.callTool(BASH, () => 'file1.txt\nfile2.txt')
      return { role: 'assistant', content: 'Files listed' }
    })) as { response: Json }
    expect(response).toEqual({ role: 'assistant', content: 'Files listed' })
    await hooks.close()
    expect(lines()).toMatchObject([
      { jsonrpc: '2.0', id: 1, method: 'hook.hello', params: { name: 'my_hook', version: 1 } },
      { id: 2, method: 'hook.before_llm', params: REQUEST },
      { id: 3, method: 'hook.before_tool', params: { tool: 'bash', arguments: { command: 'ls' } } },
      { id: 4, method: 'hook.approve_tool', params: { tool: 'bash', arguments: { command: 'ls' } } },
      {
        id: 5,
        method: 'hook.after_tool',
        params: {
          tool: 'bash',
          arguments: { command: 'ls' },
          result: { for_llm: 'file1.txt\nfile2.txt' },
          duration: expect.any(Number),
        },
      },
      {
        id: 6,
        method: 'hook.after_llm',
        params: { model: 'claude-sonnet', response: { role: 'assistant', content: 'Files listed' } },
      },
    ])
  })

  test('a duration of 5 ms is 5000000 ns', async () => {
    const { hooks, session, lines } = await opened()
    const call = { tool_name: 'bash', tool_input: { command: 'ls' } }
    await session.fire('PostToolUse', { ...call, tool_response: 'file1.txt\nfile2.txt', duration_ms: 5 })
    await hooks.close()
    expect(lines().at(-1)?.params).toMatchObject({
      result: { for_llm: 'file1.txt\nfile2.txt' },
      duration: 5_000_000,
    })
  })

  // The example calls before_llm of a hook that was told of "tool" and "approve" alone.
  test('≠ hello names every mode that is used, "llm" too', async () => {
    const { hooks, session, lines } = await opened()
    await session.callTool(BASH, () => '')
    await hooks.close()
    expect(lines()[0]?.params.modes).toEqual(['llm', 'tool', 'approve'])
  })

  test('"tool" and "approve", as in the example, where these are configured', async () => {
    const entry = { intercept: ['before_tool', 'after_tool', 'approve_tool'] }
    const { hooks, session, lines } = await opened({ entry })
    await session.callTool(BASH, () => '')
    await hooks.close()
    expect(lines()[0]?.params).toEqual({ name: 'my_hook', version: 1, modes: ['tool', 'approve'] })
  })

  test('the metadata of a call: agent, turn, session, iteration', async () => {
    const { hooks, session, lines } = await opened()
    await session.startTurn()
    await session.callModel({ ...REQUEST, options: { temperature: 0.7 } }, () => 'hi')
    await session.callModel(REQUEST, () => 'hi')
    await session.callTool(BASH, () => '')
    await hooks.close()
    const meta = {
      AgentID: 'agent-1',
      TurnID: 'turn-1',
      ParentTurnID: '',
      SessionKey: 'session-1',
      Iteration: 0,
      TracePath: 'runTurn',
      Source: 'turn.llm.request',
    }
    const [, first, , second, , tool] = lines()
    expect(first?.params).toEqual({
      ...REQUEST,
      meta,
      options: { temperature: 0.7 },
      channel: 'cli',
      chat_id: 'chat-1',
      graceful_terminal: false,
    })
    expect(second?.params.meta).toEqual({ ...meta, Iteration: 1 })
    expect(tool?.params.meta).toMatchObject({ Iteration: 1, Source: 'turn.tool.before' })
  })
})

describe('order', () => {
  test('in-process hooks come before processes, then priority, then the name of the file', async () => {
    const { hooks, session } = await opened({ entry: { intercept: ['before_tool'], priority: 10 } })
    hooks.register('PreToolUse', () => undefined, { name: 'same', priority: 10 })
    hooks.register('PreToolUse', () => undefined, { name: 'late', priority: 11 })
    const { steps } = session.explain('PreToolUse', { tool_name: 'bash', tool_input: {} })
    expect(steps.map(({ lanes }) => lanes)).toEqual([[['same']], [['project:my_hook']], [['late']]])
  })
})

describe('before_llm', () => {
  const system = { role: 'system', content: 'be kind' }
  const user = { role: 'user', content: 'hello' }
  const asked = { model: 'small', messages: [system, user], tools: [] }

  async function sent(request: object) {
    const { session } = await opened({ answers: { 'hook.before_llm': [{ action: 'modify', request }] } })
    let seen: object = {}
    const { outcome } = await session.callModel(asked, (final) => {
      seen = final
      return 'hi'
    })
    return { seen, outcome }
  }

  test('a changed system prompt is reverted, the model is not', async () => {
    const { seen, outcome } = await sent({
      model: 'large',
      messages: [{ ...system, content: 'be evil' }, user],
    })
    expect(seen).toMatchObject({ model: 'large', messages: [system, user] })
    expect(outcome.diagnostics).toMatchObject([{ code: 'system-message-reverted' }])
  })

  test('a user message may be added', async () => {
    const added = { role: 'user', content: 'more' }
    expect((await sent({ messages: [system, user, added] })).seen).toMatchObject({
      messages: [system, user, added],
    })
  })

  test('a copy that went there and back unchanged is no change', async () => {
    const { outcome } = await sent(asked)
    expect(outcome).toMatchObject({ modified: false, diagnostics: [] })
  })

  test('≠ tool definitions may be changed: that is how a hook brings its own tool; the trace has the difference', async () => {
    const tool = { type: 'function', function: { name: 'mine', description: '', parameters: {} } }
    const { seen, outcome } = await sent({ tools: [tool] })
    expect(seen).toMatchObject({ tools: [tool] })
    expect(outcome.hooks[0]?.changes).toEqual([{ path: 'tools/0', after: tool }])
  })

  test('abort_turn and hard_abort end the turn and the agent, and keep the reason (≠ a fixed text)', async () => {
    for (const [action, code] of [
      ['abort_turn', 'TURN_ABORTED'],
      ['hard_abort', 'AGENT_ABORTED'],
    ]) {
      const { session } = await opened({ answers: { 'hook.before_llm': [{ action, reason: 'enough' }] } })
      await expect(session.callModel(asked, () => 'hi')).rejects.toMatchObject({ code, message: 'enough' })
    }
  })
})

describe('after_llm', () => {
  test.each([
    ['as the message', { role: 'assistant', content: 'other' }],
    ['as PicoClaw nests it', { model: 'm', response: { role: 'assistant', content: 'other' } }],
  ])('rewrites the response, given %s', async (_, response) => {
    const { session } = await opened({ answers: { 'hook.after_llm': [{ action: 'modify', response }] } })
    const result = await session.callModel(REQUEST, () => ({ role: 'assistant', content: 'first' }))
    expect(result).toMatchObject({ status: 'ok', response: { role: 'assistant', content: 'other' } })
  })

  test('a side question without tools goes through the same hooks', async () => {
    const { hooks, session, lines } = await opened()
    await session.callModel({ model: 'm', messages: [] }, () => 'hi')
    await hooks.close()
    expect(methods(lines())).toEqual(['hook.hello', 'hook.before_llm', 'hook.after_llm'])
    expect(lines()[1]?.params.tools).toEqual([])
  })
})

describe('before_tool and after_tool', () => {
  test('rewrite arguments and result; the later event has the rewritten call', async () => {
    const { hooks, session, lines } = await opened({
      answers: {
        'hook.before_tool': [{ action: 'modify', call: { tool: 'bash', arguments: { command: 'ls -a' } } }],
        'hook.after_tool': [{ action: 'modify', result: { for_llm: 'redacted' } }],
      },
    })
    const result = await session.callTool(BASH, ({ command }) => `ran ${command}`)
    expect(result).toMatchObject({ status: 'ok', result: 'redacted' })
    await hooks.close()
    expect(lines().at(-1)?.params).toMatchObject({
      arguments: { command: 'ls -a' },
      result: { for_llm: 'ran ls -a' },
    })
  })

  test('the nested form of a changed result counts as well', async () => {
    const answer = { action: 'modify', result: { tool: 'bash', result: { for_llm: 'nested' }, duration: 0 } }
    const { session } = await opened({ answers: { 'hook.after_tool': [answer] } })
    expect(await session.callTool(BASH, () => 'plain')).toMatchObject({ result: 'nested' })
  })

  test('a renamed tool is the one that approvers, results and observers see', async () => {
    const { hooks, session, lines } = await opened({
      answers: { 'hook.before_tool': [{ action: 'modify', call: { tool: 'sh' } }] },
      entry: { observe: ['tool_exec_start'] },
    })
    const result = await session.callTool(BASH, (_, { name }) => `by ${name}`, { renames: true })
    expect(result).toMatchObject({ result: 'by sh' })
    await hooks.close()
    const tools = lines().flatMap(
      ({ params }) => params.tool ?? (params.Payload as { Tool?: Json })?.Tool ?? [],
    )
    expect(tools.sort()).toEqual(['bash', 'sh', 'sh', 'sh'])
  })

  test('continue that carries a changed call takes effect', async () => {
    const { session } = await opened({
      answers: { 'hook.before_tool': [{ action: 'continue', call: { arguments: { command: 'pwd' } } }] },
    })
    expect(await session.callTool(BASH, ({ command }) => command)).toMatchObject({ result: 'pwd' })
  })

  test('deny_tool: the tool does not run, the reason reaches the model, the event is "skipped"', async () => {
    const { hooks, session, lines } = await opened({
      answers: { 'hook.before_tool': [{ action: 'deny_tool', reason: 'Invalid arguments' }] },
      entry: { observe: ['*'] },
    })
    const result = await session.callTool(BASH, () => expect.unreachable())
    expect(result).toMatchObject({ status: 'denied', reason: 'Invalid arguments' })
    await hooks.close()
    expect(methods(lines())).not.toContain('hook.approve_tool')
    const events = lines().filter(({ method }) => method === 'hook.event')
    expect(events.map(({ params }) => [params.Kind, params.Payload])).toEqual([
      ['tool_exec_skipped', { Tool: 'bash', Reason: 'Invalid arguments' }],
    ])
  })

  test('a failed tool is after_tool with is_error', async () => {
    const { hooks, session, lines } = await opened()
    await expect(
      session.callTool(BASH, () => {
        throw new Error('disk full')
      }),
    ).rejects.toThrow('disk full')
    await hooks.close()
    expect(lines().at(-1)).toMatchObject({
      method: 'hook.after_tool',
      params: { result: { for_llm: 'disk full', is_error: true } },
    })
  })

  test('arguments that are empty stay an object', async () => {
    const { hooks, session, lines } = await opened({
      answers: { 'hook.before_tool': [{ action: 'modify', call: { tool: 'bash', arguments: null } }] },
    })
    expect(await session.callTool({ name: 'bash', input: {} }, (input) => input)).toMatchObject({
      result: {},
    })
    await hooks.close()
    expect(lines()[1]?.params.arguments).toEqual({})
  })

  test('≠ only the points that are configured are called, not both of a pair', async () => {
    const { hooks, session, lines } = await opened({ entry: { intercept: ['before_tool'] } })
    await session.callTool(BASH, () => '')
    await hooks.close()
    expect(methods(lines())).toEqual(['hook.hello', 'hook.before_tool'])
  })
})

describe('respond', () => {
  const result = { for_llm: 'from the hook', for_user: 'done', silent: false, is_error: false }
  const answers = { 'hook.before_tool': [{ action: 'respond', call: { tool: 'other' }, result }] }

  test('the tool does not run, after_tool is not called; ≠ approve_tool is', async () => {
    const { hooks, session, lines } = await opened({ answers, entry: { observe: ['*'] } })
    const called = await session.callTool(BASH, () => expect.unreachable())
    expect(called).toMatchObject({ status: 'responded', result })
    expect(called.outcome.messages).toMatchObject([{ text: 'done', source: 'project:my_hook' }])
    await hooks.close()
    const calls = lines().filter(({ id }) => id !== undefined)
    expect(methods(calls)).toEqual(['hook.hello', 'hook.before_tool', 'hook.approve_tool'])
    const kinds = lines().flatMap(({ params }) => params.Kind ?? [])
    expect(kinds).toEqual(['tool_exec_start', 'tool_exec_end'])
  })

  test('silent: nothing is shown to the user', async () => {
    const quiet = { 'hook.before_tool': [{ action: 'respond', result: { ...result, silent: true } }] }
    const { session } = await opened({ answers: quiet })
    const { outcome } = await session.callTool(BASH, () => expect.unreachable())
    expect(outcome.messages).toEqual([])
  })

  test('≠ an approver that refuses stands above it', async () => {
    const { session } = await opened({
      answers: { ...answers, 'hook.approve_tool': [{ approved: false, reason: 'not today' }] },
    })
    const called = await session.callTool(BASH, () => expect.unreachable())
    expect(called).toMatchObject({ status: 'denied', reason: 'not today' })
  })

  test('without a result the call goes its normal way, and the user is told', async () => {
    const { session } = await opened({ answers: { 'hook.before_tool': [{ action: 'respond' }] } })
    const called = await session.callTool(BASH, () => 'ran')
    expect(called).toMatchObject({ status: 'ok', result: 'ran' })
    expect(called.outcome.messages).toMatchObject([{ level: 'warning', text: /result/ }])
  })

  test('what only a host can do with it is passed on: media, response_handled, errors', async () => {
    const rich = {
      for_llm: 'x',
      media: ['a.png'],
      response_handled: true,
      is_error: true,
      artifact_tags: ['t'],
    }
    const { session } = await opened({
      answers: { 'hook.before_tool': [{ action: 'respond', result: rich }] },
    })
    expect(await session.callTool(BASH, () => expect.unreachable())).toMatchObject({ result: rich })
  })
})

describe('approve_tool', () => {
  test('a refusal reaches the model, the tool does not run, the event is "skipped"', async () => {
    const answers = {
      'hook.approve_tool': [{ approved: false, reason: 'Dangerous command, execution denied' }],
    }
    const { hooks, session, lines } = await opened({ answers, entry: { observe: ['*'] } })
    expect(await session.callTool(BASH, () => expect.unreachable())).toMatchObject({
      status: 'denied',
      reason: 'Dangerous command, execution denied',
    })
    await hooks.close()
    expect(lines().flatMap(({ params }) => params.Kind ?? [])).toEqual(['tool_exec_skipped'])
  })

  test('sees the call as hooks left it, and cannot change it', async () => {
    const { hooks, session, lines } = await opened({
      answers: { 'hook.approve_tool': [{ approved: true, call: { arguments: { command: 'evil' } } }] },
      entry: { intercept: ['approve_tool'] },
    })
    hooks.register('PreToolUse', () => modify({ tool_input: { command: 'pwd' } }))
    expect(await session.callTool(BASH, ({ command }) => command)).toMatchObject({ result: 'pwd' })
    await hooks.close()
    expect(lines()[1]?.params.arguments).toEqual({ command: 'pwd' })
  })

  test('is not asked about a call that is denied already', async () => {
    const { hooks, session, lines } = await opened({ entry: { intercept: ['approve_tool'] } })
    hooks.register('PreToolUse', () => deny('no'))
    await session.callTool(BASH, () => expect.unreachable())
    await hooks.close()
    expect(lines()).toEqual([])
  })

  test('one that fails blocks, and says why', async () => {
    const { session } = await opened({ answers: { 'hook.approve_tool': [{ approve: 'yes' }] } })
    const called = await session.callTool(BASH, () => expect.unreachable())
    expect(called).toMatchObject({ status: 'denied', reason: expect.stringContaining('approved') })
  })

  test('one that is down blocks every tool', async () => {
    const { session } = await opened({
      entry: { command: ['./no-such-program'], intercept: ['approve_tool'] },
    })
    const called = await session.callTool(BASH, () => expect.unreachable())
    expect(called).toMatchObject({
      status: 'denied',
      reason: expect.stringContaining('there is no such file'),
    })
  })
})

describe('observers', () => {
  const KINDS = [
    'turn_start',
    'llm_request',
    'llm_response',
    'tool_exec_start',
    'tool_exec_end',
    'tool_exec_skipped',
    'steering_injected',
    'interrupt_received',
    'error',
    'turn_end',
  ]

  /** Every kind of the protocol's list, in the course of one turn. */
  async function turn({ hooks, session }: Awaited<ReturnType<typeof opened>>) {
    hooks.register('PreToolUse', () => deny('no'), { matcher: 'forbidden' })
    await session.startTurn()
    await session.callModel(REQUEST, () => 'hi')
    await session.callTool(BASH, () => 'done')
    await session.callTool({ name: 'forbidden', input: {} }, () => expect.unreachable())
    session.notify('steering_injected', { Count: 1 })
    session.notify('interrupt_received', { Kind: 'steering' })
    await session.callModel(REQUEST, () => Promise.reject(new Error('overloaded'))).catch(() => undefined)
    await session.endTurn()
  }

  test.each([
    ['by their names', KINDS],
    ['by the names of current versions', ['agent.turn.start', 'agent.tool.exec_end', 'agent.error']],
    ['all of them', ['*']],
  ])('hear of every kind, configured %s', async (_, observe) => {
    const running = await opened({ entry: { intercept: [], observe } })
    await turn(running)
    await running.hooks.close()
    const kinds = running.lines().flatMap(({ params }) => params.Kind ?? [])
    const wanted = observe.length === 3 ? ['turn_start', 'tool_exec_end', 'error'] : KINDS
    expect([...new Set(kinds)].sort()).toEqual([...wanted].sort())
  })

  test('what they are told, as the protocol has it: no id, Go-cased names', async () => {
    const running = await opened({ entry: { intercept: [], observe: ['tool_exec_start'] } })
    await turn(running)
    await running.hooks.close()
    const told = running.lines().find(({ method }) => method === 'hook.event')
    expect(told).toEqual({
      jsonrpc: '2.0',
      method: 'hook.event',
      params: {
        Kind: 'tool_exec_start',
        Meta: expect.objectContaining({ AgentID: 'agent-1', TurnID: 'turn-1' }),
        Payload: { Tool: 'bash', Arguments: { command: 'ls' } },
      },
    })
  })

  test('and intercept at the same time, over one process', async () => {
    const { hooks, session, lines } = await opened({
      answers: {
        'hook.before_llm': [{ action: 'modify', request: { model: 'large' } }],
        'hook.after_llm': [{ action: 'modify', response: { role: 'assistant', content: 'better' } }],
      },
      entry: { observe: ['llm_request'] },
    })
    let model = ''
    const result = await session.callModel(REQUEST, (request) => {
      model = request.model
      return { role: 'assistant', content: 'first' }
    })
    expect(model).toBe('large')
    expect(result).toMatchObject({ response: { content: 'better' } })
    await hooks.close()
    expect(lines().filter(({ method }) => method === 'hook.hello')).toHaveLength(1)
    expect(lines().flatMap(({ params }) => params.Kind ?? [])).toEqual(['llm_request'])
  })
})

describe('configuration', () => {
  test('processes are started with the first event, not before', async () => {
    const { hooks, session, lines } = await opened()
    expect(hooks.list().map(({ role }) => role)).toEqual(['intercept', 'approve'])
    expect(lines()).toEqual([])
    await session.callTool(BASH, () => '')
    expect(methods(lines())).toContain('hook.hello')
  })

  test('≠ an entry that is wrong is left out with file and line, and does not stop the agent', async () => {
    const { hooks, session } = await opened({ entry: { intercept: ['before_tools'] } })
    expect(hooks.list()).toEqual([])
    expect(hooks.diagnostics).toMatchObject([{ code: 'entry-invalid', file: /hooks\.json$/, line: 1 }])
    const { outcome } = await session.callTool(BASH, () => '')
    expect(outcome.messages).toMatchObject([{ level: 'warning', text: /before_tools/ }])
  })

  test('the usual time-outs: half a second to observe, 5 to intercept, 60 to approve', async () => {
    const { hooks } = await opened({ entry: { observe: ['*'] } })
    expect(hooks.list().map(({ role, timeout }) => [role, timeout])).toEqual([
      ['intercept', 5],
      ['approve', 60],
      ['observe', 0.5],
    ])
  })

  test('a folder of its own, and a program named from there', async () => {
    const { hooks, session, folder, lines, log } = await opened({
      entry: { dir: 'tools', command: ['./hook', 'x'] },
    })
    mkdirSync(join(folder, 'tools'))
    const script = `#!/bin/sh\nexec '${process.execPath}' '${HOOK}' '${log}' '{}'\n`
    writeFileSync(join(folder, 'tools/hook'), script, { mode: 0o755 })
    await session.callTool(BASH, () => '')
    await hooks.close()
    expect(methods(lines())).toContain('hook.before_tool')
  })

  test('a reload keeps the process whose entry is the same, and ends the one whose entry changed', async () => {
    const { hooks, session, folder, lines, log } = await opened({ entry: { intercept: ['before_tool'] } })
    await session.callTool(BASH, () => '')
    await hooks.reload()
    await session.callTool(BASH, () => '')
    expect(methods(lines())).toEqual(['hook.hello', 'hook.before_tool', 'hook.before_tool'])
    const command = [process.execPath, HOOK, log, '{"x": []}']
    writeProcesses(folder, { my_hook: { command, intercept: ['before_tool'] } })
    await hooks.reload()
    await session.callTool(BASH, () => '')
    await hooks.close()
    expect(methods(lines()).slice(3)).toEqual(['hook.hello', 'hook.before_tool'])
  })
})

describe('observers, in odd moments', () => {
  test('one that starts slowly hears what happened before it was closed', async () => {
    const { hooks, session, lines, log, folder } = await opened()
    writeFileSync(
      join(folder, 'slow'),
      `#!/bin/sh\nsleep 1\nexec '${process.execPath}' '${HOOK}' '${log}' '{}'\n`,
      {
        mode: 0o755,
      },
    )
    writeProcesses(folder, { slow: { command: ['./slow'], observe: ['*'] } })
    await hooks.reload()
    await session.fire('PreToolUse', { tool_name: 'bash', tool_input: {} })
    await hooks.close()
    expect(methods(lines())).toEqual(['hook.hello', 'hook.event'])
  })

  test('one whose entry was removed while an event was under way is not started for it', async () => {
    const { hooks, session, folder, lines } = await opened({ entry: { intercept: [], observe: ['*'] } })
    let go = () => {}
    const held = new Promise<void>((resolve) => {
      go = resolve
    })
    hooks.register('PreToolUse', () => held)
    const firing = session.fire('PreToolUse', { tool_name: 'bash', tool_input: {} })
    writeProcesses(folder, {})
    await hooks.reload()
    go()
    await firing
    await session.close()
    expect(lines()).toEqual([])
    expect(hooks.diagnostics).toMatchObject([{ code: 'observer-dropped' }])
  })

  test('an event is told by its name, denied or not, also where the host announces its turns', async () => {
    const entry = { intercept: [], observe: ['UserPromptSubmit', 'PreToolUse'] }
    const { hooks, session, lines } = await opened({ entry })
    hooks.register('UserPromptSubmit', (_, { prompt }) => (prompt === 'bad' ? deny('no') : undefined))
    hooks.register('PreToolUse', () => deny('no'))
    await session.fire('UserPromptSubmit', { prompt: 'bad' })
    await session.startTurn()
    await session.fire('UserPromptSubmit', { prompt: 'good' })
    await session.fire('PreToolUse', { tool_name: 'bash', tool_input: {} })
    await hooks.close()
    expect(lines().flatMap(({ params }) => params.Kind ?? [])).toEqual([
      'user_prompt_submit',
      'user_prompt_submit',
      'tool_exec_skipped',
    ])
  })

  test('one that nobody trusted is skipped, and that is said', async () => {
    const entry = { intercept: ['before_tool'], observe: ['*'] }
    const { session, lines } = await opened({ entry, options: { trust: 'enforce' } })
    const { hooks: trace, messages } = await session.fire('PreToolUse', { tool_name: 'bash', tool_input: {} })
    expect(trace).toMatchObject([
      { status: 'skipped', why: 'untrusted' },
      { status: 'skipped', why: 'untrusted', role: 'observe' },
    ])
    expect(messages).toHaveLength(1)
    expect(lines()).toEqual([])
  })
})

test('what a turn came to is told: as hooks and models left it, or as the host says', async () => {
  const { hooks, session, lines } = await opened({
    entry: { intercept: [], observe: ['turn_start', 'turn_end'] },
  })
  await session.startTurn({ prompt: 'hello' })
  await session.endTurn()
  await session.startTurn()
  await session.callModel(REQUEST, () => Promise.reject(new Error('down'))).catch(() => undefined)
  await session.endTurn()
  await session.startTurn()
  await session.endTurn({ status: 'aborted' })
  await hooks.close()
  const told = lines().flatMap(({ params }) => (params.Payload ? [params.Payload] : []))
  expect(told).toMatchObject([
    { UserMessage: 'hello' },
    { Status: 'completed' },
    { UserMessage: '' },
    { Status: 'error' },
    { UserMessage: '' },
    { Status: 'aborted' },
  ])
})

test('what a hook changed is not in the audit, and a secret in it not in the trace', async () => {
  const secret = `ghp_${'a1B2'.repeat(9)}`
  const records: object[] = []
  const { session } = await opened({
    answers: {
      'hook.before_tool': [{ action: 'modify', call: { arguments: { command: `curl -H ${secret}` } } }],
    },
    entry: { intercept: ['before_tool'] },
    options: { audit: (record) => void records.push(record) },
  })
  const { outcome } = await session.callTool(BASH, () => '')
  expect(outcome.hooks[0]?.changes).toMatchObject([{ path: 'tool_input/command', before: 'ls' }])
  expect(JSON.stringify(outcome.hooks[0]?.changes)).not.toContain(secret)
  expect(JSON.stringify(records)).not.toContain(secret)
  expect(JSON.stringify(records)).not.toContain('curl')
})

test('what a hook writes to standard error is in the trace of this call, or of the next', async () => {
  const { hooks, session, folder } = await opened()
  const chatty = `
import { createInterface } from 'node:readline'
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line)
  process.stdout.write(JSON.stringify({ id, result: method === 'hook.hello' ? { ok: true } : { action: 'continue' } }) + '\\n')
  process.stderr.write('saw ' + id + '\\n')
}`
  writeFileSync(join(folder, 'chatty.mjs'), chatty)
  writeProcesses(folder, {
    chatty: { command: [process.execPath, 'chatty.mjs'], intercept: ['before_tool'] },
  })
  await hooks.reload()
  const printed: string[] = []
  for (let i = 0; i < 50; i++) {
    const { hooks: trace } = await session.fire('PreToolUse', { tool_name: 'bash', tool_input: {} })
    printed.push(trace[0]?.stderr ?? '')
  }
  const seen = printed.join('\n').match(/saw \d+/g) ?? []
  expect(seen.length).toBeGreaterThanOrEqual(49)
  expect(new Set(seen).size).toBe(seen.length)
})
