// What nobody should do, done on purpose. Each time: the documented outcome, a trace or diagnostic, no unhandled
// rejection, and a gate that failed stays closed.

import {
  type Approver,
  askUser,
  createHooks,
  type Data,
  deny,
  type Handler,
  HookRegistry,
  type Hooks,
  type HooksOptions,
  inject,
  MemoryStore,
  memoryAudit,
  modify,
  type Outcome,
  proceed,
  type SessionStore,
} from 'carabiner'
import type { Run } from 'carabiner/core'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { laneHook, madeHook } from './made-hook.js'

const BASH = { tool_name: 'Bash', tool_input: { command: 'ls', nested: { list: [1] } } }
const codes = ({ diagnostics }: Outcome) => diagnostics.map(({ code }) => code)
const never = () => new Promise<never>(() => {})
const tick = () => new Promise((resolve) => setImmediate(resolve))

const unhandled: unknown[] = []
const onUnhandled = (reason: unknown) => void unhandled.push(reason)

beforeAll(() => {
  process.on('unhandledRejection', onUnhandled)
})

afterEach(async () => {
  await tick()
  expect(unhandled.splice(0)).toEqual([])
})

afterAll(() => {
  process.off('unhandledRejection', onUnhandled)
})

/** One gate with this handler; whatever it does, it must not look like one that approved. */
async function gate(handler: unknown, options: HooksOptions = {}, timeout = 60): Promise<Outcome> {
  const hooks = await createHooks({ globals: false, ...options })
  hooks.register('PreToolUse', handler as Handler<'PreToolUse'>, { name: 'gate', timeout })
  return hooks.session().fire('PreToolUse', BASH)
}

/** The same, where the time-out itself is under test. */
const overdue = (handler: unknown) => gate(handler, {}, 0.02)

function expectClosed(outcome: Outcome, why: string): void {
  expect(outcome.action).toBe('deny')
  expect(outcome.reason).toMatch(/^hook crashed \(fail-safe deny\): gate: /)
  expect(outcome.hooks).toMatchObject([{ name: 'gate', status: 'failed', why }])
  expect(outcome.messages).toMatchObject([{ level: 'warning', source: 'gate' }])
  expect(outcome.messages[0]?.text).toMatch(/gate/)
}

function cycle(): Record<string, unknown> {
  const one: Record<string, unknown> = {}
  one.self = one
  return one
}

function nested(depth: number): object {
  let inner: object = { end: true }
  for (let i = 0; i < depth; i++) inner = { inner }
  return inner
}

describe('an answer of the wrong type', () => {
  test.each<[string, unknown]>([
    ['null', null],
    ['true', true],
    ['false', false],
    ['zero', 0],
    ['a number', 42],
    ['NaN', Number.NaN],
    ['a bigint', 1n],
    ['an empty text', ''],
    ['a text', 'deny'],
    ['a symbol', Symbol('deny')],
    ['a function', () => deny('no')],
    ['a list', []],
    ['a list of answers', [deny('no')]],
    ['an Error', new Error('should have been thrown')],
    ['a Date', new Date(0)],
    ['a Map', new Map([['action', 'deny']])],
    ['a Set', new Set(['deny'])],
    ['a regular expression', /deny/],
    ['an object of another system', { decision: 'block' }],
    ['an object of another system, snake_case', { permission_decision: 'deny' }],
    ['an object with unknown keys', { verdict: 'deny' }],
    ['a reason alone in the wrong place', { message: 'no' }],
  ])('%s closes the gate, at once and later', async (_, answer) => {
    expectClosed(await gate(() => answer), 'ANSWER_INVALID')
    expectClosed(await gate(async () => answer), 'ANSWER_INVALID')
  })

  test.each<[string, unknown]>([
    ['an unknown action', { action: 'forbid' }],
    ['an action in capitals', { action: 'DENY' }],
    ['an action that is no text', { action: 1 }],
    ['an action that is a list', { action: ['deny'] }],
    ['an action that is a bigint', { action: 1n }],
    ['modify without data', { action: 'modify' }],
    ['modify with a text', { action: 'modify', data: 'rm' }],
    ['modify with a list', { action: 'modify', data: [] }],
    ['inject_context without text', { action: 'inject_context' }],
    ['inject_context with an object', { action: 'inject_context', contextInjection: {} }],
    ['respond without response', { action: 'respond' }],
    ['a role that is none', { action: 'inject_context', contextInjection: 'x', contextInjectionRole: 'god' }],
    ['a permission that is none', { action: 'continue', permission: 'deny' }],
    ['options that are none', { action: 'ask_user', approvalOptions: [] }],
    ['an option that is no text', { action: 'ask_user', approvalOptions: ['Allow', 1] }],
    ['a default that is none', { action: 'ask_user', approvalDefault: 'ask' }],
    ['a level that is none', { action: 'continue', userMessage: 'x', userMessageLevel: 'loud' }],
    ['a flag that is none', { action: 'continue', suppressOutput: 'yes' }],
    ['data with a bigint', { action: 'modify', data: { tool_input: { n: 1n } } }],
    ['data with a cycle', { action: 'modify', data: { tool_input: cycle() } }],
    ['data that makes the call invalid', { action: 'modify', data: { tool_input: 'rm' } }],
    ['data that takes the tool away', { action: 'modify', data: { tool_name: null } }],
    ['a response with a cycle', { action: 'respond', response: cycle() }],
    ['a field with a bigint', { action: 'continue', reason: 1n }],
    ['a field with a cycle', { action: 'continue', userMessage: cycle() }],
  ])('%s closes the gate', async (_, answer) => {
    const outcome = await gate(() => answer)
    expectClosed(outcome, 'ANSWER_INVALID')
    expect(outcome.data.tool_input).toEqual(BASH.tool_input)
  })

  test('the message says what was wrong and what would be right', async () => {
    const outcome = await gate(() => ({ action: 'forbid' }))
    expect(outcome.messages[0]?.text).toMatch(/forbid.*unknown.*continue, deny/)
    expect(outcome.messages[0]?.text).toMatch(/deny\(\) or modify\(\)/)
  })

  test.each<[string, unknown]>([
    ['a reason that is no text', { action: 'deny', reason: 5 }],
    ['a reason that is a bigint', { action: 'deny', reason: 5n }],
    ['a reason with a cycle', { action: 'deny', reason: cycle() }],
    ['a time-out that is a bigint', { action: 'deny', reason: 'no', approvalTimeout: 5n }],
    ['data that is no object', { action: 'deny', reason: 'no', data: 'x' }],
    ['data with a bigint', { action: 'deny', reason: 'no', data: { n: 1n } }],
    ['data that makes the call invalid', { action: 'deny', reason: 'no', data: { tool_input: 'x' } }],
    ['unknown keys', { action: 'deny', reason: 'no', because: 'no' }],
  ])('a deny with %s is a deny, also of a hook that fails open', async (_, answer) => {
    const hooks = await createHooks({ globals: false })
    const handler = (() => answer) as unknown as Handler
    hooks.register('PreToolUse', handler, { name: 'gate', onFailure: 'continue' })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome.action).toBe('deny')
    expect(outcome.hooks).toMatchObject([{ status: 'ran', answer: { action: 'deny' } }])
    expect(outcome.diagnostics.length).toBeGreaterThan(0)
    expect(outcome.data.tool_input).toEqual(BASH.tool_input)
  })

  test.each(['abort_turn', 'hard_abort'])('an %s with a malformed field is one', async (action) => {
    const answer = { action, reason: 'enough', data: { tool_input: 'x' }, userMessage: 5n }
    expect(await gate(() => answer)).toMatchObject({ action, reason: 'enough' })
  })

  test('an unknown key beside a known action is reported, and the rest counts', async () => {
    const outcome = await gate(() => ({ action: 'continue', userMessage: 'hello', decision: 'block' }))
    expect(outcome.action).toBe('continue')
    expect(outcome.messages).toMatchObject([{ text: 'hello' }])
    expect(codes(outcome)).toEqual(['unknown-answer-key'])
    expect(outcome.diagnostics[0]?.text).toMatch(/gate.*decision.*deny/)
  })

  test('an answer that cannot be read closes the gate', async () => {
    const hostile = {
      get action(): never {
        throw new Error('do not read me')
      },
    }
    expectClosed(await gate(() => hostile), 'ANSWER_INVALID')
    const proxy = new Proxy(
      {},
      {
        get() {
          throw new Error('do not touch me')
        },
      },
    )
    expectClosed(await gate(() => proxy), 'ANSWER_INVALID')
  })
})

describe('a handler that throws', () => {
  const unspeakable = {
    toString() {
      throw new Error('not a text')
    },
    toJSON() {
      throw new Error('not JSON either')
    },
  }

  test.each<[string, unknown]>([
    ['an Error', new Error('broken')],
    ['an Error without a message', new Error()],
    ['a text', 'broken'],
    ['an empty text', ''],
    ['null', null],
    ['undefined', undefined],
    ['false', false],
    ['a number', 0],
    ['a bigint', 1n],
    ['a symbol', Symbol('broken')],
    ['a function', () => 'broken'],
    ['a plain object', { code: 'broken' }],
    ['an object with a cycle', cycle()],
    ['an object whose toString throws', unspeakable],
    ['an object without a prototype', Object.create(null)],
    ['an Error whose message is no text', Object.assign(new Error('x'), { message: { no: 'text' } })],
    ['an Error whose message cannot be shown', Object.assign(new Error('x'), { message: unspeakable })],
    ['an Error whose message is a symbol', Object.assign(new Error('x'), { message: Symbol('x') })],
    [
      'an Error whose message cannot be read',
      Object.defineProperty(new Error('x'), 'message', {
        get() {
          throw new Error('no')
        },
      }),
    ],
    [
      'a proxy that refuses everything',
      new Proxy(
        {},
        {
          getPrototypeOf() {
            throw new Error('no')
          },
          get() {
            throw new Error('no')
          },
        },
      ),
    ],
  ])('%s closes the gate, at once and later', async (_, thrown) => {
    const throws = () => {
      throw thrown
    }
    expectClosed(await gate(throws), 'HOOK_FAILED')
    expectClosed(await gate(() => Promise.reject(thrown)), 'HOOK_FAILED')
    expectClosed(await gate(() => tick().then(throws)), 'HOOK_FAILED')
  })

  test('its own text is in the message and in the reason', async () => {
    const outcome = await gate(() => Promise.reject(new Error('disk is full')))
    expect(outcome.reason).toMatch(/disk is full/)
    expect(outcome.messages[0]?.text).toMatch(/disk is full/)
    expect(outcome.hooks[0]?.detail).toMatch(/disk is full/)
  })

  test('its text cannot write to the terminal', async () => {
    const outcome = await gate(() => Promise.reject(new Error('\u001b[2J\u0007gone\u202e')))
    expect(outcome.messages[0]?.text).toMatch(/gone/)
    for (const control of ['\u001b', '\u0007', '\u202e']) {
      expect(outcome.messages[0]?.text).not.toContain(control)
    }
  })
})

describe('an async hook that throws', () => {
  test.each<[string, unknown]>([
    ['an Error', new Error('broken')],
    ['null', null],
    ['an Error whose message is a symbol', Object.assign(new Error('x'), { message: Symbol('x') })],
  ])('%s, while others still run, leaves nothing unhandled, and says so later', async (_, thrown) => {
    const globals = new HookRegistry({ scope: 'global' })
    const run = () => {
      throw thrown
    }
    globals.add(madeHook('async', { detached: true, run }))
    const hooks = await createHooks({ globals })
    hooks.register('PreToolUse', async () => {
      await tick()
      await tick()
    })
    const session = hooks.session()
    expect((await session.fire('PreToolUse', BASH)).action).toBe('continue')
    await tick()
    const next = await session.fire('UserPromptSubmit', { prompt: 'next' })
    const said = [...next.diagnostics, ...hooks.diagnostics]
    expect(said.map(({ code }) => code)).toContain('late-failed')
  })

  test('closes no gate and does not claim to, also where every gate is closed on failure', async () => {
    const globals = new HookRegistry({ scope: 'global' })
    const run = () => {
      throw new Error('broken')
    }
    globals.add(madeHook('async', { detached: true, run }))
    const hooks = await createHooks({ globals, settings: { on_failure: 'block' } })
    const session = hooks.session()
    expect((await session.fire('PreToolUse', BASH)).action).toBe('continue')
    await tick()
    const next = await session.fire('UserPromptSubmit', { prompt: 'next' })
    expect(next.action).toBe('continue')
    expect(next.messages).toMatchObject([{ level: 'warning', source: 'async' }])
    expect(next.messages[0]?.text).not.toMatch(/gate stays closed/)
  })
})

describe('a handler that never settles, or more than once', () => {
  test('never: it is overdue, and the gate closes', async () => {
    expectClosed(await overdue(never), 'HOOK_TIMEOUT')
  })

  test('a thenable that never calls back', async () => {
    // biome-ignore lint/suspicious/noThenProperty: what is under test
    expectClosed(await overdue(() => ({ then() {} })), 'HOOK_TIMEOUT')
  })

  test('a thenable that answers twice: the first answer counts', async () => {
    const twice = {
      // biome-ignore lint/suspicious/noThenProperty: what is under test
      then(resolve: (answer: unknown) => void) {
        resolve(deny('first'))
        resolve(proceed())
      },
    }
    expect(await gate(() => twice)).toMatchObject({ action: 'deny', reason: 'first' })
  })

  test('a thenable that answers and then rejects or throws: the first answer counts', async () => {
    const both = {
      // biome-ignore lint/suspicious/noThenProperty: what is under test
      then(resolve: (answer: unknown) => void, reject: (error: unknown) => void) {
        resolve(deny('first'))
        reject(new Error('second'))
        throw new Error('third')
      },
    }
    expect(await gate(() => both)).toMatchObject({ action: 'deny', reason: 'first' })
  })

  test('a thenable that throws closes the gate', async () => {
    const broken = {
      // biome-ignore lint/suspicious/noThenProperty: what is under test
      then() {
        throw new Error('broken')
      },
    }
    expectClosed(await gate(() => broken), 'HOOK_FAILED')
  })

  test('a thenable whose then cannot be read closes the gate', async () => {
    const hostile = {
      // biome-ignore lint/suspicious/noThenProperty: what is under test
      get then(): never {
        throw new Error('do not read me')
      },
    }
    expectClosed(await gate(() => hostile), 'HOOK_FAILED')
  })

  test('one that rejects after it was overdue is dropped', async () => {
    let reject: (error: unknown) => void = () => {}
    const late = new Promise((_, no) => {
      reject = no
    })
    const outcome = await overdue(() => late)
    expectClosed(outcome, 'HOOK_TIMEOUT')
    reject(new Error('too late'))
    await tick()
    expect(outcome.messages).toHaveLength(1)
  })

  test('one that answers after it was overdue is dropped', async () => {
    let resolve: (answer: unknown) => void = () => {}
    const late = new Promise((yes) => {
      resolve = yes
    })
    const hooks = await createHooks({ globals: false })
    const options = { timeout: 0.02, onFailure: 'continue' } as const
    hooks.register('PreToolUse', () => late as Promise<undefined>, options)
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    resolve(deny('too late'))
    await tick()
    expect(outcome.action).toBe('continue')
    expect(outcome.hooks).toMatchObject([{ why: 'HOOK_TIMEOUT' }])
  })

  test('an observer and a subscriber that never settle hold up no event', async () => {
    const hooks = await createHooks({ globals: false })
    hooks.register('PreToolUse', never, { role: 'observe', timeout: 0.02, name: 'watcher' })
    expect((await hooks.session().fire('PreToolUse', BASH)).action).toBe('continue')
    await hooks.close()
    expect(hooks.diagnostics).toMatchObject([{ code: 'late-failed' }])
    expect(hooks.diagnostics[0]?.text).toMatch(/watcher/)
  })
})

describe('a handler that mutates its input', () => {
  type Mutable = { tool_name: string; tool_input: { command?: string; nested: { list: number[] } } }
  const mutations: [string, (data: Mutable) => void][] = [
    [
      'assigns a field',
      (data) => {
        data.tool_name = 'Other'
      },
    ],
    [
      'adds a field',
      (data) => {
        Object.assign(data, { extra: 1 })
      },
    ],
    [
      'deletes a field',
      (data) => {
        Reflect.deleteProperty(data, 'tool_name') || raise(data, 'tool_name')
      },
    ],
    [
      'defines a field',
      (data) => {
        Object.defineProperty(data, 'tool_name', { value: 'Other' })
      },
    ],
    [
      'assigns a nested field',
      (data) => {
        data.tool_input.command = 'rm /'
      },
    ],
    [
      'deletes a nested field',
      (data) => {
        delete data.tool_input.command
      },
    ],
    [
      'pushes to a nested list',
      (data) => {
        data.tool_input.nested.list.push(2)
      },
    ],
    [
      'sorts a nested list',
      (data) => {
        data.tool_input.nested.list.fill(9)
      },
    ],
    [
      'replaces the prototype',
      (data) => {
        Object.setPrototypeOf(data, { tool_name: 'Other' })
      },
    ],
  ]
  const raise = (data: object, key: string): never => {
    throw new TypeError(`Cannot delete property '${key}' of ${JSON.stringify(data).slice(0, 5)}`)
  }

  test.each(mutations)('one that %s has failed, and is told to return modify', async (_, mutate) => {
    const handler = (_: string, data: unknown) => {
      mutate(data as Mutable)
    }
    for (const one of [handler, async (event: string, data: unknown) => handler(event, data)]) {
      const outcome = await gate(one)
      expectClosed(outcome, 'HOOK_FAILED')
      expect(outcome.messages[0]?.text).toMatch(/return modify\(/)
      expect(outcome.data.tool_name).toBe('Bash')
      expect(outcome.data.tool_input).toEqual({ command: 'ls', nested: { list: [1] } })
    }
  })

  test('the host’s own objects are neither frozen nor changed', async () => {
    const input = { command: 'ls', nested: { list: [1] } }
    const hooks = await createHooks({ globals: false })
    hooks.register('PreToolUse', () => modify({ tool_input: { command: 'changed' } }))
    await hooks.session().fire('PreToolUse', { tool_name: 'Bash', tool_input: input })
    input.nested.list.push(2)
    expect(input).toEqual({ command: 'ls', nested: { list: [1, 2] } })
  })

  test('what a handler answered and keeps changes nothing later', async () => {
    const kept = { command: 'safe' }
    const hooks = await createHooks({ globals: false })
    hooks.register('PreToolUse', () => modify({ tool_input: kept }))
    hooks.register('PreToolUse', async () => {
      kept.command = 'rm /'
    })
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    kept.command = 'rm /'
    expect((outcome.data.tool_input as Data).command).toBe('safe')
  })

  test('an approver’s and an observer’s input is frozen too', async () => {
    const frozen: boolean[] = []
    const hooks = await createHooks({ globals: false })
    const look = (_: string, data: { readonly tool_input: Data }) =>
      void frozen.push(Object.isFrozen(data) && Object.isFrozen(data.tool_input.nested))
    hooks.register('PreToolUse', look, { role: 'approve' })
    hooks.register('PreToolUse', look, { role: 'observe' })
    await hooks.session().fire('PreToolUse', BASH)
    await hooks.close()
    expect(frozen).toEqual([true, true])
  })
})

describe('a handler that registers or unregisters while an event is dispatched', () => {
  test('a hook that it registers counts from the next event on', async () => {
    const hooks = await createHooks({ globals: false })
    let once = true
    hooks.register('PreToolUse', () => {
      if (once) hooks.register('PreToolUse', () => deny('new'), { name: 'new', priority: 5 })
      once = false
    })
    const session = hooks.session()
    const first = await session.fire('PreToolUse', BASH)
    expect(first.action).toBe('continue')
    expect(first.hooks).toHaveLength(1)
    expect(await session.fire('PreToolUse', BASH)).toMatchObject({ action: 'deny', reason: 'new' })
  })

  test('a gate that it unregisters still judges this event', async () => {
    const hooks = await createHooks({ globals: false })
    hooks.register('PreToolUse', async () => hooks.unregister('gate'), { priority: -1 })
    hooks.register('PreToolUse', () => deny('still here'), { name: 'gate' })
    const session = hooks.session()
    expect(await session.fire('PreToolUse', BASH)).toMatchObject({ action: 'deny', reason: 'still here' })
    expect((await session.fire('PreToolUse', BASH)).action).toBe('continue')
  })

  test('one that unregisters itself has run once', async () => {
    const hooks = await createHooks({ globals: false })
    let ran = 0
    const off = hooks.register('PreToolUse', () => {
      ran++
      off()
    })
    const session = hooks.session()
    await session.fire('PreToolUse', BASH)
    await session.fire('PreToolUse', BASH)
    expect(ran).toBe(1)
  })

  test('one that replaces another of the same name does not lose it', async () => {
    const hooks = await createHooks({ globals: false })
    hooks.register('PreToolUse', () => deny('first'), { name: 'gate' })
    const off = hooks.register('PreToolUse', () => undefined, { name: 'gate' })
    off()
    off()
    expect(await hooks.session().fire('PreToolUse', BASH)).toMatchObject({ action: 'deny', reason: 'first' })
  })

  test('one that registers for ever is not run for ever', async () => {
    const hooks = await createHooks({ globals: false })
    let ran = 0
    const register = () => {
      hooks.register('PreToolUse', () => {
        ran++
        register()
      })
    }
    register()
    await hooks.session().fire('PreToolUse', BASH)
    expect(ran).toBe(1)
  })
})

describe('a payload', () => {
  const listening = async () => {
    const hooks = await createHooks({ globals: false })
    const seen: Data[] = []
    hooks.register('*', (_, data) => void seen.push(data as Data))
    return { session: hooks.session(), seen }
  }
  const throwing = {
    get field(): never {
      throw new Error('do not read me')
    },
  }

  test.each<[string, unknown]>([
    ['with a cycle', cycle()],
    ['with a bigint', { n: 1n }],
    ['with a bigint in a list', { list: [1n] }],
    ['nested very deeply', nested(100_000)],
    ['nested deeper than is carried', nested(501)],
    ['with a toJSON that never ends', { toJSON: () => ({ ...nested(1), again: cycle() }) }],
    ['with a field that cannot be read', throwing],
    [
      'with a toJSON that throws',
      {
        toJSON() {
          throw new Error('no')
        },
      },
    ],
  ])('%s is refused, and no hook runs', async (what, tool_input) => {
    const { session, seen } = await listening()
    const fired = session.fire('PreToolUse', { tool_name: 'Bash', tool_input: tool_input as object })
    await expect(fired).rejects.toMatchObject({ name: 'HookError', code: 'PAYLOAD_INVALID' })
    if (/bigint/.test(what)) return // which callTool passes on, and shows to hooks as text
    const run = vi.fn()
    await expect(session.callTool({ name: 'Bash', input: { tool_input } }, run)).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
    })
    expect(run).not.toHaveBeenCalled()
    expect(seen).toEqual([])
  })

  test('the message names the place, not the content', async () => {
    const { session } = await listening()
    const tool_input = { outer: { secret: 'hunter2', big: 1n } }
    const error = await session.fire('PreToolUse', { tool_name: 'Bash', tool_input }).catch((e: Error) => e)
    expect(String(error)).toMatch(/tool_input\.outer/)
    expect(String(error)).not.toMatch(/hunter2/)
  })

  test.each<[string, unknown]>([
    ['null', null],
    ['a list', []],
    ['a text', 'data'],
    ['a number', 5],
    ['a function', () => ({})],
  ])('that is %s is refused, hooks or none', async (_, data) => {
    const refused = { code: 'PAYLOAD_INVALID' }
    const { session } = await listening()
    await expect(session.fire('PreToolUse', data as object)).rejects.toMatchObject(refused)
    const nobody = (await createHooks({ globals: false })).session()
    await expect(nobody.fire('PreToolUse', data as object)).rejects.toMatchObject(refused)
    await expect(nobody.fire('my:event', data as object)).rejects.toMatchObject(refused)
  })

  test.each(['PreToolUse', 'my:event'])('with a key __proto__ on %s carries it as data', async (event) => {
    const { session, seen } = await listening()
    const data = JSON.parse(
      '{"tool_name":"Bash","tool_input":{"__proto__":{"polluted":1}},"__proto__":{"polluted":2}}',
    ) as object
    const outcome = await session.fire(event, data)
    expect(outcome.action).toBe('continue')
    const [given] = seen as [Data]
    expect(Object.keys(given)).toContain('__proto__')
    expect(Object.keys(given.tool_input as Data)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(given)).toBe(Object.prototype)
    expect(Object.getPrototypeOf(given.tool_input)).toBe(Object.prototype)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    expect(given.polluted).toBeUndefined()
  })

  test.each(['constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
    'with a key %s carries it as data',
    async (key) => {
      const { session, seen } = await listening()
      await session.fire('PreToolUse', { ...BASH, [key]: 'x' })
      await session.fire('my:event', { [key]: 'x' })
      expect(seen.map((data) => data[key])).toEqual(['x', 'x'])
    },
  )

  test('a patch with a key __proto__ pollutes nothing', async () => {
    const patch = JSON.parse(
      '{"__proto__":{"polluted":1},"tool_input":{"__proto__":{"polluted":2}}}',
    ) as object
    const outcome = await gate(() => modify(patch))
    expect(outcome.action).toBe('continue')
    expect(Object.getPrototypeOf(outcome.data)).toBe(Object.prototype)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    expect(outcome.data.polluted).toBeUndefined()
  })

  test('with a text of ten megabytes is carried whole, and judged', async () => {
    const content = 'x'.repeat(10 * 1024 * 1024)
    const hooks = await createHooks({ globals: false, audit: memoryAudit() })
    hooks.register('PreToolUse', (_, { tool_input }) => deny(`${String(tool_input.content).length} letters`))
    const data = { tool_name: 'Write', tool_input: { content } }
    expect(await hooks.session().fire('PreToolUse', data)).toMatchObject({
      action: 'deny',
      reason: `${content.length} letters`,
    })
  })

  test('an injection of ten megabytes is cut to size', async () => {
    const outcome = await gate(() => inject('x'.repeat(10 * 1024 * 1024)))
    expect(outcome.injections[0]?.text.length).toBeLessThanOrEqual(10_240)
    expect(codes(outcome)).toContain('injection-cut')
  })

  test('with lone surrogates is carried as it is; two different ones are two calls', async () => {
    const questions: string[] = []
    const approver: Approver = ({ digest }) => {
      questions.push(digest)
      return 'Deny'
    }
    const hooks = await createHooks({ globals: false, approver })
    const seen: unknown[] = []
    hooks.register('PreToolUse', (_, { tool_input }) => {
      seen.push(tool_input.command)
      return askUser('ok?')
    })
    const session = hooks.session()
    for (const command of ['\ud800', '\ud801', '\udc00']) {
      await session.fire('PreToolUse', { tool_name: 'Bash', tool_input: { command } })
    }
    expect(seen).toEqual(['\ud800', '\ud801', '\udc00'])
    expect(new Set(questions).size).toBe(3)
  })

  test('as deep as is carried can be patched, compared and asked about', async () => {
    const tool_input = nested(400)
    const hooks = await createHooks({ globals: false, audit: memoryAudit(), approver: () => 'Allow' })
    hooks.register('PreToolUse', (_, data) => modify({ tool_input: { ...data.tool_input, more: 1 } }))
    hooks.register('PreToolUse', () => askUser('ok?'))
    const outcome = await hooks.session().fire('PreToolUse', { tool_name: 'Deep', tool_input })
    expect(outcome).toMatchObject({ action: 'continue', modified: true })
  })

  test.each<[string, unknown]>([
    ['an empty text', ''],
    ['nothing', undefined],
    ['null', null],
    ['a number', 5],
    ['an object', {}],
    ['a bigint', 1n],
    ['a symbol', Symbol('event')],
  ])('an event name that is %s is refused', async (_, name) => {
    const session = (await createHooks({ globals: false })).session()
    await expect(session.fire(name as string, {})).rejects.toMatchObject({ code: 'EVENT_INVALID' })
  })

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'an event named %s is an event like any other',
    async (name) => {
      const { session, seen } = await listening()
      expect((await session.fire(name, { x: 1 })).action).toBe('continue')
      expect(seen).toMatchObject([{ x: 1, hook_event_name: name }])
    },
  )
})

describe('a time-out that is none', () => {
  const bad: [string, unknown][] = [
    ['negative', -1],
    ['zero', 0],
    ['NaN', Number.NaN],
    ['a text', '5'],
    ['null', null],
    ['a bigint', 5n],
  ]

  test.each(bad)('%s is refused by register()', async (_, timeout) => {
    const hooks = await createHooks({ globals: false })
    const options = { timeout } as never
    const invalid = expect.objectContaining({ code: 'OPTIONS_INVALID' })
    expect(() => hooks.register('PreToolUse', () => undefined, options)).toThrow(invalid)
    expect(() => hooks.session().register('PreToolUse', () => undefined, options)).toThrow(invalid)
    expect(hooks.list()).toEqual([])
  })

  test.each(bad)(
    '%s is refused by fire(), callTool() and callModel(), and nothing runs',
    async (_, timeout) => {
      const hooks = await createHooks({ globals: false })
      const ran = vi.fn()
      hooks.register('*', ran)
      const session = hooks.session()
      const options = { timeout } as never
      const invalid = { code: 'OPTIONS_INVALID' }
      await expect(session.fire('PreToolUse', BASH, options)).rejects.toMatchObject(invalid)
      await expect(session.callTool({ name: 'Bash', input: {} }, ran, options)).rejects.toMatchObject(invalid)
      const request = { model: 'm', messages: [] }
      await expect(session.callModel(request, ran, options)).rejects.toMatchObject(invalid)
      expect(ran).not.toHaveBeenCalled()
    },
  )

  test.each([...bad.filter(([name]) => name !== 'null'), ['infinite', Number.POSITIVE_INFINITY]])(
    '%s as approvalTimeout is an invalid answer: the gate closes, nobody is asked',
    async (_, approvalTimeout) => {
      const approver = vi.fn(() => 'Allow')
      const outcome = await gate(() => ({ ...askUser('ok?'), approvalTimeout }), { approver })
      expectClosed(outcome, 'ANSWER_INVALID')
      expect(approver).not.toHaveBeenCalled()
    },
  )

  test('a very long one does not fire at once', async () => {
    const hooks = await createHooks({ globals: false, approver: async () => tick().then(() => 'Allow') })
    hooks.register('PreToolUse', async () => askUser('ok?', { approvalTimeout: 1e9 }), { timeout: 1e9 })
    const outcome = await hooks.session().fire('PreToolUse', BASH, { timeout: 1e9 })
    expect(outcome).toMatchObject({ action: 'continue', approval: { answer: { by: 'person' } } })
  })
})

describe('an option that is none', () => {
  test.each<[string, object]>([
    ['onFailure', { onFailure: 'deny' }],
    ['role', { role: 'observer' }],
    ['priority', { priority: Number.NaN }],
    ['priority as text', { priority: '5' }],
    ['matcher', { matcher: '[' }],
    ['once', { once: 'yes' }],
    ['a misspelt name', { mather: 'Bash' }],
  ])('%s is refused by register(): a gate must not run otherwise than meant', async (_, options) => {
    const hooks = await createHooks({ globals: false })
    expect(() => hooks.register('PreToolUse', () => undefined, options as never)).toThrow(
      expect.objectContaining({ name: 'HookError' }),
    )
    expect(hooks.list()).toEqual([])
  })

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['an object', { handler: () => undefined }],
    ['a text', 'deny'],
  ])('a handler that is %s is refused', async (_, handler) => {
    const hooks = await createHooks({ globals: false })
    expect(() => hooks.register('PreToolUse', handler as never)).toThrow(
      expect.objectContaining({ code: 'OPTIONS_INVALID' }),
    )
  })
})

describe('a signal', () => {
  const aborted = { name: 'AbortError', code: 'ABORTED' }

  test('aborted before: nothing runs, the record is written', async () => {
    const audit = memoryAudit()
    const hooks = await createHooks({ globals: false, audit })
    const ran = vi.fn()
    hooks.register('PreToolUse', ran)
    const fired = hooks.session().fire('PreToolUse', BASH, { signal: AbortSignal.abort('why') })
    await expect(fired).rejects.toMatchObject({ ...aborted, cause: 'why' })
    expect(ran).not.toHaveBeenCalled()
    expect(audit.records.map(({ action }) => action)).toEqual(['aborted'])
  })

  test('aborted during: running hooks are told, later ones do not start, the record is written', async () => {
    const controller = new AbortController()
    const audit = memoryAudit()
    const hooks = await createHooks({ globals: false, audit })
    const ran = vi.fn()
    let told: unknown
    hooks.register('PreToolUse', (_, __, { signal }) => {
      signal.addEventListener('abort', () => {
        told = signal.reason
      })
      queueMicrotask(() => controller.abort('why'))
      return never()
    })
    hooks.register('PreToolUse', ran)
    const fired = hooks.session().fire('PreToolUse', BASH, { signal: controller.signal })
    await expect(fired).rejects.toMatchObject({ ...aborted, cause: 'why' })
    expect(told).toBe('why')
    expect(ran).not.toHaveBeenCalled()
    expect(audit.records.map(({ action }) => action)).toEqual(['aborted'])
  })

  test.each([
    ['PreToolUse', 'block'],
    ['PreToolUse', 'continue'],
    ['PostToolUse', 'continue'],
  ] as const)(
    'aborted by a hook of %s itself (onFailure %s): later ones do not start',
    async (event, onFailure) => {
      const controller = new AbortController()
      const audit = memoryAudit()
      const hooks = await createHooks({ globals: false, audit })
      const ran = vi.fn(async () => undefined)
      hooks.register(event, () => controller.abort('why'), { name: 'aborts', onFailure })
      hooks.register(event, ran)
      hooks.register(event, ran)
      const fired = hooks.session().fire(event, BASH, { signal: controller.signal })
      await expect(fired).rejects.toMatchObject(aborted)
      await tick()
      expect(ran).not.toHaveBeenCalled()
      expect(audit.records.map(({ action }) => action)).toEqual(['aborted'])
    },
  )

  test.each(['at once', 'later'])(
    'aborted %s: approvers are not asked, and nothing is left unhandled',
    async (when) => {
      const controller = new AbortController()
      const hooks = await createHooks({ globals: false })
      const approver = vi.fn(() => undefined)
      hooks.register('PreToolUse', approver, { role: 'approve' })
      const aborts = async () => {
        if (when === 'later') await tick()
        controller.abort('why')
        return never()
      }
      hooks.register('PreToolUse', aborts, { onFailure: 'continue' })
      const fired = hooks.session().fire('PreToolUse', BASH, { signal: controller.signal })
      await expect(fired).rejects.toMatchObject(aborted)
      await tick()
      expect(approver).not.toHaveBeenCalled()
    },
  )

  test('aborted while lanes run: all of them are told, and nothing is left unhandled', async () => {
    const controller = new AbortController()
    const globals = new HookRegistry({ scope: 'global' })
    const told: unknown[] = []
    for (const name of ['one', 'two']) {
      const run: Run = (_, { signal }) => {
        signal.addEventListener('abort', () => void told.push(signal.reason))
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      }
      globals.add(laneHook(name, { run }))
    }
    const hooks = await createHooks({ globals })
    const fired = hooks.session().fire('PreToolUse', BASH, { signal: controller.signal })
    setImmediate(() => controller.abort('why'))
    await expect(fired).rejects.toMatchObject({ ...aborted, cause: 'why' })
    expect(told).toEqual(['why', 'why'])
  })

  test('aborted during: what the hook answers afterwards changes nothing', async () => {
    const controller = new AbortController()
    const hooks = await createHooks({ globals: false })
    const ran = vi.fn()
    hooks.register('PreToolUse', async () => {
      controller.abort()
      await tick()
      return deny('too late')
    })
    hooks.register('PreToolUse', ran)
    const fired = hooks.session().fire('PreToolUse', BASH, { signal: controller.signal })
    await expect(fired).rejects.toMatchObject(aborted)
    await tick()
    await tick()
    expect(ran).not.toHaveBeenCalled()
  })

  test('aborted after: nothing happens, and nothing is left on the signal', async () => {
    const controller = new AbortController()
    const hooks = await createHooks({ globals: false })
    let inner: AbortSignal | undefined
    hooks.register('PreToolUse', async (_, __, { signal }) => {
      inner = signal
    })
    const added = vi.spyOn(controller.signal, 'addEventListener')
    const removed = vi.spyOn(controller.signal, 'removeEventListener')
    const outcome = await hooks.session().fire('PreToolUse', BASH, { signal: controller.signal })
    controller.abort()
    expect(outcome.action).toBe('continue')
    expect(inner?.aborted).toBe(false)
    expect(removed.mock.calls.length).toBe(added.mock.calls.length)
  })
})

describe('hooks that rewrite each other for ever', () => {
  const swap = (from: string, to: string) => (_: string, data: { readonly tool_name: string }) =>
    data.tool_name === from ? modify({ tool_name: to }) : undefined

  async function swapping(recheck: 'skipped' | 'all'): Promise<Outcome> {
    const hooks = await createHooks({ globals: false, settings: { recheck } })
    hooks.register('PreToolUse', swap('A', 'B'), { name: 'to B' })
    hooks.register('PreToolUse', swap('B', 'A'), { name: 'to A' })
    hooks.register('PreToolUse', swap('A', 'C'), { name: 'to C' })
    hooks.register('PreToolUse', swap('C', 'B'), { name: 'C to B' })
    return hooks.session().fire('PreToolUse', { tool_name: 'A', tool_input: {} })
  }

  test('come to an end, and a gate that judged an older call is reported', async () => {
    const outcome = await swapping('skipped')
    expect(outcome).toMatchObject({ action: 'continue', data: { tool_name: 'B' } })
    expect(codes(outcome)).toContain('stale')
    expect(outcome.hooks.length).toBeLessThanOrEqual(16)
  })

  test('are denied where everyone must see the final call', async () => {
    const hooks = await createHooks({ globals: false, settings: { recheck: 'all' } })
    let n = 0
    hooks.register('PreToolUse', () => modify({ tool_input: { n: ++n } }))
    hooks.register('PreToolUse', () => modify({ tool_input: { n: ++n } }))
    const outcome = await hooks.session().fire('PreToolUse', BASH)
    expect(outcome.action).toBe('deny')
    expect(outcome.reason).toMatch(/^HOOK_UNSTABLE/)
    expect((await swapping('all')).hooks.length).toBeLessThanOrEqual(16)
  })
})

describe('a function of the host that fails', () => {
  const broken = (): never => {
    throw new Error('host is broken')
  }
  const rejects = () => Promise.reject(new Error('host is broken'))
  const denying = async (options: HooksOptions): Promise<[Outcome, Hooks]> => {
    const hooks = await createHooks({ globals: false, ...options })
    const more = { userMessage: 'hello', contextInjection: 'context' }
    hooks.register('PreToolUse', () => deny('no', more))
    return [await hooks.session().fire('PreToolUse', BASH), hooks]
  }

  test.each(['display', 'context', 'audit'] as const)('%s that throws: the verdict stands', async (name) => {
    const [outcome] = await denying({ [name]: broken })
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no', injections: [{ text: 'context' }] })
    expect(outcome.diagnostics).toMatchObject([{ code: 'host-failed' }])
    expect(outcome.diagnostics[0]?.text).toMatch(new RegExp(`${name}.*host is broken`))
  })

  test.each(['display', 'context', 'audit'] as const)('%s that rejects: the verdict stands', async (name) => {
    const [outcome, hooks] = await denying({ [name]: rejects })
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no' })
    await hooks.close()
    expect(hooks.diagnostics.map(({ text }) => text).join()).toMatch(new RegExp(`${name}.*host is broken`))
  })

  test.each([
    ['throws', broken],
    ['rejects', rejects],
    ['throws nothing', () => Promise.reject(undefined)],
  ])('an approver that %s: the ask is denied', async (_, approver) => {
    const outcome = await gate(() => askUser('ok?'), { approver })
    expect(outcome.action).toBe('deny')
    expect(codes(outcome)).toEqual(['host-failed'])
  })

  test.each([
    ['throws', broken],
    ['rejects', rejects],
  ])('an audit sink that %s does not hide an aborted fire', async (_, audit) => {
    const hooks = await createHooks({ globals: false, audit })
    const fired = hooks.session().fire('PreToolUse', BASH, { signal: AbortSignal.abort() })
    await expect(fired).rejects.toMatchObject({ code: 'ABORTED' })
    await hooks.close()
    expect(hooks.diagnostics.map(({ text }) => text).join()).toMatch(/host is broken/)
  })

  test('what admits hooks throws: the gate closes', async () => {
    const outcome = await gate(() => undefined, { admit: broken })
    expect(outcome.action).toBe('deny')
    expect(outcome.hooks).toMatchObject([{ name: 'gate', status: 'failed' }])
  })

  describe.each([
    ['throws', broken],
    ['rejects', rejects],
  ] as const)('a store that %s', (_, fails) => {
    /** A store of which these methods fail. */
    function failing(...methods: readonly (keyof SessionStore)[]): SessionStore {
      const inner = new MemoryStore()
      const store: SessionStore = {
        load: (session) => inner.load(session),
        update: (session, change) => inner.update(session, change),
        release: (session) => inner.release(session),
        keep: (session, text) => inner.keep(session, text),
        grants: () => inner.grants(),
        addGrant: (grant) => inner.addGrant(grant),
        revokeGrant: (id) => inner.revokeGrant(id),
      }
      return { ...store, ...Object.fromEntries(methods.map((method) => [method, fails])) }
    }
    const all = ['load', 'update', 'release', 'keep', 'grants', 'addGrant', 'revokeGrant'] as const

    test.each([...all.map((method) => [method]), [...all]])(
      'in %s: verdict and injections stand',
      async (...methods) => {
        const store = failing(...methods)
        const [outcome, hooks] = await denying({ store })
        expect(outcome).toMatchObject({ action: 'deny', reason: 'no', injections: [{ text: 'context' }] })
        const session = hooks.session()
        await session.fire('UserPromptSubmit', { prompt: 'hello' })
        await session.startTurn()
        await session.endTurn()
        await session.close()
        await hooks.close()
      },
    )

    test('in load or update: it is reported', async () => {
      for (const method of ['load', 'update'] as const) {
        const [outcome, hooks] = await denying({ store: failing(method) })
        const said = [...outcome.diagnostics, ...hooks.diagnostics]
        expect(said.map(({ code }) => code)).toContain('host-failed')
        expect(said.map(({ text }) => text).join()).toMatch(/store.*host is broken/)
      }
    })

    test('in grants: nothing is granted, the person is asked', async () => {
      const approver = vi.fn(() => 'Deny')
      const outcome = await gate(() => askUser('ok?'), { approver, store: failing('grants') })
      expect(outcome.action).toBe('deny')
      expect(approver).toHaveBeenCalledOnce()
    })

    test('in addGrant: the answer counts once, and it is reported', async () => {
      const store = failing('addGrant')
      const options = { approvalOptions: ['Allow always', 'Deny'] }
      const outcome = await gate(() => askUser('ok?', options), { approver: () => 'Allow always', store })
      expect(outcome.action).toBe('continue')
      expect(codes(outcome)).toContain('host-failed')
      expect(store.grants()).toEqual([])
    })

    test('in grants, revokeGrant or release: it is in the diagnostics, never passed over', async () => {
      for (const use of [
        (hooks: Hooks) => hooks.grants(),
        (hooks: Hooks) => hooks.revoke('some grant'),
        (hooks: Hooks) => hooks.session().close(),
      ]) {
        const store = failing('grants', 'revokeGrant', 'release')
        const hooks = await createHooks({ globals: false, store })
        await use(hooks)
        expect(hooks.diagnostics.map(({ text }) => text).join()).toMatch(/store.*host is broken/)
      }
    })

    test('in update: a refused stop is still refused', async () => {
      const hooks = await createHooks({ globals: false, store: failing('update') })
      hooks.register('Stop', () => deny('go on'))
      expect((await hooks.session().fire('Stop')).action).toBe('deny')
    })
  })

  test('a store that never answers does not outlast the time-out of the fire', async () => {
    const store = new MemoryStore()
    Object.defineProperty(store, 'load', { value: never })
    const hooks = await createHooks({ globals: false, store })
    hooks.register('PreToolUse', () => deny('no'))
    const fired = hooks.session().fire('PreToolUse', BASH, { timeout: 0.02 })
    const stuck = new Promise<'never answered'>((resolve) =>
      setTimeout(resolve, 60_000, 'never answered').unref(),
    )
    expect(await Promise.race([fired, stuck])).toMatchObject({ action: 'deny' })
  })

  test('a subscriber of a registry that throws is removed, and the change is made', async () => {
    const registry = new HookRegistry()
    registry.subscribe(broken)
    registry.register('PreToolUse', () => deny('no'))
    expect(registry.diagnostics).toMatchObject([{ code: 'subscriber-failed' }])
    expect((await registry.emit('PreToolUse', BASH)).action).toBe('deny')
  })
})

describe('a gate that failed stays closed, whatever else happens', () => {
  const failing = () => {
    throw new Error('broken')
  }

  test.each<[string, unknown]>([
    ['an explicit allow', proceed({ permission: 'allow' })],
    ['a respond', { action: 'respond', response: 'instead' }],
    ['an ask that would be allowed', askUser('ok?')],
    ['a change', modify({ tool_input: { command: 'harmless' } })],
    ['an injection', inject('all fine')],
  ])('with %s before and after it', async (_, answer) => {
    for (const priority of [-1, 1]) {
      const hooks = await createHooks({ globals: false, approver: () => 'Allow' })
      hooks.register('PreToolUse', failing, { name: 'gate' })
      hooks.register('PreToolUse', (() => answer) as unknown as Handler, { priority })
      const outcome = await hooks.session().fire('PreToolUse', BASH)
      expect(outcome.action).toBe('deny')
      expect(outcome.reason).toMatch(/^hook crashed/)
      const run = vi.fn()
      const called = await hooks.session().callTool({ name: 'Bash', input: {} }, run)
      expect(called.status).toBe('denied')
      expect(run).not.toHaveBeenCalled()
    }
  })
})
