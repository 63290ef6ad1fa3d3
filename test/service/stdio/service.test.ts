// The service and a host: hello, sessions, calls, questions, cancelling, and the end.

import { abortTurn, askUser, deny, type Hooks, modify, respond } from 'carabiner'
import { describe, expect, it, test } from 'vitest'
import { VERSIONS } from '../../../src/service/stdio/protocol.js'
import { failureOf, Host } from './host.js'

const BASH = { name: 'Bash', input: { command: 'ls' } }
const never = () => new Promise<never>(() => {})
const asking = (hooks: Hooks) => hooks.register('PreToolUse', () => askUser('Deploy?'), { name: 'gate' })

describe('hello', () => {
  it('is refused for another version, with those that are spoken, and may be said again', async () => {
    const host = new Host()
    for (const version of [0, 2, 99]) {
      const { code, data } = await host.failure('hello', { version, host: 'test' })
      expect([code, data.code, data.versions]).toEqual([-32602, 'VERSION_UNSUPPORTED', VERSIONS])
    }
    expect(await host.call('hello', { version: 1, host: 'test' })).toEqual({
      version: 1,
      carabiner: '0.0.0',
      projectDir: '/project',
      hooks: 0,
      untrusted: [],
      diagnostics: [],
    })
    await host.leave()
  })

  it('comes first, and once', async () => {
    const host = new Host()
    const early = await host.failure('session.open', {})
    expect([early.code, early.data.code]).toEqual([-32600, 'HELLO_MISPLACED'])
    await host.greeted()
    expect((await host.failure('hello', { version: 1, host: 'test' })).data.code).toBe('HELLO_MISPLACED')
    await host.leave()
  })

  it('need not be awaited', async () => {
    const host = new Host()
    const answers = [
      host.call('hello', { version: 1, host: 'test' }),
      host.call('session.open', {}),
      host.call('tool.begin', { session: 's1', ...BASH }),
    ]
    expect((await Promise.all(answers))[2]).toMatchObject({ status: 'run', call: 'c1' })
    await host.leave()
  })

  it('that fails takes what was sent behind it along, and may be said again', async () => {
    let isBroken = true
    const host = new Host()
    const { createHooks } = await import('carabiner')
    const other = new Host(undefined, {
      open: async (_, embedder) => {
        if (isBroken)
          throw Object.assign(new Error('no such folder'), { code: 'PROJECT_NOT_FOUND', hint: 'Look.' })
        return { hooks: await createHooks(embedder), projectDir: '/project', notices: [] }
      },
    })
    const failures = [other.failure('hello', { version: 1, host: 'test' }), other.failure('session.open', {})]
    expect((await Promise.all(failures)).map(({ data }) => data.code)).toEqual([
      'PROJECT_NOT_FOUND',
      'HELLO_MISPLACED',
    ])
    isBroken = false
    await other.greeted()
    await Promise.all([host.leave(), other.leave()])
  })
})

describe('params', () => {
  test.each<[string, object | undefined, string | undefined, RegExp]>([
    ['tool.begin', { session: 's1', name: 'Bash' }, 'input', /input is missing/],
    [
      'tool.begin',
      { session: 's1', name: 'Bash', input: 'ls' },
      'input',
      /input must be an object, got a string/,
    ],
    ['tool.begin', { session: 's1', name: '', input: {} }, 'name', /name must be a non-empty string/],
    ['tool.begin', { session: 1, ...BASH }, 'session', /session must be/],
    ['tool.begin', { session: 's1', ...BASH, timeout: -1 }, 'timeout', /seconds above 0/],
    ['tool.begin', { session: 's1', ...BASH, renamed: true }, 'renamed', /did you mean renames\?/],
    ['tool.begin', { session: 's1', ...BASH, id: null }, 'id', /got null/],
    ['tool.begin', [], undefined, /params must be an object, got a list/],
    [
      'tool.answer',
      { call: 'c1', question: 'q', reply: { option: 'Allow', prof: 1 } },
      'reply',
      /reply must be/,
    ],
    ['session.fire', { session: 's1' }, 'event', /event is missing/],
    ['session.endTurn', { session: 's1', status: 'fine' }, 'status', /"completed" or/],
  ])('%s names the field that is wrong', async (method, params, field, message) => {
    const host = new Host()
    await host.greeted()
    const failure = await host.failure(method, params)
    expect([failure.code, failure.data.code, failure.data.field]).toEqual([-32602, 'OPTIONS_INVALID', field])
    expect(failure.message).toMatch(message)
    await host.leave()
  })

  it('are not quoted: a model may have written them', async () => {
    const host = new Host()
    const session = await host.greeted()
    const failure = await host.failure('tool.begin', { session, name: 'Bash', input: 'SECRET' })
    expect(JSON.stringify(failure)).not.toContain('SECRET')
    await host.leave()
  })

  it('with a number that hooks would see differently are refused', async () => {
    const host = new Host()
    const session = await host.greeted()
    const begin = (input: string) =>
      `{"id":7,"method":"tool.begin","params":{"session":"${session}","name":"Pay","input":${input}}}`
    for (const number of ['9007199254740993', '1e400', '-0']) {
      host.line(begin(`{"amount":${number}}`))
      const { message, data } = await failureOf(host.answerTo(7))
      expect([data.code, message]).toEqual([
        'PAYLOAD_INVALID',
        expect.stringContaining('input.amount is a number that cannot be kept exactly'),
      ])
    }
    host.line(begin('{"command":"ls","command":"rm"}'))
    expect((await failureOf(host.answerTo(7))).message).toContain('has the key "command" twice')
    await host.leave()
  })

  it('an unknown method is named, with the one that was meant', async () => {
    const host = new Host()
    const { code, message, data } = await host.failure('tool.beginn')
    expect([code, data.code]).toEqual([-32601, 'METHOD_UNKNOWN'])
    expect(message).toContain('did you mean tool.begin?')
    for (const method of [
      'trust',
      'hooks.trust',
      'hooks.enable',
      'approvals.allow',
      '__proto__',
      'constructor',
    ])
      expect((await host.failure(method, {})).data.code).toBe('METHOD_UNKNOWN')
    await host.leave()
  })
})

describe('a tool call', () => {
  it('runs with the input that hooks left, and ends once', async () => {
    const seen: unknown[] = []
    const host = new Host((hooks) => {
      hooks.register('PreToolUse', () => modify({ tool_input: { command: 'ls -a' } }))
      hooks.register('PostToolUse', (_, { tool_response }) => void seen.push(tool_response))
    })
    const session = await host.greeted()
    const begun = await host.call('tool.begin', { session, ...BASH, id: 'toolu_1' })
    expect(begun).toMatchObject({ status: 'run', call: 'c1', name: 'Bash', input: { command: 'ls -a' } })
    expect(begun.outcome).not.toHaveProperty('data')
    const ended = await host.call('tool.finish', { call: 'c1', result: { files: 3 } })
    expect([ended.status, 'result' in ended, seen]).toEqual(['ok', false, [{ files: 3 }]])
    const again = await host.failure('tool.finish', { call: 'c1', result: 'other' })
    expect([again.data.code, again.message]).toEqual(['CALL_ENDED', 'c1 has already ended'])
    expect(seen).toHaveLength(1)
    await host.leave()
  })

  it('is finished only once, also by two messages at once', async () => {
    const seen: unknown[] = []
    const host = new Host((hooks) =>
      hooks.register('PostToolUse', (_, { tool_response }) => void seen.push(tool_response)),
    )
    const session = await host.greeted()
    const { call } = await host.call('tool.begin', { session, ...BASH })
    const first = host.call('tool.finish', { call, result: 1 })
    expect((await host.failure('tool.fail', { call, error: 'no' })).data.code).toBe('CALL_ENDED')
    expect((await first).status).toBe('ok')
    expect(seen).toEqual([1])
    await host.leave()
  })

  it('whose result a hook replaces has the new one', async () => {
    const host = new Host((hooks) => hooks.register('PostToolUse', () => modify({ tool_response: 'clean' })))
    const session = await host.greeted()
    const { call } = await host.call('tool.begin', { session, ...BASH })
    expect(await host.call('tool.finish', { call, result: 'secret' })).toMatchObject({
      status: 'ok',
      result: 'clean',
    })
    const other = await host.call('tool.begin', { session, ...BASH })
    const replaced = await host.call('tool.finish', { call: other.call, result: { form: 1 } })
    expect(replaced).toMatchObject({ status: 'responded', result: 'clean' })
    await host.leave()
  })

  it('that hooks refuse or answer has no input and no call', async () => {
    const host = new Host((hooks) => {
      hooks.register('PreToolUse', () => deny('not here'), { matcher: 'Bash' })
      hooks.register('PreToolUse', () => respond({ cached: true }), { matcher: 'Read' })
    })
    const session = await host.greeted()
    const denied = await host.call('tool.begin', { session, ...BASH })
    expect(denied).toMatchObject({ status: 'denied', reason: 'not here' })
    const responded = await host.call('tool.begin', { session, name: 'Read', input: {} })
    expect(responded).toMatchObject({ status: 'responded', result: { cached: true } })
    for (const answer of [denied, responded]) {
      expect(answer).not.toHaveProperty('input')
      expect(answer).not.toHaveProperty('call')
    }
    expect((await host.failure('tool.finish', { call: 'c1', result: 1 })).data.code).toBe('CALL_ENDED')
    await host.leave()
  })

  test.each<[string, (hooks: Hooks) => void, string]>([
    ['throws', (hooks) => hooks.register('PreToolUse', () => Promise.reject(new Error('broken'))), 'denied'],
    ['hangs', (hooks) => hooks.register('PreToolUse', never, { timeout: 0.05 }), 'denied'],
    [
      'answers nonsense',
      (hooks) => hooks.register('PreToolUse', () => ({ action: 'alow' }) as never),
      'denied',
    ],
    [
      'renames the tool',
      (hooks) => hooks.register('PreToolUse', () => modify({ tool_name: 'Sh' })),
      'denied',
    ],
    ['asks', (hooks) => asking(hooks), 'needs_approval'],
    ['ends the turn', (hooks) => hooks.register('PreToolUse', () => abortTurn('enough')), 'TURN_ABORTED'],
  ])('with a hook that %s does not run', async (_, prepare, expected) => {
    const host = new Host(prepare)
    const session = await host.greeted()
    const answer = await host.call('tool.begin', { session, ...BASH }).catch((thrown) => thrown.error)
    expect(answer.status ?? answer.data.code).toBe(expected)
    expect(answer).not.toHaveProperty('input')
    if (answer.data) expect(answer.data.outcome).toMatchObject({ action: 'abort_turn', reason: 'enough' })
    await host.leave()
  })

  it('of 64 ends in any order, and none is taken for another', async () => {
    const host = new Host((hooks) =>
      hooks.register('PreToolUse', (_, { tool_input }) =>
        (tool_input.n as number) % 4 === 0 ? deny(`no ${tool_input.n}`) : undefined,
      ),
    )
    const session = await host.greeted()
    const numbers = Array.from({ length: 64 }, (_, n) => n)
    const begun = await Promise.all(
      numbers.map((n) => host.call('tool.begin', { session, name: 'T', input: { n }, id: `t${n}` })),
    )
    const running = begun.filter(({ status }) => status === 'run')
    expect(running.map(({ input }) => input.n)).toEqual(numbers.filter((n) => n % 4 !== 0))
    expect(begun.filter(({ status }) => status === 'denied').map(({ reason }) => reason)).toEqual(
      numbers.filter((n) => n % 4 === 0).map((n) => `no ${n}`),
    )
    const ended = await Promise.all(
      running.toReversed().map(({ call }, i) =>
        host.call(i % 2 ? 'tool.finish' : 'tool.fail', {
          call,
          ...(i % 2 ? { result: i } : { error: 'x' }),
        }),
      ),
    )
    expect(ended.map(({ status }) => status)).toEqual(ended.map((_, i) => (i % 2 ? 'ok' : 'failed')))
    await host.leave()
  })
})

describe('a model call', () => {
  const REQUEST = { model: 'm', messages: [{ role: 'user', content: 'hello' }] }

  it('begins, is held, finishes; its response may be refused or asked about', async () => {
    const host = new Host((hooks) =>
      hooks.register('ModelResponse', (_, { response }) => {
        if (response === 'bad') return deny('not this')
        return response === 'odd' ? askUser('Show it?') : undefined
      }),
    )
    const session = await host.greeted()
    const begin = () => host.call('model.begin', { session, request: REQUEST })
    const begun = await begin()
    expect(begun).toMatchObject({ status: 'run', request: REQUEST, held: true })
    expect(await host.call('model.finish', { call: begun.call, response: 'good' })).toMatchObject({
      status: 'ok',
    })
    const bad = await host.call('model.finish', { call: (await begin()).call, response: 'bad' })
    expect([bad.status, bad.reason, 'response' in bad]).toEqual(['denied', 'not this', false])
    const odd = await host.call('model.finish', { call: (await begin()).call, response: 'odd' })
    expect([odd.status, 'response' in odd]).toEqual(['needs_approval', false])
    const shown = await host.call('model.answer', {
      call: odd.call,
      question: odd.question.id,
      reply: 'Allow',
    })
    expect(shown.status).toBe('ok')
    const failed = await host.call('model.fail', { call: (await begin()).call, error: 'overloaded' })
    expect(failed).toMatchObject({ status: 'failed', reason: 'overloaded' })
    await host.leave()
  })

  it('is not a tool call', async () => {
    const host = new Host()
    const session = await host.greeted()
    const { call } = await host.call('model.begin', { session, request: REQUEST })
    expect((await host.failure('tool.finish', { call, result: 1 })).message).toBe(
      `${call} is a model call, not a tool call`,
    )
    expect((await host.failure('model.begin', { session, request: { messages: [] } })).data.code).toBe(
      'PAYLOAD_INVALID',
    )
    await host.leave()
  })
})

describe('a question', () => {
  it('that is left open is answered later, once, and by its own id', async () => {
    const host = new Host(asking)
    const session = await host.greeted()
    const { call, question, status } = await host.call('tool.begin', { session, ...BASH, id: 'toolu_9' })
    expect([status, question.call.tool_use_id, question.asks[0].prompt]).toEqual([
      'needs_approval',
      'toolu_9',
      'Deploy?',
    ])
    expect((await host.failure('tool.finish', { call, result: 1 })).message).toContain('waits for an answer')
    const other = await host.failure('tool.answer', { call, question: 'other', reply: 'Allow' })
    expect(other.data.code).toBe('CALL_ENDED')
    const answer = { call, question: question.id, reply: { option: 'Allow', by: 'ada' } }
    const first = host.call('tool.answer', answer)
    const second = host.failure('tool.answer', answer)
    expect(await first).toMatchObject({ status: 'run', call, input: BASH.input })
    expect((await second).data.code).toBe('CALL_ENDED')
    expect((await host.call('tool.finish', { call, result: 1 })).status).toBe('ok')
    await host.leave()
  })

  it('denied is denied; an option that was not offered, too', async () => {
    const host = new Host(asking)
    const session = await host.greeted()
    for (const reply of ['Deny', 'Sure', '', { option: 'allow this one' }]) {
      const { call, question } = await host.call('tool.begin', { session, ...BASH })
      expect((await host.call('tool.answer', { call, question: question.id, reply })).status).toBe('denied')
    }
    await host.leave()
  })

  it('is put to a host that approves', async () => {
    const host = new Host(asking)
    const asked: unknown[] = []
    const session = await host.greeted({ approves: true })
    const outcomes: string[] = []
    for (const reply of ['Allow', 'Deny', { option: 'Allow', by: 'ada' }, new Error('no window'), 7]) {
      host.onApprove = (params) => {
        asked.push([params.session, params.call, params.question.asks[0].prompt])
        return reply as never
      }
      outcomes.push((await host.call('tool.begin', { session, ...BASH })).status)
    }
    expect(outcomes).toEqual(['run', 'denied', 'run', 'denied', 'denied'])
    expect(asked[0]).toEqual([session, 'c1', 'Deploy?'])
    host.onApprove = () => ({ unanswered: 'Nobody is here' })
    const open = await host.call('tool.begin', { session, ...BASH })
    expect(open).toMatchObject({ status: 'needs_approval', reason: 'Nobody is here' })
    host.onApprove = () => 'Allow'
    const fired = await host.call('session.fire', {
      session,
      event: 'PreToolUse',
      data: { tool_name: 'Bash', tool_input: {} },
    })
    expect(fired.outcome.action).toBe('continue')
    await host.leave()
  })

  it('has a deadline, after which the host is told to stop asking', async () => {
    const host = new Host((hooks) =>
      hooks.register('PreToolUse', () => askUser('Deploy?', { approvalTimeout: 0.05 }), { name: 'gate' }),
    )
    let approving = 0
    host.onApprove = (_, id) => {
      approving = id
      return undefined
    }
    const session = await host.greeted({ approves: true })
    expect((await host.call('tool.begin', { session, ...BASH })).status).toBe('denied')
    expect(await host.hears('cancel')).toEqual({ id: approving })
    host.line({ jsonrpc: '2.0', id: approving, result: 'Allow' })
    expect((await host.call('tool.begin', { session, ...BASH })).status).toBe('denied')
    expect(host.logged.join()).toContain('came too late')
    await host.leave()
  })

  test.each(['{"amount":9007199254740993}', '{"amount":1,"amount":2}'])(
    'answered with an edit that cannot be read as written (%s) is denied',
    async (input) => {
      const host = new Host(asking)
      host.onApprove = (_, id) => {
        host.line(`{"id":${id},"result":{"option":"Allow","data":{"tool_input":${input}}}}`)
        return undefined
      }
      const session = await host.greeted({ approves: true })
      expect((await host.call('tool.begin', { session, ...BASH })).status).toBe('denied')
      await host.leave()
    },
  )
})

describe('cancel', () => {
  it('ends the hooks of a request, which is answered with ABORTED', async () => {
    let aborted = 0
    let started = () => {}
    const running = new Promise<void>((resolve) => {
      started = resolve
    })
    const host = new Host((hooks) =>
      hooks.register('PreToolUse', (_event, _data, { signal }) => {
        signal.addEventListener('abort', () => aborted++)
        started()
        return never()
      }),
    )
    const session = await host.greeted()
    const request = host.send('tool.begin', { session, ...BASH })
    const begun = failureOf(host.answerTo(request))
    await running
    expect(await host.call('cancel', { id: request })).toEqual({ cancelled: true })
    expect((await begun).data.code).toBe('ABORTED')
    expect(aborted).toBe(1)
    expect(await host.call('cancel', { id: request })).toEqual({ cancelled: false })
    const fired = host.send(
      'session.fire',
      { session, event: 'PreToolUse', data: { tool_name: 'B', tool_input: {} } },
      'f',
    )
    const failed = failureOf(host.answerTo(fired))
    host.line({ jsonrpc: '2.0', method: 'cancel', params: { id: 'f' } })
    expect((await failed).data.code).toBe('ABORTED')
    await host.leave()
  })

  it('closes the dialog of a question', async () => {
    const host = new Host(asking)
    const asked = new Promise<void>((resolve) => {
      host.onApprove = () => {
        resolve()
        return undefined
      }
    })
    const session = await host.greeted({ approves: true })
    const request = host.send('tool.begin', { session, ...BASH })
    const begun = failureOf(host.answerTo(request))
    await asked
    await host.call('cancel', { id: request })
    expect((await begun).data.code).toBe('ABORTED')
    await host.hears('cancel')
    await host.leave()
  })

  it('tells 1 from "1", and an id is used once at a time', async () => {
    const host = new Host((hooks) => hooks.register('PreToolUse', never))
    const session = await host.greeted()
    host.send('tool.begin', { session, ...BASH }, 'a')
    expect(await host.call('cancel', { id: 1 })).toEqual({ cancelled: false })
    const twice = failureOf(host.answerTo('a'))
    host.send('tool.begin', { session, ...BASH }, 'a')
    expect((await twice).message).toContain('still in progress')
    const first = failureOf(host.answerTo('a'))
    await host.call('cancel', { id: 'a' })
    expect((await first).data.code).toBe('ABORTED')
    await host.leave()
  })
})

describe('a session', () => {
  it('may say which agent it is of, and its subagents are of the same', async () => {
    const agents: unknown[] = []
    const host = new Host((hooks) => {
      hooks.register('PreToolUse', (_, __, { session }) => void agents.push(session?.agent))
    })
    await host.greeted()
    const { session } = await host.call('session.open', { agent: 'codex' })
    const child = await host.call('session.open', { parent: session, agentId: 'a1' })
    for (const one of [session, child.session]) await host.call('tool.begin', { session: one, ...BASH })
    expect(agents).toEqual(['codex', 'codex'])
    expect(
      (await host.failure('session.open', { parent: session, agentId: 'a2', agent: 'gemini' })).message,
    ).toContain('a subagent has the agent of its parent')
    await host.leave()
  })

  it('has the id that hooks see, and a name that only messages use', async () => {
    const seen: unknown[] = []
    const host = new Host((hooks) =>
      hooks.register(
        'Stop',
        (_, { session_id, agent_id, cwd }) => void seen.push([session_id, agent_id, cwd]),
      ),
    )
    const session = await host.greeted()
    const again = await host.failure('session.open', { id: 'one' })
    expect(again.message).toContain('already open')
    const child = await host.call('session.open', { parent: session, agentId: 'a1', agentType: 'tester' })
    expect(child).toEqual({ session: 's2', id: 'one' })
    for (const name of [session, child.session])
      await host.call('session.fire', { session: name, event: 'Stop' })
    expect(seen).toEqual([
      ['one', undefined, '/project'],
      ['one', 'a1', '/project'],
    ])
    expect((await host.failure('session.open', { parent: session })).message).toContain('agentId is missing')
    expect(
      (await host.failure('session.open', { parent: session, agentId: 'a', id: 'x' })).message,
    ).toContain('has the id')
    await host.leave()
  })

  it('has turns', async () => {
    const host = new Host()
    const session = await host.greeted()
    expect(await host.call('session.startTurn', { session, prompt: 'Hi' })).toEqual({ turnId: 'turn-1' })
    expect(await host.call('session.endTurn', { session, status: 'completed' })).toEqual({})
    expect(await host.call('session.startTurn', { session })).toEqual({ turnId: 'turn-2' })
    await host.leave()
  })

  it('that is closed interrupts its calls, and those of its subagents', async () => {
    const seen: unknown[] = []
    const host = new Host((hooks) =>
      hooks.register(
        'PostToolUseFailure',
        (_, { is_interrupt, agent_id }) => void seen.push([is_interrupt, agent_id]),
      ),
    )
    const session = await host.greeted()
    const child = await host.call('session.open', { parent: session, agentId: 'a1' })
    const calls = await Promise.all(
      [session, child.session].map((name) => host.call('tool.begin', { session: name, ...BASH })),
    )
    await host.call('session.close', { session })
    expect(seen.sort()).toEqual(
      [
        [true, undefined],
        [true, 'a1'],
      ].sort(),
    )
    for (const { call } of calls)
      expect((await host.failure('tool.finish', { call, result: 1 })).data.code).toBe('CALL_ENDED')
    for (const name of [session, child.session])
      expect((await host.failure('tool.begin', { session: name, ...BASH })).message).toBe(
        `The session ${name} is closed`,
      )
    expect((await host.failure('session.close', { session: 'x' })).message).toBe('There is no such session')
    expect((await host.call('session.open', { id: 'one' })).session).toBe('s3')
    await host.leave()
  })

  it('lists and explains hooks', async () => {
    const host = new Host((hooks) =>
      hooks.register('PreToolUse', () => undefined, { name: 'gate', matcher: 'Bash' }),
    )
    const session = await host.greeted()
    expect((await host.call('hooks.list')).hooks).toMatchObject([{ name: 'gate', state: 'ready' }])
    expect((await host.call('hooks.reload')).hooks).toBe(1)
    const data = { tool_name: 'Bash' }
    for (const where of [{}, { session }]) {
      const { plan } = await host.call('hooks.explain', { event: 'PreToolUse', data, ...where })
      expect(plan.steps).toEqual([{ priority: 0, lanes: [['gate']] }])
    }
    expect((await host.failure('session.fire', { session, event: 'PreToolUs' })).data.code).toBe(
      'EVENT_INVALID',
    )
    await host.leave()
  })
})

describe('notifications', () => {
  it('carry messages for the user', async () => {
    const host = new Host((hooks) =>
      hooks.register('Stop', () => ({ action: 'continue', userMessage: 'All done' }) as const, {
        name: 'teller',
      }),
    )
    const session = await host.greeted()
    await host.call('session.fire', { session, event: 'Stop' })
    expect(await host.hears('message')).toEqual({ text: 'All done', level: 'info', source: 'teller' })
    await host.leave()
  })

  it('that are requests without an id are reported, and do nothing', async () => {
    let runs = 0
    const host = new Host((hooks) => hooks.register('PreToolUse', () => void runs++))
    const session = await host.greeted()
    host.line({ jsonrpc: '2.0', method: 'tool.begin', params: { session, ...BASH } })
    await host.call('hooks.list')
    expect(host.logged.join()).toContain('has no id')
    expect(runs).toBe(0)
    await host.leave()
  })
})

describe('lines', () => {
  it('that are no message are answered without an id, or with theirs', async () => {
    const host = new Host()
    for (const line of ['nonsense', '{"id":1,', '[{"id":1}]', '{"jsonrpc":"1.0","id":5,"method":"hello"}'])
      host.line(line)
    const wrong = await failureOf(host.answerTo(5))
    expect([wrong.code, wrong.message]).toEqual([-32600, expect.stringContaining('jsonrpc')])
    expect(host.strays.map(({ code }) => code)).toEqual([-32700, -32700, -32600])
    await host.greeted()
    await host.leave()
  })

  it('of 100 MB are refused, by id where it comes first, and the next one is read', async () => {
    const host = new Host()
    await host.greeted()
    const long = Buffer.alloc(100_000_000, 'a')
    const late = failureOf(host.answerTo(77))
    host.toService.write('{"jsonrpc":"2.0","id":77,"method":"tool.finish","params":{"call":"c1","result":"')
    host.toService.write(long)
    host.toService.write('"}}\n')
    expect((await late).message).toContain('was skipped')
    expect((await host.call('hooks.list')).hooks).toEqual([])
    await host.leave()
  })

  it('half sent at the end are reported', async () => {
    const host = new Host()
    await host.greeted()
    host.toService.write('{"jsonrpc":"2.0","id":9,"method":"tool.beg')
    await host.leave()
    expect(host.logged.join()).toContain('not JSON')
  })
})

describe('the end', () => {
  it('of the host interrupts its calls, and ends the service', async () => {
    const seen: unknown[] = []
    const host = new Host((hooks) =>
      hooks.register(
        'PostToolUseFailure',
        (_, { is_interrupt, tool_use_id }) => void seen.push([tool_use_id, is_interrupt]),
      ),
    )
    const session = await host.greeted()
    await host.call('tool.begin', { session, ...BASH, id: 't1' })
    expect(await host.leave()).toBeUndefined()
    expect(seen).toEqual([['t1', true]])
    expect(host.hooks?.session.bind(host.hooks)).toThrow('closed')
  })

  it('comes after the answers to requests that were sent before it', async () => {
    const host = new Host((hooks) => hooks.register('PreToolUse', async () => deny('late but sure')))
    const session = await host.greeted()
    const answer = host.call('tool.begin', { session, ...BASH })
    await host.leave()
    expect((await answer).status).toBe('denied')
  })

  it('comes by a signal too', async () => {
    const stop = new AbortController()
    const host = new Host(undefined, { signal: stop.signal })
    await host.greeted()
    stop.abort()
    expect(await host.ended).toBeUndefined()
  })

  it('comes for a host that does not read its answers', async () => {
    const host = new Host()
    const session = await host.greeted()
    host.fromService.pause()
    const data = { text: 'x'.repeat(1_000_000) }
    for (let i = 0; i < 80; i++) host.send('session.fire', { session, event: 'my:event', data })
    expect(await host.ended).toContain('does not read')
  })
})
